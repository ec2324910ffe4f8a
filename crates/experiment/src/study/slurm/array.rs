//! A job array: its list of runs, its script, and the line that submits it.

use crate::error::{Context, Error, Result, bail};
use crate::study::StudyFolder;
use crate::study::provenance::quoted;
use crate::study::slurm::settings::{SlurmOptions, WARNING_SECS};
use std::path::{Path, PathBuf};
use std::process::Command;
use touchstream_files::write_aside;

/// The exit code of a task that was stopped and should be requeued.
pub const WANTS_ANOTHER_TURN: i32 = 75;

const SCRIPT: &str = r#"#!/bin/bash
trap 'kill -USR1 "$program" 2>/dev/null' USR1
trap 'kill -TERM "$program" 2>/dev/null' TERM
PROGRAM &
program=$!
# A signal ends the waiting, not the program.
while wait "$program"; code=$?; kill -0 "$program" 2>/dev/null; do :; done
if [ "$code" -eq AGAIN ]; then
    scontrol requeue "${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}"
fi
exit "$code"
"#;

pub struct Array<'a> {
    pub folder: &'a StudyFolder,
    /// `bases` or `runs`.
    pub what: &'a str,
    pub study: &'a str,
    /// The runs of each task.
    pub tasks: Vec<Vec<String>>,
    pub options: &'a SlurmOptions,
    pub n_jobs: u16,
    pub cache: Option<&'a Path>,
    /// The array that must have ended first.
    pub after: Option<u64>,
}

impl Array<'_> {
    /// Submits the array; returns its id and its list of runs.
    pub fn submit(&self, number: usize) -> Result<(u64, PathBuf)> {
        let folder = std::path::absolute(self.folder.path())?;
        let list = folder.join("slurm").join(format!("{number}-{}.txt", self.what));
        let lines: Vec<String> = self.tasks.iter().map(|names| names.join(" ")).collect();
        write_aside(&list, (lines.join("\n") + "\n").as_bytes()).at(&list)?;
        // If Slurm cannot write a job's output, it accepts the job and then fails it without a message.
        let logs = std::path::absolute(self.folder.path().join("logs"))?;
        std::fs::create_dir_all(&logs).at(&logs)?;
        let script = folder.join("slurm").join(format!("{number}-{}.sh", self.what));
        write_aside(&script, self.script(&folder, &list)?.as_bytes()).at(&script)?;
        let mut sbatch = Command::new("sbatch");
        let limit = self.options.array_limit.map_or_else(String::new, |limit| format!("%{limit}"));
        sbatch
            .args(["--parsable", "--requeue", "--open-mode=append", "--export=ALL"])
            .arg(format!("--job-name=touchstream-{}-{}", self.study, self.what))
            .arg(format!("--array=0-{}{limit}", self.tasks.len() - 1))
            .arg(format!("--signal=B:USR1@{WARNING_SECS}"))
            .arg(format!("--cpus-per-task={}", self.n_jobs))
            .arg(format!("--chdir={}", folder.display()))
            .arg(format!("--output={}/%A_%a.out", logs.display()))
            .args(self.options.sbatch_args());
        if let Some(job) = self.after {
            sbatch.arg(format!("--dependency=afterany:{job}"));
        }
        let answer = answer_of(sbatch.arg(&script))?;
        // On a federated cluster the id is followed by the cluster's name.
        let id = answer.trim().split(';').next().unwrap_or_default();
        let id = id
            .parse()
            .map_err(|_| Error::Slurm(format!("sbatch answers `{}` instead of a job's id", answer.trim())))?;
        Ok((id, list))
    }

    /// Passes signals on to the program. The shell requeues the task, because Slurm's commands may be missing inside a
    /// container.
    fn script(&self, folder: &Path, list: &Path) -> Result<String> {
        let program = std::env::current_exe().context("the path of this program cannot be determined")?;
        let mut words = Vec::new();
        if let Some(image) = &self.options.container {
            words.extend(["apptainer".to_owned(), "exec".to_owned(), quoted(image)]);
        }
        words.push(quoted(&program.display().to_string()));
        words.extend(["study", "work"].map(String::from));
        words.push(quoted(&folder.display().to_string()));
        words.push(format!("--list {}", quoted(&list.display().to_string())));
        words.push("--line \"$SLURM_ARRAY_TASK_ID\"".to_owned());
        words.push(format!("--jobs {}", self.n_jobs));
        if let Some(cache) = self.cache {
            words.push(format!("--cache {}", quoted(&cache.display().to_string())));
        }
        Ok(SCRIPT.replace("PROGRAM", &words.join(" ")).replace("AGAIN", &WANTS_ANOTHER_TURN.to_string()))
    }
}

/// Runs one of Slurm's programs and returns its output; an error contains what it printed.
pub fn answer_of(command: &mut Command) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| {
        format!("cannot start {name}; is this a machine from which jobs of a Slurm cluster are submitted?")
    })?;
    if !output.status.success() {
        bail!(Slurm, "{name}: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
