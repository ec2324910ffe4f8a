//! `touchstream baselines`: baselines of localization, on the screens and features of `train`.

use crate::settings_args::{Typed, choice};
use crate::stdio::{print_json, print_line};
use crate::terminal::Terminal;
use crate::text_table::aligned;
use anyhow::Result;
use clap::Args;
use std::path::PathBuf;
use touchstream_experiment::baselines::{BaselineSummary, baselines};
use touchstream_experiment::config::{EncoderOptions, ImageOptions, Preset, RawConfig};

#[derive(Args)]
pub struct BaselinesArgs {
    /// A localization task: id or task file
    #[arg(long, value_name = "ID", default_value = "localization")]
    task: String,
    /// Where images come from: gallery, coco:PATH or cutouts:PATH
    #[arg(long, value_name = "SOURCE", default_value = "gallery")]
    data: String,
    /// The encoder: compact, vgg16 or onnx:FILE
    #[arg(long, value_name = "ENCODER", default_value = "compact")]
    encoder: String,
    /// Feature norm of our preset or of the paper's
    #[arg(long, value_parser = choice::<Preset>(), default_value = "default")]
    preset: Preset,
    /// Norm of scene vectors [default: 2; 8 with --preset paper]
    #[arg(long, value_name = "NORM")]
    feature_norm: Option<f32>,
    /// A Python with scikit-learn: boxes are also regressed from features (`scripts/python-env` installs it into .venv)
    #[arg(long, value_name = "FILE")]
    python: Option<PathBuf>,
    /// Print as JSON
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print as CSV
    #[arg(long)]
    csv: bool,
    #[command(flatten)]
    images: Typed<ImageOptions>,
    #[command(flatten)]
    encoder_options: Typed<EncoderOptions>,
}

pub fn run(args: &BaselinesArgs) -> Result<()> {
    let config = RawConfig {
        task: Some(args.task.clone()),
        data: Some(args.data.clone()),
        encoder: Some(args.encoder.clone()),
        preset: Some(args.preset),
        feature_norm: args.feature_norm,
        images: args.images.0.clone(),
        encoder_options: args.encoder_options.0.clone(),
        ..RawConfig::default()
    };
    let summary = baselines(config, args.python.as_deref(), &Terminal::default())?;
    match (args.json, args.csv) {
        (true, _) => print_json(&summary)?,
        (_, true) => print_line!("{}", summary.csv().trim_end()),
        _ => print_line!("{}", table(&summary).trim_end()),
    }
    Ok(())
}

fn table(summary: &BaselineSummary) -> String {
    let head = ["baseline", "mean IoU", "95 % interval", "on", "chosen on training screens"];
    let mut cells = vec![head.map(String::from)];
    for row in &summary.baselines {
        cells.push([
            row.name.clone(),
            format!("{:.3}", row.mean_iou),
            if row.n > 1 { format!("{:.3} to {:.3}", row.low, row.high) } else { "-".to_owned() },
            format!("{} screen{}", row.n, if row.n == 1 { "" } else { "s" }),
            row.details.clone(),
        ]);
    }
    format!(
        "{}\n{} on {} with {}: {} training screens\n",
        aligned(&cells),
        summary.task,
        summary.data.source,
        summary.encoder,
        summary.n_train
    )
}
