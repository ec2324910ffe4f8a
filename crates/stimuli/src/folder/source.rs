//! The image folder as a source: portraits alone, one file each.

use super::layout::{ListedClass, list_classes, refuse_if_asked};
use crate::decode::Upright;
use crate::error::SourceError;
use crate::file_index::{FileFacts, PictureFile, examine};
use crate::manifest::{ContentFacts, Skipped, SplitCounts};
use crate::open::{Opened, refuse_if_strict};
use crate::options::SourceOptions;
use crate::picture_cache::{CACHE_BYTES, PictureCache};
use crate::resize::{screen_from_picture, template_from_picture};
use crate::source::{Contents, Render};
use crate::templates::Templates;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use touchstream_env::stimuli::{ClassIdx, Picture, Split, StimulusError};
use touchstream_files::Progress;

/// Changes whenever the same files would make other pixels.
const DRAWING_VERSION: u32 = 1;

struct FolderPictures {
    /// By class, then split.
    portraits: Vec<[Vec<PictureFile>; 2]>,
    screens: PictureCache<(Split, ClassIdx, u32)>,
}

/// Opens an image folder: every file is decoded once to see that it is whole.
pub fn open(
    name: String,
    root: &Path,
    options: &SourceOptions,
    progress: &dyn Progress,
) -> Result<Opened, SourceError> {
    let asked = options.classes.as_deref();
    let (listed, mut skipped) = list_classes(root, asked)?;
    let files: Vec<_> = listed.iter().flat_map(|class| class.files.iter().flatten().cloned()).collect();
    let mut notes = Vec::new();
    let examined = examine(root, &files, Upright::Turn, options.cache_dir.as_deref(), &mut notes, progress);

    let whole = keep_whole(listed, examined, &mut skipped);
    let (mut classes, mut portraits) = (Vec::new(), Vec::new());
    for (class, files) in whole {
        match Split::ALL.into_iter().find(|&split| files[split as usize].is_empty()) {
            None => {
                classes.push(class);
                portraits.push(files);
            }
            Some(split) => {
                let reason = format!("no usable image in the {split} split");
                refuse_if_asked(asked, &class, &reason)?;
                skipped.push(Skipped::new(class, format!("{reason}, so the class is not used")));
            }
        }
    }
    refuse_if_strict(options, &skipped)?;
    if classes.is_empty() {
        return Err(SourceError::NoClasses { root: root.to_owned(), skipped });
    }

    let mut facts = ContentFacts::new("folder", DRAWING_VERSION);
    for picture in portraits.iter().flatten().flatten() {
        facts.add(&picture.file.relative, picture.hash.as_bytes());
    }
    let templates = Templates::open(options, &classes, &mut facts)?;
    let counts = portraits.iter().map(SplitCounts::of_lists).collect();
    let contents = Contents { name, classes, portraits: counts, skipped, notes, ..Contents::default() };
    let screens = PictureCache::new(CACHE_BYTES);
    Ok(contents.open(facts, templates, FolderPictures { portraits, screens }))
}

/// The whole files of each class. Of a picture that is in both splits, the validation copy is left out.
fn keep_whole(
    listed: Vec<ListedClass>,
    examined: Vec<FileFacts>,
    skipped: &mut Vec<Skipped>,
) -> Vec<(String, [Vec<PictureFile>; 2])> {
    let mut examined = examined.into_iter();
    let mut whole: Vec<(String, [Vec<PictureFile>; 2])> = Vec::new();
    for class in listed {
        let kept = class.files.map(|files| {
            let judged = files.into_iter().zip(examined.by_ref());
            judged
                .filter_map(|(file, facts)| match facts.verdict {
                    Ok(_) => Some(PictureFile { file, hash: facts.hash }),
                    Err(reason) => {
                        skipped.push(Skipped::new(file.relative, reason));
                        None
                    }
                })
                .collect()
        });
        whole.push((class.name, kept));
    }
    let to_learn_from: BTreeSet<[u8; 32]> = whole
        .iter()
        .flat_map(|(_, [train, _])| train.iter().map(|picture| *picture.hash.as_bytes()))
        .collect();
    for (_, [_, validation]) in &mut whole {
        validation.retain(|picture| {
            let is_apart = !to_learn_from.contains(picture.hash.as_bytes());
            if !is_apart {
                let reason = "the same image is in the training split, so it is not used for validation";
                skipped.push(Skipped::new(&picture.file.relative, reason));
            }
            is_apart
        });
    }
    whole
}

impl FolderPictures {
    fn file(&self, split: Split, class: ClassIdx, index: u32) -> &PictureFile {
        &self.portraits[class.get()][split as usize][index as usize]
    }
}

impl Render for FolderPictures {
    fn screen(&self, split: Split, picture: Picture) -> Result<Arc<[u8]>, StimulusError> {
        let Picture::Portrait { class, index } = picture else {
            panic!("an image folder has no {picture:?}");
        };
        self.screens.get_or_make((split, class, index), || {
            Ok(screen_from_picture(&self.file(split, class, index).decode(Upright::Turn)?))
        })
    }

    fn template(&self, split: Split, class: ClassIdx, side_px: usize) -> Result<Box<[u8]>, StimulusError> {
        Ok(template_from_picture(&self.file(split, class, 0).decode(Upright::Turn)?, side_px))
    }
}
