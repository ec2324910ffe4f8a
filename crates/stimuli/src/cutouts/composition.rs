//! Draws the layout of a screen at random: which cut-outs are where, and on which background. Rendering is separate.

use super::sprite::{MIN_SIDE_PX, Placement, Sprite};
use crate::pixels::RgbImage;
use crate::resize::{Crop, resize_square};
use std::sync::Arc;
use touchstream_env::mask::Mask;
use touchstream_env::screen::BACKGROUND_GREY;
use touchstream_env::seed::RandomStream;
use touchstream_env::touch::SCREEN_SIDE_PX;

const SIDE: f32 = SCREEN_SIDE_PX as f32;
/// Range of the longer side of a rotated cut-out's box, in screen pixels. Its visible part may be smaller.
const OBJECT_SIDES_PX: (f32, f32) = (MIN_SIDE_PX, 170.0);
const PORTRAIT_SIDES_PX: (f32, f32) = (150.0, 206.0);
const SCENE_SIDES_PX: (f32, f32) = (55.0, 120.0);
/// Tangent of half the maximum rotation: 30 degrees, and 15 for portraits.
const MAX_TURN: f32 = 0.268;
const MAX_PORTRAIT_TURN: f32 = 0.132;
/// Maximum distance of a portrait's centre from the screen's centre, along each axis.
const MAX_PORTRAIT_SHIFT_PX: f32 = 12.0;
/// Number of objects in a scene, both ends included.
const N_IN_SCENE: (u32, u32) = (2, 5);
/// Number of attempts to place an object of a scene without covering others.
const N_PLACE_TRIES: usize = 30;
/// Maximum overlap of two boxes, as a share of the smaller one.
const MAX_OVERLAP: f32 = 0.25;
/// The longer side of the cut-out on its template, as a share of the template's side.
const TEMPLATE_SHARE: f32 = 0.92;

/// The cut-outs of each class.
pub type SpritesByClass = [Vec<Arc<Sprite>>];

/// The layout of a screen.
#[derive(Clone, Debug, PartialEq)]
pub struct Composition {
    pub background: BackgroundView,
    /// Cut-outs in the order of painting: later ones cover earlier ones.
    pub parts: Vec<PlacedCutout>,
}

/// The part of a background that fills the screen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BackgroundView {
    pub background_idx: usize,
    /// Side of the shown square, as a share of the background's short side.
    side_share: f32,
    /// Position of the square, as a share of the free space.
    left_share: f32,
    top_share: f32,
    is_mirrored: bool,
}

/// A cut-out and its position on the screen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlacedCutout {
    pub class: usize,
    variant: usize,
    place: Placement,
}

impl Composition {
    /// One large object of a class near the centre.
    pub fn portrait(
        stream: &mut RandomStream,
        sprites: &SpritesByClass,
        class: usize,
        n_backgrounds: usize,
    ) -> Self {
        let background = BackgroundView::draw(stream, n_backgrounds);
        let mut part = PlacedCutout::draw(stream, sprites, class, PORTRAIT_SIDES_PX, MAX_PORTRAIT_TURN);
        let (width, height) = part.size(sprites);
        let mut shifted = |size: f32| {
            let max_shift = ((SIDE - size) / 2.0).clamp(0.0, MAX_PORTRAIT_SHIFT_PX);
            SIDE / 2.0 + stream.in_range(-max_shift, max_shift)
        };
        part.place.center = (shifted(width), shifted(height));
        Self { background, parts: vec![part] }
    }

    /// One object of any class at any position.
    pub fn object(stream: &mut RandomStream, sprites: &SpritesByClass, n_backgrounds: usize) -> Self {
        let background = BackgroundView::draw(stream, n_backgrounds);
        let class = stream.below(sprites.len() as u32) as usize;
        let mut part = PlacedCutout::draw(stream, sprites, class, OBJECT_SIDES_PX, MAX_TURN);
        part.move_anywhere(stream, sprites);
        Self { background, parts: vec![part] }
    }

    /// Two to five objects of different classes with little overlap. The index determines the class of the first
    /// object, so that as many consecutive scenes as there are classes contain every class.
    pub fn scene(
        stream: &mut RandomStream,
        sprites: &SpritesByClass,
        index: u32,
        n_backgrounds: usize,
    ) -> Self {
        let background = BackgroundView::draw(stream, n_backgrounds);
        let mut classes: Vec<usize> = (0..sprites.len()).collect();
        stream.shuffle(&mut classes);
        let first = classes.iter().position(|&class| class == index as usize % sprites.len().max(1));
        classes.swap(0, first.unwrap_or(0));
        classes.truncate(stream.between(N_IN_SCENE.0, N_IN_SCENE.1) as usize);
        let mut parts: Vec<PlacedCutout> = Vec::new();
        for class in classes {
            let mut part = PlacedCutout::draw(stream, sprites, class, SCENE_SIDES_PX, MAX_TURN);
            for _ in 0..N_PLACE_TRIES {
                part.move_anywhere(stream, sprites);
                if parts.iter().all(|other| part.overlap(other, sprites) <= MAX_OVERLAP) {
                    parts.push(part);
                    break;
                }
            }
        }
        Self { background, parts }
    }

    /// The visible pixels of each part: those that it covers by at least half and that no part in front of it covers by
    /// half.
    pub fn masks(&self, sprites: &SpritesByClass) -> Vec<Mask> {
        let mut is_hidden = vec![false; SCREEN_SIDE_PX * SCREEN_SIDE_PX];
        let mut masks: Vec<Mask> = Vec::with_capacity(self.parts.len());
        for part in self.parts.iter().rev() {
            let covered = part.sprite(sprites).screen_coverage(part.place);
            let at = |row: usize, col: usize| row * SCREEN_SIDE_PX + col;
            masks.push(Mask::from_fn(|row, col| covered[at(row, col)] && !is_hidden[at(row, col)]));
            is_hidden.iter_mut().zip(covered).for_each(|(hidden, covered)| *hidden |= covered);
        }
        masks.reverse();
        masks
    }

    /// The screen, `[224, 224, RGB]`.
    pub fn render(&self, sprites: &SpritesByClass, background: &RgbImage) -> Box<[u8]> {
        let mut pixels = self.background.render(background);
        for part in &self.parts {
            part.sprite(sprites).paint(part.place, &mut pixels, SCREEN_SIDE_PX);
        }
        pixels
    }
}

impl BackgroundView {
    fn draw(stream: &mut RandomStream, n_backgrounds: usize) -> Self {
        Self {
            background_idx: stream.below(n_backgrounds as u32) as usize,
            side_share: stream.in_range(0.6, 1.0),
            left_share: stream.unit_f32(),
            top_share: stream.unit_f32(),
            is_mirrored: stream.chance(0.5),
        }
    }

    fn render(&self, background: &RgbImage) -> Box<[u8]> {
        let (width, height) = (f64::from(background.width()), f64::from(background.height()));
        let side = width.min(height) * f64::from(self.side_share);
        let left = (width - side) * f64::from(self.left_share);
        let top = (height - side) * f64::from(self.top_share);
        let mut pixels =
            resize_square(background, Crop { left, top, width: side, height: side }, SCREEN_SIDE_PX);
        if self.is_mirrored {
            for row in pixels.chunks_exact_mut(SCREEN_SIDE_PX * 3) {
                for col in 0..SCREEN_SIDE_PX / 2 {
                    for channel in 0..3 {
                        row.swap(col * 3 + channel, (SCREEN_SIDE_PX - 1 - col) * 3 + channel);
                    }
                }
            }
        }
        pixels
    }
}

impl PlacedCutout {
    /// A cut-out of a class with a random size and rotation, at the centre.
    fn draw(
        stream: &mut RandomStream,
        sprites: &SpritesByClass,
        class: usize,
        (min_side, max_side): (f32, f32),
        max_turn: f32,
    ) -> Self {
        let variant = stream.below(sprites[class].len() as u32) as usize;
        // Cosine and sine from the tangent of half the angle: only basic arithmetic, so the same bits on every machine.
        let half = stream.in_range(-max_turn, max_turn);
        let turn = ((1.0 - half * half) / (1.0 + half * half), 2.0 * half / (1.0 + half * half));
        let (width, height) = sprites[class][variant].turned_size(turn);
        let scale = stream.in_range(min_side, max_side) / width.max(height);
        Self { class, variant, place: Placement { center: (SIDE / 2.0, SIDE / 2.0), scale, turn } }
    }

    fn sprite<'a>(&self, sprites: &'a SpritesByClass) -> &'a Sprite {
        &sprites[self.class][self.variant]
    }

    /// Width and height of the cut-out's box on the screen.
    fn size(&self, sprites: &SpritesByClass) -> (f32, f32) {
        let (width, height) = self.sprite(sprites).turned_size(self.place.turn);
        (width * self.place.scale, height * self.place.scale)
    }

    fn move_anywhere(&mut self, stream: &mut RandomStream, sprites: &SpritesByClass) {
        let (width, height) = self.size(sprites);
        let x = stream.in_range(width / 2.0, SIDE - width / 2.0);
        let y = stream.in_range(height / 2.0, SIDE - height / 2.0);
        self.place.center = (x, y);
    }

    /// The overlap of two boxes, as a share of the smaller one.
    fn overlap(&self, other: &Self, sprites: &SpritesByClass) -> f32 {
        let (size, other_size) = (self.size(sprites), other.size(sprites));
        let common = |center: f32, size: f32, other_center: f32, other_size: f32| {
            let end = (center + size / 2.0).min(other_center + other_size / 2.0);
            (end - (center - size / 2.0).max(other_center - other_size / 2.0)).max(0.0)
        };
        let (here, there) = (self.place.center, other.place.center);
        let width = common(here.0, size.0, there.0, other_size.0);
        let height = common(here.1, size.1, there.1, other_size.1);
        width * height / (size.0 * size.1).min(other_size.0 * other_size.1)
    }
}

/// A cut-out centred on mid grey, `[side_px, side_px, RGB]`.
pub fn template(sprite: &Sprite, side_px: usize) -> Box<[u8]> {
    let mut pixels = vec![BACKGROUND_GREY; side_px * side_px * 3].into_boxed_slice();
    let (width, height) = sprite.turned_size((1.0, 0.0));
    let side = side_px as f32;
    let scale = side * TEMPLATE_SHARE / width.max(height);
    sprite.paint(
        Placement { center: (side / 2.0, side / 2.0), scale, turn: (1.0, 0.0) },
        &mut pixels,
        side_px,
    );
    pixels
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pixels::RgbaImage;
    use touchstream_env::pixel_box::PixelBox;
    use touchstream_env::seed::{RunSeed, StreamName};

    fn sprites() -> Vec<Vec<Arc<Sprite>>> {
        let disc = |width: u32, height: u32, color: [u8; 3]| {
            let [red, green, blue] = color;
            RgbaImage::from_fn(width, height, |x, y| {
                let (x, y) = (x as f32 + 0.5 - width as f32 / 2.0, y as f32 + 0.5 - height as f32 / 2.0);
                let is_inside = (2.0 * x / width as f32).powi(2) + (2.0 * y / height as f32).powi(2) <= 1.0;
                [red, green, blue, if is_inside { 255 } else { 0 }]
            })
        };
        let colors = [[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 0], [0, 255, 255], [255, 0, 255]];
        (30..)
            .zip(colors)
            .map(|(side, color)| vec![Arc::new(Sprite::new(&disc(2 * side, side * 3, color)).unwrap())])
            .collect()
    }

    fn stream(index: u64) -> RandomStream {
        RunSeed(1).stream(StreamName::new("test"), index)
    }

    #[test]
    fn objects_lie_within_the_screen_and_their_masks_on_their_pixels() {
        let sprites = sprites();
        let grey = RgbImage::from_pixel(300, 200, [128; 3]);
        for index in 0..60 {
            let composition = Composition::object(&mut stream(index), &sprites, 1);
            let mask = composition.masks(&sprites).remove(0);
            let bounds = mask.bounds().unwrap();
            let longer = bounds.width_px().max(bounds.height_px());
            assert!((28..=172).contains(&longer), "{bounds:?}");
            let pixels = composition.render(&sprites, &grey);
            // Half of the 128 steps between grey and the colour is 64; bytes are rounded.
            let changed = |min_steps: u8| {
                Mask::from_fn(|row, col| {
                    let pixel = &pixels[(row * SCREEN_SIDE_PX + col) * 3..][..3];
                    pixel.iter().map(|byte| byte.abs_diff(128)).max() >= Some(min_steps)
                })
            };
            let (surely, perhaps) = (changed(66).bounds().unwrap(), changed(62).bounds().unwrap());
            let is_within = |inner: PixelBox, outer: PixelBox| {
                (inner.top() >= outer.top() && inner.left() >= outer.left())
                    && (inner.bottom() <= outer.bottom() && inner.right() <= outer.right())
            };
            assert!(is_within(surely, bounds) && is_within(bounds, perhaps), "screen {index}");
        }
    }

    #[test]
    fn scenes_show_several_classes_each_mostly_visible() {
        let sprites = sprites();
        let mut n_seen = [0; 6];
        for index in 0..60 {
            let composition = Composition::scene(&mut stream(index), &sprites, index as u32, 1);
            let masks = composition.masks(&sprites);
            n_seen[masks.len()] += 1;
            assert_eq!(composition.parts[0].class, index as usize % sprites.len());
            assert!(masks.len() >= 2 && masks.iter().all(|mask| mask.area_px() > 200), "scene {index}");
            for (idx, mask) in masks.iter().enumerate() {
                for other in &masks[..idx] {
                    other.for_each_run(|run| {
                        mask.for_each_run(|mine| assert!(run.end <= mine.start || mine.end <= run.start));
                    });
                }
            }
        }
        assert!(n_seen[2..=5].iter().all(|&n| n > 0), "{n_seen:?}");
    }

    #[test]
    fn portraits_are_large_and_templates_centred() {
        let sprites = sprites();
        for index in 0..20 {
            let composition = Composition::portrait(&mut stream(index), &sprites, 2, 1);
            let bounds = composition.masks(&sprites)[0].bounds().unwrap();
            assert!(bounds.height_px().max(bounds.width_px()) > 110, "{bounds:?}");
        }
        let pixels = template(&sprites[0][0], 100);
        let at = |row: usize, col: usize| &pixels[(row * 100 + col) * 3..][..3];
        assert_eq!((at(50, 50), at(1, 50), at(98, 50)), (&[255, 0, 0][..], &[128; 3][..], &[128; 3][..]));
    }
}
