//! `touchstream switch`, driven as users do, at its smallest.

#![allow(clippy::unwrap_used)]

mod desk;

use desk::Desk;
use std::fs;
use touchstream_experiment::run::{RunFolder, Trained, VerifiedRun};

const SMALL: [&str; 12] = [
    "--portraits",
    "8,4",
    "--candidates",
    "64",
    "--placements",
    "8",
    "--evaluation-trials",
    "50",
    "--base-steps",
    "4000",
    "--steps",
    "800",
];

fn words<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["switch"][..], more, &SMALL].concat()
}

#[test]
fn a_study_ends_in_gains_votes_and_a_page() {
    let desk = Desk::new();
    let args = words(&[
        "--from",
        "sr-2way",
        "--to",
        "sr-2way",
        "--voting",
        "layer,unit",
        "--controls",
        "--seeds",
        "2",
        "--jobs",
        "2",
        "--out",
        "study",
        "--json",
    ]);
    let report: serde_json::Value = serde_json::from_str(&desk.succeeds(&args)).unwrap();
    let switch = &report["switches"][0];
    let rows = switch["ways"].as_array().unwrap();
    let names: Vec<&str> = rows.iter().map(|row| row["way"].as_str().unwrap()).collect();
    let expected =
        ["fine-tuning", "layer", "layer-shuffled", "old-alone", "scratch", "unit", "unit-shuffled"];
    assert_eq!(names, expected);
    let row = |name: &str| rows.iter().find(|row| row["way"] == name).unwrap();
    let gain = |name: &str| row(name)["r_gain"]["value"].as_f64().unwrap();
    // The same task again: an old module that knows it is worth something.
    for name in ["layer", "unit", "fine-tuning", "old-alone"] {
        assert!(gain(name) > 0.1, "{name}: {}", row(name));
    }
    // One that knows nothing is not.
    for (name, shuffled) in [("layer", "layer-shuffled"), ("unit", "unit-shuffled")] {
        assert!(gain(shuffled) < gain(name) / 2.0, "{name} {}, {shuffled} {}", gain(name), gain(shuffled));
    }
    assert_eq!(row("layer")["r_gain"]["n"], 2);
    assert_eq!(switch["horizon_steps"], 800);
    let page = fs::read_to_string(desk.file("study/report/index.html")).unwrap();
    for part in [
        "<b>Before the switch: ems, preset default</b>",
        "<b>After the switch: ems, preset default</b>",
        "<b>RGain: ems, preset default</b>",
        "<b>Votes, unit: ems, preset default</b>",
        "old-1-transformed",
    ] {
        assert!(page.contains(part), "{part}");
    }
    // A claim about all switches is not judged on one.
    assert!(!page.contains("id=\"verdicts\""));
    let votes =
        fs::read_to_string(desk.file("study/runs/sr-2way--sr-2way--ems--layer--seed-1/votes.csv")).unwrap();
    assert!(
        votes.starts_with("step,lesson,stage,voter,share\n") && votes.contains(",readout,new,"),
        "{votes}"
    );
    let unit_votes = desk.file("study/runs/sr-2way--sr-2way--ems--unit--seed-1/unit-votes.csv");
    assert!(fs::read_to_string(unit_votes).unwrap().lines().count() > 100);

    check_forks(&desk);

    // A second start does nothing and prints the same; a lost run is repeated with the same bytes.
    let weights = desk.file("study/runs/sr-2way--sr-2way--ems--unit--seed-2/weights.safetensors");
    let before = fs::read(&weights).unwrap();
    fs::remove_dir_all(weights.parent().unwrap()).unwrap();
    let again: serde_json::Value = serde_json::from_str(&desk.succeeds(&args)).unwrap();
    assert_eq!(again, report);
    assert!(fs::read(&weights).unwrap() == before);

    // Parameters of another version, of the same number but another meaning, are not used: the base is learned again.
    let base = "study/runs/base--sr-2way--ems--8--touch-scale-1--before-sr-2way--seed-2";
    let identity = desk.file(base).join("identity.json");
    let mut other: serde_json::Value = serde_json::from_slice(&fs::read(&identity).unwrap()).unwrap();
    other["convolutions"] = 1.into();
    fs::write(&identity, serde_json::to_vec(&other).unwrap()).unwrap();
    let base_run = RunFolder::at(desk.file(base));
    base_run.write_manifest().unwrap();
    let refused = Trained::read(&VerifiedRun::open(base_run).unwrap()).unwrap_err().to_string();
    assert!(refused.contains("an earlier version of the program wrote it"), "{refused}");
    fs::remove_dir_all(weights.parent().unwrap()).unwrap();
    let again: serde_json::Value = serde_json::from_str(&desk.succeeds(&args)).unwrap();
    assert_eq!(again, report);
    assert!(fs::read(&weights).unwrap() == before);
}

/// With every method, the second task starts with the trial after the base's last, and the screens are the same.
fn check_forks(desk: &Desk) {
    for seed in [1, 2] {
        let stream = |run: &str| {
            let folder = RunFolder::at(desk.file("study/runs").join(format!("{run}--seed-{seed}")));
            let trained = Trained::read(&VerifiedRun::open(folder).unwrap()).unwrap().unwrap();
            serde_json::to_value(trained.stream).unwrap()
        };
        let base = stream("base--sr-2way--ems--8--touch-scale-1--before-sr-2way");
        assert_eq!(base["position"]["trial_index"], 4000, "{base}");
        let second = |way: &str| stream(&format!("sr-2way--sr-2way--ems--{way}"));
        let scratch = second("scratch");
        assert_eq!(scratch["position"]["segment_first_trial"], 4000, "{scratch}");
        assert_eq!(scratch["position"]["trial_index"], 4800, "{scratch}");
        for way in ["layer", "layer-shuffled", "unit", "unit-shuffled", "fine-tuning"] {
            assert_eq!(second(way), scratch, "{way}");
        }
    }
}

/// Tasks that update at other times by themselves are learned at one pace, whichever comes first.
#[test]
fn fine_touches_follow_plain_ones_and_lead_to_them() {
    let desk = Desk::new();
    for (from, to) in [("sr-2way", "localization"), ("localization", "sr-2way")] {
        let few = ["--objects", "12,6", "--portraits", "8,4", "--base-steps", "192", "--steps", "192"];
        let out = format!("{from}-first");
        let pair = ["switch", "--from", from, "--to", to, "--seeds", "1", "--out", &out];
        desk.succeeds(&[&pair[..], &few].concat());
        let folder = desk.file(&out).join("runs");
        let name = |way: &str| format!("{from}--{to}--ems--{way}--seed-1");
        let steps = |run: &str| -> Vec<String> {
            let curve = fs::read_to_string(folder.join(run).join("curve.csv")).unwrap();
            curve.lines().map(|line| line.split(',').next().unwrap().to_owned()).collect()
        };
        assert_eq!(steps(&name("layer")), steps(&name("scratch")), "{from} to {to}");
    }
}

#[test]
fn wrong_words_are_answered() {
    let desk = Desk::new();
    desk.fails(&words(&[]), "no switch given");
    desk.fails(&words(&["--id", "16"]), "`16` is not a switch; they are 1 to 15");
    desk.fails(&words(&["--from", "sr-2way"]), "--to");
    desk.fails(&words(&["--from", "sr-2way", "--to", "sr-3way"]), "there is no task `sr-3way`");
    desk.fails(&words(&["--id", "1", "--task", "sr-2way"]), "--task is for `touchstream train`");
    desk.fails(&words(&["--id", "1", "--module", "emms"]), "did you mean `ems`");
    desk.fails(&words(&["--id", "1", "--jobs", "0"]), "--jobs");
    desk.fails(&words(&["--id", "1", "--targets", "4"]), "targets: 4 is not 1, the only value");
    desk.fails(&["switch", "--id", "1", "--steps", "0"], "steps: a run of 0 steps learns nothing");
    desk.fails(&["switch", "--id", "1", "--base-steps", "0"], "--base-steps");
    let diverging = ["--from", "sr-2way", "--to", "sr-2way", "--seeds", "1", "--learning-rate", "1e30"];
    desk.fails(&words(&diverging), "seed-1: the loss is NaN");
}
