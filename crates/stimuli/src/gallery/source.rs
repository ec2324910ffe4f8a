//! The gallery as a source.

use super::chunk::PICTURES_A_CHUNK;
use super::store::{PictureStore, Series};
use crate::class_names::select_classes;
use crate::error::SourceError;
use crate::manifest::{ClassCounts, ContentFacts, Manifest, SplitCounts};
use crate::open::Opened;
use crate::options::SourceOptions;
use crate::progress::Progress;
use crate::templates::Templates;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;
use touchstream_env::screen::{Screen, Template};
use touchstream_env::stimuli::{
    BoxedObject, ClassIdx, ContentHash, Instance, Picture, Split, Stimuli, StimulusError,
};
use touchstream_gallery::{GENERATOR_VERSION, Rendered, class_names, template};

/// Portraits of each class.
const N_PORTRAITS: SplitCounts = SplitCounts::new(200, 50);
/// Localization screens: as many as the paper's set has, roughly.
const N_OBJECTS: SplitCounts = SplitCounts::new(900, 150);
/// Scenes.
const N_SCENES: SplitCounts = SplitCounts::new(400, 100);

struct GalleryStimuli {
    name: String,
    hash: ContentHash,
    classes: Vec<String>,
    /// What the generator calls our classes.
    generator_classes: Vec<usize>,
    n_portraits: SplitCounts,
    /// By split, each with the generator's index.
    objects: [Vec<(u32, BoxedObject)>; 2],
    scenes: [Vec<(u32, Vec<Instance>)>; 2],
    templates: Templates,
    store: PictureStore,
}

/// Opens the gallery. Screens and scenes that are needed are rendered now unless their files are there;
/// portraits when they are first drawn.
pub fn open(name: String, options: &SourceOptions, progress: &dyn Progress) -> Result<Opened, SourceError> {
    if let Some(cache_dir) = &options.cache_dir {
        fs::create_dir_all(cache_dir).map_err(SourceError::io(cache_dir))?;
    }
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
    facts.add("classes", classes.join("\n"));
    let templates = Templates::open(options, &classes, &mut facts)?;

    let store = PictureStore::new(options.seed, options.cache_dir.as_deref());
    let class_of: BTreeMap<usize, ClassIdx> =
        generator_classes.iter().enumerate().map(|(idx, &class)| (class, ClassIdx(idx as u16))).collect();
    let needed = |is_needed: bool, n: SplitCounts| if is_needed { n } else { SplitCounts::default() };
    let objects = render_series(&store, Series::Objects, needed(options.needs.objects, n_objects), progress);
    let objects = objects.map(|pictures| boxed_objects(pictures, &class_of));
    let [train, validation] = objects;
    let objects = [train?, validation?];
    let scenes = render_series(&store, Series::Scenes, needed(options.needs.scenes, n_scenes), progress);
    let scenes = scenes.map(|pictures| instances_of(pictures, &class_of));

    let hash = facts.hash();
    let count = |[train, validation]: [usize; 2]| SplitCounts::new(train as u32, validation as u32);
    let manifest = Manifest {
        source: name.clone(),
        content_hash: hash.to_string(),
        classes: classes
            .iter()
            .map(|name| ClassCounts { name: name.clone(), portraits: n_portraits })
            .collect(),
        objects: count([objects[0].len(), objects[1].len()]),
        scenes: count([scenes[0].len(), scenes[1].len()]),
        skipped: Vec::new(),
        notes: Vec::new(),
    };
    let stimuli = GalleryStimuli {
        name,
        hash,
        classes,
        generator_classes,
        n_portraits,
        objects,
        scenes,
        templates,
        store,
    };
    Ok(Opened { stimuli: Arc::new(stimuli), manifest })
}

/// What the generator says is on each picture, by split; no pixels are kept.
fn render_series(
    store: &PictureStore,
    series: Series,
    n_pictures: SplitCounts,
    progress: &dyn Progress,
) -> [Vec<(u32, Rendered)>; 2] {
    let n_chunks = |split| n_pictures.of(split).div_ceil(PICTURES_A_CHUNK);
    let n_all_chunks: u32 = Split::ALL.into_iter().map(n_chunks).sum();
    if n_all_chunks == 0 {
        return [Vec::new(), Vec::new()];
    }
    progress.start("preparing the gallery", u64::from(n_all_chunks * PICTURES_A_CHUNK));
    let rendered = Split::ALL.map(|split| {
        let chunks = (0..n_chunks(split)).into_par_iter().map(|chunk| {
            let mut pictures = store.chunk(series, split, chunk);
            pictures.iter_mut().for_each(|picture| picture.pixels = Box::default());
            progress.advance(u64::from(PICTURES_A_CHUNK));
            pictures
        });
        let chunks: Vec<Vec<Rendered>> = chunks.collect();
        (0..n_pictures.of(split)).zip(chunks.into_iter().flatten()).collect()
    });
    progress.finish();
    rendered
}

fn boxed_objects(
    pictures: Vec<(u32, Rendered)>,
    class_of: &BTreeMap<usize, ClassIdx>,
) -> Result<Vec<(u32, BoxedObject)>, SourceError> {
    let mut objects = Vec::new();
    for (index, picture) in pictures {
        let only = match &picture.objects[..] {
            [only] => only.mask.bounds().map(|bounds| (only.class, bounds)),
            _ => None,
        };
        let (class, bounds) = only.ok_or_else(|| SourceError::Gallery {
            picture: format!("localization screen {index}"),
            reason: "it does not show exactly one object",
        })?;
        objects.extend(class_of.get(&class).map(|&class| (index, BoxedObject { class, bounds })));
    }
    Ok(objects)
}

fn instances_of(
    pictures: Vec<(u32, Rendered)>,
    class_of: &BTreeMap<usize, ClassIdx>,
) -> Vec<(u32, Vec<Instance>)> {
    let scenes = pictures.into_iter().map(|(index, picture)| {
        let visible = picture.objects.into_iter().filter(|object| object.mask.area_px() > 0);
        let known = visible
            .filter_map(|object| Some(Instance { class: *class_of.get(&object.class)?, mask: object.mask }));
        (index, known.collect::<Vec<_>>())
    });
    scenes.filter(|(_, instances)| !instances.is_empty()).collect()
}

impl Stimuli for GalleryStimuli {
    fn name(&self) -> &str {
        &self.name
    }

    fn content_hash(&self) -> ContentHash {
        self.hash
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn n_portraits(&self, split: Split, _class: ClassIdx) -> usize {
        self.n_portraits.of(split) as usize
    }

    fn n_objects(&self, split: Split) -> usize {
        self.objects[split as usize].len()
    }

    fn n_scenes(&self, split: Split) -> usize {
        self.scenes[split as usize].len()
    }

    fn object(&self, split: Split, index: u32) -> BoxedObject {
        self.objects[split as usize][index as usize].1
    }

    fn instances(&self, split: Split, index: u32) -> &[Instance] {
        &self.scenes[split as usize][index as usize].1
    }

    fn draw(&self, split: Split, picture: Picture, screen: &mut Screen) -> Result<(), StimulusError> {
        let (series, index) = match picture {
            Picture::Portrait { class, index } => {
                (Series::Portraits { class: self.generator_classes[class.get()] }, index)
            }
            Picture::Object { index } => (Series::Objects, self.objects[split as usize][index as usize].0),
            Picture::Scene { index } => (Series::Scenes, self.scenes[split as usize][index as usize].0),
        };
        screen.copy_from(&self.store.pixels(series, split, index));
        Ok(())
    }

    fn template(
        &self,
        _split: Split,
        class: ClassIdx,
        side_px: usize,
    ) -> Result<Arc<Template>, StimulusError> {
        self.templates
            .get(Split::Train, class, side_px, || Ok(template(self.generator_classes[class.get()], side_px)))
    }
}
