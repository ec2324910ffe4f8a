//! `touchstream baselines`, driven as a user drives it.

#![allow(clippy::unwrap_used)]

mod desk;

use desk::Desk;
use std::path::{Path, PathBuf};
use std::process::Command;

const FEW: [&str; 3] = ["baselines", "--objects", "60,20"];

fn words<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&FEW[..], more].concat()
}

#[test]
fn baselines_are_judged_on_the_validation_screens_of_train() {
    let desk = Desk::new();
    let report: serde_json::Value = serde_json::from_str(&desk.succeeds(&words(&["--json"]))).unwrap();
    assert_eq!((report["n_train"].as_u64(), report["n_validation"].as_u64()), (Some(60), Some(20)));
    let rows = report["baselines"].as_array().unwrap();
    let iou = |name: &str| {
        let row = rows.iter().find(|row| row["name"] == name).unwrap();
        let number = |key: &str| row[key].as_f64().unwrap();
        assert!(number("low") <= number("mean_iou") && number("mean_iou") <= number("high"), "{row}");
        assert_eq!(row["n"], 20);
        number("mean_iou")
    };
    assert!(iou("uniform touches") < iou("best fixed box"), "{report:#}");
    assert!(iou("whole screen") < iou("best fixed box"), "{report:#}");
    assert!(iou("mean box") > 0.05, "{report:#}");

    // The screens and features are those of a run.
    desk.succeeds(&[
        "train",
        "--task",
        "localization",
        "--objects",
        "60,20",
        "--steps",
        "200",
        "--out",
        "run",
    ]);
    let identity = std::fs::read(desk.file("run/identity.json")).unwrap();
    let identity: serde_json::Value = serde_json::from_slice(&identity).unwrap();
    assert_eq!(identity["calibration_hash"], report["calibration_hash"]);
    assert_eq!(identity["data_hash"], report["data"]["content_hash"]);

    let table = desk.succeeds(&words(&["--csv"]));
    assert!(
        table.starts_with("baseline,mean_iou,low,high,n_validation,n_train,details\nuniform touches,0."),
        "{table}"
    );
    assert!(table.lines().all(|line| line.split(',').count() == 7), "{table}");
}

#[test]
fn wrong_words_are_told() {
    let desk = Desk::new();
    desk.fails(&words(&["--task", "sr-2way"]), "task: baselines are of localization; `sr-2way` is");
    desk.fails(&words(&["--task", "localization+rotation"]), "baselines are of plain localization");
    desk.fails(&words(&["--python", "no-such-python"]), "python: cannot start no-such-python");
    // Told before anything is encoded.
    let told = desk.fails(&words(&["--python", "/bin/true"]), "python: /bin/true has no scikit-learn");
    assert!(!told.contains("encoding"), "{told}");
    let alone = desk.succeeds(&["baselines", "--objects", "5,1"]);
    assert!(alone.contains("-  ") && alone.contains("1 screen ") && !alone.contains("1 screens"), "{alone}");
    desk.fails(&words(&["--json", "--csv"]), "cannot be used with");
}

/// A Python with scikit-learn, if there is one: `TOUCHSTREAM_TEST_PYTHON`, or the one of `scripts/python-env`.
fn python_with_sklearn() -> Option<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/bin/python");
    let python = std::env::var_os("TOUCHSTREAM_TEST_PYTHON").map_or(own, PathBuf::from);
    let found = Command::new(&python).args(["-c", "import sklearn"]).output();
    found.is_ok_and(|output| output.status.success()).then_some(python)
}

#[test]
fn regression_learns_from_the_same_features() {
    let Some(python) = python_with_sklearn() else {
        eprintln!(
            "skipped regression_learns_from_the_same_features: no Python with scikit-learn (scripts/python-env)"
        );
        return;
    };
    let desk = Desk::new();
    let python = python.to_str().unwrap();
    let said = desk.succeeds(&words(&["--json", "--python", python]));
    let report: serde_json::Value = serde_json::from_str(&said).unwrap();
    let rows = report["baselines"].as_array().unwrap();
    let iou = |row: &serde_json::Value| row["mean_iou"].as_f64().unwrap();
    assert_eq!(rows[3]["name"], "best fixed box");
    for (row, name) in rows[4..].iter().zip(["ridge regression", "support vector regression"]) {
        assert_eq!(row["name"], name);
        // Without features no box does better than that one.
        assert!(iou(row) > iou(&rows[3]) + 0.03, "{row}");
    }
    assert_eq!(rows.len(), 6);
    let few = ["baselines", "--objects", "3,3", "--python", python];
    desk.fails(&few, "needs at least 5 training screens; there are 3");
}
