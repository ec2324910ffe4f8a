//! A study on a real Slurm, while a node and the controller die.

#![allow(clippy::unwrap_used)]

mod desk;
mod study_results;

use desk::Desk;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};
use study_results::{check_same, results};

/// One cluster at a time: two would fight for two cores.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Daemons of its own, which end with it.
struct Sandbox {
    _turn: MutexGuard<'static, ()>,
    folder: tempfile::TempDir,
    script: PathBuf,
}

impl Sandbox {
    /// `None` where Slurm is not installed: `scripts/slurm-sandbox install` installs it.
    fn start() -> Option<Self> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/slurm-sandbox");
        let is_there = |program: &str| {
            let folders = ["/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin"];
            folders.iter().any(|folder| Path::new(folder).join(program).exists())
        };
        if !["slurmctld", "slurmd", "munged", "sbatch"].into_iter().all(is_there) {
            eprintln!("skipped: Slurm is not installed");
            return None;
        }
        // Its sockets must have short names.
        let folder = tempfile::Builder::new().prefix("ts").rand_bytes(4).tempdir_in("/tmp").unwrap();
        let turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let sandbox = Self { _turn: turn, folder, script };
        sandbox.does(&["start"]);
        Some(sandbox)
    }

    #[track_caller]
    fn does(&self, words: &[&str]) {
        let (what, more) = words.split_first().unwrap();
        let output = Command::new(&self.script).arg(what).arg(self.path()).args(more).output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("s")
    }

    fn run(&self, desk: &Desk, args: &[&str]) -> Output {
        desk.command(args).env("SLURM_CONF", self.path().join("slurm.conf")).output().unwrap()
    }

    #[track_caller]
    fn succeeds(&self, desk: &Desk, args: &[&str]) -> String {
        let output = self.run(desk, args);
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn status(&self, desk: &Desk, study: &str) -> Option<serde_json::Value> {
        // While the controller is down, the state is unknown.
        let output = self.run(desk, &["study", "status", study, "--json"]);
        output.status.success().then(|| serde_json::from_slice(&output.stdout).unwrap())
    }

    /// Looks until something is true of the study.
    #[track_caller]
    fn wait_until(&self, desk: &Desk, study: &str, is_so: impl Fn(&serde_json::Value) -> bool) {
        let start = Instant::now();
        let mut last = None;
        while start.elapsed() < Duration::from_secs(240) {
            last = self.status(desk, study);
            if last.as_ref().is_some_and(&is_so) {
                return;
            }
            sleep(Duration::from_millis(300));
        }
        panic!("still: {last:?}");
    }
}

/// A process that does a task of an array.
struct TaskProcess {
    pid: String,
    node: String,
    /// Job and number in it: the same however often Slurm begins it.
    task: [String; 2],
}

impl Sandbox {
    /// The tasks that run now.
    fn task_processes(&self) -> Vec<TaskProcess> {
        let conf = format!("SLURM_CONF={}", self.path().join("slurm.conf").display());
        let process = |pid: String| {
            let read = |file: &str| std::fs::read(Path::new("/proc").join(&pid).join(file)).ok();
            let command = String::from_utf8_lossy(&read("cmdline")?).into_owned();
            let environment = String::from_utf8_lossy(&read("environ")?).into_owned();
            let set: Vec<&str> = environment.split('\0').collect();
            let value = |name: &str| {
                Some(set.iter().find_map(|set| set.strip_prefix(name)?.strip_prefix('='))?.to_owned())
            };
            let is_ours = command.starts_with(env!("CARGO_BIN_EXE_touchstream")) && set.contains(&&*conf);
            let task = [value("SLURM_ARRAY_JOB_ID")?, value("SLURM_ARRAY_TASK_ID")?];
            is_ours.then_some(TaskProcess { node: value("SLURMD_NODENAME")?, task, pid })
        };
        let entries = std::fs::read_dir("/proc").unwrap().flatten();
        entries.filter_map(|entry| process(entry.file_name().into_string().ok()?)).collect()
    }

    /// The tasks of a node, stopped where they are.
    #[track_caller]
    fn stop_tasks(&self, node: &str) -> Vec<TaskProcess> {
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(60) {
            let mut tasks = self.task_processes();
            // One that has just ended cannot be stopped.
            tasks.retain(|task| task.node == node && signal("STOP", &task.pid));
            if !tasks.is_empty() {
                return tasks;
            }
            sleep(Duration::from_millis(100));
        }
        panic!("{node} has no tasks");
    }

    /// Waits until Slurm has begun one of these tasks again somewhere else, while they are still there.
    #[track_caller]
    fn wait_until_twice(&self, lost: &[TaskProcess]) {
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(120) {
            let now = self.task_processes();
            let is_there = |lost: &TaskProcess| now.iter().any(|task| task.pid == lost.pid);
            let is_twice = |lost: &TaskProcess| {
                now.iter()
                    .any(|task| task.task == lost.task && task.pid != lost.pid && task.node != lost.node)
            };
            if lost.iter().all(is_there) && lost.iter().any(is_twice) {
                return;
            }
            sleep(Duration::from_millis(300));
        }
        panic!("no task of a lost node was restarted");
    }
}

/// Sends a signal to a process; `false` if it is gone.
fn signal(name: &str, pid: &str) -> bool {
    Command::new("kill").args(["-s", name, pid]).status().unwrap().success()
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        let _ = Command::new(&self.script).arg("stop").arg(self.path()).output();
    }
}

const STUDY: [&str; 18] = [
    "study",
    "modules",
    "--scale",
    "smoke",
    "--modules",
    "ems,no-symm,none-relu-small",
    "--tasks",
    "sr-2way,mts-2way-stationary",
    "--portraits",
    "6,4",
    "--evaluation-trials",
    "50",
    "--steps",
    "40000",
    "--seeds",
    "2",
    "--candidates",
    "128",
];

/// Stands for a cluster that takes arrays of up to three tasks and never begins them. What it is asked is in a file.
#[cfg(unix)]
struct PaperCluster {
    path: String,
    submitted: PathBuf,
}

#[cfg(unix)]
impl PaperCluster {
    fn new(desk: &Desk) -> Self {
        use std::os::unix::fs::PermissionsExt;
        for (program, script) in [
            ("scontrol", "echo 'MaxArraySize            = 4'"),
            ("sbatch", "echo x >> \"$SUBMITTED\"; echo 7"),
            ("squeue", "exit 0"),
        ] {
            let file = desk.file("bin").join(program);
            std::fs::create_dir_all(desk.file("bin")).unwrap();
            std::fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let path = format!("{}:{}", desk.file("bin").display(), std::env::var("PATH").unwrap());
        Self { path, submitted: desk.file("submitted") }
    }

    fn run(&self, desk: &Desk, words: &[&str]) -> Output {
        desk.command(words).env("PATH", &self.path).env("SUBMITTED", &self.submitted).output().unwrap()
    }
}

#[cfg(unix)]
#[test]
fn baselines_are_made_before_anything_is_submitted() {
    let desk = Desk::new();
    let cluster = PaperCluster::new(&desk);
    let study = [
        "study",
        "localization",
        "--scale",
        "smoke",
        "--modules",
        "ems",
        "--seeds",
        "1",
        "--objects",
        "12,6",
        "--out",
        "slurm",
        "--engine",
        "slurm",
    ];
    let file = desk.file("slurm/baselines.json");
    for words in [&study[..], &["study", "resume", "slurm"]] {
        let output = cluster.run(&desk, words);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(
            output.status.success() && said.contains("computing the baselines of localization"),
            "{said}"
        );
        assert!(cluster.submitted.exists());
        std::fs::remove_file(&file).unwrap();
        std::fs::remove_file(&cluster.submitted).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn arrays_that_are_too_large_are_told_before_anything_is_submitted() {
    let desk = Desk::new();
    let cluster = PaperCluster::new(&desk);
    let submitted = &cluster.submitted;
    let study =
        ["study", "switching", "--scale", "smoke", "--switches", "13", "--seeds", "2", "--out", "slurm"];
    let submit = |more: &[&str]| {
        let words = [&study[..], &["--engine", "slurm"], more].concat();
        cluster.run(&desk, &words)
    };
    // Two bases fit, six runs behind them do not.
    let refused = submit(&["--runs-per-task", "1"]);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(
        !refused.status.success() && said.contains("6 tasks are more than this cluster allows"),
        "{said}"
    );
    assert!(!submitted.exists(), "nothing was submitted");
    for short in ["2", "0:02:00", "0-0:03"] {
        let said = String::from_utf8(submit(&["--time", short]).stderr).unwrap();
        assert!(said.contains("give them 5 minutes or more"), "{short}: {said}");
    }
    assert!(!submitted.exists(), "nothing was submitted");
    let taken = submit(&["--runs-per-task", "2", "--time", "0:10:00"]);
    let said = String::from_utf8(taken.stdout).unwrap();
    assert!(
        said.contains("2 runs (bases) in 1 tasks") && said.contains("6 runs (runs) in 3 tasks"),
        "{said}"
    );
    assert_eq!(std::fs::read_to_string(submitted).unwrap().lines().count(), 2);
}

#[test]
fn a_study_survives_its_node_and_its_controller() {
    let Some(sandbox) = Sandbox::start() else { return };
    let desk = Desk::new();
    let local = [&STUDY[..], &["--out", "local"]].concat();
    desk.succeeds(&local);

    let words =
        ["--out", "slurm", "--engine", "slurm", "--time", "10", "--mem", "500M", "--runs-per-task", "2"];
    let said = sandbox.succeeds(&desk, &[&STUDY[..], &words].concat());
    assert!(said.contains("12 runs (runs) in 6 tasks"), "{said}");
    sandbox.wait_until(&desk, "slurm", |status| status["n_running"].as_u64() > Some(3));
    // What is queued is not queued again.
    let again = sandbox.run(&desk, &["study", "resume", "slurm"]);
    assert!(String::from_utf8_lossy(&again.stderr).contains("still queued or running"), "{again:?}");

    sandbox.does(&["kill-node", "node1", "--with-tasks"]);
    // This one's tasks live on, while Slurm believes them lost and begins them again elsewhere. They hang until it has.
    let lost = sandbox.stop_tasks("node2");
    sandbox.does(&["kill-node", "node2"]);
    sandbox.does(&["kill-controller"]);
    sandbox.does(&["start-controller"]);
    sandbox.wait_until_twice(&lost);
    assert!(lost.iter().all(|task| signal("CONT", &task.pid)));
    sandbox.wait_until(&desk, "slurm", |status| status["n_complete"] == 12);
    check_same(&results(&desk.file("local")), &results(&desk.file("slurm")));
    check_attempts(&desk.file("slurm/attempts"), 12);
}

/// Every run was begun, and no run was won twice. (That an attempt won is not written down if it is killed just then.)
#[track_caller]
fn check_attempts(attempts: &Path, n_runs: usize) {
    let mut n_found = 0;
    for run in std::fs::read_dir(attempts).unwrap() {
        let files = std::fs::read_dir(run.unwrap().path()).unwrap().map(|file| file.unwrap().path());
        let ends = files.filter(|file| file.to_string_lossy().ends_with(".end.json"));
        let outcomes = ends.map(|file| {
            let end: serde_json::Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
            end["outcome"].clone()
        });
        assert!(outcomes.filter(|outcome| outcome == "won").count() <= 1);
        n_found += 1;
    }
    assert_eq!(n_found, n_runs);
}

#[test]
fn tasks_are_told_in_time_and_jobs_are_taken_back() {
    let Some(sandbox) = Sandbox::start() else { return };
    let desk = Desk::new();
    let mut study = STUDY;
    // Two long runs.
    (study[5], study[7], study[13], study[15]) = ("ems,no-symm", "sr-2way", "200000", "1");
    let words =
        ["--out", "slurm", "--engine", "slurm", "--time", "10", "--mem", "500M", "--array-limit", "2"];
    sandbox.succeeds(&desk, &[&study[..], &words].concat());
    sandbox.wait_until(&desk, "slurm", |status| status["n_running"] == 2);
    // As at the end of a task's time: a checkpoint is written, and the task asks for another turn.
    let slurm = |program: &str, args: &[&str]| {
        let conf = sandbox.path().join("slurm.conf");
        Command::new(program).args(args).env("SLURM_CONF", conf).status().unwrap()
    };
    let status = sandbox.status(&desk, "slurm").unwrap();
    let job = status["running"][0]["job"].as_str().unwrap().to_owned();
    assert!(slurm("scancel", &["-s", "USR1", "-b", &job]).success());
    sandbox.wait_until(&desk, "slurm", |status| status["queue"]["n_requeued"].as_u64() > Some(0));

    let said = sandbox.succeeds(&desk, &["study", "cancel", "slurm"]);
    assert!(said.contains("cancelled"), "{said}");
    let is_quiet = |status: &serde_json::Value| {
        status["n_running"] == 0
            && !["RUNNING", "PENDING", "COMPLETING"]
                .iter()
                .any(|state| status["queue"]["states"][state].is_u64())
    };
    sandbox.wait_until(&desk, "slurm", is_quiet);
    // The remaining runs continue here.
    let said = sandbox.run(&desk, &["study", "resume", "slurm", "--engine", "local"]);
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    desk.succeeds(&[&study[..], &["--out", "local"]].concat());
    check_same(&results(&desk.file("local")), &results(&desk.file("slurm")));
}
