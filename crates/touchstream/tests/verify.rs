//! `touchstream verify`: its page and its warnings, for a study with evidence on one claim.

#![allow(clippy::unwrap_used)]

mod desk;

use desk::Desk;
use std::fs;
use touchstream_experiment::run::RunFolder;

/// Three seeds of one module on localization, a moment each.
const LOCALIZATION: [&str; 16] = [
    "study",
    "modules",
    "--scale",
    "smoke",
    "--modules",
    "ems",
    "--tasks",
    "localization",
    "--objects",
    "6,4",
    "--candidates",
    "16",
    "--steps",
    "48",
    "--seeds",
    "3",
];

#[test]
fn claims_are_seen_at_a_glance_and_nothing_is_left_out_in_silence() {
    let desk = Desk::new();
    desk.succeeds(&[&LOCALIZATION[..], &["--out", "study"]].concat());
    let output = desk.run(&["verify", "study", "--markdown", "page.md"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{told}");
    let nothing =
        "Scale smoke: modules. These runs only show that everything works; they are too short for verdicts.";
    let alone = "localization, preset default: ems is alone on it: there is no N-AUC of one module";
    assert!(
        told.contains(&format!("warning: {nothing}")) && told.contains(&format!("ignored: {alone}")),
        "{told}"
    );
    assert_eq!(told.matches(alone).count(), 1, "once: {told}");

    let page = fs::read_to_string(desk.file("page.md")).unwrap();
    for words in [
        "`touchstream verify STUDY... --markdown FILE`",
        "## At a glance\n\n- **A**: gallery with compact, `candidates = 16`, `placements = 12`, `steps = 48`, preset `default`, seeds 1 to 3\n\n| claim | A |\n|---|---|\n",
        "\n| EMS has the highest TA-N-AUC | – |\n",
        "\n| EMS localizes above 0.4 | no |\n",
        "Preset `default` is **A** above.",
        &format!("**{nothing}**"),
        &format!("\nLeft out:\n\n- {alone}\n"),
        "| EMS localizes with an IoU above 0.4 | default | **not reproduced** |",
        "| 3 seeds | the supervised baseline is missing |",
    ] {
        assert!(page.contains(words), "{words}\nis not in\n{page}");
    }
    // What nothing was run for has its place in the table, and no other.
    assert!(!page.contains("0 runs") && !page.contains("RGain"), "{page}");

    fs::create_dir(desk.file("results")).unwrap();
    desk.succeeds(&["study", "pack", "study", "--out", "results/mine.tar.gz"]);
    desk.succeeds(&["verify", "results/mine.tar.gz", "--markdown", "page.md"]);
    let page = fs::read_to_string(desk.file("page.md")).unwrap();
    assert!(page.contains("`touchstream verify results/*.tar.gz --markdown docs/REPRODUCTION.md`"), "{page}");
    // What two studies share counts once, if it is the same.
    let both = ["verify", "study", "results/mine.tar.gz", "--markdown", "page.md"];
    desk.succeeds(&both);
    assert!(fs::read_to_string(desk.file("page.md")).unwrap().contains("| 3 seeds | the supervised"));
    let curve = desk.file("study/runs/localization--ems--seed-1/curve.csv");
    let text = fs::read_to_string(&curve).unwrap();
    let (head, last) = text.trim_end().rsplit_once('\n').unwrap();
    let column =
        text.lines().next().unwrap().split(',').position(|name| name == "validation_reward").unwrap();
    let cells: Vec<&str> =
        last.split(',').enumerate().map(|(idx, cell)| if idx == column { "0.75" } else { cell }).collect();
    fs::write(&curve, format!("{head}\n{}\n", cells.join(","))).unwrap();
    // As if it had ended so.
    RunFolder::at(curve.parent().unwrap()).write_manifest().unwrap();
    desk.fails(
        &both,
        "both have ems on localization, seed 1, preset default, with other results; judge them one after the other",
    );
}

/// A study may come from anybody: no name in it decides where a report is written.
#[test]
fn reports_stay_in_their_folder() {
    let desk = Desk::new();
    desk.succeeds(&[&LOCALIZATION[..], &["--out", "study"]].concat());
    for seed in 1..=3 {
        let path = desk.file(&format!("study/runs/localization--ems--seed-{seed}/run.json"));
        let facts = fs::read_to_string(&path).unwrap();
        fs::write(&path, facts.replace("\"ems\"", "\"x/../../../escaped\"")).unwrap();
        RunFolder::at(path.parent().unwrap()).write_manifest().unwrap();
    }
    let output = desk.run(&["report", "study", "--out", "deep/er/report"]);
    let page = fs::read_to_string(desk.file("deep/er/report/index.html")).unwrap();
    assert!(output.status.success() && page.contains("run.json: module"), "{output:?}");
    let names = |folder: &str| fs::read_dir(desk.file(folder)).unwrap().count();
    assert_eq!((names("deep"), names("deep/er")), (1, 1));
}
