//! `touchstream encoder check`: an encoder's features of portraits, and which of them it finds alike.

use crate::say::{say, warn_user};
use crate::settings_args::{SourceArgs, Typed};
use crate::terminal::Terminal;
use anyhow::Result;
use clap::Args;
use std::path::PathBuf;
use touchstream_encoder::EncoderSpec;
use touchstream_experiment::config::{DataFacts, EncoderOptions};
use touchstream_experiment::encoder_check::{CheckFacts, check, sheet_of};
use touchstream_experiment::output::write_file;
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
    /// Queries, portraits of the validation split; twice as many of the training split are searched
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(2..=20_000))]
    n: u32,
    /// The sheet to write
    #[arg(long, value_name = "FILE.png", default_value = "neighbours.png")]
    out: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &CheckArgs) -> Result<()> {
    let terminal = Terminal::default();
    let cache_dir = args.source.how.cache_dir();
    let encoder = args.how.open(&args.encoder, cache_dir.as_deref(), &terminal)?;
    let opened = args.source.how.open(&args.source.data, Needs::PORTRAITS, &terminal)?;
    let data = DataFacts::of(&opened.manifest);
    let checked = check(encoder.as_ref(), opened.stimuli.as_ref(), args.n as usize, &terminal)?;
    let facts = CheckFacts::new(encoder.as_ref(), data, &checked);
    let sheet = sheet_of(&checked, opened.stimuli.as_ref(), &facts)?;
    write_file(&args.out, &sheet.to_png()?)?;
    if args.json {
        say!("{}", serde_json::to_string_pretty(&facts)?);
    } else {
        say_facts(&facts)?;
        say!("{}", args.out.display());
    }
    Ok(())
}

/// Prints the findings.
fn say_facts(facts: &CheckFacts) -> Result<()> {
    let scene = &facts.scene;
    say!("{} {}", facts.encoder, facts.encoder_hash);
    say!("  data          {} {}", facts.data.source, facts.data.content_hash);
    say!(
        "  speed         {:.2} ms a screen, {:.1} screens a second ({} threads, batches of {})",
        facts.ms_per_screen,
        facts.screens_per_sec,
        facts.n_threads,
        facts.batch_size
    );
    say!("  scene vector  {}", scene.numbers.line());
    say!("                norms {:.3} to {:.3}", scene.min_norm, scene.max_norm);
    say!(
        "                mean cosine between screens {:.3}, centred {:.3}",
        scene.mean_cosine,
        scene.mean_centred_cosine
    );
    match facts.map.len {
        0 => say!("  spatial map   none"),
        _ => say!("  spatial map   {}", facts.map.line()),
    }
    say!("  neighbours    {}", facts.accuracy_line());
    facts.warnings().iter().for_each(|warning| warn_user!("warning: {warning}"));
    Ok(())
}
