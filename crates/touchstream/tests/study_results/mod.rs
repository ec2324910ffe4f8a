//! The results of a study's runs, for comparison byte by byte.

// Each test program uses what it needs of this.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The files of a run that do not depend on when and where it was done.
const FILES: [&str; 5] = ["curve.csv", "identity.json", "result.json", "run.json", "status.json"];

/// The files of every complete run.
pub fn results(study: &Path) -> BTreeMap<String, Vec<Vec<u8>>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(study.join("runs")).unwrap() {
        let folder = entry.unwrap().path();
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        // Set aside.
        if name.starts_with('.') {
            continue;
        }
        let files = FILES
            .map(|file| fs::read(folder.join(file)).unwrap_or_else(|error| panic!("{name}/{file}: {error}")));
        all.insert(name, files.to_vec());
    }
    all
}

/// The same runs, and the same bytes of each.
#[track_caller]
pub fn check_same(one: &BTreeMap<String, Vec<Vec<u8>>>, other: &BTreeMap<String, Vec<Vec<u8>>>) {
    assert!(one.keys().eq(other.keys()), "{:?} and {:?}", one.keys(), other.keys());
    for (name, files) in one {
        for ((file, bytes), others) in FILES.iter().zip(files).zip(&other[name]) {
            assert!(bytes == others, "{name}/{file} differs");
        }
    }
}
