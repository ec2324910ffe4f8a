//! Random streams of different names must not share numbers: the 32-bit tags of all names in the code differ.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::Path;

#[test]
fn no_two_names_have_one_tag() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut sources = Vec::new();
    collect_sources(&crates, &mut sources);
    let mut names_of_tag: BTreeMap<u32, String> = BTreeMap::new();
    let mut n_names = 0;
    for source in sources {
        for rest in source.split("StreamName::new(\"").skip(1) {
            let name = rest.split('"').next().unwrap().to_owned();
            let tag = touchstream_env::seed::StreamName::new(Box::leak(name.clone().into_boxed_str())).tag();
            let known = names_of_tag.entry(tag).or_insert_with(|| name.clone());
            assert_eq!(*known, name, "two names, one tag");
            n_names += 1;
        }
    }
    assert!(n_names > 10, "only {n_names} names found: has the way of naming changed?");
}

fn collect_sources(folder: &Path, sources: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect_sources(&path, sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            sources.push(std::fs::read_to_string(path).unwrap());
        }
    }
}
