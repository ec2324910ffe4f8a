//! Ridge and support vector regression by scikit-learn, in a separate process.

use crate::baselines::box_numbers::{BoxNumbers, box_from_numbers, numbers_from_box};
use crate::baselines::boxed_scenes::BoxedScenes;
use crate::baselines::npy::write_npy;
use crate::baselines::overlaps;
use crate::baselines::report::BaselineRow;
use crate::baselines::score::score_of;
use crate::error::{Context, Result, bail};
use serde::Deserialize;
use std::path::Path;
use std::process::{Command, Stdio};

const SCRIPT: &str = include_str!("../../../../scripts/box_regression.py");

/// The script's output for each regression.
#[derive(Deserialize)]
struct Answer {
    name: String,
    details: String,
    boxes: Vec<BoxNumbers>,
}

/// Checks that a Python has scikit-learn, before anything is encoded.
pub fn check_python(python: &Path) -> Result<()> {
    let output = Command::new(python)
        .args(["-c", "import sklearn; print(sklearn.__version__)"])
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("python: cannot start {}", python.display()))?;
    if output.status.success() && !output.stdout.is_empty() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let reason = said.lines().last().unwrap_or("it did not answer");
    bail!(
        Baselines,
        "python: {} has no scikit-learn ({reason}); `scripts/python-env` makes a Python that has it",
        python.display()
    );
}

/// Passes scene vectors and training boxes to the script; validation boxes are never passed.
pub fn rows(python: &Path, train: &BoxedScenes, validation: &BoxedScenes) -> Result<Vec<BaselineRow>> {
    let folder = tempfile::tempdir().context("no folder for what scikit-learn is to read")?;
    let write =
        |name: &str, numbers: &[f32], n_columns| write_npy(&folder.path().join(name), numbers, n_columns);
    write("train_scenes.npy", &train.scenes, train.scene_len)?;
    write("validation_scenes.npy", &validation.scenes, validation.scene_len)?;
    let boxes = train.boxes.iter().flat_map(|&bounds| numbers_from_box(bounds));
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
            Baselines,
            "regression failed ({}), the reason is above; `scripts/python-env` makes a Python with scikit-learn",
            output.status
        );
    }
    let answers: Vec<Answer> =
        serde_json::from_slice(&output.stdout).context("the regressions gave no answer")?;
    answers.into_iter().map(|answer| row_of(answer, validation)).collect()
}

fn row_of(answer: Answer, validation: &BoxedScenes) -> Result<BaselineRow> {
    let Answer { name, details, boxes } = answer;
    let truths = &validation.boxes;
    if boxes.len() != truths.len() {
        bail!(Baselines, "{name} gave {} boxes for {} screens", boxes.len(), truths.len());
    }
    let guesses = boxes.into_iter().map(box_from_numbers);
    Ok(BaselineRow::new(&name, score_of(&overlaps(guesses, truths)), details))
}
