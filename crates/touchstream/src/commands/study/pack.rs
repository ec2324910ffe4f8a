//! `touchstream study pack`: a study's results as one small file.

use crate::stdio::print_line;
use crate::terminal::Terminal;
use anyhow::{Context, Result};
use clap::Args;
use std::path::PathBuf;
use touchstream_experiment::study::StudyFolder;
use touchstream_experiment::study::{ENDING, Pictures, pack};

#[derive(Args)]
pub struct PackArgs {
    /// The study's folder; only completed runs are packed
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// The file to write [default: DIR.tar.gz]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Also pack reward maps during training, for the page of a report
    #[arg(long)]
    pictures: bool,
}

impl PackArgs {
    pub fn run(&self) -> Result<()> {
        let out = match &self.out {
            Some(out) => out.clone(),
            None => {
                let folder = std::path::absolute(&self.folder)?;
                let name = folder.file_name().context("the folder has no name; use --out FILE")?;
                folder.with_file_name(format!("{}{ENDING}", name.to_string_lossy()))
            }
        };
        let pictures = if self.pictures { Pictures::Maps } else { Pictures::LeftOut };
        let n_runs = pack(&StudyFolder::at(&self.folder), pictures, &out, &Terminal::default())?;
        print_line!(
            "{}  {n_runs} runs; read it with `touchstream report` and `touchstream verify`",
            out.display()
        );
        Ok(())
    }
}
