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
use crate::manifest::{ContentFacts, Skipped, SplitCounts};
use crate::open::{Opened, refuse_if_strict};
use crate::options::SourceOptions;
use crate::outside_file::read_picture_file;
use crate::picture_cache::{CACHE_BYTES, PictureCache};
use crate::progress::Progress;
use crate::source::{Contents, Render};
use crate::templates::Templates;
use rayon::prelude::*;
use std::path::Path;
use std::sync::Arc;
use touchstream_env::pixel_box::PixelBox;
use touchstream_env::seed::{RunSeed, StreamName};
use touchstream_env::stimuli::{BoxedObject, ClassIdx, Instance, Picture, Split, StimulusError};

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

struct CutoutPictures {
    composer: Composer,
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
    let (mut skipped, mut notes) = (Vec::new(), Vec::new());
    let mut facts = ContentFacts::new("cutouts", DRAWING_VERSION);
    let cache_dir = options.cache_dir.as_deref();
    let examined = examine(root, &files.backgrounds, Upright::Turn, cache_dir, &mut notes, progress);
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
    facts.add("seed", options.seed.0.to_le_bytes());
    facts.add("sizes", format!("{n_portraits}, {n_objects}, {n_scenes}"));
    let templates = Templates::open(options, &classes, &mut facts)?;
    let composer = Composer { seed: options.seed, sprites, backgrounds };
    let n_objects = if options.needs.objects { n_objects } else { SplitCounts::default() };
    let n_scenes = if options.needs.scenes { n_scenes } else { SplitCounts::default() };
    let (objects, scenes) = outline(&composer, n_objects, n_scenes, progress);

    let portraits = vec![n_portraits; classes.len()];
    let contents = Contents { name, classes, portraits, objects, scenes, skipped, notes };
    let screens = PictureCache::new(CACHE_BYTES);
    Ok(contents.open(facts, templates, CutoutPictures { composer, screens }))
}

fn load_sprites(files: &[ListedFile], facts: &mut ContentFacts, skipped: &mut Vec<Skipped>) -> Vec<Sprite> {
    let mut sprites = Vec::new();
    for file in files {
        let loaded = read_picture_file(&file.path)
            .map_err(|error| format!("cannot be read: {error}"))
            .and_then(|bytes| {
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

impl Render for CutoutPictures {
    fn screen(&self, split: Split, picture: Picture) -> Result<Arc<[u8]>, StimulusError> {
        self.screens.get_or_make((split, picture), || {
            let composition = self.composer.compose(split, picture);
            let file = &self.composer.backgrounds[split as usize][composition.background.background_idx];
            Ok(composition.render(&self.composer.sprites, &file.decode(Upright::Turn)?))
        })
    }

    fn template(&self, _split: Split, class: ClassIdx, side_px: usize) -> Result<Box<[u8]>, StimulusError> {
        Ok(template(&self.composer.sprites[class.get()][0], side_px))
    }
}
