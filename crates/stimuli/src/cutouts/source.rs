//! Cut-outs as a source: every screen is a function of seed, split and index.
//!
//! The splits share no background. They share the objects, as the paper's localization set shares its classes.

use super::composition::{Composition, template};
use super::layout::{list_cutouts, part_backgrounds};
use super::sprite::Sprite;
use crate::class_names::select_classes;
use crate::decode::{Upright, decode_rgba};
use crate::error::SourceError;
use crate::file_index::{PictureFile, examine};
use crate::listing::ListedFile;
use crate::manifest::{ClassCounts, ContentFacts, Manifest, Skipped, SplitCounts};
use crate::open::{Opened, refuse_if_strict};
use crate::options::SourceOptions;
use crate::picture_cache::{CACHE_BYTES, PictureCache};
use crate::progress::Progress;
use crate::templates::Templates;
use rayon::prelude::*;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use touchstream_env::pixel_box::PixelBox;
use touchstream_env::screen::{Screen, Template};
use touchstream_env::seed::{RunSeed, StreamName};
use touchstream_env::stimuli::{
    BoxedObject, ClassIdx, ContentHash, Instance, Picture, Split, Stimuli, StimulusError,
};

/// Changes whenever the same files would make other pixels, boxes or masks.
const DRAWING_VERSION: u32 = 1;

/// Portraits of each class.
const N_PORTRAITS: SplitCounts = SplitCounts::new(100, 25);
/// Localization screens: as many as the paper's set has, roughly.
const N_OBJECTS: SplitCounts = SplitCounts::new(900, 150);
/// Scenes.
const N_SCENES: SplitCounts = SplitCounts::new(300, 60);

/// Streams by split.
const PORTRAIT_STREAMS: [StreamName; 2] =
    [StreamName::new("cutouts-portrait-train"), StreamName::new("cutouts-portrait-validation")];
const OBJECT_STREAMS: [StreamName; 2] =
    [StreamName::new("cutouts-object-train"), StreamName::new("cutouts-object-validation")];
const SCENE_STREAMS: [StreamName; 2] =
    [StreamName::new("cutouts-scene-train"), StreamName::new("cutouts-scene-validation")];

struct CutoutStimuli {
    name: String,
    hash: ContentHash,
    classes: Vec<String>,
    composer: Composer,
    n_portraits: SplitCounts,
    objects: [Vec<BoxedObject>; 2],
    scenes: [Vec<Vec<Instance>>; 2],
    templates: Templates,
    screens: PictureCache<(Split, Picture)>,
}

/// Everything that decides what lies where.
struct Composer {
    seed: RunSeed,
    sprites: Vec<Vec<Sprite>>,
    backgrounds: [Vec<PictureFile>; 2],
}

impl Composer {
    fn compose(&self, split: Split, picture: Picture) -> Composition {
        let n_backgrounds = self.backgrounds[split as usize].len();
        let stream = |names: [StreamName; 2], index: u64| self.seed.stream(names[split as usize], index);
        match picture {
            Picture::Portrait { class, index } => {
                let mut stream = stream(PORTRAIT_STREAMS, (u64::from(class.0) << 32) | u64::from(index));
                Composition::portrait(&mut stream, &self.sprites, class.get(), n_backgrounds)
            }
            Picture::Object { index } => {
                Composition::object(&mut stream(OBJECT_STREAMS, index.into()), &self.sprites, n_backgrounds)
            }
            Picture::Scene { index } => Composition::scene(
                &mut stream(SCENE_STREAMS, index.into()),
                &self.sprites,
                index,
                n_backgrounds,
            ),
        }
    }

    /// What is on a screen, without its pixels.
    fn instances(&self, split: Split, picture: Picture) -> Vec<Instance> {
        let composition = self.compose(split, picture);
        let masks = composition.masks(&self.sprites);
        let instances = composition.parts.iter().zip(masks);
        instances.map(|(part, mask)| Instance { class: ClassIdx(part.class as u16), mask }).collect()
    }
}

/// Opens a folder of cut-outs; boxes and masks are computed now, pixels when a screen is drawn.
pub fn open(
    name: String,
    root: &Path,
    options: &SourceOptions,
    progress: &dyn Progress,
) -> Result<Opened, SourceError> {
    let files = list_cutouts(root)?;
    let mut skipped = Vec::new();
    let mut facts = ContentFacts::new("cutouts", DRAWING_VERSION);
    let examined = examine(root, &files.backgrounds, Upright::Turn, options.cache_dir.as_deref(), progress)?;
    let backgrounds = part_backgrounds(&files.backgrounds, &examined, &mut skipped);
    for background in backgrounds.iter().flatten() {
        facts.add(&background.file.relative, background.hash.as_bytes());
    }

    let names: Vec<String> = files.objects.iter().map(|(name, _)| name.clone()).collect();
    let (mut classes, mut sprites) = (Vec::new(), Vec::new());
    for class in select_classes(options.classes.as_deref(), &names)? {
        let (name, objects) = &files.objects[class];
        let variants = load_sprites(objects, &mut facts, &mut skipped);
        match (variants.is_empty(), &options.classes) {
            (false, _) => {
                classes.push(name.clone());
                sprites.push(variants);
            }
            (true, Some(_)) => {
                let reason = "none of its files is a cut-out".to_owned();
                return Err(SourceError::UnusableClass { name: name.clone(), reason });
            }
            (true, None) => {}
        }
    }
    refuse_if_strict(options, &skipped)?;
    if classes.is_empty() || backgrounds.iter().any(Vec::is_empty) {
        return Err(SourceError::NoClasses { root: root.to_owned(), skipped });
    }

    let n_portraits = options.sizes.portraits.unwrap_or(N_PORTRAITS);
    let n_objects = options.sizes.objects.unwrap_or(N_OBJECTS);
    let n_scenes = options.sizes.scenes.unwrap_or(N_SCENES);
    facts.add("classes", classes.join("\n"));
    facts.add("seed", options.seed.0.to_le_bytes());
    facts.add("sizes", format!("{n_portraits}, {n_objects}, {n_scenes}"));
    let templates = Templates::open(options, &classes, &mut facts)?;
    let composer = Composer { seed: options.seed, sprites, backgrounds };
    let n_objects = if options.needs.objects { n_objects } else { SplitCounts::default() };
    let n_scenes = if options.needs.scenes { n_scenes } else { SplitCounts::default() };
    let (objects, scenes) = outline(&composer, n_objects, n_scenes, progress);

    let hash = facts.hash();
    let manifest = Manifest {
        source: name.clone(),
        content_hash: hash.to_string(),
        classes: classes
            .iter()
            .map(|name| ClassCounts { name: name.clone(), portraits: n_portraits })
            .collect(),
        objects: n_objects,
        scenes: n_scenes,
        skipped,
        notes: Vec::new(),
    };
    let screens = PictureCache::new(CACHE_BYTES);
    let stimuli =
        CutoutStimuli { name, hash, classes, composer, n_portraits, objects, scenes, templates, screens };
    Ok(Opened { stimuli: Arc::new(stimuli), manifest })
}

fn load_sprites(files: &[ListedFile], facts: &mut ContentFacts, skipped: &mut Vec<Skipped>) -> Vec<Sprite> {
    let mut sprites = Vec::new();
    for file in files {
        let loaded =
            fs::read(&file.path).map_err(|error| format!("cannot be read: {error}")).and_then(|bytes| {
                let picture = decode_rgba(&bytes).map_err(|error| error.to_string())?;
                Ok((Sprite::new(&picture)?, blake3::hash(&bytes)))
            });
        match loaded {
            Ok((sprite, hash)) => {
                facts.add(&file.relative, hash.as_bytes());
                sprites.push(sprite);
            }
            Err(reason) => skipped.push(Skipped::new(&file.relative, reason)),
        }
    }
    sprites
}

type Outlined = ([Vec<BoxedObject>; 2], [Vec<Vec<Instance>>; 2]);

/// Boxes and masks of all screens.
fn outline(
    composer: &Composer,
    n_objects: SplitCounts,
    n_scenes: SplitCounts,
    progress: &dyn Progress,
) -> Outlined {
    let n_all = [n_objects, n_scenes].iter().map(|n| u64::from(n.train) + u64::from(n.validation)).sum();
    progress.start("placing cut-outs", n_all);
    let each = |split: Split, n: u32, picture: fn(u32) -> Picture| -> Vec<Vec<Instance>> {
        let instances = (0..n).into_par_iter().map(|index| {
            progress.advance(1);
            composer.instances(split, picture(index))
        });
        instances.collect()
    };
    let objects = Split::ALL.map(|split| {
        let screens = each(split, n_objects.of(split), |index| Picture::Object { index });
        screens.iter().map(|instances| boxed(&instances[0])).collect()
    });
    let scenes = Split::ALL.map(|split| each(split, n_scenes.of(split), |index| Picture::Scene { index }));
    progress.finish();
    (objects, scenes)
}

/// Cut-outs that could vanish are refused when they are loaded; should one still, the whole screen is its box.
fn boxed(instance: &Instance) -> BoxedObject {
    BoxedObject { class: instance.class, bounds: instance.mask.bounds().unwrap_or(PixelBox::SCREEN) }
}

impl Stimuli for CutoutStimuli {
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
        self.objects[split as usize][index as usize]
    }

    fn instances(&self, split: Split, index: u32) -> &[Instance] {
        &self.scenes[split as usize][index as usize]
    }

    fn draw(&self, split: Split, picture: Picture, screen: &mut Screen) -> Result<(), StimulusError> {
        let pixels = self.screens.get_or_make((split, picture), || {
            let composition = self.composer.compose(split, picture);
            let file = &self.composer.backgrounds[split as usize][composition.background.background_idx];
            Ok(composition.render(&self.composer.sprites, &file.decode(Upright::Turn)?))
        })?;
        screen.copy_from(&pixels);
        Ok(())
    }

    fn template(
        &self,
        _split: Split,
        class: ClassIdx,
        side_px: usize,
    ) -> Result<Arc<Template>, StimulusError> {
        self.templates.get(Split::Train, class, side_px, || {
            Ok(template(&self.composer.sprites[class.get()][0], side_px))
        })
    }
}
