//! The image folder as a source: portraits alone, one file each.

use super::layout::{ListedClass, list_classes, refuse_if_asked};
use crate::decode::Upright;
use crate::error::SourceError;
use crate::file_index::{FileFacts, PictureFile, examine};
use crate::manifest::{ClassCounts, ContentFacts, Manifest, Skipped, SplitCounts};
use crate::open::{Opened, refuse_if_strict};
use crate::options::{SourceOptions, TemplateRule};
use crate::picture_cache::{CACHE_BYTES, PictureCache};
use crate::progress::Progress;
use crate::resize::{screen_from_picture, template_from_picture};
use crate::templates::Templates;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use touchstream_env::screen::{Screen, Template};
use touchstream_env::stimuli::{
    BoxedObject, ClassIdx, ContentHash, Instance, Picture, Split, Stimuli, StimulusError,
};

/// Changes whenever the same files would make other pixels.
const DRAWING_VERSION: u32 = 1;

struct FolderStimuli {
    name: String,
    hash: ContentHash,
    classes: Vec<String>,
    /// By class, then split.
    portraits: Vec<[Vec<PictureFile>; 2]>,
    template_rule: TemplateRule,
    templates: Templates,
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
    let examined = examine(root, &files, Upright::Turn, options.cache_dir.as_deref(), progress)?;

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
    facts.add("classes", classes.join("\n"));
    for picture in portraits.iter().flatten().flatten() {
        facts.add(&picture.file.relative, picture.hash.as_bytes());
    }
    let templates = Templates::open(options, &classes, &mut facts)?;
    let hash = facts.hash();
    let manifest = Manifest {
        source: name.clone(),
        content_hash: hash.to_string(),
        classes: classes
            .iter()
            .zip(&portraits)
            .map(|(name, [train, validation])| ClassCounts {
                name: name.clone(),
                portraits: SplitCounts::new(train.len() as u32, validation.len() as u32),
            })
            .collect(),
        objects: SplitCounts::default(),
        scenes: SplitCounts::default(),
        skipped,
        notes: Vec::new(),
    };
    let stimuli = FolderStimuli {
        name,
        hash,
        classes,
        portraits,
        template_rule: options.template_rule,
        templates,
        screens: PictureCache::new(CACHE_BYTES),
    };
    Ok(Opened { stimuli: Arc::new(stimuli), manifest })
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

impl FolderStimuli {
    fn files(&self, split: Split, class: ClassIdx) -> &[PictureFile] {
        &self.portraits[class.get()][split as usize]
    }
}

impl Stimuli for FolderStimuli {
    fn name(&self) -> &str {
        &self.name
    }

    fn content_hash(&self) -> ContentHash {
        self.hash
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn n_portraits(&self, split: Split, class: ClassIdx) -> usize {
        self.files(split, class).len()
    }

    fn n_objects(&self, _split: Split) -> usize {
        0
    }

    fn n_scenes(&self, _split: Split) -> usize {
        0
    }

    fn object(&self, _split: Split, index: u32) -> BoxedObject {
        panic!("an image folder has no localization screen {index}")
    }

    fn instances(&self, _split: Split, index: u32) -> &[Instance] {
        panic!("an image folder has no scene {index}")
    }

    fn draw(&self, split: Split, picture: Picture, screen: &mut Screen) -> Result<(), StimulusError> {
        let Picture::Portrait { class, index } = picture else {
            panic!("an image folder has no {picture:?}");
        };
        let pixels = self.screens.get_or_make((split, class, index), || {
            let file = &self.files(split, class)[index as usize];
            Ok(screen_from_picture(&file.decode(Upright::Turn)?))
        })?;
        screen.copy_from(&pixels);
        Ok(())
    }

    fn template(
        &self,
        split: Split,
        class: ClassIdx,
        side_px: usize,
    ) -> Result<Arc<Template>, StimulusError> {
        let from_split = match self.template_rule {
            TemplateRule::Shared => Split::Train,
            TemplateRule::PerSplit => split,
        };
        self.templates.get(from_split, class, side_px, || {
            Ok(template_from_picture(&self.files(from_split, class)[0].decode(Upright::Turn)?, side_px))
        })
    }
}
