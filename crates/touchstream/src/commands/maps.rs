//! `touchstream maps`: a run's predicted reward maps on new screens.

use crate::settings_args::{CacheArg, choice};
use crate::stdio::print_line;
use crate::terminal::Terminal;
use anyhow::Result;
use clap::Args;
use std::path::PathBuf;
use touchstream_env::stimuli::Split;
use touchstream_experiment::FinishedRun;
use touchstream_experiment::maps::{MapSnapshot, Outlook, choose_examples, map_strip};
use touchstream_experiment::output::OutputFile;

#[derive(Args)]
pub struct MapsArgs {
    /// The run's folder
    run: PathBuf,
    /// The PNG file to write
    #[arg(long, value_name = "FILE", default_value = "maps.png")]
    out: PathBuf,
    /// Number of trials
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..=200))]
    count: u64,
    /// The split of the images
    #[arg(long, value_parser = choice::<Split>(), default_value = "validation")]
    split: Split,
    /// Seed of the trials [default: one that training never used]
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,
    #[command(flatten)]
    cache: CacheArg,
}

pub fn run(args: &MapsArgs) -> Result<()> {
    let out = OutputFile::create(&args.out)?;
    let run = FinishedRun::open(&args.run, args.cache.cache.clone(), &Terminal::default())?;
    let stream = run.stream(args.split, args.seed.unwrap_or_else(|| run.fresh_seed()))?;
    let outlook = Outlook { scale: run.facts.agent.touch_scale, k_f: run.facts.agent.k_f };
    let examples = choose_examples(&stream, &run.inputs.scenes, outlook, args.count as usize)?;
    let step = run.facts.n_steps;
    let snapshot = MapSnapshot::take(step, 1, &run.skill, &examples, &run.inputs.scenes);
    out.finish_with(&map_strip(&examples, &[snapshot]).to_png()?)?;
    print_line!("{}", args.out.display());
    Ok(())
}
