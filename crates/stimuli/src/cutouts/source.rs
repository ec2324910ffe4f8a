//! Cut-outs as a source: every screen is a function of seed, split and index.
//!
//! The splits share no background and, if a class has several cut-outs, no cut-out.

use super::composition::{Composition, template};
use super::layout::{list_cutouts, split_backgrounds};
use super::sprite::Sprite;
use crate::class_names::select_classes;
use crate::decode::{Upright, decode_rgba};
use crate::error::SourceError;
use crate::file_index::{ImageFile, examine};
use crate::image_cache::{CACHE_BYTES, ImageCache};
use crate::listing::ListedFile;
use crate::manifest::{ContentFacts, Skipped, SplitCounts};
use crate::open::{Opened, refuse_if_strict};
use crate::options::SourceOptions;
use crate::source::{Contents, Render};
use crate::templates::Templates;
use rayon::prelude::*;
use std::path::Path;
use std::sync::Arc;
use touchstream_env::pixel_box::PixelBox;
use touchstream_env::seed::{RunSeed, StreamName};
use touchstream_env::stimuli::{BoxedObject, ClassIdx, ImageId, Instance, Split, StimulusError};
use touchstream_files::Progress;
use touchstream_files::read_image_file;

/// Must be raised whenever the same files would give other pixels, boxes or masks.
const DRAWING_VERSION: u32 = 1;

/// Portraits per class.
const N_PORTRAITS: SplitCounts = SplitCounts::new(100, 25);
/// Localization screens: about as many as the paper's data set has.
const N_OBJECTS: SplitCounts = SplitCounts::new(900, 150);
const N_SCENES: SplitCounts = SplitCounts::new(300, 60);

// Random streams by split.
const PORTRAIT_STREAMS: [StreamName; 2] =
    [StreamName::new("cutouts-portrait-train"), StreamName::new("cutouts-portrait-validation")];
const OBJECT_STREAMS: [StreamName; 2] =
    [StreamName::new("cutouts-object-train"), StreamName::new("cutouts-object-validation")];
const SCENE_STREAMS: [StreamName; 2] =
    [StreamName::new("cutouts-scene-train"), StreamName::new("cutouts-scene-validation")];

struct CutoutRenderer {
    composer: Composer,
    screens: ImageCache<(Split, ImageId)>,
}

/// Determines the layout of every screen.
struct Composer {
    seed: RunSeed,
    /// `[split][class][variant]`
    sprites: [Vec<Vec<Arc<Sprite>>>; 2],
    backgrounds: [Vec<ImageFile>; 2],
}

impl Composer {
    fn compose(&self, split: Split, image: ImageId) -> Composition {
        let n_backgrounds = self.backgrounds[split as usize].len();
        let sprites = &self.sprites[split as usize];
        let stream = |names: [StreamName; 2], index: u64| self.seed.stream(names[split as usize], index);
        match image {
            ImageId::Portrait { class, index } => {
                let mut stream = stream(PORTRAIT_STREAMS, (u64::from(class.0) << 32) | u64::from(index));
                Composition::portrait(&mut stream, sprites, class.get(), n_backgrounds)
            }
            ImageId::Object { index } => {
                Composition::object(&mut stream(OBJECT_STREAMS, index.into()), sprites, n_backgrounds)
            }
            ImageId::Scene { index } => {
                Composition::scene(&mut stream(SCENE_STREAMS, index.into()), sprites, index, n_backgrounds)
            }
        }
    }

    /// The objects on a screen, without its pixels.
    fn instances(&self, split: Split, image: ImageId) -> Vec<Instance> {
        let composition = self.compose(split, image);
        let masks = composition.masks(&self.sprites[split as usize]);
        let instances = composition.parts.iter().zip(masks);
        instances.map(|(part, mask)| Instance { class: ClassIdx(part.class as u16), mask }).collect()
    }
}

/// Opens a folder of cut-outs. Boxes and masks are computed now, pixels when a screen is drawn.
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
    let backgrounds = split_backgrounds(&files.backgrounds, &examined, &mut skipped);
    for background in backgrounds.iter().flatten() {
        facts.add(&background.file.relative, background.hash.as_bytes());
    }

    let names: Vec<String> = files.objects.iter().map(|(name, _)| name.clone()).collect();
    let (mut classes, mut sprites, mut n_shared) = (Vec::new(), [Vec::new(), Vec::new()], 0);
    for class in select_classes(options.classes.as_deref(), &names)? {
        let (name, objects) = &files.objects[class];
        let variants = load_sprites(objects, &mut facts, &mut skipped);
        match (variants.is_empty(), &options.classes) {
            (false, _) => {
                classes.push(name.clone());
                n_shared += usize::from(variants.len() == 1);
                let [train, validation] = split_variants(variants);
                sprites[0].push(train);
                sprites[1].push(validation);
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
    if n_shared > 0 {
        notes.push(format!(
            "{n_shared} classes have only one cut-out, which both splits show on different backgrounds"
        ));
    }
    let composer = Composer { seed: options.seed, sprites, backgrounds };
    let n_objects = if options.needs.objects { n_objects } else { SplitCounts::default() };
    let n_scenes = if options.needs.scenes { n_scenes } else { SplitCounts::default() };
    let (objects, scenes) = compute_boxes_and_masks(&composer, n_objects, n_scenes, progress);

    let portraits = vec![n_portraits; classes.len()];
    let contents = Contents { name, classes, portraits, objects, scenes, skipped, notes };
    let screens = ImageCache::new(CACHE_BYTES);
    Ok(contents.open(facts, templates, CutoutRenderer { composer, screens }))
}

/// Assigns the cut-outs of a class to training and validation: every fifth, and at least one, is for validation. A
/// single cut-out is in both splits, like each object of the paper's data set.
fn split_variants(variants: Vec<Sprite>) -> [Vec<Arc<Sprite>>; 2] {
    let variants: Vec<Arc<Sprite>> = variants.into_iter().map(Arc::new).collect();
    if let [_] = variants[..] {
        return [variants.clone(), variants];
    }
    let n_variants = variants.len();
    let is_validation = |idx: usize| idx % 5 == 4 || (n_variants < 5 && idx + 1 == n_variants);
    let of = |wanted: bool| {
        let chosen = variants.iter().enumerate().filter(|&(idx, _)| is_validation(idx) == wanted);
        chosen.map(|(_, variant)| Arc::clone(variant)).collect()
    };
    [of(false), of(true)]
}

fn load_sprites(files: &[ListedFile], facts: &mut ContentFacts, skipped: &mut Vec<Skipped>) -> Vec<Sprite> {
    let mut sprites = Vec::new();
    for file in files {
        let loaded = read_image_file(&file.path)
            .map_err(|error| format!("cannot be read: {error}"))
            .and_then(|bytes| {
                let image = decode_rgba(&bytes).map_err(|error| error.to_string())?;
                Ok((Sprite::new(&image)?, blake3::hash(&bytes)))
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

type BoxesAndMasks = ([Vec<BoxedObject>; 2], [Vec<Vec<Instance>>; 2]);

/// Computes the boxes and masks of all screens.
fn compute_boxes_and_masks(
    composer: &Composer,
    n_objects: SplitCounts,
    n_scenes: SplitCounts,
    progress: &dyn Progress,
) -> BoxesAndMasks {
    let n_all = [n_objects, n_scenes].iter().map(|n| u64::from(n.train) + u64::from(n.validation)).sum();
    progress.start("placing cut-outs", n_all);
    let each = |split: Split, n: u32, image: fn(u32) -> ImageId| -> Vec<Vec<Instance>> {
        let instances = (0..n).into_par_iter().map(|index| {
            progress.advance(1);
            composer.instances(split, image(index))
        });
        instances.collect()
    };
    let objects = Split::ALL.map(|split| {
        let screens = each(split, n_objects.of(split), |index| ImageId::Object { index });
        screens.iter().map(|instances| boxed(&instances[0])).collect()
    });
    let scenes = Split::ALL.map(|split| each(split, n_scenes.of(split), |index| ImageId::Scene { index }));
    progress.finish();
    (objects, scenes)
}

/// The box of the only object. If it is invisible, although such cut-outs are rejected when loaded, the whole screen.
fn boxed(instance: &Instance) -> BoxedObject {
    BoxedObject { class: instance.class, bounds: instance.mask.bounds().unwrap_or(PixelBox::SCREEN) }
}

impl Render for CutoutRenderer {
    fn screen(&self, split: Split, image: ImageId) -> Result<Arc<[u8]>, StimulusError> {
        self.screens.get_or_make((split, image), || {
            let composition = self.composer.compose(split, image);
            let file = &self.composer.backgrounds[split as usize][composition.background.background_idx];
            Ok(composition.render(&self.composer.sprites[split as usize], &file.decode(Upright::Turn)?))
        })
    }

    fn template(&self, _split: Split, class: ClassIdx, side_px: usize) -> Result<Box<[u8]>, StimulusError> {
        Ok(template(&self.composer.sprites[0][class.get()][0], side_px))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pixels::RgbaImage;

    #[test]
    fn cut_outs_of_a_class_are_divided_between_the_splits() {
        let sprite = || {
            let inside = |x: u32, y: u32| (5..55).contains(&x) && (5..55).contains(&y);
            let disc = RgbaImage::from_fn(60, 60, |x, y| [200, 0, 0, if inside(x, y) { 255 } else { 0 }]);
            Sprite::new(&disc).unwrap()
        };
        for (n_variants, n_train, n_validation) in [(1, 1, 1), (2, 1, 1), (4, 3, 1), (5, 4, 1), (12, 10, 2)] {
            let [train, validation] = split_variants((0..n_variants).map(|_| sprite()).collect());
            assert_eq!((train.len(), validation.len()), (n_train, n_validation), "{n_variants}");
            let is_shared =
                train.iter().any(|variant| validation.iter().any(|other| Arc::ptr_eq(variant, other)));
            assert_eq!(is_shared, n_variants == 1);
        }
    }
}
