//! `touchstream study resume`: a study goes on where it is.

use super::{Engine, HowArgs, read_spec, report, set_cache, submit_jobs, work};
use crate::study::slurm::{SlurmWords, read_submissions};
use anyhow::Result;
use clap::Args;
use std::path::PathBuf;
use touchstream_lab::study::StudyFolder;

#[derive(Args)]
pub struct ResumeArgs {
    /// The study's folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Folder of the cache [default: $TOUCHSTREAM_CACHE, else the user's cache]
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    /// Who does the runs [default: who did them before]
    #[arg(long, value_enum)]
    engine: Option<Engine>,
    #[command(flatten)]
    slurm: SlurmWords,
    #[command(flatten)]
    how: HowArgs,
}

impl ResumeArgs {
    pub fn run(&self) -> Result<()> {
        let folder = StudyFolder::at(&self.folder);
        let mut spec = read_spec(&folder)?;
        set_cache(&mut spec, self.cache.as_deref());
        let before = read_submissions(&folder)?;
        let engine = self.engine.unwrap_or(if before.is_empty() { Engine::Local } else { Engine::Slurm });
        match (engine, before.last()) {
            (Engine::Slurm, last) => {
                let (words, n_jobs) =
                    last.map_or((SlurmWords::default(), 1), |last| (last.words.clone(), last.n_jobs));
                let words = if self.slurm == SlurmWords::default() { &words } else { &self.slurm };
                submit_jobs(&folder, &spec, words, self.how.jobs.unwrap_or(n_jobs), self.cache.as_deref())
            }
            (Engine::Local, _) => {
                work(&folder, &spec, &self.how)?;
                report(&folder, &spec)
            }
        }
    }
}
