//! Identifies a process that executes runs, and its machine.

use serde::{Deserialize, Serialize};
use std::fs;
use std::process::Command;

/// A process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worker {
    pub host: String,
    /// Identifies the current boot of the machine, if known: locks are reliable only between processes of one boot.
    pub boot: Option<String>,
    pub pid: u32,
    /// The scheduler's job id, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
}

impl Worker {
    pub fn this(job: Option<String>) -> Self {
        Self { host: host_name(), boot: boot_id(), pid: std::process::id(), job }
    }

    /// Whether both processes run on the same machine since the same boot.
    pub fn shares_machine(&self, other: &Self) -> bool {
        self.host == other.host && self.boot.is_some() && self.boot == other.boot
    }
}

fn host_name() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").ok().or_else(|| output_of("hostname", &[]));
    name.map_or_else(|| "unknown".into(), |name| name.trim().to_owned())
}

fn boot_id() -> Option<String> {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok();
    let id = id.or_else(|| output_of("sysctl", &["-n", "kern.bootsessionuuid"]));
    id.map(|id| id.trim().to_owned()).filter(|id| !id.is_empty())
}

fn output_of(program: &str, args: &[&str]) -> Option<String> {
    let output = Command::new(program).args(args).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}
