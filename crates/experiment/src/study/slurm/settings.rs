//! Options for Slurm.

use crate::config::setting::settings;
use crate::error::{Result, bail};
use crate::study::slurm::time_limit::secs_of;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

settings! {
    /// Options of job arrays.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(default, rename_all = "kebab-case")]
    pub struct SlurmOptions {
        ["Slurm"]
        partition: Option<String> = "NAME", "The partition [default: the cluster's]";
        account: Option<String> = "NAME", "The account [default: the user's]";
        time: Option<String> = "TIME", "Time limit of a task, as for sbatch; runs that are not complete by then resume when it is requeued [default: 4:00:00]";
        array_limit: Option<NonZeroU32> = "N", "Maximum number of parallel tasks [default: no limit]";
        runs_per_task: Option<NonZeroU32> = "N", "Runs per task [default: as many as are needed for at most 500 tasks]";
        mem: Option<String> = "SIZE", "Memory per task [default: 4G]";
        container: Option<String> = "IMAGE", "Container to run in, with `apptainer exec IMAGE`";
        more: Vec<String> = "ARG", "Further arguments of sbatch, such as --sbatch=--qos=long; may be given several times" where "sbatch";
    }
    with {}
}

/// Slurm signals a task this many seconds before its time limit, so that it can write checkpoints.
pub const WARNING_SECS: u32 = 120;
const DEFAULT_TIME: &str = "4:00:00";
const DEFAULT_MEM: &str = "4G";
const MAX_TASKS: usize = 500;

impl SlurmOptions {
    /// Runs per task: enough to use all cores, and for at most `MAX_TASKS` tasks.
    pub fn runs_of_a_task(&self, n_runs: usize, n_jobs: u16) -> usize {
        let all_busy = n_runs.div_ceil(MAX_TASKS).max(usize::from(n_jobs));
        self.runs_per_task.map_or(all_busy, |n| n.get() as usize)
    }

    /// Refuses time limits so short that a task would be signalled at once and requeued forever.
    pub fn check(&self) -> Result<()> {
        let Some(time) = &self.time else { return Ok(()) };
        match secs_of(time)? {
            Some(secs) if secs <= 2 * u64::from(WARNING_SECS) => {
                bail!(
                    Slurm,
                    "--time {time}: tasks are warned {WARNING_SECS} seconds before their end; give them 5 minutes or more"
                )
            }
            _ => Ok(()),
        }
    }

    pub fn sbatch_args(&self) -> Vec<String> {
        let mut args = vec![
            format!("--time={}", self.time.as_deref().unwrap_or(DEFAULT_TIME)),
            format!("--mem={}", self.mem.as_deref().unwrap_or(DEFAULT_MEM)),
        ];
        args.extend(self.partition.as_ref().map(|name| format!("--partition={name}")));
        args.extend(self.account.as_ref().map(|name| format!("--account={name}")));
        args.extend(self.more.iter().cloned());
        args
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;

    #[test]
    fn what_was_said_before_holds_until_something_else_is_said() {
        let before =
            SlurmOptions { time: Some("60".into()), mem: Some("2G".into()), ..SlurmOptions::default() };
        let now =
            SlurmOptions { mem: Some("8G".into()), partition: Some("cpu".into()), ..SlurmOptions::default() };
        let both = now.over(before);
        assert_eq!(
            (both.time.as_deref(), both.mem.as_deref(), both.partition.as_deref()),
            (Some("60"), Some("8G"), Some("cpu"))
        );
        assert_eq!((both.runs_of_a_task(10, 4), both.runs_of_a_task(5000, 1)), (4, 10));
        assert!(both.check().is_ok());
        for short in ["2", "4", "4:00", "0:02:00", "0-0:03", "0-0:00:59"] {
            let words = SlurmOptions { time: Some(short.into()), ..SlurmOptions::default() };
            let error = words.check().unwrap_err().to_string();
            assert!(error.contains("give them 5 minutes or more"), "{short}: {error}");
        }
        for long in ["5", "4:01", "0:05:00", "1-0", "0", "unlimited", "4294967295"] {
            assert!(
                SlurmOptions { time: Some(long.into()), ..SlurmOptions::default() }.check().is_ok(),
                "{long}"
            );
        }
    }
}
