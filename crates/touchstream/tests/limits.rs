//! Everything has a bound: numbers, time, memory, and what is read.

#![allow(clippy::unwrap_used)]

mod desk;

use desk::Desk;
use std::fs::{self, File};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

fn train<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let words = ["train", "--task", "sr-2way", "--portraits", "8,4", "--candidates", "64"];
    [&words[..], more].concat()
}

#[test]
fn numbers_have_upper_limits() {
    let desk = Desk::new();
    let huge = "18446744073709551615";
    desk.fails(&train(&["--steps", huge]), "steps: 18446744073709551615 is more than 1000000000000");
    desk.fails(
        &train(&["--steps", "9", "--evaluation-trials", huge]),
        "evaluation-trials: 18446744073709551615 is more",
    );
    desk.fails(&["eval", "run", "--trials", huge], "is not in 1..=10000000");
    desk.fails(&["rollout", "sr-2way", "--steps", huge], "is not in 1..=");
    let study = ["study", "modules", "--scale", "smoke", "--out", "study"];
    desk.fails(&[&study[..], &["--steps", huge]].concat(), "is more than 1000000000000");
    let switch = ["switch", "--from", "sr-2way", "--to", "sr-2way", "--out", "study"];
    desk.fails(&[&switch[..], &["--base-steps", huge]].concat(), "base-steps: 18446744073709551615 is more");
    desk.fails(&["bench", "modules", "--secs", "1e9"], "secs: 1000000000 is not above 0 and at most 3600");
    desk.fails(&["bench", "modules", "--batch", huge], "batch");
    desk.fails(&["bench", "voting", "--secs", "inf"], "secs: inf is not above 0");
    for (option, what) in [("--threads", "threads"), ("--batch", "batch")] {
        desk.fails(&["bench", "encoder", option, "100000"], &format!("{what}: 100000 is not in 1..=1024"));
    }
    assert!(!desk.file("study").exists() && !desk.file("runs").exists());
}

/// Its evaluations alone take longer than anybody waits.
#[test]
fn a_signal_ends_an_evaluation_within_two_seconds() {
    let desk = Desk::new();
    let long = train(&[
        "--steps",
        "4000",
        "--evaluate-every",
        "2000",
        "--evaluation-trials",
        "3000000",
        "--out",
        "run",
    ]);
    desk.succeeds(&train(&["--steps", "8", "--out", "first"]));
    for signal in ["-INT", "-TERM"] {
        let mut child = desk.command(&long).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let begun = Instant::now();
        while !desk.file("run/status.json").exists() && begun.elapsed() < Duration::from_secs(60) {
            sleep(Duration::from_millis(10));
        }
        sleep(Duration::from_millis(300));
        assert!(child.try_wait().unwrap().is_none(), "it is still evaluating");
        Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        let told = Instant::now();
        while child.try_wait().unwrap().is_none() {
            assert!(told.elapsed() < Duration::from_secs(2), "{signal}");
            sleep(Duration::from_millis(5));
        }
        assert_eq!(child.wait().unwrap().code(), Some(130));
        let status = fs::read_to_string(desk.file("run/status.json")).unwrap();
        assert!(status.contains("interrupted"), "{status}");
    }
}

/// Stopped in the middle of an evaluation again and again, a run ends with the same bytes.
#[test]
fn an_interrupted_evaluation_is_repeated() {
    let desk = Desk::new();
    let args = |out| {
        train(&["--steps", "4000", "--evaluate-every", "400", "--evaluation-trials", "3000", "--out", out])
    };
    desk.succeeds(&args("whole"));
    let mut n_stops = 0;
    for moment in 0..12_u64 {
        let mut child =
            desk.command(&args("stopped")).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        sleep(Duration::from_millis(150 + moment * 7919 % 400));
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        n_stops += u64::from(child.wait().unwrap().code() == Some(130));
    }
    desk.succeeds(&args("stopped"));
    for file in ["curve.csv", "weights.safetensors", "checkpoint.safetensors", "maps.png"] {
        let read = |run: &str| fs::read(desk.file(run).join(file)).unwrap();
        assert!(read("whole") == read("stopped"), "{file}");
    }
    assert!(n_stops > 0, "it was never stopped");
}

/// A row is added to the file that is there.
#[test]
fn the_curve_is_appended_to() {
    let desk = Desk::new();
    let long =
        train(&["--steps", "2000000", "--evaluate-every", "16", "--evaluation-trials", "1", "--out", "run"]);
    let mut child = desk.command(&long).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let curve = desk.file("run/curve.csv");
    let n_rows = || fs::read_to_string(&curve).map_or(0, |text| text.lines().count());
    let wait_for = |n: usize| {
        let begun = Instant::now();
        while n_rows() < n && begun.elapsed() < Duration::from_secs(60) {
            sleep(Duration::from_millis(5));
        }
    };
    wait_for(20);
    let open = File::open(&curve).unwrap();
    let before = open.metadata().unwrap().len();
    wait_for(40);
    // A file that is replaced would not grow.
    assert!(open.metadata().unwrap().len() > before);
    child.kill().unwrap();
    child.wait().unwrap();
    let text = fs::read_to_string(&curve).unwrap();
    assert!(text.ends_with('\n') && text.lines().all(|line| line.split(',').count() == 14), "{text}");
}

#[test]
fn what_cannot_be_written_is_refused_before_the_work() {
    let desk = Desk::new();
    fs::create_dir(desk.file("folder")).unwrap();
    for command in [
        &["data", "--sheet", "folder"][..],
        &["preview", "--out", "folder"],
        &["verify", "nowhere", "--markdown", "folder"],
        &["maps", "nowhere", "--out", "folder"],
        &["encoder", "check", "compact", "--out", "folder"],
    ] {
        let begun = Instant::now();
        let said = desk.fails(command, "cannot write folder: ");
        assert_eq!(said.matches("cannot write").count(), 1, "{said}");
        assert!(!desk.cache().exists(), "{command:?} rendered images first, for {:?}", begun.elapsed());
    }
}

#[test]
fn an_error_is_printed_once() {
    let desk = Desk::new();
    for command in [
        &["encoder", "info", "onnx:nowhere.onnx"][..],
        &["train", "--encoder", "onnx:nowhere.onnx", "--scene", "x"],
        &["train", "--config", "nowhere.toml"],
        &["data", "folder:nowhere"],
        &["verify", "nowhere"],
    ] {
        let said = desk.fails(command, "nowhere");
        for words in ["No such file", "nowhere"] {
            assert!(said.matches(words).count() < 2 || words == "nowhere", "{command:?}: {said}");
        }
    }
}

/// The same size, and the time is set back: the time of the change is not.
#[cfg(unix)]
#[test]
fn an_edited_image_is_noticed() {
    let desk = Desk::new();
    let put = |path: &std::path::Path, shade: u8| {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, 8, 8);
        encoder.set_color(png::ColorType::Grayscale);
        encoder.write_header().unwrap().write_image_data(&[shade; 64]).unwrap();
        fs::write(path, bytes).unwrap();
    };
    for split in ["train", "val"] {
        for (class, shade) in [("dark", 40), ("light", 200)] {
            let folder = desk.file("photos").join(split).join(class);
            fs::create_dir_all(&folder).unwrap();
            put(&folder.join("one.png"), shade + u8::from(split == "val"));
        }
    }
    sleep(Duration::from_millis(2100));
    let hash = || {
        let told = desk.succeeds(&["data", "folder:photos"]);
        told.split("content hash ").nth(1).unwrap().trim().to_owned()
    };
    let before = hash();
    let file = desk.file("photos/train/dark/one.png");
    let facts = fs::metadata(&file).unwrap();
    let size = facts.len();
    put(&file, 41);
    assert_eq!(fs::metadata(&file).unwrap().len(), size, "this edit keeps the size");
    File::options().write(true).open(&file).unwrap().set_modified(facts.modified().unwrap()).unwrap();
    assert_ne!(hash(), before);
    put(&file, 40);
    desk.succeeds(&["cache", "clear", "--pictures", "--yes"]);
    assert_eq!(hash(), before);
}

/// Too little memory is a sentence.
#[cfg(target_os = "linux")]
#[test]
fn too_little_memory_is_a_sentence() {
    let desk = Desk::new();
    let program = env!("CARGO_BIN_EXE_touchstream");
    let huge = "\"$0\" train --task sr-2way --portraits 8,4 --units 8192 --steps 8 --out run";
    let output = Command::new("/bin/sh")
        .args(["-c", &format!("ulimit -v 1500000; ulimit -c 0; {huge}"), program])
        .current_dir(desk.path())
        .env("TOUCHSTREAM_CACHE", desk.cache())
        .env("RAYON_NUM_THREADS", "1")
        .env("RUST_BACKTRACE", "1")
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success(), "{said}");
    assert!(
        said.contains("memory") && !said.contains("stack backtrace") && !said.contains("panicked"),
        "{said}"
    );
    assert_eq!(said.lines().filter(|line| line.contains("memory")).count(), 1, "{said}");
}

/// Memory and open files of a process that trains for long.
#[cfg(target_os = "linux")]
fn check_long_run(n_steps: u64) {
    let desk = Desk::new();
    let steps = n_steps.to_string();
    let words = ["train", "--task", "sr-2way", "--portraits", "8,4", "--candidates", "8", "--units", "2"];
    let more = ["--evaluation-trials", "10", "--steps", &steps, "--out", "run"];
    let mut child = desk
        .command(&[&words[..], &more].concat())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let proc = std::path::PathBuf::from(format!("/proc/{}", child.id()));
    let memory_kb = || {
        let status = fs::read_to_string(proc.join("status")).unwrap_or_default();
        let line =
            status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default().trim().to_owned();
        line.split(' ').next().and_then(|number| number.parse::<u64>().ok())
    };
    let n_files = || fs::read_dir(proc.join("fd")).map_or(0, Iterator::count);
    let mut seen: Vec<(u64, u64, usize)> = Vec::new();
    while child.try_wait().unwrap().is_none() {
        sleep(Duration::from_millis(20));
        let text = fs::read_to_string(desk.file("run/curve.csv")).unwrap_or_default();
        let step = text.lines().last().and_then(|line| line.split(',').next()?.parse::<u64>().ok());
        if let (Some(step), Some(memory)) = (step, memory_kb()) {
            seen.push((step, memory, n_files()));
        }
    }
    assert!(child.wait().unwrap().success());
    let of = |from: f64, to: f64| {
        let is_between =
            |step: u64| step as f64 >= from * n_steps as f64 && step as f64 <= to * n_steps as f64;
        let part: Vec<_> = seen.iter().filter(|(step, ..)| is_between(*step)).collect();
        (part.iter().map(|(_, memory, _)| *memory).max(), part.iter().map(|(_, _, files)| *files).max())
    };
    let ((Some(early), files), (Some(late), late_files)) = (of(0.1, 0.4), of(0.6, 0.95)) else {
        panic!("it was seen at {} moments only", seen.len())
    };
    println!(
        "{n_steps} steps: {early} kB and {files:?} files early, {late} kB and {late_files:?} files late"
    );
    assert!(late < early + 4096, "memory grows from {early} to {late} kB");
    // A temporary file may be open.
    assert!(late_files <= files.map(|files| files + 1), "{files:?} and {late_files:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_long_run_takes_constant_memory() {
    check_long_run(200_000);
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "takes minutes: ten million steps"]
fn ten_million_steps_take_constant_memory() {
    check_long_run(10_000_000);
}
