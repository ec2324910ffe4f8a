//! Support vector regression by scikit-learn, in a process of its own.

use crate::commands::baselines::npy::write_npy;
use crate::commands::baselines::overlaps;
use crate::commands::baselines::report::BaselineRow;
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::path::Path;
use std::process::{Command, Stdio};
use touchstream_baselines::{BoxNumbers, BoxedScenes, Score, box_from_numbers, numbers_from_box};

const SCRIPT: &str = include_str!("../../../../../scripts/svr_baseline.py");

/// What the script answers.
#[derive(Deserialize)]
struct Answer {
    scikit_learn: String,
    kernel: String,
    cost: f64,
    epsilon: f64,
    cross_validated_iou: f64,
    boxes: Vec<BoxNumbers>,
}

/// Hands over scene vectors and training boxes; validation boxes stay here.
pub fn row(python: &Path, train: &BoxedScenes, validation: &BoxedScenes) -> Result<BaselineRow> {
    let folder = tempfile::tempdir().context("no folder for what scikit-learn is to read")?;
    let write =
        |name: &str, numbers: &[f32], n_columns| write_npy(&folder.path().join(name), numbers, n_columns);
    write("train_scenes.npy", train.numbers(), train.scene_len())?;
    write("validation_scenes.npy", validation.numbers(), validation.scene_len())?;
    let boxes = train.boxes().iter().flat_map(|&bounds| numbers_from_box(bounds));
    write("train_boxes.npy", &boxes.map(|number| number as f32).collect::<Vec<f32>>(), 4)?;
    let output = Command::new(python)
        .args(["-c", SCRIPT])
        .arg(folder.path())
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("python: cannot start {}", python.display()))?;
    if !output.status.success() {
        bail!(
            "support vector regression failed ({}), the reason is above; `scripts/python-env --svr` makes a Python \
             with scikit-learn",
            output.status
        );
    }
    let answer: Answer =
        serde_json::from_slice(&output.stdout).context("support vector regression gave no answer")?;
    if answer.boxes.len() != validation.len() {
        bail!("support vector regression gave {} boxes for {} screens", answer.boxes.len(), validation.len());
    }
    let Answer { scikit_learn, kernel, cost, epsilon, cross_validated_iou, boxes } = answer;
    let guesses = boxes.into_iter().map(box_from_numbers);
    let details = format!(
        "{kernel}, C {cost}, epsilon {epsilon}, cross-validated {cross_validated_iou:.3}, scikit-learn {scikit_learn}"
    );
    Ok(BaselineRow::new(
        "support vector regression",
        Score::of(&overlaps(guesses, validation.boxes())),
        details,
    ))
}
