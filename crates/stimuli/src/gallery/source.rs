//! The gallery as a source.

use super::chunk::IMAGES_PER_CHUNK;
use super::store::{ImageStore, Series};
use crate::class_names::select_classes;
use crate::error::SourceError;
use crate::manifest::{ContentFacts, SplitCounts};
use crate::open::Opened;
use crate::options::SourceOptions;
use crate::source::{Contents, Render, unzip_splits};
use crate::templates::Templates;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use touchstream_env::stimuli::{BoxedObject, ClassIdx, ImageId, Instance, Split, StimulusError};
use touchstream_files::Progress;
use touchstream_gallery::{GENERATOR_VERSION, Rendered, class_names, template};

/// Portraits per class.
const N_PORTRAITS: SplitCounts = SplitCounts::new(200, 50);
/// Localization screens: about as many as the paper's data set has.
const N_OBJECTS: SplitCounts = SplitCounts::new(900, 150);
const N_SCENES: SplitCounts = SplitCounts::new(400, 100);

/// Maps indices of the source to the generator's classes and, by split, to its screens and scenes.
struct GalleryRenderer {
    classes: Vec<usize>,
    objects: [Vec<u32>; 2],
    scenes: [Vec<u32>; 2],
    store: ImageStore,
}

/// Opens the gallery. Needed localization screens and scenes are rendered now unless they are cached; portraits when
/// they are first drawn, or now if `options.needs.portraits_now`.
pub fn open(name: String, options: &SourceOptions, progress: &dyn Progress) -> Result<Opened, SourceError> {
    let all_classes: Vec<String> = class_names().iter().map(|&name| name.to_owned()).collect();
    let generator_classes = select_classes(options.classes.as_deref(), &all_classes)?;
    let classes: Vec<String> = generator_classes.iter().map(|&class| all_classes[class].clone()).collect();
    let n_portraits = options.sizes.portraits.unwrap_or(N_PORTRAITS);
    let n_objects = options.sizes.objects.unwrap_or(N_OBJECTS);
    let n_scenes = options.sizes.scenes.unwrap_or(N_SCENES);
    for n in [n_portraits.train, n_portraits.validation] {
        if n == 0 {
            let (what, expected) = ("the number of portraits of a class", "at least 1");
            return Err(SourceError::Size { what, expected, given: n });
        }
    }

    let mut facts = ContentFacts::new("gallery", GENERATOR_VERSION);
    facts.add("seed", options.seed.0.to_le_bytes());
    facts.add("sizes", format!("{n_portraits}, {n_objects}, {n_scenes}"));
    let templates = Templates::open(options, &classes, &mut facts)?;

    let store = ImageStore::new(options.seed, options.cache_dir.as_deref());
    let class_of: BTreeMap<usize, ClassIdx> =
        generator_classes.iter().enumerate().map(|(idx, &class)| (class, ClassIdx(idx as u16))).collect();
    let needed = |is_needed: bool, n: SplitCounts| if is_needed { n } else { SplitCounts::default() };
    let objects = render_series(&store, Series::Objects, needed(options.needs.objects, n_objects), progress);
    let [train, validation] = objects.map(|images| boxed_objects(images, &class_of));
    let (object_indices, objects) = unzip_splits([train?, validation?]);
    let scenes = render_series(&store, Series::Scenes, needed(options.needs.scenes, n_scenes), progress);
    let (scene_indices, scenes) = unzip_splits(scenes.map(|images| instances_of(images, &class_of)));

    if options.needs.portraits_now {
        render_portraits(&store, &generator_classes, n_portraits, progress);
    }

    let mut notes: Vec<String> = store.write_failure().cloned().into_iter().collect();
    let shown = [("localization screens", n_objects, &object_indices), ("scenes", n_scenes, &scene_indices)];
    for (what, n_made, indices) in shown {
        let n_shown = SplitCounts::of_lists(indices);
        if n_shown != SplitCounts::default() && n_shown != n_made {
            notes.push(format!("{n_shown} of {n_made} {what} contain a chosen class; only these are used"));
        }
    }
    let renderer =
        GalleryRenderer { classes: generator_classes, objects: object_indices, scenes: scene_indices, store };
    let portraits = vec![n_portraits; classes.len()];
    let contents = Contents { name, classes, portraits, objects, scenes, skipped: Vec::new(), notes };
    Ok(contents.open(facts, templates, renderer))
}

/// The objects on each image, by split; pixels are discarded.
fn render_series(
    store: &ImageStore,
    series: Series,
    n_images: SplitCounts,
    progress: &dyn Progress,
) -> [Vec<(u32, Rendered)>; 2] {
    let n_chunks = |split| n_images.of(split).div_ceil(IMAGES_PER_CHUNK);
    let n_all_chunks: u32 = Split::ALL.into_iter().map(n_chunks).sum();
    if n_all_chunks == 0 {
        return [Vec::new(), Vec::new()];
    }
    progress.start("preparing the gallery", u64::from(n_all_chunks * IMAGES_PER_CHUNK));
    let rendered = Split::ALL.map(|split| {
        let chunks = (0..n_chunks(split)).into_par_iter().map(|chunk| {
            let mut images = store.chunk(series, split, chunk);
            images.iter_mut().for_each(|image| image.pixels = Box::default());
            progress.advance(u64::from(IMAGES_PER_CHUNK));
            images
        });
        let chunks: Vec<Vec<Rendered>> = chunks.collect();
        (0..n_images.of(split)).zip(chunks.into_iter().flatten()).collect()
    });
    progress.finish();
    rendered
}

/// Renders all portraits that are not cached yet.
fn render_portraits(
    store: &ImageStore,
    classes: &[usize],
    n_portraits: SplitCounts,
    progress: &dyn Progress,
) {
    let chunks: Vec<(usize, Split, u32)> = classes
        .iter()
        .flat_map(|&class| Split::ALL.map(|split| (class, split)))
        .flat_map(|(class, split)| {
            (0..n_portraits.of(split).div_ceil(IMAGES_PER_CHUNK)).map(move |chunk| (class, split, chunk))
        })
        .collect();
    progress.start("rendering portraits", chunks.len() as u64 * u64::from(IMAGES_PER_CHUNK));
    chunks.into_par_iter().for_each(|(class, split, chunk)| {
        store.chunk(Series::Portraits { class }, split, chunk);
        progress.advance(u64::from(IMAGES_PER_CHUNK));
    });
    progress.finish();
}

fn boxed_objects(
    images: Vec<(u32, Rendered)>,
    class_of: &BTreeMap<usize, ClassIdx>,
) -> Result<Vec<(u32, BoxedObject)>, SourceError> {
    let mut objects = Vec::new();
    for (index, image) in images {
        let only = match &image.objects[..] {
            [only] => only.mask.bounds().map(|bounds| (only.class, bounds)),
            _ => None,
        };
        let (class, bounds) = only.ok_or_else(|| SourceError::Gallery {
            image: format!("localization screen {index}"),
            reason: "it does not show exactly one object",
        })?;
        objects.extend(class_of.get(&class).map(|&class| (index, BoxedObject { class, bounds })));
    }
    Ok(objects)
}

fn instances_of(
    images: Vec<(u32, Rendered)>,
    class_of: &BTreeMap<usize, ClassIdx>,
) -> Vec<(u32, Vec<Instance>)> {
    let scenes = images.into_iter().map(|(index, image)| {
        let visible = image.objects.into_iter().filter(|object| object.mask.area_px() > 0);
        let known = visible
            .filter_map(|object| Some(Instance { class: *class_of.get(&object.class)?, mask: object.mask }));
        (index, known.collect::<Vec<_>>())
    });
    scenes.filter(|(_, instances)| !instances.is_empty()).collect()
}

impl Render for GalleryRenderer {
    fn screen(&self, split: Split, image: ImageId) -> Result<Arc<[u8]>, StimulusError> {
        let (series, index) = match image {
            ImageId::Portrait { class, index } => {
                (Series::Portraits { class: self.classes[class.get()] }, index)
            }
            ImageId::Object { index } => (Series::Objects, self.objects[split as usize][index as usize]),
            ImageId::Scene { index } => (Series::Scenes, self.scenes[split as usize][index as usize]),
        };
        Ok(self.store.pixels(series, split, index))
    }

    fn template(&self, _split: Split, class: ClassIdx, side_px: usize) -> Result<Box<[u8]>, StimulusError> {
        Ok(template(self.classes[class.get()], side_px))
    }
}
