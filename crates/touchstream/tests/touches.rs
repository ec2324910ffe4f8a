//! `touchstream verify` on studies with different touch scales: reported, and never mixed.

#![allow(clippy::unwrap_used)]

mod desk;

use desk::Desk;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Runs of a moment each.
const SMALL: [&str; 13] = [
    "study",
    "modules",
    "--scale",
    "smoke",
    "--portraits",
    "4,2",
    "--candidates",
    "16",
    "--placements",
    "4",
    "--steps",
    "48",
    "--tasks",
];

fn study(desk: &Desk, out: &str, tasks: &str, more: &[&str]) {
    let words = [&SMALL[..], &[tasks, "--seeds", "1", "--out", out], more].concat();
    desk.succeeds(&words);
}

fn change_json(path: &Path, change: impl Fn(&mut Value)) {
    let mut value: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    change(&mut value);
    fs::write(path, serde_json::to_string(&value).unwrap()).unwrap();
}

/// A folder as it was written when touches counted 1 at the edge everywhere, and nothing said so.
fn make_old(study: &Path) {
    let spec = fs::read_to_string(study.join("study.toml")).unwrap();
    assert!(spec.contains("touch-scale = 1.0\n"), "{spec}");
    fs::write(study.join("study.toml"), spec.replace("touch-scale = 1.0\n", "")).unwrap();
    fs::remove_file(study.join("manifest.json")).unwrap();
    for entry in fs::read_dir(study.join("runs")).unwrap() {
        let run = entry.unwrap().path();
        fs::remove_file(run.join("manifest.json")).unwrap();
        change_json(&run.join("identity.json"), |identity| {
            let agent = identity["plan"]["lessons"][0]["agent"].as_object_mut().unwrap();
            assert_eq!(agent.remove("touch_scale"), Some(1.0.into()));
        });
    }
}

/// The sections of the page, each from its heading on.
fn sections(desk: &Desk, folders: &[&str]) -> Vec<String> {
    desk.succeeds(&[&["verify"], folders, &["--markdown", "claims.md"]].concat());
    let page = fs::read_to_string(desk.file("claims.md")).unwrap();
    page.split("\n## ").skip(1).map(String::from).collect()
}

#[test]
fn studies_of_both_kinds_have_sections_of_their_own() {
    let desk = Desk::new();
    let tasks = "sr-2way,mts-2way-stationary";
    study(&desk, "now", tasks, &["--modules", "ems", "--presets", "default,paper"]);
    study(&desk, "old", tasks, &["--modules", "ems", "--touch-scale", "1"]);
    make_old(&desk.file("old"));
    study(&desk, "one", tasks, &["--modules", "no-symm", "--touch-scale", "1"]);
    // The scale of stimulus-response alone is ambiguous: it joins the other studies.
    study(&desk, "open", "sr-2way", &["--modules", "none-relu-small"]);

    // The same runs on two scales are not duplicates.
    let all = sections(&desk, &["old", "now", "one"]);
    let headings: Vec<&str> = all.iter().map(|section| section.lines().next().unwrap()).collect();
    // They contain settings that are not defaults, too.
    let said = "`candidates = 16`, `placements = 4`, `steps = 48`";
    let expected = ["gallery with compact", "gallery with compact, touches 1 everywhere"];
    assert_eq!(headings, expected.map(|heading| format!("{heading}, {said}")));
    let by_default = "preset default: 1 for stimulus-response, 24 elsewhere (default); preset paper: pixels everywhere (default)";
    assert!(all[0].contains(&format!("| modules | smoke | 4 of 4 | 1 | {by_default} |")), "{}", all[0]);
    let n_old = all[1].matches("| modules | smoke | 2 of 2 | 1 | 1 everywhere |").count();
    // The old folder that says nothing, and the new one that says it.
    assert_eq!(n_old, 2, "{}", all[1]);
    assert!(all[1].contains("add `--touch-scale 1`") && !all[0].contains("add `--touch-scale"), "{}", all[1]);

    let verdicts: Value = serde_json::from_str(&desk.succeeds(&["verify", "old", "now", "--json"])).unwrap();
    let touches =
        |words: &str| verdicts.as_array().unwrap().iter().filter(|one| one["touches"] == words).count();
    assert!(touches("default") > 0 && touches("default") == touches("1 everywhere"), "{verdicts}");

    assert_eq!(sections(&desk, &["open", "old"]).len(), 1);
    assert_eq!(sections(&desk, &["open", "now"]).len(), 1);
    assert!(sections(&desk, &["open"])[0].contains("| 1 everywhere (default) |"));

    let page = desk.file("now/report/index.html");
    assert!(fs::read_to_string(page).unwrap().contains("24 elsewhere (default)"), "the report shows it, too");
}

#[test]
fn an_old_folder_that_a_new_program_goes_on_with_is_not_averaged() {
    let desk = Desk::new();
    let words = ["--modules", "ems,no-symm", "--touch-scale", "1"];
    study(&desk, "old", "mts-2way-stationary", &words);
    make_old(&desk.file("old"));
    study(&desk, "old", "mts-2way-stationary", &["--modules", "conv-ems"]);
    let output = desk.run(&["verify", "old", "--markdown", "claims.md"]);
    let said = String::from_utf8(output.stderr).unwrap();
    let told = "mts-2way-stationary--conv-ems--seed-1 is excluded: its touches count 24 at the screen's edge, \
                those of other runs of mts-2way-stationary 1";
    assert!(output.status.success() && said.contains(told), "{said}");
    let page = fs::read_to_string(desk.file("claims.md")).unwrap();
    assert!(page.contains("| 2 of 3 | 1 | 1 everywhere |"), "{page}");
    assert!(page.contains("\n- mts-2way-stationary--conv-ems--seed-1: its touches count 24"), "{page}");

    // A run without tasks is reported as unreadable.
    let identity = desk.file("old/runs/mts-2way-stationary--ems--seed-1/identity.json");
    change_json(&identity, |identity| identity["plan"]["lessons"] = Value::Array(Vec::new()));
    let output = desk.run(&["verify", "old", "--markdown", "claims.md"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && said.contains("identity.json: plan.lessons: there is none"), "{said}");
    let page = fs::read_to_string(desk.file("claims.md")).unwrap();
    let told = "\n- mts-2way-stationary--ems--seed-1: identity.json: plan.lessons: there is none\n";
    assert!(page.contains(told), "no place of this machine: {page}");
}

/// Bases were not told apart by scales then, and were called otherwise.
#[test]
fn an_old_study_of_switches_is_as_complete_as_it_was() {
    let desk = Desk::new();
    let few = [
        "--portraits",
        "4,2",
        "--placements",
        "4",
        "--candidates",
        "16",
        "--steps",
        "48",
        "--base-steps",
        "48",
    ];
    let words =
        ["study", "no-switch", "--scale", "smoke", "--ways", "layer", "--seeds", "1", "--touch-scale", "1"];
    desk.succeeds(&[&words[..], &few, &["--out", "old"]].concat());
    make_old(&desk.file("old"));
    let runs = desk.file("old/runs");
    let names: Vec<String> =
        fs::read_dir(&runs).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(names.len(), 3, "{names:?}");
    for name in &names {
        match name.starts_with("base--") {
            true => fs::rename(runs.join(name), runs.join(name.replace("--touch-scale-1", ""))).unwrap(),
            false => change_json(&runs.join(name).join("run.json"), |facts| {
                let base = facts["part"]["second"]["base"].as_str().unwrap().replace("--touch-scale-1", "");
                facts["part"]["second"]["base"] = base.into();
            }),
        }
    }
    let page = &sections(&desk, &["old"])[0];
    assert!(page.contains("| 3 of 3 | 1 |"), "{page}");
    let said = desk.succeeds(&["report", "old", "--out", "report"]);
    assert!(!said.contains("partial"), "{said}");
}
