//! `touchstream study resume`: resumes a study where it was started.

use super::{Engine, HowArgs, set_cache, submit_jobs, this_start, work_and_report};
use crate::settings_args::{CacheArg, Typed};
use crate::stdio::warn_user;
use crate::terminal::Terminal;
use anyhow::{Result, bail};
use clap::Args;
use std::path::PathBuf;
use touchstream_experiment::config::Settings;
use touchstream_experiment::study::slurm::{SlurmOptions, read_submissions};
use touchstream_experiment::study::{StudyFolder, make_missing_baselines, read_spec};

#[derive(Args)]
pub struct ResumeArgs {
    /// The study's folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    #[command(flatten)]
    cache: CacheArg,
    /// Where runs are executed [default: as before]
    #[arg(long, value_enum)]
    engine: Option<Engine>,
    #[command(flatten)]
    how: HowArgs,
    #[command(flatten)]
    slurm: Typed<SlurmOptions>,
}

impl ResumeArgs {
    pub fn run(&self) -> Result<()> {
        let folder = StudyFolder::at(&self.folder);
        let mut spec = read_spec(&folder)?;
        set_cache(&mut spec, self.cache.cache.as_deref());
        this_start().note_in(&folder)?;
        if self.engine == Some(Engine::Local) && *self.slurm != SlurmOptions::default() {
            bail!("--partition, --time and the like are for --engine slurm");
        }
        let make_baselines = || {
            // A Python that was removed must not stop the other runs.
            make_missing_baselines(&folder, &spec, &Terminal::default()).or_else(|error| {
                warn_user!("baselines of localization are still missing: {}", error.text());
                Ok(())
            })
        };
        // Earlier submissions are irrelevant here.
        let before = match self.engine {
            Some(Engine::Local) => Vec::new(),
            _ => read_submissions(&folder)?,
        };
        let engine = self.engine.unwrap_or(if before.is_empty() { Engine::Local } else { Engine::Slurm });
        match (engine, before.last()) {
            (Engine::Slurm, last) => {
                make_baselines()?;
                let before = last.map_or_else(SlurmOptions::default, |last| last.words.clone());
                let options = self.slurm.0.clone().over(before);
                let n_jobs = self.how.jobs.or(last.map(|last| last.n_jobs)).unwrap_or(1);
                let cache = self.cache.cache.clone().or_else(|| last.and_then(|last| last.cache.clone()));
                submit_jobs(&folder, &spec, &options, n_jobs, cache.as_deref())
            }
            (Engine::Local, _) => work_and_report(&folder, &spec, &self.how, make_baselines),
        }
    }
}
