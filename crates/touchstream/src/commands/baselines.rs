//! `touchstream baselines`: what localization comes to without reward maps, on the screens and features of `train`.

mod npy;
mod regression;
mod report;

use crate::encoder_args::EncoderOptions;
use crate::run_setup::{OpenedRun, RunSetup};
use crate::say::{say, warn_user};
use crate::source_args::OpenArgs;
use crate::train_words::{PresetWord, TrainWords};
use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use rayon::prelude::*;
use report::BaselineRow;
pub use report::Report;
use std::path::{Path, PathBuf};
use touchstream_agent::Scenes;
use touchstream_baselines::{BoxedScenes, Score, best_fixed_box, mean_box};
use touchstream_env::pixel_box::PixelBox;
use touchstream_env::stimuli::Picture;
use touchstream_env::task::{Paradigm, Task, TouchReading};
use touchstream_env::trial::{BoundTask, ScreenRecipe, uniform_touches_iou};

#[derive(Args)]
pub struct BaselinesArgs {
    /// Task id or task file; it must be localization
    #[arg(long, value_name = "ID", default_value = "localization")]
    task: String,
    /// Where images come from: gallery, coco:PATH or cutouts:PATH
    #[arg(long, value_name = "SOURCE", default_value = "gallery")]
    data: String,
    /// What turns screens into features: compact, vgg16 or onnx:FILE
    #[arg(long, value_name = "ENCODER", default_value = "compact")]
    encoder: String,
    /// Whose features: ours or those that the paper prints; they differ in norm
    #[arg(long, value_enum, default_value = "default")]
    preset: PresetWord,
    /// The norm that scene vectors are scaled to [default: 2; 8 as the paper]
    #[arg(long, value_name = "NORM")]
    feature_norm: Option<f32>,
    /// A Python with scikit-learn: boxes are then regressed from features too (`scripts/python-env` makes one)
    #[arg(long, value_name = "FILE")]
    python: Option<PathBuf>,
    /// Print as JSON
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print as CSV
    #[arg(long)]
    csv: bool,
    #[command(flatten)]
    images: OpenArgs,
    #[command(flatten)]
    encoder_options: EncoderOptions,
}

pub fn run(args: &BaselinesArgs) -> Result<()> {
    let words = TrainWords {
        task: Some(args.task.clone()),
        data: Some(args.data.clone()),
        encoder: Some(args.encoder.clone()),
        preset: Some(args.preset),
        feature_norm: args.feature_norm,
        images: args.images.clone(),
        encoder_options: args.encoder_options.clone(),
        ..TrainWords::default()
    };
    let report = baselines(words, args.python.as_deref())?;
    match (args.json, args.csv) {
        (true, _) => say!("{}", serde_json::to_string_pretty(&report)?),
        (_, true) => say!("{}", report.csv().trim_end()),
        _ => say!("{}", report.table().trim_end()),
    }
    Ok(())
}

/// What the task of some words comes to without reward maps; with a Python that has scikit-learn, by regression too.
pub fn baselines(words: TrainWords, python: Option<&Path>) -> Result<Report> {
    let setup = RunSetup::new(words)?;
    check_task(&setup.tasks[0])?;
    python.map_or(Ok(()), regression::check_python)?;
    let opened = setup.open()?;
    let [train, validation] = [&opened.train, &opened.validations[0]]
        .map(|stream| boxed_scenes(stream.bound_task(), &opened))
        .map(|scenes| scenes.context("the screens cannot be used"));
    let (train, validation) = (train?, validation?);
    let mut rows = fixed_rows(train.boxes(), validation.boxes());
    match python {
        Some(python) => rows.extend(regression::rows(python, &train, &validation)?),
        None => warn_user!("no regression: --python names no Python with scikit-learn"),
    }
    Ok(Report {
        task: setup.tasks[0].id().to_owned(),
        data: opened.data.clone(),
        encoder: opened.encoder_name.clone(),
        encoder_hash: opened.identity.encoder_hash.clone(),
        calibration_hash: opened.identity.calibration_hash.clone(),
        n_train: train.len(),
        n_validation: validation.len(),
        baselines: rows,
    })
}

fn check_task(task: &Task) -> Result<()> {
    if !matches!(task.paradigm(), Paradigm::Localization) {
        let (id, name) = (task.id(), task.paradigm().short_name());
        bail!("task: baselines are of localization; `{id}` is {name}");
    }
    if task.reading() != TouchReading::PLAIN {
        bail!(
            "task: `{}` reads touches otherwise than they are; baselines are of plain localization",
            task.id()
        );
    }
    Ok(())
}

/// Every screen of a split, each once: trials show them all equally often.
fn boxed_scenes(task: &BoundTask, opened: &OpenedRun) -> Result<BoxedScenes> {
    let (mut scenes, mut boxes) = (Vec::new(), Vec::new());
    for recipe in task.screens().unwrap_or_default() {
        let ScreenRecipe::Whole { split, picture: Picture::Object { index } } = recipe else { continue };
        let scene = opened.scenes.index_of(&recipe);
        let scene = scene.ok_or_else(|| anyhow!("there are no features of {recipe:?}"))?;
        scenes.extend_from_slice(opened.scenes.scene(scene));
        boxes.push(task.stimuli().object(split, index).bounds);
    }
    Ok(BoxedScenes::new(opened.scenes.shape().scene_len, scenes, boxes)?)
}

fn overlaps(guesses: impl IntoIterator<Item = PixelBox>, truths: &[PixelBox]) -> Vec<f64> {
    guesses.into_iter().zip(truths).map(|(guess, truth)| f64::from(guess.iou(*truth))).collect()
}

/// Those that look at no screen.
fn fixed_rows(train: &[PixelBox], validation: &[PixelBox]) -> Vec<BaselineRow> {
    let uniform: Vec<f64> = validation.par_iter().map(|&bounds| uniform_touches_iou(bounds)).collect();
    let fixed = |name, bounds: PixelBox| {
        let guesses = std::iter::repeat_n(bounds, validation.len());
        let [first, last] = bounds.corners();
        let details =
            format!("rows {} to {}, columns {} to {}", first.row(), last.row(), first.col(), last.col());
        BaselineRow::new(name, Score::of(&overlaps(guesses, validation)), details)
    };
    vec![
        BaselineRow::new("uniform touches", Score::of(&uniform), "all pairs of touches, exactly".into()),
        fixed("whole screen", PixelBox::SCREEN),
        fixed("mean box", mean_box(train)),
        fixed("best fixed box", best_fixed_box(train)),
    ]
}
