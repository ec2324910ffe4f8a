//! `touchstream study`, `report` and `verify`, driven as users do, at their smallest.

#![allow(clippy::unwrap_used)]

mod desk;
mod study_results;

use desk::Desk;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use study_results::{check_same, results};

/// Twelve very short runs, on few and small images.
const SMALL: [&str; 16] = [
    "study",
    "modules",
    "--scale",
    "smoke",
    "--modules",
    "ems,no-symm,none-relu-small",
    "--tasks",
    "sr-2way,mts-2way-stationary",
    "--portraits",
    "6,4",
    "--candidates",
    "32",
    "--steps",
    "600",
    "--seeds",
    "2",
];

fn words<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&SMALL[..], more].concat()
}

#[test]
fn a_study_is_the_same_bytes_however_it_is_done() {
    let desk = Desk::new();
    desk.succeeds(&words(&["--jobs", "1", "--out", "one"]));
    let one = results(&desk.file("one"));
    assert_eq!(one.len(), 12);

    desk.succeeds(&words(&["--jobs", "2", "--out", "two"]));
    check_same(&one, &results(&desk.file("two")));

    // Killed at five moments, then resumed.
    for after_ms in [150, 300, 450, 600, 750] {
        let mut child = spawn(&desk, &words(&["--jobs", "2", "--out", "killed"]));
        sleep(Duration::from_millis(after_ms));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    desk.succeeds(&["study", "resume", "killed"]);
    check_same(&one, &results(&desk.file("killed")));

    // Where the time went, from the first moment to the last.
    let said = String::from_utf8(desk.run(&words(&["--jobs", "1", "--out", "timed"])).stderr).unwrap();
    let line =
        said.lines().find_map(|line| line.strip_prefix("CPU time: ")).unwrap_or_else(|| panic!("{said}"));
    let parts: Vec<(f64, &str)> = line
        .split(", ")
        .map(|part| part.split_once(" % ").map(|(share, what)| (share.parse().unwrap(), what)).unwrap())
        .collect();
    let whats: Vec<&str> = parts.iter().map(|(_, what)| *what).collect();
    assert_eq!(whats, ["runs", "encoding", "report", "overhead"], "{line}");
    let sum: f64 = parts.iter().map(|(share, _)| share).sum();
    assert!((sum - 100.0).abs() < 0.3, "{line}");

    // Two processes on one folder at once; neither does what the other has.
    let both = ["1", "1"].map(|jobs| spawn(&desk, &words(&["--jobs", jobs, "--out", "shared"])));
    for mut child in both {
        assert!(child.wait().unwrap().success());
    }
    check_same(&one, &results(&desk.file("shared")));
    for entry in fs::read_dir(desk.file("shared/attempts")).unwrap() {
        let attempts = entry.unwrap().path();
        let ends: Vec<String> = fs::read_dir(&attempts)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.to_string_lossy().ends_with(".end.json"))
            .map(|path| fs::read_to_string(path).unwrap())
            .collect();
        assert_eq!(
            ends.iter().filter(|end| end.contains("won")).count(),
            1,
            "{}: {ends:?}",
            attempts.display()
        );
    }

    // Done is done, and more seeds are only more.
    let again = desk.run(&words(&["--jobs", "2", "--out", "two"]));
    let said = String::from_utf8(again.stderr).unwrap();
    assert!(said.contains("12 of 12 runs are complete") && !said.contains("CPU time"), "{said}");
    let mut more = words(&["--jobs", "2", "--out", "two"]);
    more[15] = "3";
    desk.succeeds(&more);
    let wider = results(&desk.file("two"));
    assert_eq!(wider.len(), 18);
    check_same(&one, &wider.into_iter().filter(|(name, _)| one.contains_key(name)).collect());
}

/// Runs with checkpoints are killed repeatedly; each resumes from one and ends with the same bytes.
#[test]
fn killed_runs_go_on_from_their_checkpoints() {
    let desk = Desk::new();
    let mut long = words(&["--jobs", "2", "--evaluate-every", "200", "--evaluation-trials", "5"]);
    (long[5], long[7], long[13]) = ("ems", "sr-2way", "20000");
    desk.succeeds(&[&long[..], &["--out", "whole"]].concat());
    let often = ["--checkpoint-every", "0", "--out", "killed"];
    for round in 0..4 {
        let mut child = spawn(&desk, &[&long[..], &often].concat());
        let begun = Instant::now();
        // An attempt writes its own status with every checkpoint, also where it has inherited one.
        while !has_checkpoint_of_its_own(&desk.file("killed/attempts"), round + 1) {
            assert!(child.try_wait().unwrap().is_none() && begun.elapsed() < Duration::from_secs(60));
            sleep(Duration::from_millis(2));
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let resumed = desk.run(&["study", "resume", "killed"]);
    let said = String::from_utf8(resumed.stderr).unwrap();
    let steps: Vec<u64> =
        said.lines().filter_map(|line| line.split_once(" resumes from step ")?.1.parse().ok()).collect();
    assert!(resumed.status.success() && steps.iter().any(|&step| step >= 4 * 200), "{said}");
    check_same(&results(&desk.file("whole")), &results(&desk.file("killed")));
}

/// Whether a run's attempt of this number has learned on since it began, and has a checkpoint of that.
fn has_checkpoint_of_its_own(attempts: &Path, number: u64) -> bool {
    let runs = fs::read_dir(attempts).into_iter().flatten().map(|entry| entry.unwrap().path());
    runs.map(|run| run.join(number.to_string())).any(|attempt| {
        let steps = fs::read(attempt.join("status.json"))
            .ok()
            .and_then(|bytes| serde_json::from_slice::<serde_json::Value>(&bytes).ok())
            .and_then(|status| status["n_steps"].as_u64());
        attempt.join("checkpoint.safetensors").exists() && steps >= Some(200 * number)
    })
}

fn spawn(desk: &Desk, args: &[&str]) -> Child {
    desk.command(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// A tiny study of one module, which takes a moment.
fn tiny<'a>(modules: &'a str, out: &'a str) -> Vec<&'a str> {
    let mut all = words(&["--jobs", "1", "--out", out]);
    (all[5], all[7], all[13], all[15]) = (modules, "sr-2way", "40", "1");
    all
}

#[test]
fn many_that_start_at_once_forget_nothing() {
    let desk = Desk::new();
    // What they share is encoded before, so that they all begin at the same moment.
    desk.succeeds(&tiny("ems", "first"));
    let modules =
        ["ems", "no-symm", "none-relu-small", "no-mult-symm-relu", "no-mult-symm-tanh", "no-mult-symm-elu"];
    for round in ["a", "b", "c"] {
        let all = modules.map(|module| spawn(&desk, &tiny(module, round)));
        for mut child in all {
            assert!(child.wait().unwrap().success());
        }
        let spec = fs::read_to_string(desk.file(round).join("study.toml")).unwrap();
        for module in modules {
            assert!(spec.contains(&format!("\"{module}\"")), "{module}: {spec}");
        }
        let said = desk.succeeds(&["study", "status", round]);
        assert!(said.contains("6 of 6 runs complete"), "{said}");
    }

    // Runs that the study does not name, as older programs left them.
    let spec = fs::read_to_string(desk.file("a/study.toml")).unwrap();
    fs::write(desk.file("a/study.toml"), spec.replace("\"no-symm\", ", "").replace(", \"no-symm\"", ""))
        .unwrap();
    fs::remove_file(desk.file("a/manifest.json")).unwrap();
    for command in [&["study", "status", "a"], &["report", "a", "--json"][..], &["study", "pack", "a"]] {
        let output = desk.run(command);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && said.contains("names sr-2way--no-symm--seed-1 nowhere"), "{said}");
    }
    // Without base runs and other folders.
    for folder in ["a/runs/base--x--seed-1", "a/runs/notes"] {
        fs::create_dir(desk.file(folder)).unwrap();
    }
    desk.succeeds(&tiny("no-symm", "a"));
    let again = desk.run(&["study", "status", "a"]);
    assert!(again.stderr.is_empty(), "{again:?}");
}

#[test]
fn a_report_is_made_of_whatever_is_there() {
    let desk = Desk::new();
    desk.succeeds(&words(&["--out", "study"]));
    let index = fs::read_to_string(desk.file("study/report/index.html")).unwrap();
    assert!(index.contains("Complete: all 12 runs"), "it says how much there is");
    assert!(!index.contains("src=\"http") && !index.contains("href=\"http"), "the page is one complete file");
    for name in ["curves-default.svg", "curves-default.png", "n-auc-default.svg", "ta-n-auc-default.png"] {
        assert!(desk.file("study/report/figures").join(name).exists(), "{name}");
    }
    for end in ["csv", "md", "tex", "parquet"] {
        assert!(
            desk.file("study/report/tables").join(format!("final-rewards-default.{end}")).exists(),
            "{end}"
        );
    }
    let table = fs::read_to_string(desk.file("study/report/tables/final-rewards-default.csv")).unwrap();
    assert_eq!(table.lines().count(), 1 + 6, "{table}");

    // Files that no report wrote stay.
    for name in ["figures/curves-paper.svg", "tables/old.parquet", "figures/notes.txt"] {
        fs::write(desk.file("study/report").join(name), "mine").unwrap();
    }
    fs::create_dir_all(desk.file("theirs/figures")).unwrap();
    desk.write("theirs/figures/mine.svg", "mine");
    for out in ["study/report", "theirs", "theirs"] {
        desk.succeeds(&["report", "study", "--out", out]);
    }
    let is_there = |name: &str| desk.file(name).exists();
    assert!(is_there("study/report/figures/curves-paper.svg") && is_there("study/report/tables/old.parquet"));
    assert!(
        is_there("study/report/figures/curves-default.svg") && is_there("study/report/figures/notes.txt")
    );
    assert!(is_there("theirs/figures/mine.svg") && is_there("theirs/figures/curves-default.svg"));

    // One run is lost, another cannot be read: both are reported, the others are kept.
    fs::remove_dir_all(desk.file("study/runs/sr-2way--ems--seed-2")).unwrap();
    fs::write(desk.file("study/runs/sr-2way--no-symm--seed-1/curve.csv"), "step\n").unwrap();
    let said = desk.succeeds(&["report", "study", "--out", "partial"]);
    assert!(said.contains("partial: 10 of 12 runs, 1 failed"), "{said}");
    let index = fs::read_to_string(desk.file("partial/index.html")).unwrap();
    assert!(
        index.contains("sr-2way--ems: seed 2")
            && index.contains("curve.csv: it is damaged: 5 bytes instead of"),
        "what is missing"
    );

    // `status` and `pack` agree; folders that are not runs are ignored.
    fs::write(desk.file("study/runs/notes.txt"), "mine").unwrap();
    fs::remove_file(desk.file("study/runs/sr-2way--no-symm--seed-2/status.json")).unwrap();
    let said = desk.succeeds(&["report", "study", "--out", "partial"]);
    assert!(said.contains("partial: 9 of 12 runs, 2 failed"), "{said}");
    let status: serde_json::Value =
        serde_json::from_str(&desk.succeeds(&["study", "status", "study", "--json"])).unwrap();
    assert_eq!((status["n_runs"].as_u64(), status["n_complete"].as_u64()), (Some(12), Some(9)));
    assert_eq!(status["unreadable"].as_array().unwrap().len(), 2, "{status}");
    let packed = desk.run(&["study", "pack", "study"]);
    let said = String::from_utf8(packed.stderr).unwrap();
    assert!(packed.status.success(), "{said}");
    assert!(said.contains("sr-2way--no-symm--seed-2 cannot be read and is not packed"), "{said}");
    assert!(String::from_utf8(packed.stdout).unwrap().contains("study.tar.gz  9 runs"));
}

#[test]
fn claims_are_judged_and_written_down() {
    let desk = Desk::new();
    desk.succeeds(&words(&["--presets", "default,paper", "--out", "study"]));
    let verdicts: serde_json::Value =
        serde_json::from_str(&desk.succeeds(&["verify", "study", "--json", "--markdown", "claims.md"]))
            .unwrap();
    let verdicts = verdicts.as_array().unwrap();
    let presets: Vec<&str> = verdicts.iter().map(|verdict| verdict["preset"].as_str().unwrap()).collect();
    assert!(presets.contains(&"default") && presets.contains(&"paper"));
    // Two seeds of two tasks prove nothing.
    assert!(verdicts.iter().all(|verdict| verdict["outcome"] == "not-enough-data" && verdict["n"] != ""));
    let page = fs::read_to_string(desk.file("claims.md")).unwrap();
    assert!(
        page.contains("## gallery with compact")
            && page.contains("24 of 24")
            && page.contains("--presets default,paper"),
        "{page}"
    );
    assert_eq!(
        desk.succeeds(&["verify", "study", "--judged"]).lines().filter(|line| line.contains("EMS")).count(),
        0
    );
    desk.succeeds(&["verify", "study", "--strict"]);
}

#[test]
fn switches_and_studies_of_ones_own_are_studies_too() {
    let desk = Desk::new();
    let switching = [
        "study",
        "switching",
        "--scale",
        "smoke",
        "--switches",
        "13",
        "--ways",
        "layer,layer-shuffled,old-alone",
        "--portraits",
        "6,4",
        "--placements",
        "4",
        "--candidates",
        "32",
        "--seeds",
        "2",
        "--out",
        "switching",
    ];
    desk.succeeds(&switching);
    let done = results(&desk.file("switching"));
    // Two bases; from scratch and in three ways, two seeds each.
    assert_eq!(done.len(), 2 + 8, "{:?}", done.keys());
    assert!(
        desk.file("switching/runs/base--sr-2way--ems--8--touch-scale-1--seed-1/checkpoint.safetensors")
            .exists()
    );
    assert!(!desk.file("switching/runs/switch-13--ems--layer--seed-1/checkpoint.safetensors").exists());
    let gains = fs::read_to_string(desk.file("switching/report/tables/gains-ems-default.csv")).unwrap();
    assert_eq!(gains.lines().count(), 1 + 4, "{gains}");

    // A damaged base run is repeated.
    let base = "base--sr-2way--ems--8--touch-scale-1--seed-1";
    let damages: [&dyn Fn(PathBuf) -> io::Result<()>; 2] =
        [&|checkpoint| fs::write(checkpoint, ""), &|checkpoint| fs::remove_file(checkpoint)];
    for damage in damages {
        damage(desk.file("switching/runs").join(base).join("checkpoint.safetensors")).unwrap();
        let resumed = desk.run(&["study", "resume", "switching"]);
        let said = String::from_utf8(resumed.stderr).unwrap();
        assert!(
            resumed.status.success() && said.contains(&format!("{base} cannot be read and is repeated")),
            "{said}"
        );
        fs::remove_dir_all(desk.file("switching/runs").join(format!(".damaged-{base}-1"))).unwrap();
        check_same(&done, &results(&desk.file("switching")));
    }

    desk.write(
        "mine.toml",
        "title = \"Wider?\"\nscale = \"smoke\"\ntasks = [\"sr-2way\"]\nseeds = 2\nsteps = 200\n\
         [settings.images]\nportraits = { train = 6, validation = 4 }\n[vary]\nunits = [[4], [8]]\n",
    );
    desk.succeeds(&["study", "mine.toml", "--candidates", "32", "--out", "mine"]);
    let mine = results(&desk.file("mine"));
    assert_eq!(mine.len(), 4);
    assert!(mine.contains_key("sr-2way--ems--units=4--seed-1"));
    let table = fs::read_to_string(desk.file("mine/report/tables/n-auc-default.csv")).unwrap();
    assert!(table.contains("ems (units=8)"), "{table}");

    // A study of rates, and one that takes them.
    let small = ["--portraits", "6,4", "--candidates", "32", "--steps", "200"];
    let rates = [
        "study",
        "learning-rates",
        "--scale",
        "smoke",
        "--modules",
        "ems",
        "--tasks",
        "sr-2way",
        "--out",
        "rates",
    ];
    desk.succeeds(&[&rates[..], &small].concat());
    let taking = [
        "study",
        "modules",
        "--scale",
        "smoke",
        "--modules",
        "ems",
        "--tasks",
        "sr-2way",
        "--rates",
        "rates",
        "--out",
        "rated",
    ];
    desk.succeeds(&[&taking[..], &small].concat());
    let hash = |run: &str| {
        let text = fs::read_to_string(desk.file(run).join("identity.json")).unwrap();
        serde_json::from_str::<serde_json::Value>(&text).unwrap()["data_hash"].clone()
    };
    assert_ne!(
        hash("rates/runs/sr-2way--ems--learning-rate=0.001--seed-101"),
        hash("rated/runs/sr-2way--ems--seed-1"),
        "they are evaluated on other images"
    );
    // Rates apply to the settings they were chosen for, and are evaluated on other images.
    let refused = |more: &[&str], why: &str| {
        let words = [&taking[..taking.len() - 1], &["other"], &small, more].concat();
        desk.fails(&words, why);
    };
    refused(&["--validation-part", "choice"], "has the images that they were chosen on");
    refused(&["--presets", "paper"], "under the preset default, this study has paper");
    refused(&["--encoder", "vgg16"], "the encoder of sr-2way: compact there, vgg16 here");
    refused(&["--data", "folder:photos"], "the images of sr-2way: gallery there, folder:");
    refused(&["--data-seed", "3"], "which images sr-2way shows differs");
    assert!(!desk.file("other").exists());
}

#[test]
fn baselines_that_are_missing_are_made_again() {
    let desk = Desk::new();
    let words = [
        "study",
        "localization",
        "--scale",
        "smoke",
        "--modules",
        "ems",
        "--seeds",
        "1",
        "--objects",
        "12,6",
        "--candidates",
        "16",
        "--steps",
        "40",
        "--out",
        "boxes",
    ];
    desk.succeeds(&words);
    let file = desk.file("boxes/baselines.json");
    let made = fs::read(&file).unwrap();
    for again in
        [&["study", "resume", "boxes"][..], &["study", "resume", "boxes", "--engine", "local"], &words]
    {
        fs::remove_file(&file).unwrap();
        desk.succeeds(again);
        assert_eq!(fs::read(&file).unwrap(), made);
    }
    // With regression if a Python was given, also after resuming; a missing Python does not stop runs.
    fs::remove_file(&file).unwrap();
    desk.fails(&[&words[..], &["--python", "no/python"]].concat(), "no/python");
    assert!(fs::read_to_string(desk.file("boxes/study.toml")).unwrap().contains("no/python"));
    fs::remove_dir_all(desk.file("boxes/runs/localization--ems--seed-1")).unwrap();
    let resumed = desk.run(&["study", "resume", "boxes"]);
    let said = String::from_utf8(resumed.stderr).unwrap();
    assert!(
        resumed.status.success() && said.contains("baselines of localization are still missing"),
        "{said}"
    );
    assert!(desk.file("boxes/runs/localization--ems--seed-1/curve.csv").exists());
}

#[test]
fn a_run_that_cannot_be_learned_is_told_and_takes_nothing_with_it() {
    let desk = Desk::new();
    desk.write(
        "mine.toml",
        "scale = \"smoke\"\ntasks = [\"sr-2way\"]\nseeds = 1\nsteps = 200\n\
         [settings]\ncandidates = 32\n[settings.images]\nportraits = { train = 6, validation = 4 }\n\
         [vary]\nlearning-rate = [1e-3, 1e30]\n",
    );
    desk.succeeds(&["study", "mine.toml", "--out", "mine"]);
    let index = fs::read_to_string(desk.file("mine/report/index.html")).unwrap();
    assert!(
        index.contains("learning-rate=1e30--seed-1") && index.contains("the loss is"),
        "the failure is reported"
    );
    let said = desk.succeeds(&["study", "status", "mine"]);
    assert!(said.contains("2 of 2 runs complete, 1 of them failed"), "{said}");
    // No run of one rate was completed: the table counts it.
    let table = fs::read_to_string(desk.file("mine/report/tables/learning-rates-default.csv")).unwrap();
    let rows: Vec<&str> = table.lines().collect();
    assert!(rows.len() == 3 && rows[0].contains("n,n_failed,n_missing"), "{table}");
    assert!(rows[1].contains(",1,0,0,") && rows[1].ends_with("true"), "{table}");
    assert!(rows[2].contains(",0,1,0,") && rows[2].ends_with("false"), "{table}");
    let told = String::from_utf8(desk.run(&["verify", "mine"]).stderr).unwrap();
    let is_told =
        |line: &str| line.starts_with("ignored: ems on sr-2way at rate ") && line.contains("the loss is");
    assert!(told.lines().any(is_told), "{told}");
}

#[test]
fn wrong_words_are_answered() {
    let desk = Desk::new();
    desk.fails(&["study"], "no study given");
    desk.fails(&["study", "modulse"], "study: there is no study `modulse`; there are modules");
    desk.fails(&["study", "modules", "--tasks", "sr-3*"], "nothing is called `sr-3*`");
    desk.fails(&["study", "modules", "--modules", "emms"], "did you mean `ems`");
    desk.fails(&["study", "modules", "--module", "ems"], "a study has --modules");
    desk.fails(&["study", "modules", "--seeds", "0"], "--seeds");
    desk.fails(&["study", "modules", "--jobs", "0"], "--jobs");
    desk.fails(&["study", "modules", "--partition", "p"], "are for --engine slurm");
    desk.fails(&["study", "modules", "--data-of", "x"], "--data-of takes TASK=SOURCE");
    desk.fails(&["study", "modules", "--rates", "nowhere"], "is not the folder of a study");
    desk.fails(&["study", "switching", "--methods", "voting"], "there is no method `voting`");
    desk.fails(
        &["study", "modules", "--methods", "layer"],
        "methods: they are for the second task of a switch, and there is none",
    );
    desk.fails(
        &["study", "modules", "--switches", "1"],
        "switches: second tasks would be learned from scratch alone",
    );
    desk.fails(
        &["study", "modules", "--base-steps", "9"],
        "base-steps: they are for the first task of a switch",
    );
    desk.fails(&["study", "scenes", "--python", "python3"], "python: it is for localization");
    desk.fails(&["study", "nothing.toml"], "nothing.toml");
    desk.fails(&["study", "resume", "nowhere"], "nowhere is not the folder of a study: it has no study.toml");
    desk.fails(&["report", "nowhere"], "is not the folder of a study");
    desk.fails(&["verify", "nowhere"], "is not the folder of a study");
    desk.fails(&["study", "cancel", "nowhere"], "is not the folder of a study");
    assert!(!desk.file("studies").exists(), "nothing is written for words that are wrong");
    let few = [
        "--steps",
        "40",
        "--portraits",
        "4,2",
        "--candidates",
        "16",
        "--modules",
        "ems",
        "--tasks",
        "sr-2way",
    ];
    let study = ["study", "modules", "--scale", "smoke", "--out", "mine"];
    desk.succeeds(&[&study[..], &few].concat());
    desk.fails(&[&study[..], &few[2..]].concat(), "contains another study (steps differs)");
    desk.fails(&["study", "cancel", "mine"], "was not submitted to a cluster");
    // Of a study that could not even begin, nothing would be lost.
    let other = ["study", "modules", "--scale", "smoke", "--out", "other"];
    desk.fails(&[&other[..], &few, &["--data", "folder:nowhere"]].concat(), "nowhere");
    desk.fails(&[&other[..], &few].concat(), "without any run; remove that folder");
    // Files that others have damaged.
    fs::write(desk.file("mine/study.toml"), "tasks = 3").unwrap();
    desk.fails(&["study", "resume", "mine"], "study.toml");
}
