//! Threads that each run a model by themselves.
//!
//! The runtime shares the work of one run among the threads of a pool of its own. Screens are many and runs are
//! short, so here every thread has a run to itself: the numbers of a screen then cannot depend on the number of
//! threads or on the other screens.

use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;
use rten::ThreadPool;

/// Pools of one thread, made as they are needed.
#[derive(Default)]
pub struct Lanes {
    pools: Mutex<Vec<Arc<ThreadPool>>>,
}

impl Lanes {
    /// Works off the jobs on as many lanes as the calling rayon pool has threads. After a failure no more jobs are
    /// begun, and the failure is returned.
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
