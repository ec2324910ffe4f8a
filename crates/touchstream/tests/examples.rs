//! Every file in `examples/` works: the commands at its head are run, with fewer steps and fewer images.

#![allow(clippy::unwrap_used)]

mod desk;

use desk::Desk;
use std::fs;
use std::path::{Path, PathBuf};

/// Option and value.
type Setting = (&'static str, &'static str);

const SHORT_TRAINING: &[Setting] = &[
    ("--steps", "160"),
    ("--portraits", "8,4"),
    ("--candidates", "64"),
    ("--evaluation-trials", "20"),
    ("--map-examples", "0"),
];
const FEW_IMAGES: &[Setting] = &[("--portraits", "4,2")];

/// What each subcommand is run with so that it takes seconds. `run` takes its settings from a file alone.
const SHORT: [(&str, &[Setting]); 7] = [
    ("train", SHORT_TRAINING),
    ("run", &[]),
    ("tasks", FEW_IMAGES),
    ("preview", FEW_IMAGES),
    ("schedules", &[]),
    ("rollout", &[("--steps", "400"), ("--portraits", "4,2")]),
    (
        "study",
        &[
            ("--scale", "smoke"),
            ("--seeds", "1"),
            ("--steps", "48"),
            ("--portraits", "4,2"),
            ("--candidates", "16"),
        ],
    ),
];

/// Replacements in the copies of the example files.
const SHORT_FILES: [(&str, &str, &str); 4] = [
    ("back-and-forth.toml", "steps = 5000", "steps = 80"),
    ("back-and-forth.toml", "steps = [15000, 20000]", "steps = [80, 120]"),
    ("stream.toml", "steps = 60000", "steps = 320\nevaluation-trials = 20\nmap-examples = 0"),
    ("stream.toml", "voting = \"unit\"", "candidates = 64\nvoting = \"unit\""),
];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A desk with a copy of `examples/`, shortened.
fn desk_with_examples() -> Desk {
    let desk = Desk::new();
    fs::create_dir(desk.file("examples")).unwrap();
    for entry in fs::read_dir(repository().join("examples")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let mut text = fs::read_to_string(&path).unwrap();
        for (_, long, short) in SHORT_FILES.iter().filter(|(file, ..)| *file == name) {
            assert!(text.contains(long), "{name} has no `{long}`");
            text = text.replace(long, short);
        }
        if name == "stream.toml" {
            text += "\n[images]\nportraits = { train = 8, validation = 4 }\n";
        }
        desk.write(&format!("examples/{name}"), &text);
    }
    desk
}

/// The commands in the comments at a file's head.
fn commands_of(text: &str) -> Vec<Vec<String>> {
    let head = text.lines().take_while(|line| line.starts_with('#'));
    let commands = head.filter_map(|line| line.trim_start_matches(['#', ' ']).strip_prefix("touchstream "));
    commands.map(|command| command.split_whitespace().map(str::to_owned).collect()).collect()
}

fn shortened(mut args: Vec<String>) -> Vec<String> {
    let (_, settings) = SHORT.iter().find(|(subcommand, _)| *subcommand == args[0]).unwrap();
    for (option, value) in *settings {
        match args.iter().position(|arg| arg == option) {
            Some(at) => args[at + 1] = (*value).to_owned(),
            None => args.extend([(*option).to_owned(), (*value).to_owned()]),
        }
    }
    args
}

/// Runs the commands of an example; what each writes with `--out` or `--csv` must exist afterwards.
#[track_caller]
fn check_example(name: &str, n_commands: usize) -> Desk {
    let desk = desk_with_examples();
    let text = fs::read_to_string(desk.file("examples").join(name)).unwrap();
    let commands = commands_of(&text);
    assert_eq!(commands.len(), n_commands, "{name}: {commands:?}");
    for command in commands {
        let args = shortened(command);
        assert!(args.iter().any(|arg| arg.contains(name)), "{name} is not used by {args:?}");
        desk.succeeds(&args.iter().map(String::as_str).collect::<Vec<_>>());
        for pair in args.windows(2).filter(|pair| pair[0] == "--out" || pair[0] == "--csv") {
            assert!(desk.file(&pair[1]).exists(), "{args:?} has not written {}", pair[1]);
        }
    }
    desk
}

#[test]
fn no_example_is_untested() {
    let tested = [
        "README.md",
        "back-and-forth.toml",
        "export_resnet18.py", // needs PyTorch and a download
        "petals.toml",
        "run.toml",
        "stream.toml",
        "wider-modules.toml",
    ];
    let files = fs::read_dir(repository().join("examples")).unwrap();
    let mut names: Vec<String> =
        files.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, tested);
}

#[test]
fn the_task_is_checked_drawn_and_learned() {
    let desk = check_example("petals.toml", 3);
    let identity = fs::read_to_string(desk.file("runs/petals/identity.json")).unwrap();
    assert!(identity.contains("touch the petal"), "{identity}");
}

#[test]
fn the_schedule_is_checked_played_and_learned() {
    let desk = check_example("back-and-forth.toml", 3);
    let steps = fs::read_to_string(desk.file("steps.csv")).unwrap();
    for task in ["sr-2way", "petals"] {
        assert!(steps.lines().any(|line| line.split(',').nth(2) == Some(task)), "{task} was not played");
    }
}

#[test]
fn the_configuration_is_run_and_overridden() {
    let desk = check_example("run.toml", 2);
    let config = |run: &str| fs::read_to_string(desk.file(run).join("config.toml")).unwrap();
    assert!(config("runs/ems-0").contains("seed = 0\n") && config("runs/ems-7").contains("seed = 7\n"));
}

#[test]
fn the_stream_is_learned_over_its_switches() {
    let desk = check_example("stream.toml", 1);
    let tasks = fs::read_to_string(desk.file("runs/stream/lessons.csv")).unwrap();
    let tasks: Vec<&str> = tasks.lines().skip(1).map(|line| line.split(',').nth(1).unwrap()).collect();
    assert!(tasks.starts_with(&["sr-2way", "petals", "sr-2way"]), "{tasks:?}");
}

#[test]
fn the_study_runs_each_of_its_widths() {
    let desk = check_example("wider-modules.toml", 2);
    for units in [8, 16, 32] {
        let run = format!("studies/wider-modules/runs/sr-2way--ems--units={units}--seed-1");
        assert!(desk.file(&run).is_dir(), "{run} is missing");
    }
}

/// The encoder that docs/onnx.md uses until the reader has a model of their own.
#[test]
fn a_run_uses_an_onnx_encoder() {
    let desk = Desk::new();
    let model = repository().join("crates/encoder/tests/golden/onnx/small_cnn.onnx");
    let encoder = format!("onnx:{}", model.display());
    let mut args = vec!["train", "--encoder", &encoder, "--scene", "pool3", "--map", "relu3", "--out", "run"];
    args.extend(SHORT_TRAINING.iter().flat_map(|(option, value)| [*option, *value]));
    desk.succeeds(&args);
    assert!(desk.file("run/curve.csv").exists());
}
