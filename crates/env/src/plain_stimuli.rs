//! A minimal image source of coloured rectangles, for tests, benchmarks and examples; agents learn little from it.

use crate::mask::Mask;
use crate::pixel_box::PixelBox;
use crate::screen::{Screen, Template};
use crate::seed::{RandomStream, RunSeed, StreamName};
use crate::shape::{Rect, Shape};
use crate::stimuli::{BoxedObject, ClassIdx, ContentHash, ImageId, Instance, Split, Stimuli, StimulusError};
use crate::touch::{SCREEN_SIDE_PX, Touch};
use std::sync::Arc;

const N_IMAGES: usize = 32;
const PLACES: StreamName = StreamName::new("plain-stimuli/places");

/// Each class is a colour; portraits are shades of it, objects and scenes are rectangles of it on grey.
pub struct PlainStimuli {
    class_names: Vec<String>,
    /// `[split][index]`
    objects: [Vec<BoxedObject>; 2],
    scenes: [Vec<Vec<Instance>>; 2],
}

impl PlainStimuli {
    /// A source of `n_classes` classes, named `colour-0`, `colour-1`, ...
    pub fn new(n_classes: usize) -> Self {
        Self::named((0..n_classes).map(|idx| format!("colour-{idx}")).collect())
    }

    /// A source whose classes have these names.
    pub fn named(class_names: Vec<String>) -> Self {
        let n_classes = class_names.len();
        assert!(n_classes > 0, "a source has at least one class");
        let n_images = N_IMAGES.max(n_classes) as u64;
        let of_split = |split: Split| (0..n_images).map(move |index| (split, index));
        let object = |(split, index)| draw_object(n_classes, &mut places(split, index));
        let scene = |(split, index)| draw_scene(n_classes, index, &mut places(split, index + n_images));
        Self {
            class_names,
            objects: Split::ALL.map(|split| of_split(split).map(object).collect()),
            scenes: Split::ALL.map(|split| of_split(split).map(scene).collect()),
        }
    }

    fn colour(&self, class: ClassIdx) -> [u8; 3] {
        let hue = class.get() * 255 / self.class_names.len().max(1);
        [hue as u8, 255 - hue as u8, (class.get() * 97 % 256) as u8]
    }
}

fn places(split: Split, index: u64) -> RandomStream {
    RunSeed(split as u64).stream(PLACES, index)
}

fn draw_rect(random: &mut RandomStream) -> Rect {
    let (height, width) = (random.between(40, 100), random.between(40, 100));
    let side = SCREEN_SIDE_PX as u32;
    Rect { top: random.between(0, side - height), left: random.between(0, side - width), height, width }
}

fn draw_object(n_classes: usize, random: &mut RandomStream) -> BoxedObject {
    let rect = draw_rect(random);
    let first = Touch::at(rect.top as u8, rect.left as u8);
    let last = Touch::at((rect.top + rect.height - 1) as u8, (rect.left + rect.width - 1) as u8);
    BoxedObject {
        class: ClassIdx(random.below(n_classes as u32) as u16),
        bounds: PixelBox::spanned_by(first, last),
    }
}

/// A rectangle for each of two classes; every class occurs in some scene.
fn draw_scene(n_classes: usize, index: u64, random: &mut RandomStream) -> Vec<Instance> {
    let classes = [index as usize % n_classes, (index as usize + 1) % n_classes];
    classes
        .map(|class| Instance { class: ClassIdx(class as u16), mask: Shape::Rect(draw_rect(random)).mask() })
        .into()
}

impl Stimuli for PlainStimuli {
    fn name(&self) -> &str {
        "plain"
    }

    fn content_hash(&self) -> ContentHash {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&(self.class_names.len() as u64).to_le_bytes());
        ContentHash(bytes)
    }

    fn classes(&self) -> &[String] {
        &self.class_names
    }

    fn n_portraits(&self, _split: Split, _class: ClassIdx) -> usize {
        N_IMAGES
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

    fn draw(&self, split: Split, image: ImageId, screen: &mut Screen) -> Result<(), StimulusError> {
        screen.clear();
        let pixels = screen.pixels_mut();
        let mut paint = |mask: &Mask, colour: [u8; 3]| {
            mask.for_each_run(|run| {
                pixels[run.start * 3..run.end * 3]
                    .chunks_exact_mut(3)
                    .for_each(|px| px.copy_from_slice(&colour));
            });
        };
        match image {
            ImageId::Portrait { class, index } => {
                let shade = |channel: u8| channel / 2 + index as u8 * 2 + split as u8 * 64;
                paint(&Mask::from_fn(|_, _| true), self.colour(class).map(shade));
            }
            ImageId::Object { index } => {
                let object = self.object(split, index);
                let inside = |row: usize, col: usize| object.bounds.contains(Touch::at(row as u8, col as u8));
                paint(&Mask::from_fn(inside), self.colour(object.class));
            }
            ImageId::Scene { index } => {
                for instance in self.instances(split, index) {
                    paint(&instance.mask, self.colour(instance.class));
                }
            }
        }
        Ok(())
    }

    fn template(
        &self,
        _split: Split,
        class: ClassIdx,
        side_px: usize,
    ) -> Result<Arc<Template>, StimulusError> {
        Ok(Arc::new(Template::new(side_px, self.colour(class).repeat(side_px * side_px).into_boxed_slice())))
    }
}
