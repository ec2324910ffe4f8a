//! `touchstream train`, driven, killed, stopped and misused as users do.

#![allow(clippy::unwrap_used)]

mod desk;

use desk::{Desk, check_failure};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// The gallery at its smallest, on its plainest task.
const TASK: [&str; 7] = ["train", "--task", "sr-2way", "--portraits", "8,4", "--candidates", "64"];

fn words<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&TASK[..], more].concat()
}

fn status(desk: &Desk, run: &str) -> serde_json::Value {
    serde_json::from_slice(&fs::read(desk.file(run).join("status.json")).unwrap()).unwrap()
}

fn start(desk: &Desk, args: &[&str]) -> Child {
    desk.command(args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

#[track_caller]
fn check_same_result(desk: &Desk, one: &str, other: &str) {
    let binary = ["weights.safetensors", "checkpoint.safetensors", "curve.parquet", "maps.png", "maps.apng"];
    for file in binary.into_iter().chain(["curve.csv"]) {
        let read = |run: &str| fs::read(desk.file(run).join(file)).unwrap();
        assert!(read(one) == read(other), "{file} of {other} differs");
    }
}

#[test]
fn a_run_ends_in_a_folder_with_everything() {
    let desk = Desk::new();
    let said = desk.succeeds(&words(&["--steps", "3000", "--out", "run"]));
    assert!(said.contains("validation reward") && said.contains("page.html"), "{said}");
    let run = desk.file("run");
    let curve = fs::read_to_string(run.join("curve.csv")).unwrap();
    assert!(curve.starts_with("step,lesson,train_reward,"), "{curve}");
    assert_eq!(curve.lines().last().unwrap().split(',').next(), Some("3000"));
    let last: Vec<f64> =
        curve.lines().last().unwrap().split(',').map(|cell| cell.parse().unwrap_or(f64::NAN)).collect();
    assert!(last[6] > 0.6, "it learns nothing: {}", last[6]);
    let page = fs::read_to_string(run.join("page.html")).unwrap();
    assert!(page.contains("<svg") && page.contains("data:image/png") && !page.contains("http"));
    assert!(page.contains("data:image/apng"));
    assert_eq!(status(&desk, "run")["stage"], "finished");
    let events =
        fs::read_dir(&run).unwrap().filter_map(|entry| entry.unwrap().file_name().into_string().ok());
    assert_eq!(events.filter(|name| name.starts_with("events.out.tfevents")).count(), 1);

    // The configuration that it leaves behind makes the same run.
    desk.succeeds(&["train", "--config", "run/config.toml", "--out", "again"]);
    check_same_result(&desk, "run", "again");

    // Once more does nothing; another run does not get in.
    desk.succeeds(&words(&["--steps", "3000", "--out", "run"]));
    desk.fails(
        &words(&["--steps", "4000", "--out", "run"]),
        "holds another run (plan.n_steps: 3000 there, 4000 here)",
    );
    desk.fails(&words(&["--steps", "3000", "--seed", "1", "--out", "run"]), "plan.seed: 0 there, 1 here");

    // It is evaluated and drawn.
    let eval = desk.succeeds(&["eval", "run", "--trials", "50", "--json"]);
    let eval: serde_json::Value = serde_json::from_str(&eval).unwrap();
    assert_eq!(eval["n_trials"], 50);
    assert!(eval["reward"].as_f64().unwrap() > 0.6);
    desk.succeeds(&["maps", "run", "--count", "3", "--out", "maps.png"]);
    assert!(fs::read(desk.file("maps.png")).unwrap().starts_with(b"\x89PNG"));
}

/// Killed at twenty moments and resumed, a run ends with the same bytes.
#[test]
fn kills_cost_nothing_but_time() {
    let desk = Desk::new();
    let args = |out| {
        let learned = ["--steps", "120000", "--targets", "2", "--dropout", "0.2", "--weight-decay", "0.01"];
        let written = ["--evaluate-every", "500", "--evaluation-trials", "50", "--out", out];
        words(&[&learned[..], &written].concat())
    };
    desk.succeeds(&args("whole"));
    let often = [&args("killed")[..], &["--checkpoint-every", "0"]].concat();
    let (mut n_under_way, mut patience_ms) = (0, 0);
    for moment in 0..20_u64 {
        let mut child = start(&desk, &often);
        // Irregular, between 40 and 640 milliseconds; later where a busy machine has not even begun by then.
        sleep(Duration::from_millis(40 + moment * 7919 % 600 + patience_ms));
        let _ = child.kill();
        child.wait().unwrap();
        let checkpoint = desk.file("killed/checkpoint.safetensors");
        if checkpoint.exists() && status(&desk, "killed")["stage"] == "running" {
            n_under_way += 1;
        } else {
            patience_ms += 200;
        }
    }
    assert!(n_under_way >= 5, "only {n_under_way} of 20 kills came while it was learning");
    desk.succeeds(&["train", "--resume", "killed"]);
    check_same_result(&desk, "whole", "killed");
    let names = fs::read_dir(desk.file("killed")).unwrap().map(|entry| entry.unwrap().file_name());
    let names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    assert!(!names.iter().any(|name| name.starts_with('.')), "something half-written is left: {names:?}");
}

#[test]
fn ctrl_c_writes_a_checkpoint_and_says_how_to_go_on() {
    let desk = Desk::new();
    let args = |out| words(&["--steps", "60000", "--out", out]);
    desk.succeeds(&args("whole"));
    let long = start(&desk, &args("stopped"));
    for _ in 0..3000 {
        sleep(Duration::from_millis(20));
        if desk.file("stopped/curve.csv").exists() {
            break;
        }
    }
    Command::new("kill").args(["-INT", &long.id().to_string()]).status().unwrap();
    let output = long.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("resume with: touchstream train --resume stopped"), "{said}");
    assert_eq!(status(&desk, "stopped")["stage"], "interrupted");
    desk.fails(&["eval", "stopped"], "has no weights yet");
    desk.succeeds(&["train", "--resume", "stopped"]);
    check_same_result(&desk, "whole", "stopped");
}

#[test]
fn a_diverging_run_stops_with_a_sentence_and_keeps_its_checkpoint() {
    let desk = Desk::new();
    let often = ["--evaluate-every", "8", "--checkpoint-every", "0"];
    // The first update makes the loss infinite; there was no checkpoint before it.
    let args = words(&["--steps", "9000", "--learning-rate", "1e30", "--out", "at-once"]);
    desk.fails(&[&args[..], &often].concat(), "learning diverged; a lower learning rate may help");
    assert!(!desk.file("at-once/checkpoint.safetensors").exists());
    // This one learns for a while, then falls apart.
    let args = words(&["--steps", "9000", "--learning-rate", "300", "--out", "run"]);
    desk.fails(&[&args[..], &often].concat(), "learning diverged; a lower learning rate may help");
    assert!(desk.file("run/checkpoint.safetensors").exists());
    desk.fails(&["train", "--resume", "run"], "learning diverged");
    assert_eq!(status(&desk, "run")["stage"], "failed");
    assert!(status(&desk, "run")["reason"].as_str().unwrap().contains("learning diverged"));
}

#[test]
fn two_processes_do_not_share_a_run() {
    let desk = Desk::new();
    let args = words(&["--steps", "2000000", "--out", "run"]);
    let mut first = start(&desk, &args);
    for _ in 0..3000 {
        sleep(Duration::from_millis(20));
        if desk.file("run/curve.csv").exists() {
            break;
        }
    }
    let second = desk.run(&args);
    let _ = first.kill();
    first.wait().unwrap();
    check_failure(second, "another process is working on run");
}

#[test]
fn wrong_words_are_refused_before_anything_starts() {
    let desk = Desk::new();
    let fails = |more: &[&str], message: &str| {
        desk.fails(&words(&[more, &["--out", "run"]].concat()), message);
        assert!(!Path::new(&desk.file("run")).exists(), "{message}: a folder was made");
    };
    fails(&["--module", "emz"], "there is no module `emz`; did you mean `ems`?");
    fails(&["--units", "0"], "units: 0 is below 1");
    fails(&["--steps", "-5"], "invalid value '-5' for '--steps <N>': not a whole number of at least 0");
    fails(&["--units", "8,8,8", "--depth", "4"], "units: 3 numbers do not fit a depth of 4");
    fails(&["--k-f", "9"], "batch: 8 is not between k_f and 65536");
    fails(&["--learning-rate", "0"], "learning-rate: 0 is not a number above 0");
    fails(&["--steps", "0"], "steps: a run of 0 steps learns nothing");
    fails(&["--temperature", "0.1"], "temperature is for --dist boltzmann");
    fails(&["--flattened-scale", "one"], "flattened-scale is for modules that convolve, and ems does not");
    fails(&["--epsilon", "0.1"], "epsilon is for --explore epsilon-greedy");
    fails(&["--data", "galery"], "galery");
    fails(&["--steps", "400", "--map-steps", "401"], "map-steps: 401 is beyond the run's 400 steps");
    fails(&["--units", "8,100000,8", "--batch", "65536"], "batch: 65536 is not small enough");
    fails(&["--targets", "66"], "targets: 66 is not in 1..=65, the candidates plus one");
    fails(&["--dropout", "1"], "dropout: 1 is not 0 or in 0.004..=0.9");
    fails(&["--dropout", "0.001"], "dropout: 0.001 is not 0 or in 0.004..=0.9");
    fails(&["--weight-decay", "-1"], "weight-decay: -1 is not at least 0");
    fails(&["--encoder", "vgg"], "did you mean `vgg16`?");
    desk.fails(&["train", "--task", "sr-3way"], "sr-2way");
    let stream = ["train", "--schedule", "sr-2way:96,sr-4way-quadrant", "--steps", "192", "--targets", "4"];
    desk.fails(&stream, "targets: 4 is not 1, the only value");
    let stream = ["train", "--schedule", "sr-2way:96,sr-4way-quadrant", "--steps", "192", "--dropout", "0.5"];
    desk.fails(&stream, "dropout: 0.5 is not 0, the only value");
    desk.write("c.toml", "task = \"sr-2way\"\nstep = 5\n");
    desk.fails(&["train", "--config", "c.toml"], "c.toml: line 2, field `step`: unknown field `step`");
    desk.fails(&["train", "--resume", "nowhere"], "nowhere/config.toml");
    desk.fails(&["eval", "nowhere"], "nowhere is not the folder of a run");
}

#[test]
fn damaged_files_of_a_run_without_manifest_are_told() {
    let desk = Desk::new();
    desk.succeeds(&words(&["--steps", "1000", "--out", "run"]));
    fs::remove_file(desk.file("run/manifest.json")).unwrap();
    let checkpoint = desk.file("run/checkpoint.safetensors");
    let good = fs::read(&checkpoint).unwrap();
    let mut bad = good.clone();
    let middle = bad.len() / 2;
    bad[middle] ^= 1;
    fs::write(&checkpoint, &bad).unwrap();
    desk.fails(&["train", "--resume", "run"], "its checksum is wrong; remove the file");
    fs::write(&checkpoint, &good[..good.len() / 2]).unwrap();
    desk.fails(&["train", "--resume", "run"], "this is not a checkpoint");
    fs::write(desk.file("run/weights.safetensors"), b"nonsense").unwrap();
    desk.fails(&["eval", "run"], "weights.safetensors: this is not a safetensors file");
    fs::write(desk.file("run/identity.json"), b"{").unwrap();
    desk.fails(&["train", "--resume", "run"], "identity.json: ");
}

/// A task file becomes part of the run, which can then be resumed, evaluated and moved.
#[test]
fn a_run_on_the_users_own_task_is_whole() {
    let desk = Desk::new();
    fs::create_dir(desk.file("tasks")).unwrap();
    let text = desk.succeeds(&["tasks", "show", "sr-2way"]);
    desk.write("tasks/mine.toml", &text.replace("sr-2way", "mine"));
    let args = ["train", "--task", "tasks/mine.toml", "--portraits", "8,4", "--candidates", "64"];
    desk.succeeds(&[&args[..], &["--steps", "1003", "--out", "runs/one"]].concat());
    assert_eq!(status(&desk, "runs/one")["of_steps"], 1008, "whole updates");
    fs::rename(desk.file("runs/one"), desk.file("moved")).unwrap();
    fs::remove_dir_all(desk.file("tasks")).unwrap();
    let eval = desk.succeeds(&["eval", "moved", "--trials", "20"]);
    assert!(eval.contains("ems on mine"), "{eval}");
    desk.succeeds(&["train", "--resume", "moved"]);

    // The trained settings are evaluated.
    let task = fs::read_to_string(desk.file("moved/task.toml")).unwrap();
    let other = task.replace("left = 112", "left = 111");
    assert_ne!(other, task);
    desk.write("moved/task.toml", &other);
    desk.fails(&["eval", "moved"], "moved/task.toml: it is damaged");
    let manifest = fs::read(desk.file("moved/manifest.json")).unwrap();
    fs::remove_file(desk.file("moved/manifest.json")).unwrap();
    desk.fails(&["eval", "moved"], "it was trained with other images, features or settings");
    fs::write(desk.file("moved/manifest.json"), manifest).unwrap();
    desk.write("moved/task.toml", &task);
    let config = fs::read_to_string(desk.file("moved/config.toml")).unwrap();
    desk.write("moved/config.toml", &config.replace("\"ems\"", "\"no-symm\""));
    desk.fails(&["eval", "moved"], "moved/config.toml: it is damaged");
}

#[test]
fn what_is_missing_is_made_again_and_nothing_foreign_is_written_over() {
    let desk = Desk::new();
    desk.succeeds(&words(&["--steps", "400", "--out", "run"]));
    let weights = fs::read(desk.file("run/weights.safetensors")).unwrap();
    fs::remove_file(desk.file("run/weights.safetensors")).unwrap();
    let resumed = desk.run(&["train", "--resume", "run"]);
    let said = String::from_utf8(resumed.stderr).unwrap();
    assert!(
        said.contains("weights.safetensors: it is missing") && desk.file("run.damaged-1").exists(),
        "{said}"
    );
    assert!(fs::read(desk.file("run/weights.safetensors")).unwrap() == weights);

    fs::create_dir(desk.file("own")).unwrap();
    desk.write("own/config.toml", "# mine\nsteps = 400\n");
    desk.fails(
        &words(&["--config", "own/config.toml", "--out", "own"]),
        "own is not the folder of a run, but holds own/config.toml",
    );
    assert!(fs::read_to_string(desk.file("own/config.toml")).unwrap().starts_with("# mine"));
}

/// Another module, task or preset on top of a complete configuration brings its own numbers.
#[test]
fn flags_over_a_configuration_make_the_run_they_would_make_alone() {
    let desk = Desk::new();
    desk.succeeds(&words(&[
        "--steps",
        "400",
        "--explore",
        "epsilon-greedy",
        "--epsilon",
        "0.3",
        "--out",
        "base",
    ]));
    let config = |run: &str| fs::read_to_string(desk.file(run).join("config.toml")).unwrap();
    let over = |more: &[&str]| {
        desk.succeeds(&[&["train", "--config", "base/config.toml"], more].concat());
    };
    over(&["--module", "none-relu-medium", "--out", "medium"]);
    assert!(config("medium").contains("units = [128, 128, 128]"), "{}", config("medium"));
    over(&["--preset", "paper", "--explore", "sample", "--out", "paper"]);
    let paper = config("paper");
    for words in [
        "batch = 16",
        "touch-scale = 111.5",
        "initial-weights = \"paper\"",
        "feature-norm = 8.0",
        "variance-of = \"distributions\"",
    ] {
        assert!(paper.contains(words), "{words} is not in {paper}");
    }
    assert!(!paper.contains("epsilon"), "{paper}");
    over(&["--task", "localization", "--objects", "12,6", "--out", "fine"]);
    let fine = config("fine");
    assert!(fine.contains("batch = 16") && fine.contains("learning-rate = 0.0003"), "{fine}");
    assert!(fine.contains("touch-scale = 24.0"), "{fine}");
}

/// The touch scale is recorded in the run, independent of the default.
#[test]
fn touches_are_counted_as_a_run_says() {
    let desk = Desk::new();
    let config = |run: &str| fs::read_to_string(desk.file(run).join("config.toml")).unwrap();
    let short = |more: &[&'static str]| {
        let words =
            ["train", "--steps", "400", "--portraits", "8,4", "--candidates", "64", "--map-examples", "1"];
        desk.succeeds(&[&words[..], more].concat());
    };
    short(&["--task", "mts-2way-stationary", "--touch-scale", "1", "--out", "old"]);
    // Another module counts as the configuration says.
    desk.succeeds(&["train", "--config", "old/config.toml", "--module", "no-symm", "--out", "other"]);
    assert!(config("other").contains("touch-scale = 1.0"), "{}", config("other"));
    desk.succeeds(&["eval", "old", "--trials", "20"]);
    desk.succeeds(&["maps", "old", "--count", "1", "--out", "maps.png"]);
    desk.succeeds(&["train", "--resume", "old"]);
    // A stream of tasks counts as its finest does.
    short(&["--schedule", "sr-2way:200,mts-2way-stationary", "--out", "stream"]);
    assert!(config("stream").contains("touch-scale = 24.0"), "{}", config("stream"));
    for scale in ["0", "-1", "nan", "1e9"] {
        desk.fails(&words(&[&format!("--touch-scale={scale}")]), "touch-scale: ");
    }
}

/// The number of threads changes nothing.
#[test]
fn threads_change_no_bit() {
    let results: Vec<Vec<u8>> = ["1", "3"]
        .map(|n_threads| {
            let desk = Desk::new();
            let args = words(&["--steps", "800", "--out", "run"]);
            let output = desk.command(&args).env("RAYON_NUM_THREADS", n_threads).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            fs::read(desk.file("run/weights.safetensors")).unwrap()
        })
        .into();
    assert!(results[0] == results[1]);
}

/// A stream of three tasks, killed and resumed, ends with the same bytes and records its votes.
#[test]
fn a_stream_of_tasks_builds_skills_out_of_skills() {
    let desk = Desk::new();
    desk.write("tasks.toml", STREAM);
    desk.write("stream.toml", CONFIG);
    desk.succeeds(&["run", "stream.toml", "--out", "whole"]);
    let args = ["run", "stream.toml", "--out", "killed"];
    for _ in 0..8 {
        let mut child = start(&desk, &args);
        sleep(Duration::from_millis(700));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    desk.succeeds(&["train", "--resume", "killed"]);
    check_same_result(&desk, "whole", "killed");
    for file in ["votes.csv", "lessons.csv", "metrics.json", "maps-3.png", "maps-3.apng"] {
        let read = |run: &str| fs::read(desk.file(run).join(file)).unwrap();
        assert!(read("whole") == read("killed"), "{file}");
    }
    let votes = fs::read_to_string(desk.file("whole/votes.csv")).unwrap();
    assert!(votes.contains(",2,layer1,old-1-transformed,") && votes.contains(",3,readout,old-2,"), "{votes}");
    let curve = fs::read_to_string(desk.file("whole/curve.csv")).unwrap();
    let lessons: Vec<&str> = curve.lines().skip(1).map(|line| line.split(',').nth(1).unwrap()).collect();
    assert!(lessons.is_sorted() && lessons.contains(&"2") && lessons.last() == Some(&"3"), "{lessons:?}");
    let lessons = fs::read_to_string(desk.file("whole/lessons.csv")).unwrap();
    assert!(lessons.starts_with("lesson,task,first_step\n1,sr-2way,0\n2,sr-2way+rotation,"), "{lessons}");
    let page = fs::read_to_string(desk.file("whole/page.html")).unwrap();
    assert!(page.contains("learns 3 tasks") && page.contains("vote share of the old modules"), "{page}");
    // The final skill is complete: three modules and their votes.
    let eval = desk.succeeds(&["eval", "whole", "--trials", "100", "--json"]);
    let eval: serde_json::Value = serde_json::from_str(&eval).unwrap();
    assert_eq!(eval["task"], "sr-2way+class-reversal");
    desk.succeeds(&["maps", "whole", "--count", "2", "--out", "maps.png"]);

    desk.write("both.toml", &("task = \"sr-2way\"\n".to_owned() + CONFIG));
    desk.fails(&["run", "both.toml"], "a run has one or the other");
    let few = ["train", "--schedule", "sr-2way,sr-4way-quadrant"];
    desk.fails(&few, "`sr-2way`: how long? Write `sr-2way:8000` for 8000 steps");
}

const STREAM: &str = r#"
id = "three"
[[segment]]
task = "sr-2way"
steps = 2000
[[segment]]
task = "sr-2way+rotation"
steps = 2000
[[segment]]
task = "sr-2way+class-reversal"
"#;

const CONFIG: &str = r#"
schedule = "tasks.toml"
steps = 12000
candidates = 64
map-examples = 1
evaluate-every = 200
evaluation-trials = 50
voting = "unit"
images = { portraits = { train = 8, validation = 4 } }
"#;
