//! A study: many runs in one folder, done by any number of processes on any number of machines, each run once.

mod attempts;
mod board;
mod cpu_time;
mod crew;
mod error;
mod folder;
mod job;
mod result;
mod turn;
mod worker;

pub use attempts::{AttemptEnd, AttemptRecord, Attempts, Claim, Claimed, LEASE, Outcome};
pub use board::Tally;
pub use cpu_time::{process_cpu_time, thread_cpu_time};
pub use crew::{Crew, CrewWatch};
pub use error::StudyError;
pub use folder::StudyFolder;
pub use job::{Ended, Job, JobState};
pub use result::{Keep, RunResult, settle_run};
pub use turn::Turn;
pub use worker::Worker;
