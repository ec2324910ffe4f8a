//! How fast the stream is: trial logic, rendered screens, snapshots. Prints ratios against memcpy and, where the
//! peer's Python environment is set up (`scripts/python-env`), against a NumPy version under Gymnasium.

use criterion::{Criterion, Throughput};
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use touchstream_env::plain_stimuli::PlainStimuli;
use touchstream_env::reward_map::RewardMap;
use touchstream_env::schedule::Schedule;
use touchstream_env::screen::{SCREEN_BYTES, Screen};
use touchstream_env::seed::{RunSeed, StreamName};
use touchstream_env::stimuli::Split;
use touchstream_env::stream::Stream;
use touchstream_env::task::{find_task, paper_tasks};
use touchstream_env::touch::Touch;

fn open(task_id: &str) -> Stream {
    let task = find_task(task_id).expect("a task of the table");
    let stimuli = Arc::new(PlainStimuli::new(8));
    let (stream, _) = Stream::open(Schedule::single(task), stimuli, Split::Train, RunSeed(1))
        .expect("plain stimuli serve all");
    stream
}

/// Touches drawn beforehand, so that drawing them is not measured.
fn touches() -> impl FnMut() -> Touch {
    let mut random = RunSeed(2).stream(StreamName::new("bench/touches"), 0);
    let mut uniform =
        || Touch::new(random.below(224) as usize, random.below(224) as usize).expect("on the screen");
    let drawn: Vec<Touch> = (0..4096).map(|_| uniform()).collect();
    let mut idx = 0;
    move || {
        idx = (idx + 1) % drawn.len();
        drawn[idx]
    }
}

fn trial_logic(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("trial-logic");
    group.throughput(Throughput::Elements(1));
    for task in paper_tasks() {
        let (mut stream, mut touch) = (open(task.id()), touches());
        group.bench_function(task.id(), |bench| bench.iter(|| stream.touch(touch())));
    }
    group.finish();
}

/// A stream at a match screen; two touches lead to the next match screen.
fn on_match_screen(task_id: &str) -> Stream {
    let mut stream = open(task_id);
    stream.touch(touches()());
    stream
}

const SCREEN_TASKS: [&str; 3] =
    ["mts-2way-stationary", "mts-2way-vert-motion-horiz-flip", "mts-4way-4shown-permuted"];

fn screens(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("screens");
    group.throughput(Throughput::Bytes(SCREEN_BYTES as u64));
    let source = vec![7_u8; SCREEN_BYTES];
    let mut screen = Screen::grey();
    group.bench_function("memcpy", |bench| {
        bench.iter(|| black_box(&mut screen).pixels_mut().copy_from_slice(black_box(&source)));
    });
    for task_id in SCREEN_TASKS {
        let (mut stream, mut touch) = (on_match_screen(task_id), touches());
        group.bench_function(task_id, |bench| {
            bench.iter(|| {
                stream.touch(touch());
                stream.touch(touch());
                stream.draw(black_box(&mut screen)).expect("plain stimuli always draw");
            });
        });
    }
    group.finish();
}

fn state(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("state");
    let mut stream = on_match_screen("mts-4way-4shown-permuted");
    group.bench_function("snapshot-restore", |bench| {
        bench.iter(|| {
            let snapshot = black_box(stream.snapshot());
            stream.restore(&snapshot).expect("its own snapshot");
        });
    });
    group.bench_function("fork", |bench| bench.iter(|| stream.clone()));
    let mut map = RewardMap::zeros();
    for task_id in ["sr-2way", "mts-2way-stationary", "localization", "coco-mts"] {
        let stream = open(task_id);
        group.bench_function(format!("reward-map/{task_id}"), |bench| {
            bench.iter(|| stream.reward_map(black_box(&mut map)));
        });
    }
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_millis(1500))
        .sample_size(40)
        .configure_from_args();
    trial_logic(&mut criterion);
    screens(&mut criterion);
    state(&mut criterion);
    criterion.final_summary();
    if std::env::args().any(|arg| arg == "--bench") {
        print_ratios();
    }
}

/// Median nanoseconds of a benchmark of this run, read from criterion's output files.
fn median_ns(group: &str, name: &str) -> Option<f64> {
    let path = target_dir().join("criterion").join(group).join(name).join("new/estimates.json");
    let text = std::fs::read_to_string(path).ok()?;
    let estimates: serde_json::Value = serde_json::from_str(&text).ok()?;
    estimates["median"]["point_estimate"].as_f64()
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn target_dir() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace().join("target"), PathBuf::from)
}

fn print_ratios() {
    const TASK: &str = "mts-2way-vert-motion-horiz-flip";
    let (Some(logic), Some(screen), Some(memcpy), Some(snapshot)) = (
        median_ns("trial-logic", TASK),
        median_ns("screens", TASK),
        median_ns("screens", "memcpy"),
        median_ns("state", "snapshot-restore"),
    ) else {
        println!("\nratios need the benchmarks trial-logic, screens and state in one run");
        return;
    };
    println!("\n{TASK}, one core, medians of this run");
    println!("  trial logic        {:>8.1} million steps/s  (goal 2)", 1e3 / logic);
    for task in SCREEN_TASKS {
        let Some(ns) = median_ns("screens", task) else { continue };
        let speed = memcpy / ns;
        println!(
            "  match screens      {:>8.0} screens/s, {speed:.2} of memcpy's speed  (goal 0.5)  {task}",
            1e9 / ns
        );
    }
    println!("  snapshot + restore {:>8.3} microseconds  (goal 5)", snapshot / 1e3);
    match peer() {
        Ok(peer) => {
            let logic_ratio = 1e9 / logic / peer.logic_steps_per_sec;
            let screen_ratio = 1e9 / screen / peer.screens_per_sec;
            println!(
                "  NumPy + Gymnasium  {:>8.4} million steps/s: we are {logic_ratio:.0} times as fast  (goal 20)",
                peer.logic_steps_per_sec / 1e6
            );
            println!(
                "                     {:>8.0} match screens/s: we are {screen_ratio:.1} times as fast  (goal 3)",
                peer.screens_per_sec
            );
        }
        Err(reason) => println!("  NumPy + Gymnasium  not measured: {reason}"),
    }
}

struct Peer {
    logic_steps_per_sec: f64,
    screens_per_sec: f64,
}

/// Runs the same task written plainly in Python, now, on this machine.
fn peer() -> Result<Peer, String> {
    let python = workspace().join(".venv/bin/python");
    if !python.exists() {
        return Err("scripts/python-env sets it up".into());
    }
    let output = std::process::Command::new(python)
        .arg(workspace().join("peers/numpy_mts.py"))
        .output()
        .map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    let figures: serde_json::Value =
        serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
    let figure = |name: &str| figures[name].as_f64().ok_or_else(|| format!("the peer did not print {name}"));
    Ok(Peer {
        logic_steps_per_sec: figure("logic_steps_per_sec")?,
        screens_per_sec: figure("screens_per_sec")?,
    })
}
