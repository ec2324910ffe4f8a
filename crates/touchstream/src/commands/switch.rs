//! `touchstream switch`: a task, then another one with what was learned.

use crate::commands::train::{leave, stop_flag};
use crate::say::{say, warn_user};
use crate::switch::pair::{pairs, tasks_of_all};
use crate::switch::report::{SwitchReport, write_files};
use crate::switch::study::Study;
use crate::train_words::{PresetWord, TrainWords, VotingWord};
use anyhow::{Result, bail};
use clap::Args;
use std::path::PathBuf;
use touchstream_lab::run::Ending;
use touchstream_lab::switching::Variant;

#[derive(Args)]
pub struct SwitchArgs {
    /// Switches of the paper: numbers and ranges, such as 13 or 1..15 or 1,4,11..15; 0 is the same task again
    #[arg(long, value_name = "N,...", conflicts_with_all = ["from", "to"])]
    id: Option<String>,
    /// The task that is learned first: an id or a task file
    #[arg(long, value_name = "TASK", requires = "to")]
    from: Option<String>,
    /// The task after it
    #[arg(long, value_name = "TASK", requires = "from")]
    to: Option<String>,
    /// Who is voted on
    #[arg(
        long = "voting",
        value_enum,
        value_name = "HOW,...",
        value_delimiter = ',',
        default_value = "layer"
    )]
    votings: Vec<VotingWord>,
    /// Voting alone, without transformed touches and maps
    #[arg(long)]
    no_transformations: bool,
    /// Also: the old module with shuffled weights, the old module learning on, and the old module as it is
    #[arg(long)]
    controls: bool,
    /// How many seeds
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: u64,
    /// Steps of the first task [default: 30000, 60000 with four classes, 100000 for match-to-sample]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    base_steps: Option<u64>,
    /// Runs side by side [default: one a core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// The study's folder; runs that are in it are not done again
    #[arg(long, value_name = "DIR", default_value = "runs/switches")]
    out: PathBuf,
    /// Print the gains as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    words: TrainWords,
}

impl SwitchArgs {
    fn study(&self) -> Result<Study> {
        for (word, is_said) in [
            ("task", self.words.task.is_some()),
            ("map-steps", self.words.map_steps.is_some()),
            ("map-examples", self.words.map_examples.is_some()),
            ("evaluate-every", self.words.evaluate_every.is_some()),
        ] {
            if is_said {
                bail!(
                    "--{word} is for `touchstream train`; `touchstream switch --help` says what can be chosen here"
                );
            }
        }
        if self.words.steps == Some(0) {
            bail!("steps: a run of 0 steps learns nothing");
        }
        let pairs = pairs(self.id.as_deref(), self.from.as_deref(), self.to.as_deref())?;
        let centred_on = if self.id.is_some() { tasks_of_all()? } else { Vec::new() };
        let first_seed = self.words.seed.unwrap_or(1);
        let n_cores = std::thread::available_parallelism().map_or(1, usize::from);
        let mut words = self.words.clone();
        (words.seed, words.steps) = (None, None);
        Ok(Study {
            pairs,
            centred_on,
            variants: self.variants(),
            judges_old: self.controls,
            seeds: (0..self.seeds).map(|idx| first_seed.wrapping_add(idx)).collect(),
            base_steps: self.base_steps,
            steps: self.words.steps,
            folder: self.out.clone(),
            n_jobs: self.jobs.map_or(n_cores, usize::from),
            words,
        })
    }

    fn variants(&self) -> Vec<(String, Variant)> {
        let mut variants = vec![("scratch".to_owned(), Variant::Scratch)];
        let preset = self.words.preset.unwrap_or(PresetWord::Default);
        for (idx, &word) in self.votings.iter().enumerate() {
            if self.votings[..idx].contains(&word) {
                continue;
            }
            let name = match word {
                VotingWord::Layer => "layer",
                VotingWord::Unit => "unit",
            };
            let settings = word.settings(preset, !self.no_transformations);
            let name = if self.no_transformations { format!("{name}-plain") } else { name.to_owned() };
            if self.controls {
                variants.push((format!("{name}-shuffled"), Variant::Shuffled(settings)));
            }
            variants.push((name, Variant::Voting(settings)));
        }
        if self.controls {
            variants.push(("fine-tuning".into(), Variant::FineTuning));
        }
        variants
    }
}

pub fn run(args: &SwitchArgs) -> Result<()> {
    let study = args.study()?;
    let opened = study.open()?;
    let must_stop = stop_flag()?;
    let Some(outcomes) = study.run(&opened, &must_stop)? else {
        warn_user!("stopped; the same command goes on");
        return leave(Ending::Interrupted);
    };
    let report = SwitchReport::new(&study, &outcomes)?;
    let files = write_files(&study, &opened, &outcomes, &report)?;
    if args.json {
        say!("{}", serde_json::to_string_pretty(&report)?);
        return Ok(());
    }
    say!("{}", report.text());
    for file in files {
        say!("{}", file.display());
    }
    Ok(())
}
