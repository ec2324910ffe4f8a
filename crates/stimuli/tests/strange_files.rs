//! Endless files, circular links, unusable names and caches are reported, and the rest is used.

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod made_sources;

use made_sources::{coco, cutouts, folder};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;
use touchstream_env::screen::Screen;
use touchstream_env::stimuli::{ClassIdx, ImageId, Split};
use touchstream_files::NoProgress;
use touchstream_stimuli::{Needs, Opened, Sizes, SourceError, SourceOptions, SourceSpec, SplitCounts, open};

/// An endless file.
type MakeEndless = fn(&Path);

const ENDLESS: [MakeEndless; 2] = [
    |path| assert!(Command::new("mkfifo").arg(path).status().unwrap().success()),
    |path| symlink("/dev/zero", path).unwrap(),
];

/// Fails where the work does not come to an end.
#[track_caller]
fn in_time<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(work()));
    receiver.recv_timeout(Duration::from_secs(60)).expect("it hangs")
}

fn portraits_alone() -> SourceOptions {
    SourceOptions { needs: Needs::PORTRAITS, ..SourceOptions::default() }
}

fn open_in_time(spec: &SourceSpec, options: SourceOptions) -> Result<Opened, SourceError> {
    let spec = spec.clone();
    in_time(move || open(&spec, &options, &NoProgress))
}

#[track_caller]
fn check_skipped(opened: &Opened, file: &str, reason: &str) {
    let skipped = &opened.manifest.skipped;
    let found = skipped.iter().any(|skipped| skipped.file == file && skipped.reason.contains(reason));
    assert!(found, "{file}: {reason} in {skipped:?}");
}

#[test]
fn endless_images_are_listed_and_skipped() {
    let cases = [
        (folder(), "train/boat/endless.jpg"),
        (folder(), "val/owl/endless.jpg"),
        (coco(), "train2017/4.png"),
        (cutouts(), "objects/endless.png"),
        (cutouts(), "objects/cat/endless.png"),
        (cutouts(), "backgrounds_made/endless.jpg"),
    ];
    for ((root, spec), file) in cases {
        for make_endless in ENDLESS {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let _ = fs::remove_file(&path);
            make_endless(&path);
            let opened = open_in_time(&spec, portraits_alone()).unwrap();
            check_skipped(&opened, file, "neither a file nor a link to one");
            assert_eq!(opened.manifest.skipped.len(), 1, "{:?}", opened.manifest.skipped);
            assert_eq!(opened.stimuli.classes().len(), 5);
        }
    }
}

#[test]
fn endless_templates_and_annotations_are_rejected() {
    for make_endless in ENDLESS {
        let (root, spec) = folder();
        let endless = root.path().join("endless");
        make_endless(&endless);
        let mut options = portraits_alone();
        options.template_files.insert("cat".to_owned(), endless);
        let error = open_in_time(&spec, options).unwrap_err().to_string();
        assert!(error.ends_with("endless: it is neither a file nor a link to one"), "{error}");

        let (root, spec) = coco();
        let annotations = root.path().join("annotations/instances_val2017.json");
        fs::remove_file(&annotations).unwrap();
        make_endless(&annotations);
        let error = open_in_time(&spec, portraits_alone()).unwrap_err().to_string();
        assert!(error.ends_with("val2017.json: it is neither a file nor a link to one"), "{error}");
    }
}

#[test]
fn an_image_that_turned_endless_after_opening_is_an_error() {
    for make_endless in ENDLESS {
        let (root, spec) = folder();
        let opened = open_in_time(&spec, portraits_alone()).unwrap();
        let file = root.path().join("train/cat/1.jpg");
        fs::remove_file(&file).unwrap();
        make_endless(&file);
        let drawn = in_time(move || {
            let image = ImageId::Portrait { class: ClassIdx(1), index: 1 };
            opened.stimuli.draw(Split::Train, image, &mut Screen::grey())
        });
        assert!(drawn.unwrap_err().to_string().contains("neither a file nor a link to one"));
    }
}

#[test]
fn circular_links_are_not_followed() {
    let cases = [
        ("train/cat/loop", ".", "it is the same folder as train/cat"),
        ("train/cat/loop", "..", "it links to a folder above itself"),
        ("train/cat/loop", "../../train", "it links to a folder above itself"),
    ];
    for (link, target, reason) in cases {
        let (root, spec) = folder();
        symlink(target, root.path().join(link)).unwrap();
        let opened = open(&spec, &portraits_alone(), &NoProgress).unwrap();
        assert_eq!(opened.stimuli.n_portraits(Split::Train, ClassIdx(1)), 3, "{target}");
        check_skipped(&opened, link, reason);
        let strict = SourceOptions { strict: true, ..portraits_alone() };
        assert!(matches!(open(&spec, &strict, &NoProgress), Err(SourceError::Strict { .. })));
    }
    let (root, spec) = cutouts();
    symlink(".", root.path().join("objects/loop")).unwrap();
    symlink(".", root.path().join("backgrounds_made/loop")).unwrap();
    let opened = open(&spec, &portraits_alone(), &NoProgress).unwrap();
    assert_eq!(opened.stimuli.classes().len(), 5);
    check_skipped(&opened, "objects/loop", "it is the same folder as objects");
    check_skipped(&opened, "backgrounds_made/loop", "it is the same folder as backgrounds_made");
    assert_eq!(opened.manifest.skipped.len(), 2);
}

#[test]
fn folders_nested_too_deeply_are_listed() {
    let (root, spec) = folder();
    let deep = format!("train/cat{}", "/x".repeat(9));
    fs::create_dir_all(root.path().join(&deep)).unwrap();
    fs::copy(root.path().join("val/dog/3.jpg"), root.path().join(&deep).join("lost.jpg")).unwrap();
    check_skipped(&open(&spec, &portraits_alone(), &NoProgress).unwrap(), &deep, "more than 8 folders deep");
}

#[test]
fn folders_with_names_that_are_not_utf8_are_listed() {
    let (root, spec) = folder();
    let make = |name: &[u8]| match fs::create_dir_all(root.path().join(OsStr::from_bytes(name))) {
        Ok(()) => true,
        // Some file systems know no such names.
        Err(_) => false,
    };
    if !make(b"train/z\xffebra") || !make(b"val/z\xffebra") {
        return;
    }
    let opened = open(&spec, &portraits_alone(), &NoProgress).unwrap();
    for file in ["train/z\u{fffd}ebra", "val/z\u{fffd}ebra"] {
        check_skipped(&opened, file, "its name is not UTF-8");
    }
    assert_eq!(opened.manifest.skipped.len(), 2);

    let (root, spec) = cutouts();
    fs::create_dir(root.path().join(OsStr::from_bytes(b"backgrounds\xff"))).unwrap();
    let opened = open(&spec, &portraits_alone(), &NoProgress).unwrap();
    check_skipped(&opened, "backgrounds\u{fffd}", "its name is not UTF-8");
}

/// A path below which nothing can be made, not even by a superuser.
fn unusable_below(root: &Path) -> PathBuf {
    let file = root.join("a-file");
    fs::write(&file, "in the way").unwrap();
    file
}

#[test]
fn a_cache_that_cannot_be_created_is_only_a_note() {
    let few = Some(SplitCounts::new(1, 1));
    let sizes = Sizes { portraits: few, objects: few, scenes: few };
    for (root, spec) in [folder(), coco(), cutouts(), (tempfile::tempdir().unwrap(), SourceSpec::Gallery)] {
        let cache_dir = unusable_below(root.path()).join("cache");
        let options = SourceOptions { sizes, cache_dir: Some(cache_dir.clone()), ..portraits_alone() };
        let opened = open(&spec, &options, &NoProgress).unwrap();
        let notes = &opened.manifest.notes;
        let named = notes.iter().filter(|note| note.contains(&cache_dir.display().to_string()));
        assert_eq!(named.count(), 1, "{spec}: {notes:?}");
        let plain = open(&spec, &SourceOptions { cache_dir: None, ..options }, &NoProgress).unwrap();
        assert_eq!(plain.manifest.content_hash, opened.manifest.content_hash);
    }
}

#[test]
fn an_unwritable_file_index_is_only_a_note() {
    for (root, spec) in [folder(), coco(), cutouts()] {
        let cache_dir = root.path().join("cache");
        fs::create_dir(&cache_dir).unwrap();
        fs::write(cache_dir.join("file-index"), "in the way").unwrap();
        let options = SourceOptions { cache_dir: Some(cache_dir.clone()), ..portraits_alone() };
        let opened = open(&spec, &options, &NoProgress).unwrap();
        let notes = &opened.manifest.notes;
        let folder = cache_dir.join("file-index").display().to_string();
        assert_eq!(notes.iter().filter(|note| note.contains(&folder)).count(), 1, "{spec}: {notes:?}");
    }
}
