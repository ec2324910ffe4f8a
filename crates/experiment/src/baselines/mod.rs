//! Baselines of localization: fixed boxes, and boxes regressed from the same features by scikit-learn.

mod box_numbers;
mod boxed_scenes;
mod fixed_box;
mod npy;
mod regression;
mod report;
mod score;

use crate::config::RawConfig;
use crate::error::{Context, Result, bail};
use crate::inputs::Inputs;
use crate::setup::RunSetup;
use crate::watch::{Event, Watch};
use boxed_scenes::BoxedScenes;
use fixed_box::{best_fixed_box, mean_box};
use rayon::prelude::*;
pub use report::{BaselineRow, BaselineSummary};
use score::score_of;
use std::path::Path;
use touchstream_agents::FeatureSource;
use touchstream_env::pixel_box::PixelBox;
use touchstream_env::stimuli::ImageId;
use touchstream_env::task::{Paradigm, Task, TouchTransform};
use touchstream_env::trial::{BoundTask, ScreenRecipe, uniform_touches_iou};

/// Computes the baselines for a configuration's task; those by regression only if there is a Python with scikit-learn.
pub fn baselines(config: RawConfig, python: Option<&Path>, watch: &dyn Watch) -> Result<BaselineSummary> {
    let setup = RunSetup::new(config)?;
    check_task(&setup.tasks[0])?;
    python.map_or(Ok(()), regression::check_python)?;
    let inputs = setup.open(watch)?;
    let world = setup.world(&inputs)?;
    let [train, validation] = [&world.train, &world.validations[0]]
        .map(|stream| boxed_scenes(stream.bound_task(), &inputs))
        .map(|scenes| scenes.context("the screens cannot be used"));
    let (train, validation) = (train?, validation?);
    let mut rows = fixed_rows(&train.boxes, &validation.boxes);
    match python {
        Some(python) => rows.extend(regression::rows(python, &train, &validation)?),
        None => watch.on(Event::NoRegression),
    }
    Ok(BaselineSummary {
        task: setup.tasks[0].id().to_owned(),
        data: inputs.data.clone(),
        encoder: inputs.encoder_name.clone(),
        encoder_hash: inputs.encoder_hash.clone(),
        calibration_hash: inputs.calibration_hash.clone(),
        n_train: train.boxes.len(),
        n_validation: validation.boxes.len(),
        baselines: rows,
    })
}

fn check_task(task: &Task) -> Result<()> {
    if !matches!(task.paradigm(), Paradigm::Localization) {
        let (id, name) = (task.id(), task.paradigm().short_name());
        bail!(Settings, "task: baselines are of localization; `{id}` is {name}");
    }
    if task.touch_transform() != TouchTransform::IDENTITY {
        bail!(
            Settings,
            "task: `{}` reads touches otherwise than they are; baselines are of plain localization",
            task.id()
        );
    }
    Ok(())
}

/// All screens of a split, each once; in trials they are equally frequent.
fn boxed_scenes(task: &BoundTask, inputs: &Inputs) -> Result<BoxedScenes> {
    let (mut scenes, mut boxes) = (Vec::new(), Vec::new());
    for recipe in task.screens().unwrap_or_default() {
        let ScreenRecipe::Whole { split, image: ImageId::Object { index } } = recipe else { continue };
        let scene = inputs.scenes.index_of(&recipe);
        let scene = scene.with_context(|| format!("there are no features of {recipe:?}"))?;
        scenes.extend_from_slice(inputs.scenes.scene(scene));
        boxes.push(task.stimuli().object(split, index).bounds);
    }
    if boxes.is_empty() {
        bail!(Baselines, "there are no screens");
    }
    Ok(BoxedScenes { scene_len: inputs.scenes.shape().scene_len, scenes, boxes })
}

fn overlaps(guesses: impl IntoIterator<Item = PixelBox>, truths: &[PixelBox]) -> Vec<f64> {
    guesses.into_iter().zip(truths).map(|(guess, truth)| f64::from(guess.iou(*truth))).collect()
}

/// The baselines that do not depend on the screen.
fn fixed_rows(train: &[PixelBox], validation: &[PixelBox]) -> Vec<BaselineRow> {
    let uniform: Vec<f64> = validation.par_iter().map(|&bounds| uniform_touches_iou(bounds)).collect();
    let fixed = |name, bounds: PixelBox| {
        let guesses = std::iter::repeat_n(bounds, validation.len());
        let [first, last] = bounds.corners();
        let details =
            format!("rows {} to {}, columns {} to {}", first.row(), last.row(), first.col(), last.col());
        BaselineRow::new(name, score_of(&overlaps(guesses, validation)), details)
    };
    vec![
        BaselineRow::new("uniform touches", score_of(&uniform), "all pairs of touches, exactly".into()),
        fixed("whole screen", PixelBox::SCREEN),
        fixed("mean box", mean_box(train)),
        fixed("best fixed box", best_fixed_box(train)),
    ]
}
