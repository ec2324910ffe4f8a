//! `touchstream encoder check`: an encoder's features of portraits, and their nearest neighbours.

use crate::settings_args::{SourceArgs, Typed};
use crate::stdio::{print_json, print_line, warn_user};
use crate::terminal::Terminal;
use anyhow::Result;
use clap::Args;
use std::path::PathBuf;
use touchstream_encoder::EncoderSpec;
use touchstream_experiment::config::{DataFacts, EncoderOptions};
use touchstream_experiment::encoder_check::{CheckFacts, check, sheet_of};
use touchstream_experiment::output::OutputFile;
use touchstream_stimuli::Needs;

#[derive(Args)]
pub struct CheckArgs {
    /// compact, vgg16 or onnx:FILE
    #[arg(value_name = "ENCODER", default_value_t)]
    encoder: EncoderSpec,
    #[command(flatten)]
    how: Typed<EncoderOptions>,
    #[command(flatten)]
    source: SourceArgs,
    /// Number of queries (validation portraits); their neighbours are searched in twice as many training portraits
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(2..=20_000))]
    n: u32,
    /// The PNG file to write
    #[arg(long, value_name = "FILE.png", default_value = "neighbours.png")]
    out: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &CheckArgs) -> Result<()> {
    let terminal = Terminal::default();
    let out = OutputFile::create(&args.out)?;
    let cache_dir = args.source.how.cache_dir();
    let encoder = args.how.open(&args.encoder, cache_dir.as_deref(), &terminal)?;
    let opened = args.source.how.open(&args.source.data, Needs::PORTRAITS, &terminal)?;
    let data = DataFacts::of(&opened.manifest);
    let checked = check(encoder.as_ref(), opened.stimuli.as_ref(), args.n as usize, &terminal)?;
    let facts = CheckFacts::new(encoder.as_ref(), data, &checked);
    let sheet = sheet_of(&checked, opened.stimuli.as_ref(), &facts)?;
    out.finish_with(&sheet.to_png()?)?;
    if args.json {
        print_json(&facts)?;
    } else {
        print_facts(&facts)?;
        print_line!("{}", args.out.display());
    }
    Ok(())
}

fn print_facts(facts: &CheckFacts) -> Result<()> {
    let scene = &facts.scene;
    print_line!("{} {}", facts.encoder, facts.encoder_hash);
    print_line!("  data          {} {}", facts.data.source, facts.data.content_hash);
    print_line!(
        "  speed         {:.2} ms per screen, {:.1} screens per second ({} threads, batches of {})",
        facts.ms_per_screen,
        facts.screens_per_sec,
        facts.n_threads,
        facts.batch_size
    );
    print_line!("  scene vector  {}", scene.numbers.line());
    print_line!("                norms {:.3} to {:.3}", scene.min_norm, scene.max_norm);
    print_line!(
        "                mean cosine between screens {:.3}, centred {:.3}",
        scene.mean_cosine,
        scene.mean_centred_cosine
    );
    match facts.map.len {
        0 => print_line!("  spatial map   none"),
        _ => print_line!("  spatial map   {}", facts.map.line()),
    }
    print_line!("  neighbours    {}", facts.accuracy_line());
    facts.warnings().iter().for_each(|warning| warn_user!("warning: {warning}"));
    Ok(())
}
