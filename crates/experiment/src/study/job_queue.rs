//! The queue of a study's runs in one process.

use crate::error::Result;
use crate::run::{Stage, VerifiedRun};
use crate::study::folder::StudyFolder;
use crate::study::job::{Job, JobState};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobCounts {
    pub n_jobs: usize,
    pub n_complete: usize,
    /// Number of runs that other processes work on.
    pub n_elsewhere: usize,
    /// Names of runs that were given up, and reasons.
    pub given_up: Vec<(String, String)>,
    /// CPU time of the runs of this process.
    pub cpu_in_runs: Duration,
}

impl JobCounts {
    pub fn is_complete(&self) -> bool {
        self.n_complete == self.n_jobs
    }
}

/// After this many failures, a run is given up until the study is started again.
const MAX_FAILURES: u32 = 3;
/// Pause before runs of other processes are checked again.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// All runs and their states.
pub(super) struct JobQueue<'a> {
    pub(super) jobs: &'a [Job],
    states: Vec<JobState>,
    failures: Vec<u32>,
    index: BTreeMap<&'a str, usize>,
    /// Bases that are complete.
    ready: BTreeSet<&'a str>,
    /// When to check the runs of other processes again.
    look_again: Vec<Instant>,
    looked: Option<Instant>,
    pub(super) cpu_in_runs: Duration,
}

pub(super) enum Next {
    Take(usize),
    Wait,
    Nothing,
}

/// The state of a run's base.
enum BaseState {
    Ready,
    Awaited,
    Lost(String),
}

impl<'a> JobQueue<'a> {
    pub(super) fn new(jobs: &'a [Job]) -> Self {
        let n = jobs.len();
        Self {
            jobs,
            states: vec![JobState::Waiting; n],
            failures: vec![0; n],
            index: jobs.iter().enumerate().map(|(idx, job)| (job.name.as_str(), idx)).collect(),
            ready: BTreeSet::new(),
            look_again: vec![Instant::now(); n],
            looked: None,
            cpu_in_runs: Duration::ZERO,
        }
    }

    /// Finds runs that other processes have completed.
    pub(super) fn look(&mut self, folder: &StudyFolder) -> Result<()> {
        if self.looked.is_some_and(|looked| looked.elapsed() < LOOK_EVERY) {
            return Ok(());
        }
        let complete: BTreeSet<String> = folder.complete()?;
        for (job, state) in self.jobs.iter().zip(&mut self.states) {
            if *state != JobState::Here && complete.contains(&job.name) {
                *state = JobState::Complete;
            }
        }
        self.looked = Some(Instant::now());
        Ok(())
    }

    /// The next run that can be executed; the calling thread then owns it.
    pub(super) fn take_next(&mut self, folder: &StudyFolder) -> Result<Next> {
        self.look(folder)?;
        let mut next = Next::Nothing;
        for idx in 0..self.jobs.len() {
            match self.states[idx] {
                JobState::Complete | JobState::GivenUp { .. } => continue,
                JobState::Here => {
                    next = Next::Wait;
                    continue;
                }
                JobState::Waiting | JobState::Elsewhere => {}
            }
            match self.base_state(idx, folder)? {
                BaseState::Ready if self.look_again[idx] <= Instant::now() => {
                    self.states[idx] = JobState::Here;
                    return Ok(Next::Take(idx));
                }
                BaseState::Ready | BaseState::Awaited => next = Next::Wait,
                BaseState::Lost(reason) => self.states[idx] = JobState::GivenUp { reason },
            }
        }
        Ok(next)
    }

    fn base_state(&mut self, idx: usize, folder: &StudyFolder) -> Result<BaseState> {
        let jobs = self.jobs;
        let Some(base) = &jobs[idx].needs else { return Ok(BaseState::Ready) };
        if self.ready.contains(base.as_str()) {
            return Ok(BaseState::Ready);
        }
        let state = self.index.get(base.as_str()).map(|&base| &self.states[base]);
        match state {
            Some(JobState::GivenUp { reason }) => Ok(BaseState::Lost(format!("{base}: {reason}"))),
            Some(JobState::Complete) | None => match VerifiedRun::open(folder.run(base))?.read_status()? {
                Some(status) if status.stage == Stage::Finished => {
                    self.ready.insert(base);
                    Ok(BaseState::Ready)
                }
                Some(status) => {
                    let reason = status.reason.unwrap_or_else(|| "it has not finished".into());
                    Ok(BaseState::Lost(format!("{base}: {reason}")))
                }
                None => {
                    Ok(BaseState::Lost(format!("{base}: its folder does not say how it ended; remove it")))
                }
            },
            Some(_) => Ok(BaseState::Awaited),
        }
    }

    /// Records the result of an attempt; a failed run may be retried.
    pub(super) fn settle(&mut self, job: usize, state: JobState) {
        self.states[job] = match state {
            JobState::GivenUp { reason } => {
                self.failures[job] += 1;
                match self.failures[job] < MAX_FAILURES {
                    true => JobState::Waiting,
                    false => JobState::GivenUp { reason },
                }
            }
            state => state,
        };
        if self.states[job] == JobState::Elsewhere || self.failures[job] > 0 {
            self.look_again[job] = Instant::now() + LOOK_EVERY;
        }
    }

    pub(super) fn tally(&self) -> JobCounts {
        let count = |state: &JobState| self.states.iter().filter(|found| *found == state).count();
        let given_up = self.jobs.iter().zip(&self.states).filter_map(|(job, state)| match state {
            JobState::GivenUp { reason } => Some((job.name.clone(), reason.clone())),
            _ => None,
        });
        JobCounts {
            n_jobs: self.jobs.len(),
            n_complete: count(&JobState::Complete),
            n_elsewhere: count(&JobState::Elsewhere),
            given_up: given_up.collect(),
            cpu_in_runs: self.cpu_in_runs,
        }
    }
}
