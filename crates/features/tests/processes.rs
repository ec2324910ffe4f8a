//! Several processes on one cache: they divide the work, killed writers leave it valid, and a full disk is reported.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod pixel_encoder;

use pixel_encoder::{MOVING, N_MOVING, PixelEncoder, bind, bits, open};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use touchstream_env::seed::{RunSeed, StreamName};
use touchstream_env::stimuli::Split;
use touchstream_features::inventory::{examine, store_folders};
use touchstream_features::segment::{HEAD_BYTES, scan};
use touchstream_features::{EncodeContext, FeatureSet, FeatureSettings, Wanted};
use touchstream_files::NoProgress;

const CACHE: &str = "PIXEL_ENCODER_CACHE";
const ANSWER: &str = "PIXEL_ENCODER_ANSWER";
const MILLIS: &str = "PIXEL_ENCODER_MILLIS";

/// Not a test by itself: what the other tests start as processes of their own.
#[test]
fn child() {
    let Some(cache_dir) = std::env::var_os(CACHE) else { return };
    let millis = std::env::var(MILLIS).unwrap().parse().unwrap();
    let encoder = PixelEncoder { patience: Duration::from_millis(millis), ..PixelEncoder::new() };
    let eyes =
        EncodeContext { encoder: &encoder, cache_dir: Some(Path::new(&cache_dir)), progress: &NoProgress };
    let settings = FeatureSettings { wanted: Wanted::SceneAndMap, ..FeatureSettings::default() };
    let answer = match FeatureSet::of_tasks(eyes, &[&bind(MOVING, Split::Train)], settings) {
        Ok(set) => format!("{} {} {}", encoder.n_encoded(), set.encoded().n_from_others, digest(&set)),
        Err(error) => format!("error: {error}"),
    };
    fs::write(std::env::var_os(ANSWER).unwrap(), answer).unwrap();
}

fn digest(set: &FeatureSet) -> String {
    let bytes: Vec<u8> = bits(set).into_iter().flat_map(u32::to_le_bytes).collect();
    blake3::hash(&bytes).to_hex().to_string()
}

fn command(folder: &Path, name: &str, millis: u64) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child", "--test-threads", "1"]);
    command.env(CACHE, folder.join("cache")).env(ANSWER, folder.join(name)).env(MILLIS, millis.to_string());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn start(folder: &Path, name: &str, millis: u64) -> Child {
    command(folder, name, millis).spawn().unwrap()
}

/// Records of all segments, whether or not there are two of one.
fn n_records(cache_dir: &Path) -> usize {
    let store = store_folders(cache_dir).unwrap().pop().unwrap();
    let files = fs::read_dir(store).unwrap().map(|entry| entry.unwrap().path());
    let segments = files.filter(|path| path.extension().is_some_and(|extension| extension == "feat"));
    let intact = |path| {
        let segment = fs::read(path).unwrap();
        scan(&segment, HEAD_BYTES).records.iter().filter(|record| record.is_intact(&segment)).count()
    };
    segments.map(intact).sum()
}

#[test]
fn processes_share_the_work_and_encode_each_screen_once() {
    let folder = tempfile::tempdir().unwrap();
    let names = ["a", "b", "c"];
    let children = names.map(|name| start(folder.path(), name, 20));
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let reference =
        digest(&open(&PixelEncoder::new(), None, &[&bind(MOVING, Split::Train)], Wanted::SceneAndMap));
    let mut n_encoded = Vec::new();
    for name in names {
        let answer = fs::read_to_string(folder.path().join(name)).unwrap();
        let words: Vec<&str> = answer.split(' ').collect();
        assert_eq!(words[2], reference, "{name}: {answer}");
        n_encoded.push(words[0].parse::<usize>().unwrap());
    }
    assert_eq!(n_encoded.iter().sum::<usize>(), N_MOVING, "{n_encoded:?}");
    assert!(n_encoded.iter().filter(|&&n| n > 0).count() >= 2, "one process did everything: {n_encoded:?}");
    assert_eq!(n_records(&folder.path().join("cache")), 2 * N_MOVING);
}

#[test]
fn killed_writers_leave_a_valid_cache() {
    let folder = tempfile::tempdir().unwrap();
    let cache_dir = folder.path().join("cache");
    let mut random = RunSeed(4).stream(StreamName::new("test"), 0);
    for round in 0..40 {
        let mut children = [start(folder.path(), "x", 1), start(folder.path(), "y", 1)];
        for child in &mut children {
            std::thread::sleep(Duration::from_micros(u64::from(random.below(40_000))));
            child.kill().unwrap();
            child.wait().unwrap();
        }
        // So that there is something to write until the end.
        if round % 8 == 7
            && let Some(store) = store_folders(&cache_dir).unwrap().pop()
        {
            assert_eq!(
                examine(&store).map(|facts| facts.n_maps.abs_diff(facts.n_scenes) <= 16).ok(),
                Some(true)
            );
            fs::remove_dir_all(store).unwrap();
        }
    }
    // One that is killed while it waits for its last batches.
    let mut child = start(folder.path(), "z", 1);
    std::thread::sleep(Duration::from_millis(60));
    child.kill().unwrap();
    child.wait().unwrap();
    let train = bind(MOVING, Split::Train);
    let set = open(&PixelEncoder::new(), Some(&cache_dir), &[&train], Wanted::SceneAndMap);
    let reference = open(&PixelEncoder::new(), None, &[&train], Wanted::SceneAndMap);
    assert!(bits(&set) == bits(&reference));
    let facts = examine(&store_folders(&cache_dir).unwrap()[0]).unwrap();
    assert_eq!((facts.n_scenes, facts.n_maps), (N_MOVING, N_MOVING));
    let encoder = PixelEncoder::new();
    open(&encoder, Some(&cache_dir), &[&train], Wanted::SceneAndMap);
    assert_eq!(encoder.n_encoded(), 0);
}

/// A limit on file size truncates a write just as a full disk does.
#[test]
fn a_full_disk_is_reported_and_earlier_records_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let child = command(folder.path(), "answer", 0);
    let mut limited = Command::new("sh");
    // Units of 512 bytes or of 1024; with the signal ignored, the write fails instead.
    limited.args(["-c", "trap '' XFSZ; ulimit -f 200; exec \"$@\"", "sh"]);
    limited.arg(child.get_program()).args(child.get_args());
    limited.envs(child.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let status = limited.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    assert!(status.success());
    let answer = fs::read_to_string(folder.path().join("answer")).unwrap();
    assert!(
        answer.starts_with("error: no space to write") && answer.contains("segment-00001.feat"),
        "{answer}"
    );
    let store = store_folders(&folder.path().join("cache")).unwrap().pop().unwrap();
    let facts = examine(&store).unwrap();
    assert_eq!(facts.n_damaged, 0, "truncated records are sealed and do not count as damage");
    assert!((1..N_MOVING).contains(&facts.n_scenes), "{facts:?}");
    let encoder = PixelEncoder::new();
    let train = bind(MOVING, Split::Train);
    let set = open(&encoder, Some(&folder.path().join("cache")), &[&train], Wanted::SceneAndMap);
    let reference = open(&PixelEncoder::new(), None, &[&train], Wanted::SceneAndMap);
    assert!(bits(&set) == bits(&reference));
    assert!((1..N_MOVING).contains(&encoder.n_encoded()), "{}", encoder.n_encoded());
    assert_eq!(examine(&store).unwrap().n_damaged, 0);
}

#[test]
fn a_segment_without_a_header_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let child = command(folder.path(), "answer", 0);
    let mut limited = Command::new("sh");
    // The answer is a file too; nothing that short is a segment's head.
    limited.args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$@\"", "sh"]);
    limited.arg(child.get_program()).args(child.get_args());
    limited.envs(child.get_envs().filter_map(|(name, value)| Some((name, value?))));
    limited.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    let store = store_folders(&folder.path().join("cache")).unwrap().pop().unwrap();
    let facts = examine(&store).unwrap();
    assert_eq!((facts.n_scenes, facts.n_damaged), (0, 0));
    let segments = fs::read_dir(store).unwrap().filter(|entry| {
        entry.as_ref().unwrap().path().extension().is_some_and(|extension| extension == "feat")
    });
    assert_eq!(segments.count(), 0);
}
