//! Lists the objects and backgrounds of a folder of cut-outs.

use crate::error::SourceError;
use crate::file_index::{FileFacts, ImageFile};
use crate::listing::{ListedFile, NOT_UTF8, list_files, list_folders};
use crate::manifest::Skipped;
use std::collections::BTreeMap;
use std::path::Path;
use touchstream_files::image_file_metadata;

const EXPECTED: &str =
    "objects/*.png or objects/<class>/*.png with transparency, and backgrounds*/ with at least two images";

/// Files that are not decoded yet.
#[derive(Debug)]
pub struct CutoutFiles {
    /// By class name, sorted by file name.
    pub objects: Vec<(String, Vec<ListedFile>)>,
    /// Backgrounds, then all files that cannot be opened, which are reported together.
    pub backgrounds: Vec<ListedFile>,
}

/// Lists objects and backgrounds.
pub fn list_cutouts(root: &Path) -> Result<CutoutFiles, SourceError> {
    let missing = |missing: &str| SourceError::Layout {
        root: root.to_owned(),
        missing: missing.to_owned(),
        expected: EXPECTED,
    };
    if !root.join("objects").is_dir() {
        return Err(missing("there is no folder `objects`"));
    }
    let mut order: Vec<String> = Vec::new();
    let mut by_class: BTreeMap<String, Vec<ListedFile>> = BTreeMap::new();
    let (objects, mut unusable): (Vec<_>, Vec<_>) =
        list_files(root, "objects")?.into_iter().map(checked).partition(|file| file.fault.is_none());
    for file in objects {
        let class = class_of(&file.relative);
        let files = by_class.entry(class.clone()).or_default();
        if files.is_empty() {
            order.push(class);
        }
        files.push(file);
    }
    let objects = order.into_iter().filter_map(|class| by_class.remove_entry(&class)).collect();
    let mut backgrounds = Vec::new();
    let is_background = |folder: &&String| folder.starts_with("backgrounds");
    let folders = list_folders(root)?;
    for folder in folders.names.iter().filter(is_background) {
        backgrounds.extend(list_files(root, folder)?);
    }
    if backgrounds.len() < 2 {
        return Err(missing("there are fewer than two backgrounds"));
    }
    for folder in folders.not_utf8.iter().filter(is_background) {
        unusable.push(ListedFile::new(root.join(folder), folder.clone()).with_fault(NOT_UTF8));
    }
    backgrounds.append(&mut unusable);
    Ok(CutoutFiles { objects, backgrounds })
}

/// Adds a fault if the file cannot be an image, as far as this is known without reading it.
fn checked(file: ListedFile) -> ListedFile {
    match (&file.fault, image_file_metadata(&file.path)) {
        (None, Err(error)) => file.with_fault(format!("cannot be read: {error}")),
        _ => file,
    }
}

/// The class in a file name: `cow` for `objects/29_cow.png` and for `objects/cow/1.png`.
fn class_of(relative: &str) -> String {
    let below = relative.strip_prefix("objects/").unwrap_or(relative);
    let name = match below.split_once('/') {
        Some((folder, _)) => folder,
        None => below.rsplit_once('.').map_or(below, |(stem, _)| stem),
    };
    match name.split_once('_') {
        Some((number, rest)) if !rest.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => rest,
        _ => name,
    }
    .to_owned()
}

/// Assigns backgrounds to training and validation: sorted by content hash, every fifth is for validation, so the splits
/// share none. Duplicates are skipped.
pub fn split_backgrounds(
    files: &[ListedFile],
    facts: &[FileFacts],
    skipped: &mut Vec<Skipped>,
) -> [Vec<ImageFile>; 2] {
    let mut by_content: BTreeMap<[u8; 32], ImageFile> = BTreeMap::new();
    for (file, facts) in files.iter().zip(facts) {
        match (&facts.verdict, by_content.get(facts.hash.as_bytes())) {
            (Err(reason), _) => skipped.push(Skipped::new(&file.relative, reason)),
            (Ok(_), Some(first)) => {
                skipped
                    .push(Skipped::new(&file.relative, format!("the same image as {}", first.file.relative)));
            }
            (Ok(_), None) => {
                let image = ImageFile { file: file.clone(), hash: facts.hash };
                by_content.insert(*facts.hash.as_bytes(), image);
            }
        }
    }
    let mut splits = [Vec::new(), Vec::new()];
    for (rank, image) in by_content.into_values().enumerate() {
        splits[usize::from(rank % 5 == 1)].push(image);
    }
    splits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_named_by_file_or_folder_without_a_leading_number() {
        for (file, class) in [
            ("objects/29_cow.png", "cow"),
            ("objects/05_heron_greatblue.png", "heron_greatblue"),
            ("objects/cow.png", "cow"),
            ("objects/56_747.png", "747"),
            ("objects/747.png", "747"),
            ("objects/12_.png", "12_"),
            ("objects/sea_lion/03_left.png", "sea_lion"),
            ("objects/3_cow/1.png", "cow"),
        ] {
            assert_eq!(class_of(file), class, "{file}");
        }
    }
}
