//! The states of a study's tasks in Slurm's queue.

use crate::error::Result;
use crate::study::slurm::array::answer_of;
use crate::study::slurm::record::Submission;
use serde::Serialize;
use std::collections::BTreeMap;
use std::process::Command;

/// Number of tasks by state, without tasks that Slurm has already forgotten; the study's folder shows whether their
/// runs are complete.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct QueueState {
    /// Number of tasks in each of Slurm's states.
    pub states: BTreeMap<String, usize>,
    /// Number of tasks that were started more than once.
    pub n_requeued: usize,
    /// Tasks that must be released by hand.
    pub held: Vec<String>,
}

/// States of tasks that have ended.
const OVER: [&str; 9] = [
    "COMPLETED",
    "CANCELLED",
    "FAILED",
    "TIMEOUT",
    "NODE_FAIL",
    "PREEMPTED",
    "BOOT_FAIL",
    "DEADLINE",
    "OUT_OF_MEMORY",
];

impl QueueState {
    /// Tasks that are queued or running.
    pub fn n_active(&self) -> usize {
        let active = self.states.iter().filter(|(state, _)| !OVER.contains(&state.as_str()));
        active.map(|(_, n)| n).sum()
    }

    fn add_line(&mut self, line: &str) {
        // The reason may contain any character, so it is the last column.
        let cells: Vec<&str> = line.splitn(5, '|').collect();
        let [job, task, state, restarts, reason] = cells[..] else { return };
        *self.states.entry(state.to_owned()).or_default() += 1;
        self.n_requeued += usize::from(restarts != "0");
        if reason.contains("held") || reason.contains("Held") {
            self.held.push(format!("{job}_{task}"));
        }
    }
}

pub fn queue_of(submissions: &[Submission]) -> Result<QueueState> {
    let mut state = QueueState::default();
    for submission in submissions {
        let mut squeue = Command::new("squeue");
        squeue
            .args(["-h", "-r", "-t", "all", "-j", &submission.job_id.to_string()])
            .args(["-O", "ArrayJobID:|,ArrayTaskID:|,State:|,RestartCnt:|,Reason:"]);
        match answer_of(&mut squeue) {
            Ok(answer) => answer.lines().for_each(|line| state.add_line(line.trim_end())),
            // Slurm forgets jobs some minutes after their end.
            Err(error) if error.text().contains("Invalid job id") => {}
            Err(error) => return Err(error),
        }
    }
    Ok(state)
}

pub fn cancel(submissions: &[Submission]) -> Result<()> {
    let ids: Vec<String> = submissions.iter().map(|submission| submission.job_id.to_string()).collect();
    if !ids.is_empty() {
        answer_of(Command::new("scancel").args(ids))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_squeue_are_counted() {
        let mut state = QueueState::default();
        for line in [
            "1|0|COMPLETED|0|None",
            "1|1|RUNNING|1|None",
            "1|2|PENDING|0|launch failed requeued held",
            "1|3|PENDING|0|Resources, or so | said",
            "nonsense",
        ] {
            state.add_line(line);
        }
        assert_eq!((state.n_active(), state.n_requeued), (3, 1));
        assert_eq!(state.held, ["1_2"]);
    }
}
