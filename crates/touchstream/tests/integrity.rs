//! What is damaged is never shown, and files of the user are never touched.

#![allow(clippy::unwrap_used)]

mod desk;
mod study_results;

use desk::{Desk, check_failure};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use study_results::{check_same, results};
use touchstream_experiment::check::{Integrity, check};
use touchstream_experiment::study::report::study_report;
use touchstream_experiment::study::{StudyFolder, read_spec};
use touchstream_experiment::{FinishedRun, Unwatched};

/// Runs on few and small images, for a moment each.
const FEW: [&str; 8] = ["--portraits", "4,2", "--candidates", "16", "--placements", "4", "--seeds", "2"];

fn train_for<'a>(steps: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let words = ["train", "--task", "sr-2way", "--portraits", "8,4", "--candidates", "64", "--steps", steps];
    [&words[..], more].concat()
}

fn train<'a>(more: &[&'a str]) -> Vec<&'a str> {
    train_for("1000", more)
}

/// A study with bases, second tasks, weights and votes.
fn switch_study(desk: &Desk, out: &str) {
    let words = [
        "switch",
        "--from",
        "sr-2way",
        "--to",
        "sr-2way",
        "--base-steps",
        "200",
        "--steps",
        "200",
        "--out",
        out,
    ];
    desk.succeeds(&[&words[..], &FEW].concat());
}

fn all_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(all_files(&path)),
            false => files.push(path),
        }
    }
    files.sort();
    files
}

/// Changes one bit of a file; size and modification time stay.
fn flip(path: &Path, bit: u64) {
    let time = fs::metadata(path).unwrap().modified().unwrap();
    let mut bytes = fs::read(path).unwrap();
    let bit = (bit % (bytes.len() as u64 * 8)) as usize;
    bytes[bit / 8] ^= 1 << (bit % 8);
    fs::write(path, bytes).unwrap();
    File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

/// A mixed-up number for each index.
fn mixed(idx: u64) -> u64 {
    let x = (idx + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (x ^ x >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) ^ x >> 32
}

/// What a report says, or `None` if it is refused; and whether it leaves a run out.
fn reported(study: &Path) -> Option<(String, bool)> {
    let folder = StudyFolder::at(study);
    let spec = read_spec(&folder).ok()?;
    let report = study_report(&folder, &spec, &Unwatched).ok()?;
    let is_partial = !report.page.failed.is_empty();
    Some((
        format!("{:?}{:?}", serde_json::to_string(&report.findings).unwrap(), report.page.facts),
        is_partial,
    ))
}

fn check_flips(n_flips: u64) {
    let desk = Desk::new();
    switch_study(&desk, "study");
    desk.succeeds(&["study", "status", "study"]);
    let study = desk.file("study");
    assert!(
        check(&study)
            .unwrap()
            .iter()
            .all(|result| result.state == Integrity::Intact && result.foreign.is_empty())
    );
    let before = reported(&study).unwrap();
    assert!(!before.1);
    let files: Vec<PathBuf> =
        all_files(&study).into_iter().filter(|path| fs::metadata(path).unwrap().len() > 0).collect();
    let mut n_unseen = 0;
    for number in 0..n_flips {
        let file = &files[(mixed(number) % files.len() as u64) as usize];
        let bit = mixed(number ^ 0xffff);
        flip(file, bit);
        let name = file.display();
        let named: Vec<_> = check(&study).unwrap().into_iter().flat_map(|result| result.problems).collect();
        assert!(named.iter().any(|problem| problem.file == *file), "{name}, bit {bit}: {named:?}");
        // Numbers change only where a run is left out, and the page says which.
        match reported(&study) {
            None => {}
            Some((_, true)) => {}
            Some((said, false)) => {
                let is_told = said == before.0 || said.contains("its record is damaged");
                assert!(is_told, "{name}, bit {bit}: another report");
                n_unseen += u64::from(said == before.0);
            }
        }
        let file_name = file.file_name().unwrap().to_str().unwrap();
        if ["config.toml", "weights.safetensors", "identity.json", "status.json", MANIFEST]
            .contains(&file_name)
            && let Some(run) = file.parent().filter(|run| run.join("weights.safetensors").exists())
        {
            assert!(FinishedRun::open(run, None, &Unwatched).is_err(), "{name}, bit {bit}: evaluated");
        }
        flip(file, bit);
    }
    assert!(n_unseen > 0 && n_unseen < n_flips, "{n_unseen} of {n_flips} bits were not of a report");
    assert_eq!(reported(&study).unwrap().0, before.0);
}

const MANIFEST: &str = "manifest.json";

#[test]
fn a_flipped_bit_is_named_and_changes_no_report_and_no_evaluation() {
    check_flips(80);
}

#[test]
#[ignore = "takes minutes; the same with 1,000 bits"]
fn a_thousand_flipped_bits_are_named() {
    check_flips(1000);
}

/// Every file of a finished run: it is named, moved aside, and written again with the same bytes.
#[test]
fn a_damaged_run_is_moved_aside_and_rebuilt() {
    let desk = Desk::new();
    desk.succeeds(&train(&["--out", "run"]));
    let eval = desk.succeeds(&["eval", "run", "--trials", "50"]);
    let files = all_files(&desk.file("run"));
    let is_same_each_time = |name: &str| !name.starts_with("events.") && name != MANIFEST && name != "lock";
    let damaged =
        ["curve.csv", "weights.safetensors", "checkpoint.safetensors", "page.html", "manifest.json"];
    let before: Vec<Vec<u8>> = files.iter().map(|file| fs::read(file).unwrap()).collect();
    for (idx, name) in damaged.into_iter().enumerate() {
        flip(&desk.file("run").join(name), mixed(idx as u64));
        let said = desk.fails(&["check", "run"], "1 result is damaged");
        assert_eq!(said.matches("error").count(), 1, "{said}");
        if name == "weights.safetensors" {
            desk.fails(&["eval", "run"], "`touchstream train --resume run` moves it aside and repeats it");
            desk.fails(&["maps", "run"], "run/weights.safetensors: it is damaged");
        }
        let resumed = desk.run(&["train", "--resume", "run"]);
        let said = String::from_utf8(resumed.stderr).unwrap();
        let aside = format!("run.damaged-{}", idx + 1);
        assert!(resumed.status.success() && said.contains(name) && said.contains(&aside), "{said}");
        // From the last checkpoint, unless that is what is damaged.
        assert_eq!(
            said.contains("resuming from step 1000"),
            name != "checkpoint.safetensors",
            "{name}: {said}"
        );
        assert!(desk.file(&aside).join(name).exists());
        for (file, bytes) in files.iter().zip(&before) {
            let name = file.file_name().unwrap().to_str().unwrap();
            assert!(!is_same_each_time(name) || fs::read(file).unwrap() == *bytes, "{name} differs");
        }
        desk.succeeds(&["check", "run"]);
    }
    assert_eq!(desk.succeeds(&["eval", "run", "--trials", "50"]), eval);
    let again = String::from_utf8(desk.run(&["train", "--resume", "run"]).stderr).unwrap();
    assert!(again.contains("run is finished already"), "{again}");
    // An empty curve is not a finished run.
    fs::write(desk.file("run/curve.csv"), "").unwrap();
    let again = String::from_utf8(desk.run(&["train", "--resume", "run"]).stderr).unwrap();
    assert!(
        again.contains("curve.csv: it is damaged: 0 bytes") && !again.contains("finished already"),
        "{again}"
    );
}

#[test]
fn a_damaged_run_of_a_study_is_left_out_and_repeated() {
    let desk = Desk::new();
    switch_study(&desk, "study");
    let done = results(&desk.file("study"));
    let findings = || fs::read_to_string(desk.file("study/report/findings.json")).unwrap();
    let before = findings();
    let name = "sr-2way--sr-2way--ems--layer--seed-1";
    let curve = desk.file("study/runs").join(name).join("curve.csv");
    let text = fs::read_to_string(&curve).unwrap();
    fs::write(&curve, text.replace("0.5", "0.9")).unwrap();
    assert_ne!(fs::read_to_string(&curve).unwrap(), text);
    let status = desk.succeeds(&["study", "status", "study"]);
    assert!(
        status.contains("5 of 6 runs complete") && status.contains(&format!("cannot be read: {name}")),
        "{status}"
    );
    let report = desk.succeeds(&["report", "study"]);
    assert!(report.contains("partial: 5 of 6 runs, 1 failed"), "{report}");
    let verified = String::from_utf8(desk.run(&["verify", "study"]).stderr).unwrap();
    assert!(verified.contains(&format!("{name} is excluded: ")), "{verified}");
    let packed = String::from_utf8(desk.run(&["study", "pack", "study"]).stderr).unwrap();
    assert!(packed.contains(&format!("{name} cannot be read and is not packed")), "{packed}");
    let resume = || {
        let resumed = desk.run(&["study", "resume", "study"]);
        let said = String::from_utf8(resumed.stderr).unwrap();
        assert!(resumed.status.success(), "{said}");
        check_same(&done, &results(&desk.file("study")));
        assert_eq!(findings(), before);
        said
    };
    assert!(resume().contains(&format!("{name} cannot be read and is repeated")));
    assert!(desk.file("study/runs").join(format!(".damaged-{name}-1")).exists());

    // Truncated weights, which no report reads: the run is complete no longer.
    let weights = desk.file("study/runs").join(name).join("weights.safetensors");
    File::options().write(true).open(&weights).unwrap().set_len(100).unwrap();
    let status = desk.succeeds(&["study", "status", "study"]);
    assert!(status.contains("weights.safetensors: it is damaged: 100 bytes instead of"), "{status}");
    assert!(resume().contains("weights.safetensors: it is damaged"));

    // A base: what starts from it refuses it.
    let base = "base--sr-2way--ems--8--touch-scale-1--before-sr-2way--seed-1";
    let base = desk.file("study/runs").join(if desk.file("study/runs").join(base).exists() {
        base.to_owned()
    } else {
        fs::read_dir(desk.file("study/runs"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .find(|name| name.starts_with("base--") && name.ends_with("seed-1"))
            .unwrap()
    });
    flip(&base.join("checkpoint.safetensors"), 99_999);
    fs::remove_dir_all(desk.file("study/runs").join(name)).unwrap();
    assert!(resume().contains("checkpoint.safetensors: it is damaged"));
    desk.succeeds(&["check", "study"]);
}

#[test]
fn packed_studies_have_manifests_and_older_ones_are_marked() {
    let desk = Desk::new();
    switch_study(&desk, "study");
    desk.succeeds(&["study", "pack", "study"]);
    let told = desk.succeeds(&["check", "study", "study.tar.gz"]);
    assert!(
        told.starts_with("") && told.contains(" 0 damaged, 0 without manifest, 0 unfinished, 0 foreign"),
        "{told}"
    );
    let verified = String::from_utf8(desk.run(&["verify", "study.tar.gz"]).stderr).unwrap();
    assert!(!verified.contains("manifest"), "{verified}");
    // Packed again by hand, with another curve.
    fs::create_dir(desk.file("inside")).unwrap();
    let tar = |args: &[&str]| {
        assert!(Command::new("tar").args(args).current_dir(desk.path()).status().unwrap().success())
    };
    tar(&["-xzf", "study.tar.gz", "-C", "inside"]);
    let curve = desk.file("inside/runs/sr-2way--sr-2way--ems--scratch--seed-1/curve.csv");
    flip(&curve, 4321);
    let names: Vec<String> = all_files(&desk.file("inside"))
        .iter()
        .map(|path| path.strip_prefix(desk.file("inside")).unwrap().display().to_string())
        .collect();
    let mut words = vec!["--format=ustar", "-czf", "changed.tar.gz", "-C", "inside"];
    words.extend(names.iter().map(String::as_str));
    tar(&words);
    for command in ["verify", "report"] {
        desk.fails(&[command, "changed.tar.gz"], "curve.csv: it is not as manifest.json lists it");
    }
    desk.fails(&["check", "changed.tar.gz"], "1 result is damaged");
    // One that an older program packed.
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results/scenes-coco.tar.gz");
    let ours = ours.to_str().unwrap();
    let verified = String::from_utf8(desk.run(&["verify", ours]).stderr).unwrap();
    assert_eq!(verified.matches("has no manifest").count(), 1, "once for the study: {verified}");
    let told = desk.succeeds(&["check", ours, "--json"]);
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!((&told["n_no_manifest"], &told["results"][0]["state"]), (&1.into(), &"no-manifest".into()));
}

#[test]
fn what_is_not_of_this_program_is_foreign_and_what_runs_is_unfinished() {
    let desk = Desk::new();
    fs::create_dir(desk.file("mine")).unwrap();
    desk.write("mine/notes.txt", "mine");
    assert!(desk.succeeds(&["check", "mine"]).contains("foreign  mine"));
    desk.fails(&["check", "nowhere"], "nowhere: ");
    let mut child = desk.command(&train_for("2000000", &["--out", "runs/long"]));
    let mut child =
        child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap_or_else(|_| panic!("no process"));
    let begun = Instant::now();
    while !desk.file("runs/long/curve.csv").exists() && begun.elapsed() < Duration::from_secs(60) {
        sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    desk.succeeds(&train(&["--out", "runs/done"]));
    desk.write("runs/done/notes.txt", "mine");
    let told = desk.succeeds(&["check", "runs"]);
    assert!(told.contains("1 intact, 0 damaged, 0 without manifest, 1 unfinished, 0 foreign"), "{told}");
    assert!(told.contains("notes.txt") && told.contains("unfinished  runs/long"), "{told}");
}

/// Files of the user, under the names that a command would write: refused, and unchanged.
#[test]
fn files_of_the_user_are_never_touched() {
    let desk = Desk::new();
    switch_study(&desk, "study");
    let study = ["switch", "--from", "sr-2way", "--to", "sr-2way", "--base-steps", "200", "--steps", "200"];
    let study = [&study[..], &FEW, &["--out", "own"]].concat();
    let report = vec!["report", "study", "--out", "own"];
    let tour = vec!["tour", "--out", "own"];
    let cases: Vec<(&[&str], &[&str])> = vec![
        (
            &report,
            &["index.html", "findings.json", "tables/verdicts.csv", "figures/mine.svg", "tables/mine.csv"],
        ),
        (&study, &["starts.jsonl", "report/index.html", "runs/notes.txt", "manifest.json", "baselines.json"]),
        (&tour, &["tasks.png", "tasks.html"]),
    ];
    for (command, names) in cases {
        for name in names {
            let file = desk.file("own").join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, "mine").unwrap();
            for _ in 0..2 {
                let output = desk.run(command);
                let is_ours = name.contains("mine.");
                assert_eq!(output.status.success(), is_ours, "{command:?} over {name}: {output:?}");
            }
            assert_eq!(fs::read_to_string(&file).unwrap(), "mine", "{command:?} touched {name}");
            fs::remove_dir_all(desk.file("own")).unwrap();
        }
    }
    for name in [
        "status.json",
        "votes.csv",
        "unit-votes.csv",
        "lessons.csv",
        "maps-2.png",
        "page.html",
        "manifest.json",
    ] {
        fs::create_dir_all(desk.file("own")).unwrap();
        desk.write(&format!("own/{name}"), "mine");
        desk.fails(
            &train(&["--out", "own"]),
            &format!("own is not the folder of a run, but holds own/{name}"),
        );
        assert_eq!(fs::read_to_string(desk.file("own").join(name)).unwrap(), "mine");
        fs::remove_dir_all(desk.file("own")).unwrap();
    }
    // Twice into the same folder is fine.
    for command in [&report, &tour, &tour, &report] {
        desk.succeeds(command);
    }
}

/// A pipe or a device blocks forever, or has no end.
#[cfg(unix)]
#[test]
fn pipes_and_devices_are_refused_wherever_a_path_is_read() {
    let desk = Desk::new();
    let pipe = |name: &str| {
        let path = desk.file(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    };
    for name in
        ["pipe.toml", "pipe.onnx", "pipe", "run/lock", "run/config.toml", "study/study.toml", "study.tar.gz"]
    {
        pipe(name);
    }
    let refused = |args: &[&str]| {
        let mut child = desk
            .command(args)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|_| panic!("{args:?}"));
        let begun = Instant::now();
        while child.try_wait().unwrap().is_none() {
            if begun.elapsed() > Duration::from_secs(60) {
                child.kill().unwrap();
                panic!("{args:?} blocks");
            }
            sleep(Duration::from_millis(5));
        }
        check_failure(child.wait_with_output().unwrap(), "error: ");
    };
    for file in ["pipe.toml", "/dev/zero"] {
        let file = if file.starts_with('/') { "/dev/./zero" } else { file };
        refused(&["train", "--config", file]);
        refused(&["train", "--task", file]);
        refused(&["tasks", "check", file]);
        refused(&["schedules", "check", file]);
        refused(&["run", file]);
        refused(&["switch", "--from", file, "--to", "sr-2way"]);
    }
    refused(&["train", "--schedule", "pipe.toml"]);
    refused(&["train", "--encoder", "onnx:pipe.onnx"]);
    refused(&["encoder", "info", "onnx:pipe.onnx"]);
    refused(&["data", "folder:pipe"]);
    refused(&["study", "pipe.toml"]);
    refused(&["study", "status", "study"]);
    refused(&["study", "resume", "study"]);
    refused(&["report", "study.tar.gz"]);
    refused(&["verify", "study.tar.gz"]);
    refused(&["train", "--resume", "run"]);
    refused(&["eval", "run"]);
    fs::remove_file(desk.file("run/config.toml")).unwrap();
    refused(&train(&["--out", "run"]));
}

/// Ten thousand runs with the files of one, in a folder that stays, for comparisons of speed.
#[test]
#[ignore = "writes 100,000 files"]
fn ten_thousand_runs_are_checked_in_seconds() {
    let desk = Desk::new();
    let few =
        ["study", "modules", "--scale", "smoke", "--tasks", "sr-2way", "--modules", "ems", "--out", "one"];
    desk.succeeds(&[&few[..], &FEW, &["--seeds", "1"]].concat());
    let one = fs::read_dir(desk.file("one/runs")).unwrap().next().unwrap().unwrap().path();
    let many = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ten-thousand-runs");
    let _ = fs::remove_dir_all(&many);
    fs::create_dir_all(many.join("runs")).unwrap();
    let spec = fs::read_to_string(desk.file("one/study.toml")).unwrap();
    let seeds: Vec<String> = (1..=1000).map(|seed| seed.to_string()).collect();
    let tasks = "tasks = [\"sr-2way\", \"sr-4way-quadrant\", \"mts-2way-stationary\", \"localization\", \"mts-4way-4shown-permuted\"]";
    let spec = spec
        .replace("tasks = [\"sr-2way\"]", tasks)
        .replace("modules = [\"ems\"]", "modules = [\"ems\", \"no-symm\"]")
        .replace("seeds = [1]", &format!("seeds = [{}]", seeds.join(", ")));
    fs::write(many.join("study.toml"), spec).unwrap();
    let spec = read_spec(&StudyFolder::at(&many)).unwrap();
    let cells = touchstream_experiment::study::cells_of(&spec).unwrap();
    assert_eq!(cells.len(), 10_000);
    for cell in &cells {
        let run = many.join("runs").join(&cell.name);
        fs::create_dir(&run).unwrap();
        for file in all_files(&one) {
            fs::copy(&file, run.join(file.file_name().unwrap())).unwrap();
        }
        fs::write(run.join("run.json"), serde_json::to_vec_pretty(&cell.facts).unwrap()).unwrap();
        touchstream_experiment::run::RunFolder::at(&run).write_manifest().unwrap();
    }
    sleep(Duration::from_secs(3));
    for words in [&["check"][..], &["study", "status"], &["study", "status"], &["report", "--out", "report"]]
    {
        let begun = Instant::now();
        let out = desk.command(words).arg(&many).output().unwrap();
        assert!(out.status.success(), "{out:?}");
        println!("{words:?}: {:.2} s", begun.elapsed().as_secs_f64());
        assert!(begun.elapsed() < Duration::from_secs(60), "{words:?}");
    }
}

/// Kills spread over the whole of a command, until it has run to its end.
#[test]
#[ignore = "takes minutes: 100 kills of each of four commands"]
fn a_hundred_kills_of_each_command_cost_no_byte() {
    let desk = Desk::new();
    desk.write("run.toml", "task = \"sr-2way\"\nsteps = 30000\ncandidates = 64\nevaluate-every = 500\nimages = { portraits = { train = 8, validation = 4 } }\n");
    let study = [
        "study",
        "modules",
        "--scale",
        "smoke",
        "--tasks",
        "sr-2way",
        "--modules",
        "ems,no-symm",
        "--keep-weights",
    ];
    let study = [&study[..], &FEW, &["--steps", "20000", "--jobs", "2", "--checkpoint-every", "0"]].concat();
    let switch = [
        "switch",
        "--from",
        "sr-2way",
        "--to",
        "sr-2way",
        "--base-steps",
        "10000",
        "--steps",
        "10000",
        "--jobs",
        "2",
    ];
    let switch = [&switch[..], &FEW].concat();
    let train = train_for("30000", &["--evaluate-every", "500", "--checkpoint-every", "0"]);
    for (name, command) in
        [("train", train), ("run", vec!["run", "run.toml"]), ("switch", switch), ("study", study)]
    {
        let run = |out: &'static str| [&command[..], &["--out", out]].concat();
        let begun = Instant::now();
        desk.succeeds(&run("whole"));
        let whole = begun.elapsed();
        let (mut n_kills, mut n_ends) = (0_u32, 0);
        while n_kills < 100 {
            let mut child =
                desk.command(&run("killed")).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            // From the first moment to the last of what is left.
            sleep(whole.mul_f64(0.02 + 0.25 * f64::from(n_kills * 37 % 100) / 100.0));
            let _ = child.kill();
            n_kills += 1;
            if child.wait().unwrap().success() {
                n_ends += 1;
                check_bytes(&desk, name);
                fs::remove_dir_all(desk.file("killed")).unwrap();
            }
        }
        desk.succeeds(&run("killed"));
        check_bytes(&desk, name);
        println!("{name}: {whole:.1?} alone, {n_kills} kills, {n_ends} times at its end");
        for out in ["whole", "killed"] {
            desk.succeeds(&["check", out]);
            fs::remove_dir_all(desk.file(out)).unwrap();
        }
    }
}

/// All files of all runs, except those that contain times.
fn check_bytes(desk: &Desk, command: &str) {
    let results = |out: &str| {
        let folder = desk.file(out);
        let mut files: Vec<(PathBuf, Vec<u8>)> = Vec::new();
        for file in all_files(&folder) {
            let name = file.strip_prefix(&folder).unwrap().to_owned();
            let text = name.display().to_string();
            let is_result =
                !["events.", "attempts/", "report/", ".intact", "starts.", "manifest.json", "page.html"]
                    .iter()
                    .any(|part| text.contains(part));
            if is_result {
                files.push((name, fs::read(&file).unwrap()));
            }
        }
        files
    };
    let (whole, killed) = (results("whole"), results("killed"));
    let names = |files: &[(PathBuf, Vec<u8>)]| files.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&whole), names(&killed), "{command}");
    assert!(names(&whole).iter().any(|name| name.ends_with("checkpoint.safetensors")), "{command}");
    for ((name, one), (_, other)) in whole.iter().zip(&killed) {
        assert!(one == other, "{command}: {} differs", name.display());
    }
}
