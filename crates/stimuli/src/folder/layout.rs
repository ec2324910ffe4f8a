//! Lists the files of an image folder by class and split.

use crate::class_names::{select_classes, sort_for_paper};
use crate::error::SourceError;
use crate::listing::{ListedFile, NOT_UTF8, list_files, list_folders};
use crate::manifest::Skipped;
use std::collections::BTreeSet;
use std::path::Path;
use touchstream_env::stimuli::Split;

const EXPECTED: &str = "train/<class>/ and val/<class>/ with JPEG, PNG or WebP images";

/// A class with files in both splits, which are not decoded yet.
#[derive(Debug)]
pub struct ListedClass {
    pub name: String,
    /// `[split]`, each sorted by name.
    pub files: [Vec<ListedFile>; 2],
}

/// The classes in order, and those that lack files. It is an error if a requested class lacks files.
pub fn list_classes(
    root: &Path,
    requested: Option<&[String]>,
) -> Result<(Vec<ListedClass>, Vec<Skipped>), SourceError> {
    let split_names = [split_folder(root, &["train"])?, split_folder(root, &["val", "validation"])?];
    let (mut names, mut skipped) = (BTreeSet::new(), Vec::new());
    for split_name in split_names {
        let folders = list_folders(&root.join(split_name))?;
        names.extend(folders.names);
        let not_utf8 = folders.not_utf8.iter().map(|name| format!("{split_name}/{name}"));
        skipped.extend(not_utf8.map(|folder| Skipped::new(folder, NOT_UTF8)));
    }
    let mut names: Vec<String> = names.into_iter().collect();
    sort_for_paper(&mut names);

    let mut classes = Vec::new();
    for class in select_classes(requested, &names)? {
        let name = &names[class];
        match list_class(root, split_names, name)? {
            Ok(files) => classes.push(ListedClass { name: name.clone(), files }),
            Err(lack) => {
                refuse_if_requested(requested, name, &lack.to_string()).map(|()| skipped.push(lack))?
            }
        }
    }
    Ok((classes, skipped))
}

fn list_class(
    root: &Path,
    split_names: [&str; 2],
    name: &str,
) -> Result<Result<[Vec<ListedFile>; 2], Skipped>, SourceError> {
    let mut files = [Vec::new(), Vec::new()];
    for split in Split::ALL {
        let folder = format!("{}/{name}", split_names[split as usize]);
        if !root.join(&folder).is_dir() {
            return Ok(Err(Skipped::new(folder, "there is no such folder, so the class is not used")));
        }
        files[split as usize] = list_files(root, &folder)?;
        if files[split as usize].is_empty() {
            return Ok(Err(Skipped::new(folder, "the folder contains no images, so the class is not used")));
        }
    }
    Ok(Ok(files))
}

/// An error if the user has chosen the classes, because then every chosen class must be usable.
pub fn refuse_if_requested(
    requested: Option<&[String]>,
    name: &str,
    reason: &str,
) -> Result<(), SourceError> {
    match requested {
        Some(_) => Err(SourceError::UnusableClass { name: name.to_owned(), reason: reason.to_owned() }),
        None => Ok(()),
    }
}

fn split_folder(root: &Path, names: &[&'static str]) -> Result<&'static str, SourceError> {
    let found = names.iter().find(|name| root.join(name).is_dir());
    found.copied().ok_or_else(|| SourceError::Layout {
        root: root.to_owned(),
        missing: format!("there is no folder `{}`", names[0]),
        expected: EXPECTED,
    })
}
