//! COCO as a source: scenes, their objects with masks, and single objects as portraits.
//!
//! By default, a scene is stretched to fill the screen; with `SceneFit::Crop` it is scaled and cropped as other images
//! are. Objects with fewer than 20 visible pixels are ignored. Groups of objects ("crowds") are rewarded like single
//! objects, but are never portraits.

use super::layout::find_split;
use super::portraits::{self, Portrait};
use super::scenes::{MIN_VISIBLE_PX, screen_of_scene};
use super::split::{AnnotatedSplit, CheckedImage, CheckedSplit, check_split, read_split};
use crate::class_names::select_classes;
use crate::decode::Upright;
use crate::error::SourceError;
use crate::file_index::{FileFacts, ImageFile, examine};
use crate::image_cache::{CACHE_BYTES, ImageCache};
use crate::manifest::{ContentFacts, Skipped, SplitCounts};
use crate::open::{Opened, refuse_if_strict};
use crate::options::{SceneFit, SourceOptions};
use crate::pixels::RgbImage;
use crate::source::{Contents, Render, unzip_splits};
use crate::templates::Templates;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use touchstream_env::stimuli::{BoxedObject, ClassIdx, ImageId, Instance, Split, StimulusError};
use touchstream_env::touch::SCREEN_SIDE_PX;
use touchstream_files::Progress;

/// Must be raised whenever the same files would give other pixels, boxes or masks.
const DRAWING_VERSION: u32 = 1;

/// Indexed by split. Objects and scenes are indices of images.
struct CocoRenderer {
    images: [Vec<ImageFile>; 2],
    /// `[split][class][index]`
    portraits: [Vec<Vec<Portrait>>; 2],
    objects: [Vec<usize>; 2],
    scenes: [Vec<usize>; 2],
    fit: SceneFit,
    screens: ImageCache<(Split, Shown)>,
}

/// The content of a screen: an image, or one object of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Shown {
    Image { image_idx: usize },
    Portrait { class: ClassIdx, index: u32 },
}

#[derive(Default)]
struct CocoSplit {
    images: Vec<ImageFile>,
    /// `[class][index]`
    portraits: Vec<Vec<Portrait>>,
    /// The instances of each scene, with the index of its image.
    scenes: Vec<(usize, Vec<Instance>)>,
    objects: Vec<(usize, BoxedObject)>,
}

/// Opens a COCO folder: every annotated image is decoded once to check it.
pub fn open(
    name: String,
    root: &Path,
    options: &SourceOptions,
    progress: &dyn Progress,
) -> Result<Opened, SourceError> {
    let (mut skipped, mut notes) = (Vec::new(), Vec::new());
    let [train, validation] = Split::ALL.map(|split| {
        let files = find_split(root, split)?;
        read_split(root, &files, &mut skipped)
    });
    let (train, validation) = (train?, validation?);
    check_categories_agree(root, &train, &validation)?;
    let mut facts = ContentFacts::new("coco", DRAWING_VERSION);
    for split in [&train, &validation] {
        facts.add(&split.annotations_file, split.annotations_hash.as_bytes());
    }

    let categories = train.categories.clone();
    let files: Vec<_> =
        train.images.iter().chain(&validation.images).map(|image| image.file.clone()).collect();
    let cache_dir = options.cache_dir.as_deref();
    let examined = examine(root, &files, Upright::AsStored, cache_dir, &mut notes, progress);
    let (examined_train, examined_validation) = examined.split_at(train.images.len());
    let to_learn_from = hashes_of(examined_train);
    let fit = options.scene_fit;
    facts.add("scene fit", format!("{fit:?}"));
    let checked = [
        check_split(train, examined_train, &BTreeSet::new(), fit, &mut skipped, progress),
        check_split(validation, examined_validation, &to_learn_from, fit, &mut skipped, progress),
    ];
    refuse_if_strict(options, &skipped)?;

    let n_invisible: usize = checked.iter().map(|split| split.n_invisible).sum();
    if n_invisible > 0 {
        notes.push(format!(
            "{n_invisible} instances show fewer than {} pixels on the screen and are left out of their scenes",
            MIN_VISIBLE_PX
        ));
    }
    let category_ids = choose_classes(root, &categories, &checked, options, &mut notes, &skipped)?;
    let classes: Vec<String> = category_ids.iter().map(|id| categories[id].clone()).collect();
    let splits = checked.map(|split| arrange(split, &category_ids));

    for file in splits.iter().flat_map(|split| &split.images) {
        facts.add(&file.file.relative, file.hash.as_bytes());
    }
    let templates = Templates::open(options, &classes, &mut facts)?;
    let [train, validation] = splits;
    let counts = train.portraits.iter().zip(&validation.portraits);
    let counts =
        counts.map(|(train, validation)| SplitCounts::new(train.len() as u32, validation.len() as u32));
    let portraits = counts.collect();
    let (object_images, objects) = unzip_splits([train.objects, validation.objects]);
    let (scene_images, scenes) = unzip_splits([train.scenes, validation.scenes]);
    let renderer = CocoRenderer {
        images: [train.images, validation.images],
        portraits: [train.portraits, validation.portraits],
        objects: object_images,
        scenes: scene_images,
        fit,
        screens: ImageCache::new(CACHE_BYTES),
    };
    let contents = Contents { name, classes, portraits, objects, scenes, skipped, notes };
    Ok(contents.open(facts, templates, renderer))
}

fn hashes_of(examined: &[FileFacts]) -> BTreeSet<[u8; 32]> {
    examined.iter().filter(|facts| facts.verdict.is_ok()).map(|facts| *facts.hash.as_bytes()).collect()
}

fn check_categories_agree(
    root: &Path,
    train: &AnnotatedSplit,
    validation: &AnnotatedSplit,
) -> Result<(), SourceError> {
    for (id, name) in &validation.categories {
        if let Some(train_name) = train.categories.get(id).filter(|train_name| *train_name != name) {
            return Err(SourceError::Annotations {
                file: root.join(&validation.annotations_file),
                reason: format!(
                    "category {id} is `{name}` here and `{train_name}` in {}",
                    train.annotations_file
                ),
            });
        }
    }
    Ok(())
}

/// Ids of the categories that have a portrait and a scene in both splits, by id or as requested.
fn choose_classes(
    root: &Path,
    categories: &BTreeMap<u64, String>,
    checked: &[CheckedSplit; 2],
    options: &SourceOptions,
    notes: &mut Vec<String>,
    skipped: &[Skipped],
) -> Result<Vec<u64>, SourceError> {
    let in_scenes = [0, 1].map(|split: usize| {
        let instances = checked[split].images.iter().flat_map(|image| &image.instances);
        instances.map(|instance| instance.category_id).collect::<BTreeSet<u64>>()
    });
    let missing = |id: u64| {
        Split::ALL.into_iter().find_map(|split| {
            let idx = split as usize;
            match (checked[idx].portraits.contains_key(&id), in_scenes[idx].contains(&id)) {
                (_, false) => Some(format!("no {split} scene contains it")),
                (false, _) => Some(format!("no {split} instance of it is large enough to be shown alone")),
                (true, true) => None,
            }
        })
    };
    let (ids, names): (Vec<u64>, Vec<String>) =
        categories.iter().map(|(&id, name)| (id, name.clone())).unzip();
    let mut chosen = Vec::new();
    for idx in select_classes(options.classes.as_deref(), &names)? {
        match (missing(ids[idx]), &options.classes) {
            (None, _) => chosen.push(ids[idx]),
            (Some(reason), None) => notes.push(format!("class `{}` is not used: {reason}", names[idx])),
            (Some(reason), Some(_)) => {
                return Err(SourceError::UnusableClass { name: names[idx].clone(), reason });
            }
        }
    }
    match chosen.is_empty() {
        true => Err(SourceError::NoClasses { root: root.to_owned(), skipped: skipped.to_vec() }),
        false => Ok(chosen),
    }
}

fn arrange(mut checked: CheckedSplit, category_ids: &[u64]) -> CocoSplit {
    let class_of: BTreeMap<u64, ClassIdx> =
        category_ids.iter().enumerate().map(|(class, &id)| (id, ClassIdx(class as u16))).collect();
    let mut split = CocoSplit::default();
    for id in category_ids {
        split.portraits.push(portraits::choose(checked.portraits.remove(id).unwrap_or_default()));
    }
    for (image_idx, image) in checked.images.into_iter().enumerate() {
        let CheckedImage { file, instances, has_one_object } = image;
        split.images.push(file);
        let instances: Vec<Instance> = instances
            .into_iter()
            .filter_map(|instance| {
                Some(Instance { class: *class_of.get(&instance.category_id)?, mask: instance.mask })
            })
            .collect();
        if let ([only], true) = (&instances[..], has_one_object)
            && let Some(bounds) = only.mask.bounds()
        {
            split.objects.push((image_idx, BoxedObject { class: only.class, bounds }));
        }
        if !instances.is_empty() {
            split.scenes.push((image_idx, instances));
        }
    }
    split
}

impl CocoRenderer {
    fn image(&self, split: Split, image_idx: usize) -> Result<RgbImage, StimulusError> {
        self.images[split as usize][image_idx].decode(Upright::AsStored)
    }

    fn portrait(
        &self,
        split: Split,
        portrait: &Portrait,
        side_px: usize,
    ) -> Result<Box<[u8]>, StimulusError> {
        Ok(portrait.render(&self.image(split, portrait.image_idx)?, side_px))
    }
}

impl Render for CocoRenderer {
    /// Scenes are sorted by image index, because they are listed in the order of the images.
    fn portrait_scene(&self, split: Split, class: ClassIdx, index: u32) -> Option<u32> {
        let portrait = self.portraits[split as usize].get(class.get())?.get(index as usize)?;
        let scene = self.scenes[split as usize].binary_search(&portrait.image_idx).ok()?;
        Some(scene as u32)
    }

    fn screen(&self, split: Split, image: ImageId) -> Result<Arc<[u8]>, StimulusError> {
        let here = split as usize;
        let shown = match image {
            ImageId::Portrait { class, index } => Shown::Portrait { class, index },
            ImageId::Object { index } => Shown::Image { image_idx: self.objects[here][index as usize] },
            ImageId::Scene { index } => Shown::Image { image_idx: self.scenes[here][index as usize] },
        };
        self.screens.get_or_make((split, shown), || match shown {
            Shown::Image { image_idx } => Ok(screen_of_scene(self.fit, &self.image(split, image_idx)?)),
            Shown::Portrait { class, index } => {
                self.portrait(split, &self.portraits[here][class.get()][index as usize], SCREEN_SIDE_PX)
            }
        })
    }

    fn template(&self, split: Split, class: ClassIdx, side_px: usize) -> Result<Box<[u8]>, StimulusError> {
        let portraits = &self.portraits[split as usize][class.get()];
        self.portrait(split, &portraits[portraits::template_of(portraits)], side_px)
    }
}
