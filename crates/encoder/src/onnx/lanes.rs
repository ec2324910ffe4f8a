//! Runs a model on several threads, one run per thread.
//!
//! The runtime would divide one run among the threads of its own pool. There are many screens and runs are short, so
//! here every run has one thread: a screen's features then depend neither on the number of threads nor on the other
//! screens.

use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;
use rten::ThreadPool;

/// Pools with one thread each, created as needed.
#[derive(Default)]
pub struct Lanes {
    pools: Mutex<Vec<Arc<ThreadPool>>>,
}

impl Lanes {
    /// Runs the jobs on as many lanes as the current rayon pool has threads. After an error, no further jobs are
    /// started, and the error is returned.
    pub fn run<Job: Send, Failure: Send>(
        &self,
        jobs: impl ExactSizeIterator<Item = Job> + Send,
        work: impl Fn(&Arc<ThreadPool>, Job) -> Result<(), Failure> + Sync,
    ) -> Result<(), Failure> {
        let lanes = self.first(rayon::current_num_threads().min(jobs.len()));
        let jobs = Mutex::new(jobs);
        let next_job = || jobs.lock().unwrap_or_else(PoisonError::into_inner).next();
        lanes.par_iter().try_for_each(|lane| {
            lane.run(|| {
                while let Some(job) = next_job() {
                    work(lane, job)?;
                }
                Ok(())
            })
        })
    }

    fn first(&self, n_lanes: usize) -> Vec<Arc<ThreadPool>> {
        let mut pools = self.pools.lock().unwrap_or_else(PoisonError::into_inner);
        while pools.len() < n_lanes {
            pools.push(Arc::new(ThreadPool::with_num_threads(1)));
        }
        pools[..n_lanes].to_vec()
    }
}
