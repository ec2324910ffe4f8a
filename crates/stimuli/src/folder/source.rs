//! The image folder as a source: portraits only, one per file.

use super::layout::{ListedClass, list_classes, refuse_if_requested};
use crate::decode::Upright;
use crate::error::SourceError;
use crate::file_index::{FileFacts, ImageFile, examine};
use crate::image_cache::{CACHE_BYTES, ImageCache};
use crate::manifest::{ContentFacts, Skipped, SplitCounts};
use crate::open::{Opened, refuse_if_strict};
use crate::options::SourceOptions;
use crate::resize::{screen_from_image, template_from_image};
use crate::source::{Contents, Render};
use crate::templates::Templates;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use touchstream_env::stimuli::{ClassIdx, ImageId, Split, StimulusError};
use touchstream_files::Progress;

/// Must be raised whenever the same files would give other pixels.
const DRAWING_VERSION: u32 = 1;

struct FolderRenderer {
    /// `[class][split]`
    portraits: Vec<[Vec<ImageFile>; 2]>,
    screens: ImageCache<(Split, ClassIdx, u32)>,
}

/// Opens an image folder: every file is decoded once to check it.
pub fn open(
    name: String,
    root: &Path,
    options: &SourceOptions,
    progress: &dyn Progress,
) -> Result<Opened, SourceError> {
    let requested = options.classes.as_deref();
    let (listed, mut skipped) = list_classes(root, requested)?;
    let files: Vec<_> = listed.iter().flat_map(|class| class.files.iter().flatten().cloned()).collect();
    let mut notes = Vec::new();
    let examined = examine(root, &files, Upright::Turn, options.cache_dir.as_deref(), &mut notes, progress);

    let intact = keep_intact(listed, examined, &mut skipped);
    let (mut classes, mut portraits) = (Vec::new(), Vec::new());
    for (class, files) in intact {
        match Split::ALL.into_iter().find(|&split| files[split as usize].is_empty()) {
            None => {
                classes.push(class);
                portraits.push(files);
            }
            Some(split) => {
                let reason = format!("no usable image in the {split} split");
                refuse_if_requested(requested, &class, &reason)?;
                skipped.push(Skipped::new(class, format!("{reason}, so the class is not used")));
            }
        }
    }
    refuse_if_strict(options, &skipped)?;
    if classes.is_empty() {
        return Err(SourceError::NoClasses { root: root.to_owned(), skipped });
    }

    let mut facts = ContentFacts::new("folder", DRAWING_VERSION);
    for image in portraits.iter().flatten().flatten() {
        facts.add(&image.file.relative, image.hash.as_bytes());
    }
    let templates = Templates::open(options, &classes, &mut facts)?;
    let counts = portraits.iter().map(SplitCounts::of_lists).collect();
    let contents = Contents { name, classes, portraits: counts, skipped, notes, ..Contents::default() };
    let screens = ImageCache::new(CACHE_BYTES);
    Ok(contents.open(facts, templates, FolderRenderer { portraits, screens }))
}

/// The intact files of each class. If an image is in both splits, its validation copy is skipped.
fn keep_intact(
    listed: Vec<ListedClass>,
    examined: Vec<FileFacts>,
    skipped: &mut Vec<Skipped>,
) -> Vec<(String, [Vec<ImageFile>; 2])> {
    let mut examined = examined.into_iter();
    let mut intact: Vec<(String, [Vec<ImageFile>; 2])> = Vec::new();
    for class in listed {
        let kept = class.files.map(|files| {
            let checked = files.into_iter().zip(examined.by_ref());
            checked
                .filter_map(|(file, facts)| match facts.verdict {
                    Ok(_) => Some(ImageFile { file, hash: facts.hash }),
                    Err(reason) => {
                        skipped.push(Skipped::new(file.relative, reason));
                        None
                    }
                })
                .collect()
        });
        intact.push((class.name, kept));
    }
    let training_hashes: BTreeSet<[u8; 32]> =
        intact.iter().flat_map(|(_, [train, _])| train.iter().map(|image| *image.hash.as_bytes())).collect();
    for (_, [_, validation]) in &mut intact {
        validation.retain(|image| {
            let is_unique = !training_hashes.contains(image.hash.as_bytes());
            if !is_unique {
                let reason = "the same image is in the training split, so it is not used for validation";
                skipped.push(Skipped::new(&image.file.relative, reason));
            }
            is_unique
        });
    }
    intact
}

impl FolderRenderer {
    fn file(&self, split: Split, class: ClassIdx, index: u32) -> &ImageFile {
        &self.portraits[class.get()][split as usize][index as usize]
    }
}

impl Render for FolderRenderer {
    fn screen(&self, split: Split, image: ImageId) -> Result<Arc<[u8]>, StimulusError> {
        let ImageId::Portrait { class, index } = image else {
            panic!("an image folder has no {image:?}");
        };
        self.screens.get_or_make((split, class, index), || {
            Ok(screen_from_image(&self.file(split, class, index).decode(Upright::Turn)?))
        })
    }

    fn template(&self, split: Split, class: ClassIdx, side_px: usize) -> Result<Box<[u8]>, StimulusError> {
        Ok(template_from_image(&self.file(split, class, 0).decode(Upright::Turn)?, side_px))
    }
}
