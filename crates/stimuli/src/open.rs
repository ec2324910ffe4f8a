//! Opens a source.

use crate::error::SourceError;
use crate::manifest::{Manifest, Skipped};
use crate::options::{SourceOptions, TemplateRule};
use crate::spec::SourceSpec;
use crate::validation_part::{HalfValidated, ValidationPart};
use crate::{coco, cutouts, folder, gallery};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use touchstream_env::stimuli::Stimuli;
use touchstream_files::Progress;
use touchstream_files::unwritable_cache;

/// An open source, and a list of its contents.
pub struct Opened {
    pub stimuli: Arc<dyn Stimuli>,
    pub manifest: Manifest,
}

impl std::fmt::Debug for Opened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Opened").field("manifest", &self.manifest).finish_non_exhaustive()
    }
}

/// Opens a source. Invalid files are skipped and listed in the manifest, or an error with `options.strict`.
pub fn open(
    spec: &SourceSpec,
    options: &SourceOptions,
    progress: &dyn Progress,
) -> Result<Opened, SourceError> {
    options.sizes.check()?;
    let (options, note) = options_with_effect(spec, options);
    let mut opened = open_kind(spec, &options, progress)?;
    opened.manifest.notes.extend(note);
    if let Some(part) = options.validation_part {
        opened = opened.half_validated(part);
    }
    Ok(opened)
}

impl Opened {
    fn half_validated(self, part: ValidationPart) -> Self {
        let Self { stimuli, mut manifest } = self;
        let stimuli = Arc::new(HalfValidated::new(stimuli, part));
        manifest.content_hash = stimuli.content_hash().to_string();
        let classes = manifest.classes.iter_mut().map(|class| &mut class.portraits);
        for counts in classes.chain([&mut manifest.objects, &mut manifest.scenes]) {
            counts.validation = part.n_of(counts.validation as usize) as u32;
        }
        Self { stimuli, manifest }
    }
}

fn open_kind(
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

/// Removes options without effect: a cache folder that cannot be created, with a note, and a template rule that the
/// kind of source ignores, so that its hash does not depend on the rule.
fn options_with_effect(spec: &SourceSpec, options: &SourceOptions) -> (SourceOptions, Option<String>) {
    let mut options = options.clone();
    let mut note = None;
    if let Some(cache_dir) = &options.cache_dir
        && let Err(error) = fs::create_dir_all(cache_dir)
    {
        note = Some(unwritable_cache(cache_dir, &error));
        options.cache_dir = None;
    }
    match spec {
        SourceSpec::Gallery | SourceSpec::Cutouts(_) => options.template_rule = TemplateRule::Shared,
        SourceSpec::Folder(_) | SourceSpec::Coco(_) => {}
    }
    (options, note)
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

/// An error if something was skipped and `options.strict` is set.
pub(crate) fn refuse_if_strict(options: &SourceOptions, skipped: &[Skipped]) -> Result<(), SourceError> {
    match options.strict && !skipped.is_empty() {
        true => Err(SourceError::Strict { skipped: skipped.to_vec() }),
        false => Ok(()),
    }
}
