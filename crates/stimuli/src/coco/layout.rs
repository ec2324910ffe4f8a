//! Finds COCO's files.

use crate::error::SourceError;
use crate::listing::list_files;
use std::path::Path;
use touchstream_env::stimuli::Split;

const EXPECTED: &str =
    "annotations/instances_train2017.json and annotations/instances_val2017.json, train2017/ and val2017/";

/// An annotation file and the folder of its images, relative to the source's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitFiles {
    pub annotations: String,
    pub images: String,
}

/// The files of a split: of 2017, else of 2014, else the first by name.
pub fn find_split(root: &Path, split: Split) -> Result<SplitFiles, SourceError> {
    let missing =
        |missing: String| SourceError::Layout { root: root.to_owned(), missing, expected: EXPECTED };
    if !root.join("annotations").is_dir() {
        return Err(missing("there is no folder `annotations`".to_owned()));
    }
    let prefix = match split {
        Split::Train => "annotations/instances_train",
        Split::Validation => "annotations/instances_val",
    };
    let files = list_files(root, "annotations")?;
    let suffixes = files.iter().filter_map(|file| file.relative.strip_prefix(prefix)?.strip_suffix(".json"));
    let suffix = suffixes
        .min_by_key(|&suffix| (suffix != "2017", suffix != "2014", suffix))
        .ok_or_else(|| missing(format!("there is no {prefix}2017.json")))?;
    let name = format!("{}{suffix}", prefix.trim_start_matches("annotations/instances_"));
    let folders = [name.clone(), format!("images/{name}")];
    let images = folders
        .into_iter()
        .find(|folder| root.join(folder).is_dir())
        .ok_or_else(|| missing(format!("there is no folder `{name}`")))?;
    Ok(SplitFiles { annotations: format!("{prefix}{suffix}.json"), images })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::put;

    #[test]
    fn the_year_2017_is_preferred_and_errors_name_missing_files() {
        let root = tempfile::tempdir().unwrap();
        let find = || find_split(root.path(), Split::Validation);
        assert!(find().unwrap_err().to_string().contains("there is no folder `annotations`"));
        put(root.path(), "annotations/captions_val2017.json", "");
        assert!(find().unwrap_err().to_string().contains("there is no annotations/instances_val2017.json"));
        put(root.path(), "annotations/instances_val2014.json", "");
        put(root.path(), "annotations/instances_valmini.json", "");
        assert!(find().unwrap_err().to_string().contains("there is no folder `val2014`"));
        put(root.path(), "images/val2014/1.jpg", "");
        let expected = |annotations: &str, images: &str| SplitFiles {
            annotations: annotations.into(),
            images: images.into(),
        };
        assert_eq!(find().unwrap(), expected("annotations/instances_val2014.json", "images/val2014"));
        put(root.path(), "annotations/instances_val2017.json", "");
        put(root.path(), "val2017/1.jpg", "");
        assert_eq!(find().unwrap(), expected("annotations/instances_val2017.json", "val2017"));
    }
}
