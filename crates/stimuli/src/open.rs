//! From the word that names a source to something the environment can draw from.

use crate::error::SourceError;
use crate::manifest::{Manifest, Skipped};
use crate::options::SourceOptions;
use crate::progress::Progress;
use crate::spec::SourceSpec;
use crate::{coco, cutouts, folder, gallery};
use std::path::Path;
use std::sync::Arc;
use touchstream_env::stimuli::Stimuli;

/// An open source.
pub struct Opened {
    /// To draw from.
    pub stimuli: Arc<dyn Stimuli>,
    /// What it holds and what was left out.
    pub manifest: Manifest,
}

impl std::fmt::Debug for Opened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Opened").field("manifest", &self.manifest).finish_non_exhaustive()
    }
}

/// Opens a source. What is broken is skipped and named in the manifest, or an error with `options.strict`.
pub fn open(
    spec: &SourceSpec,
    options: &SourceOptions,
    progress: &dyn Progress,
) -> Result<Opened, SourceError> {
    let name = spec.to_string();
    match spec {
        SourceSpec::Gallery => gallery::open(name, options, progress),
        SourceSpec::Folder(root) => {
            folder::open(name, check_is_folder(root, "an image folder")?, options, progress)
        }
        SourceSpec::Coco(root) => {
            coco::open(name, check_is_folder(root, "a COCO folder")?, options, progress)
        }
        SourceSpec::Cutouts(root) => {
            cutouts::open(name, check_is_folder(root, "a folder of cut-outs")?, options, progress)
        }
    }
}

fn check_is_folder<'a>(root: &'a Path, expected: &'static str) -> Result<&'a Path, SourceError> {
    match root.is_dir() {
        true => Ok(root),
        false => Err(SourceError::Layout {
            root: root.to_owned(),
            missing: "there is no such folder".to_owned(),
            expected,
        }),
    }
}

/// An error if something was skipped and strictness is asked for.
pub(crate) fn refuse_if_strict(options: &SourceOptions, skipped: &[Skipped]) -> Result<(), SourceError> {
    match options.strict && !skipped.is_empty() {
        true => Err(SourceError::Strict { skipped: skipped.to_vec() }),
        false => Ok(()),
    }
}
