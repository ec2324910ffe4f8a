//! COCO as a source: scenes, their objects with masks, and single instances cut out as portraits.
//!
//! A scene is an image like all others: short side to 256, middle 224 x 224, so that nothing is stretched; what
//! lies outside is lost, and an instance left with fewer than 20 pixels does not count. Crowds are rewarded like
//! instances and never stand alone.

use super::layout::find_split;
use super::portraits::{self, Portrait};
use super::split::{AnnotatedSplit, CheckedImage, CheckedSplit, check_split, read_split};
use crate::class_names::select_classes;
use crate::decode::Upright;
use crate::error::SourceError;
use crate::file_index::{FileFacts, PictureFile, examine};
use crate::manifest::{ClassCounts, ContentFacts, Manifest, Skipped, SplitCounts};
use crate::open::{Opened, refuse_if_strict};
use crate::options::{SourceOptions, TemplateRule};
use crate::picture_cache::{CACHE_BYTES, PictureCache};
use crate::progress::Progress;
use crate::resize::screen_from_picture;
use crate::templates::Templates;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use touchstream_env::screen::{Screen, Template};
use touchstream_env::stimuli::{
    BoxedObject, ClassIdx, ContentHash, Instance, Picture, Split, Stimuli, StimulusError,
};
use touchstream_env::touch::SCREEN_SIDE_PX;

/// Changes whenever the same files would make other pixels, boxes or masks.
const DRAWING_VERSION: u32 = 1;

struct CocoStimuli {
    name: String,
    hash: ContentHash,
    classes: Vec<String>,
    splits: [CocoSplit; 2],
    template_rule: TemplateRule,
    templates: Templates,
    screens: PictureCache<(Split, Shown)>,
}

/// What fills a screen: a whole image, or one instance of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Shown {
    Image { image_idx: usize },
    Portrait { class: ClassIdx, index: u32 },
}

#[derive(Default)]
struct CocoSplit {
    images: Vec<PictureFile>,
    /// By class.
    portraits: Vec<Vec<Portrait>>,
    scenes: Vec<Scene>,
    objects: Vec<(usize, BoxedObject)>,
}

struct Scene {
    image_idx: usize,
    instances: Vec<Instance>,
}

/// Opens a COCO folder: every annotated image is decoded once to see that it is whole.
pub fn open(
    name: String,
    root: &Path,
    options: &SourceOptions,
    progress: &dyn Progress,
) -> Result<Opened, SourceError> {
    let mut skipped = Vec::new();
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
    let examined = examine(root, &files, Upright::AsStored, options.cache_dir.as_deref(), progress)?;
    let (examined_train, examined_validation) = examined.split_at(train.images.len());
    let to_learn_from = hashes_of(examined_train);
    let checked = [
        check_split(train, examined_train, &BTreeSet::new(), &mut skipped, progress),
        check_split(validation, examined_validation, &to_learn_from, &mut skipped, progress),
    ];
    refuse_if_strict(options, &skipped)?;

    let n_invisible: usize = checked.iter().map(|split| split.n_invisible).sum();
    let mut notes = Vec::new();
    if n_invisible > 0 {
        notes.push(format!(
            "{n_invisible} instances show fewer than {} pixels on the screen and are left out of their scenes",
            super::scenes::MIN_VISIBLE_PX
        ));
    }
    let category_ids = choose_classes(root, &categories, &checked, options, &mut notes, &skipped)?;
    let classes: Vec<String> = category_ids.iter().map(|id| categories[id].clone()).collect();
    let splits = checked.map(|split| arrange(split, &category_ids));

    facts.add("classes", classes.join("\n"));
    for file in splits.iter().flat_map(|split| &split.images) {
        facts.add(&file.file.relative, file.hash.as_bytes());
    }
    let templates = Templates::open(options, &classes, &mut facts)?;
    let hash = facts.hash();
    let count = |of: fn(&CocoSplit) -> usize| SplitCounts::new(of(&splits[0]) as u32, of(&splits[1]) as u32);
    let manifest = Manifest {
        source: name.clone(),
        content_hash: hash.to_string(),
        classes: classes
            .iter()
            .enumerate()
            .map(|(class, name)| ClassCounts {
                name: name.clone(),
                portraits: SplitCounts::new(
                    splits[0].portraits[class].len() as u32,
                    splits[1].portraits[class].len() as u32,
                ),
            })
            .collect(),
        objects: count(|split| split.objects.len()),
        scenes: count(|split| split.scenes.len()),
        skipped,
        notes,
    };
    let (template_rule, screens) = (options.template_rule, PictureCache::new(CACHE_BYTES));
    let stimuli = CocoStimuli { name, hash, classes, splits, template_rule, templates, screens };
    Ok(Opened { stimuli: Arc::new(stimuli), manifest })
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

/// Numbers of the categories that have a portrait and a scene in both splits, by number or as asked for.
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
    let lack = |id: u64| {
        Split::ALL.into_iter().find_map(|split| {
            let idx = split as usize;
            match (checked[idx].portraits.contains_key(&id), in_scenes[idx].contains(&id)) {
                (_, false) => Some(format!("no {split} scene shows it")),
                (false, _) => Some(format!("no {split} instance of it is large enough to stand alone")),
                (true, true) => None,
            }
        })
    };
    let (ids, names): (Vec<u64>, Vec<String>) =
        categories.iter().map(|(&id, name)| (id, name.clone())).unzip();
    let mut chosen = Vec::new();
    for idx in select_classes(options.classes.as_deref(), &names)? {
        match (lack(ids[idx]), &options.classes) {
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
            split.scenes.push(Scene { image_idx, instances });
        }
    }
    split
}

impl CocoStimuli {
    fn render(&self, split: Split, shown: Shown) -> Result<Box<[u8]>, StimulusError> {
        let here = &self.splits[split as usize];
        match shown {
            Shown::Image { image_idx } => {
                Ok(screen_from_picture(&here.images[image_idx].decode(Upright::AsStored)?))
            }
            Shown::Portrait { class, index } => {
                let portrait = &here.portraits[class.get()][index as usize];
                self.render_portrait(split, portrait, SCREEN_SIDE_PX)
            }
        }
    }

    fn render_portrait(
        &self,
        split: Split,
        portrait: &Portrait,
        side_px: usize,
    ) -> Result<Box<[u8]>, StimulusError> {
        let picture = self.splits[split as usize].images[portrait.image_idx].decode(Upright::AsStored)?;
        Ok(portrait.render(&picture, side_px))
    }
}

impl Stimuli for CocoStimuli {
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
        self.splits[split as usize].portraits[class.get()].len()
    }

    fn n_objects(&self, split: Split) -> usize {
        self.splits[split as usize].objects.len()
    }

    fn n_scenes(&self, split: Split) -> usize {
        self.splits[split as usize].scenes.len()
    }

    fn object(&self, split: Split, index: u32) -> BoxedObject {
        self.splits[split as usize].objects[index as usize].1
    }

    fn instances(&self, split: Split, index: u32) -> &[Instance] {
        &self.splits[split as usize].scenes[index as usize].instances
    }

    fn draw(&self, split: Split, picture: Picture, screen: &mut Screen) -> Result<(), StimulusError> {
        let here = &self.splits[split as usize];
        let shown = match picture {
            Picture::Portrait { class, index } => Shown::Portrait { class, index },
            Picture::Object { index } => Shown::Image { image_idx: here.objects[index as usize].0 },
            Picture::Scene { index } => Shown::Image { image_idx: here.scenes[index as usize].image_idx },
        };
        let pixels = self.screens.get_or_make((split, shown), || self.render(split, shown))?;
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
            let portraits = &self.splits[from_split as usize].portraits[class.get()];
            self.render_portrait(from_split, &portraits[portraits::template_of(portraits)], side_px)
        })
    }
}
