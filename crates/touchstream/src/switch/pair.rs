//! Which switches: the paper's, by number, or any two tasks.

use crate::words::task_from_word;
use anyhow::{Result, bail};
use touchstream_env::schedule::NAMED_SCHEDULES;
use touchstream_env::task::{Paradigm, Task, find_task};

/// A base task, then another.
#[derive(Clone, Debug)]
pub struct Pair {
    /// `switch-13`, `no-switch`, or the two tasks.
    pub name: String,
    pub base: Task,
    pub second: Task,
}

/// The pairs of `--id`, such as `1,3..5`, or of `--from` and `--to`.
pub fn pairs(ids: Option<&str>, from: Option<&str>, to: Option<&str>) -> Result<Vec<Pair>> {
    match (ids, from, to) {
        (Some(ids), None, None) => ids_of(ids)?.into_iter().map(named).collect(),
        (None, Some(from), Some(to)) => {
            let (base, second) = (task_from_word(from)?, task_from_word(to)?);
            Ok(vec![Pair { name: format!("{}--{}", base.id(), second.id()), base, second }])
        }
        _ => bail!("say which switch: --id 1..15 (0 is the same task again), or --from TASK --to TASK"),
    }
}

/// All tasks of the paper's switches: what features are centred on, so that a base serves every switch.
pub fn tasks_of_all() -> Result<Vec<Task>> {
    let mut ids: Vec<&str> = NAMED_SCHEDULES.iter().flat_map(|row| [row.base, row.switch]).collect();
    ids.sort_unstable();
    ids.dedup();
    Ok(ids.into_iter().map(find_task).collect::<Result<Vec<_>, _>>()?)
}

fn named(id: usize) -> Result<Pair> {
    let row = &NAMED_SCHEDULES[id];
    Ok(Pair { name: row.id.into(), base: find_task(row.base)?, second: find_task(row.switch)? })
}

/// Numbers and ranges; both ends of a range are in it.
fn ids_of(word: &str) -> Result<Vec<usize>> {
    let mut ids = Vec::new();
    for part in word.split(',') {
        let (first, last) = part.split_once("..").unwrap_or((part, part));
        let number = |word: &str| word.trim().parse::<usize>().ok().filter(|&id| id < NAMED_SCHEDULES.len());
        match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last => ids.extend(first..=last),
            _ => bail!("--id: `{part}` is not a switch; they are 1 to 15, and 0 for the same task again"),
        }
    }
    ids.sort_unstable();
    ids.dedup();
    Ok(ids)
}

/// How long a base task is learned if nobody says otherwise: until EMS is near its best.
pub fn default_base_steps(task: &Task) -> u64 {
    match (task.paradigm(), task.n_classes()) {
        (Paradigm::StimulusResponse { .. }, Some(..=2)) => 30_000,
        (Paradigm::StimulusResponse { .. }, _) => 60_000,
        _ => 100_000,
    }
}

/// How long after the switch.
pub fn default_steps(task: &Task) -> u64 {
    match (task.paradigm(), task.n_classes()) {
        (Paradigm::StimulusResponse { .. }, Some(..=2)) => 6_000,
        (Paradigm::StimulusResponse { .. }, _) => 20_000,
        (Paradigm::MatchToSample(_), Some(..=2)) => 40_000,
        _ => 80_000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_numbers_and_ranges() {
        assert_eq!(ids_of("13,1..3,2").unwrap(), [1, 2, 3, 13]);
        assert_eq!(ids_of("0").unwrap(), [0]);
        for wrong in ["16", "3..1", "x", "", "1..", "-1"] {
            assert!(ids_of(wrong).is_err(), "{wrong}");
        }
        assert_eq!(pairs(Some("13"), None, None).unwrap()[0].second.id(), "sr-2way+class-reversal");
        assert!(pairs(None, Some("sr-2way"), None).is_err());
    }
}
