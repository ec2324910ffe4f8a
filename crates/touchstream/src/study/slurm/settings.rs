//! What one may ask of Slurm.

use clap::Args;
use serde::{Deserialize, Serialize};

#[derive(Args, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
#[command(next_help_heading = "Slurm")]
pub struct SlurmWords {
    /// The partition [default: the cluster's]
    #[arg(long, value_name = "NAME")]
    pub partition: Option<String>,
    /// The account [default: the user's]
    #[arg(long, value_name = "NAME")]
    pub account: Option<String>,
    /// The longest that a task may take, as sbatch reads it; what is not done by then goes on in the next turn [default: 4:00:00]
    #[arg(long, value_name = "TIME")]
    pub time: Option<String>,
    /// Tasks that run at once at most [default: as many as the cluster gives]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub array_limit: Option<u32>,
    /// Runs that a task does, one after the other [default: so many that there are at most 500 tasks]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub runs_per_task: Option<u32>,
    /// Memory of a task [default: 4G]
    #[arg(long, value_name = "SIZE")]
    pub mem: Option<String>,
    /// Run inside this image, by `apptainer exec IMAGE`
    #[arg(long, value_name = "IMAGE")]
    pub container: Option<String>,
    /// Anything else for sbatch, such as --sbatch=--qos=long; may be given several times
    #[arg(long = "sbatch", value_name = "ARG", allow_hyphen_values = true)]
    pub more: Vec<String>,
}

/// Seconds before a task's end at which it is told, so that it writes checkpoints.
pub const WARNING_SECS: u32 = 120;
const DEFAULT_TIME: &str = "4:00:00";
const DEFAULT_MEM: &str = "4G";
const MAX_TASKS: usize = 500;

impl SlurmWords {
    /// How many runs a task gets of so many.
    pub fn runs_of_a_task(&self, n_runs: usize) -> usize {
        self.runs_per_task.map_or_else(|| n_runs.div_ceil(MAX_TASKS).max(1), |n| n as usize)
    }

    /// Arguments of sbatch that are the same for every array.
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
