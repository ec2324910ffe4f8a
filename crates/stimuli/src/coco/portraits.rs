//! Portraits: single large objects, cropped from scenes for sample screens and templates.

use super::json::{AnnotationEntry, Segmentation};
use super::rle::Rle;
use crate::pixels::RgbImage;
use crate::resize::{Crop, resize_square};
use touchstream_env::screen::BACKGROUND_GREY;

/// Minimum longer side of an object's box, in pixels of its image. The paper only says "large".
const MIN_LONG_SIDE_PX: u32 = 64;
/// Minimum shorter side.
const MIN_SHORT_SIDE_PX: u32 = 32;
/// Minimum longer side of a clear view.
const MIN_CLEAR_SIDE_PX: u32 = 96;
/// Maximum longer side, because a crop needs memory proportional to the square of its side.
const MAX_SIDE_PX: u32 = 4096;
/// If a split has at least this many clear views of a class, it shows only those.
const MIN_CLEAR_VIEWS: usize = 10;
/// Maximum number of portraits of a class in a split; the largest are kept.
const MAX_PER_CLASS: usize = 500;
/// Margin on each side, as a share of the longer side of the box.
const MARGIN: f64 = 0.1;

/// An object that is large enough to be shown alone.
#[derive(Clone, Debug)]
pub struct Portrait {
    pub annotation_id: u64,
    /// Index of its image in the split.
    pub image_idx: usize,
    pub outline: Rle,
    /// Whether it seems complete and is large and away from the image's edges, judging by its outline.
    is_clear: bool,
    pub area_px: u64,
}

impl Portrait {
    /// The portrait of an object, if it is large enough and not a group.
    pub fn of_instance(annotation: &AnnotationEntry, outline: &Rle, image_idx: usize) -> Option<Self> {
        let (left, top, right, bottom) = outline.bounds()?;
        let (width, height) = (right - left, bottom - top);
        let (short, long) = (width.min(height), width.max(height));
        let is_large = long >= MIN_LONG_SIDE_PX && short >= MIN_SHORT_SIDE_PX && long <= MAX_SIDE_PX;
        if annotation.iscrowd != 0 || !is_large {
            return None;
        }
        // An object in front, or the edge of the image, cuts an outline into parts.
        let is_one_part =
            matches!(&annotation.segmentation, Segmentation::Polygons(parts) if parts.len() == 1);
        let (image_height, image_width) = outline.size();
        let is_off_edges = left > 1 && top > 1 && right + 1 < image_width && bottom + 1 < image_height;
        Some(Self {
            annotation_id: annotation.id,
            image_idx,
            is_clear: is_one_part && is_off_edges && long >= MIN_CLEAR_SIDE_PX,
            area_px: outline.area_px(),
            outline: outline.clone(),
        })
    }

    /// `[side_px, side_px, RGB]`: the object centred on mid grey, with a margin.
    pub fn render(&self, image: &RgbImage, side_px: usize) -> Box<[u8]> {
        let Some((left, top, right, bottom)) = self.outline.bounds() else {
            return vec![BACKGROUND_GREY; side_px * side_px * 3].into_boxed_slice();
        };
        let long_side = (right - left).max(bottom - top);
        let side = (f64::from(long_side) * (1.0 + 2.0 * MARGIN)).ceil() as u32;
        let (left_margin, top_margin) = ((side - (right - left)) / 2, (side - (bottom - top)) / 2);
        let mut isolated = RgbImage::from_pixel(side, side, [BACKGROUND_GREY; 3]);
        let height = self.outline.size().0;
        for pixel in self.outline.inside().into_iter().flatten() {
            let (x, y) = (pixel / height, pixel % height);
            isolated.set_pixel(x - left + left_margin, y - top + top_margin, image.pixel(x, y));
        }
        resize_square(&isolated, Crop::whole(side, side), side_px)
    }
}

/// Chooses the portraits of a class in a split: only clear views if there are enough, at most [`MAX_PER_CLASS`], the
/// largest, sorted by annotation id.
pub fn choose(mut candidates: Vec<Portrait>) -> Vec<Portrait> {
    if candidates.iter().filter(|portrait| portrait.is_clear).count() >= MIN_CLEAR_VIEWS {
        candidates.retain(|portrait| portrait.is_clear);
    }
    candidates.sort_by_key(|portrait| (std::cmp::Reverse(portrait.area_px), portrait.annotation_id));
    candidates.truncate(MAX_PER_CLASS);
    candidates.sort_by_key(|portrait| portrait.annotation_id);
    candidates
}

/// Index of the portrait that becomes the template: the largest clear view, else the largest.
pub fn template_of(portraits: &[Portrait]) -> usize {
    let best = portraits.iter().enumerate().max_by_key(|(_, portrait)| {
        (portrait.is_clear, portrait.area_px, std::cmp::Reverse(portrait.annotation_id))
    });
    best.map_or(0, |(idx, _)| idx)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn annotation(id: u64, iscrowd: u8, polygons: Vec<Vec<f64>>) -> AnnotationEntry {
        let segmentation = Segmentation::Polygons(polygons);
        AnnotationEntry { id, image_id: 1, category_id: 1, iscrowd, area: None, segmentation }
    }

    fn rectangle(left: f64, top: f64, right: f64, bottom: f64) -> Vec<f64> {
        vec![left, top, right, top, right, bottom, left, bottom]
    }

    fn portrait(annotation: &AnnotationEntry) -> Option<Portrait> {
        Portrait::of_instance(annotation, &annotation.segmentation.to_rle(300, 400).unwrap(), 0)
    }

    #[test]
    fn only_large_single_objects_are_portraits() {
        let cases = [
            (annotation(1, 0, vec![rectangle(50.0, 50.0, 150.0, 100.0)]), Some(true)),
            (annotation(1, 0, vec![rectangle(0.0, 50.0, 100.0, 100.0)]), Some(false)),
            (annotation(1, 0, vec![rectangle(50.0, 50.0, 120.0, 100.0)]), Some(false)),
            (
                annotation(
                    1,
                    0,
                    vec![rectangle(50.0, 50.0, 90.0, 90.0), rectangle(100.0, 50.0, 160.0, 90.0)],
                ),
                Some(false),
            ),
            (annotation(1, 0, vec![rectangle(50.0, 50.0, 150.0, 70.0)]), None),
            (annotation(1, 0, vec![rectangle(50.0, 50.0, 100.0, 100.0)]), None),
            (annotation(1, 1, vec![rectangle(50.0, 50.0, 150.0, 150.0)]), None),
        ];
        for (annotation, is_clear) in cases {
            assert_eq!(portrait(&annotation).map(|portrait| portrait.is_clear), is_clear, "{annotation:?}");
        }
    }

    #[test]
    fn a_portrait_is_the_object_centred_on_grey() {
        let portrait = portrait(&annotation(1, 0, vec![rectangle(50.0, 100.0, 150.0, 150.0)])).unwrap();
        let image = RgbImage::from_pixel(400, 300, [250, 0, 0]);
        let pixels = portrait.render(&image, 120);
        let at = |row: usize, col: usize| &pixels[(row * 120 + col) * 3..][..3];
        assert_eq!(at(60, 60), [250, 0, 0]);
        assert_eq!(
            (at(60, 8), at(60, 112), at(30, 60), at(90, 60)),
            (&[128; 3][..], &[128; 3][..], &[128; 3][..], &[128; 3][..])
        );
        assert_eq!(
            (at(60, 12), at(60, 107), at(37, 60), at(82, 60)),
            (&[250, 0, 0][..], &[250, 0, 0][..], &[250, 0, 0][..], &[250, 0, 0][..])
        );
    }

    #[test]
    fn clear_views_are_preferred_when_there_are_enough() {
        let clear =
            |id| portrait(&annotation(id, 0, vec![rectangle(50.0, 50.0, 150.0 + id as f64, 100.0)])).unwrap();
        let unclear = |id| portrait(&annotation(id, 0, vec![rectangle(0.0, 50.0, 350.0, 250.0)])).unwrap();
        let few: Vec<Portrait> = (0..9).map(clear).chain([unclear(9)]).collect();
        assert_eq!(choose(few.clone()).len(), 10);
        assert_eq!(template_of(&few), 8);
        let enough = choose((0..12).rev().map(clear).chain([unclear(12)]).collect());
        assert_eq!(enough.iter().map(|p| p.annotation_id).collect::<Vec<_>>(), (0..12).collect::<Vec<_>>());
    }
}
