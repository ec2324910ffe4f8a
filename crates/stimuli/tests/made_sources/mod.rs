//! A small source of each kind, made on the spot: five classes, images that all differ.

use image::{DynamicImage, ImageFormat, Rgb, RgbImage, Rgba, RgbaImage};
use serde_json::{Value, json};
use std::fs;
use std::io::Cursor;
use std::path::Path;
use tempfile::TempDir;
use touchstream_stimuli::SourceSpec;
use touchstream_stimuli::coco::rle::Rle;

const CLASSES: [&str; 5] = ["boat", "cat", "dog", "owl", "tree"];

/// Of the photographs of a scene, in pixels.
const WIDTH: u32 = 240;
const HEIGHT: u32 = 180;

/// Images of each class: three to learn from, two to be judged on.
pub fn folder() -> (TempDir, SourceSpec) {
    let root = tempfile::tempdir().unwrap();
    for (class_idx, class) in (0..).zip(CLASSES) {
        for (split, indices) in [("train", 0..3), ("val", 3..5)] {
            for index in indices {
                let photo = photo(90, 60, class_idx * 10 + index);
                put(root.path(), &format!("{split}/{class}/{index}.jpg"), encoded(photo, ImageFormat::Jpeg));
            }
        }
    }
    let spec = SourceSpec::Folder(root.path().to_owned());
    (root, spec)
}

/// In each split: every class alone on two images, next to the next class on one, and with a crowd of itself on one;
/// masks in all three encodings.
pub fn coco() -> (TempDir, SourceSpec) {
    let root = tempfile::tempdir().unwrap();
    for (split, seed) in [("train2017", 0), ("val2017", 100)] {
        let (mut images, mut annotations) = (Vec::new(), Vec::new());
        for class_idx in 0..CLASSES.len() {
            let next = (class_idx + 1) % CLASSES.len();
            let (left, right) = (Rect { left: 48, ..Rect::LARGE }, Rect { left: 125, ..Rect::LARGE });
            let alone = [("polygons", class_idx, left)];
            let alone_again = [("counts", class_idx, Rect { top: 40, ..right })];
            let two = [("text", class_idx, left), ("polygons", next, right)];
            let with_crowd = [("polygons", class_idx, left), ("crowd", class_idx, right)];
            for shown in [&alone[..], &alone_again, &two, &with_crowd] {
                let image_id = images.len() as u32 + 1;
                let file_name = format!("{image_id}.png");
                let photo = photo(WIDTH, HEIGHT, seed + image_id);
                put(root.path(), &format!("{split}/{file_name}"), encoded(photo, ImageFormat::Png));
                images
                    .push(json!({"id": image_id, "file_name": file_name, "width": WIDTH, "height": HEIGHT}));
                for &(coding, class_idx, bounds) in shown {
                    annotations.push(json!({
                        "id": annotations.len() + 1, "image_id": image_id, "category_id": class_idx + 1,
                        "iscrowd": u8::from(coding == "crowd"), "segmentation": bounds.outline(coding),
                    }));
                }
            }
        }
        let categories: Vec<Value> =
            (1..).zip(CLASSES).map(|(id, name)| json!({"id": id, "name": name})).collect();
        let document = json!({"images": images, "categories": categories, "annotations": annotations});
        put(root.path(), &format!("annotations/instances_{split}.json"), document.to_string());
    }
    let spec = SourceSpec::Coco(root.path().to_owned());
    (root, spec)
}

/// A cut-out of each class and ten backgrounds.
pub fn cutouts() -> (TempDir, SourceSpec) {
    let root = tempfile::tempdir().unwrap();
    for (class_idx, class) in (0..).zip(CLASSES) {
        let side = 40 + 8 * class_idx;
        let radius_px = 18.0 + 2.0 * class_idx as f32;
        let cutout = RgbaImage::from_fn(side, 50, |x, y| {
            let from_middle = (x as f32 - side as f32 / 2.0).hypot(y as f32 - 25.0);
            let alpha = if from_middle < radius_px { 255 } else { 0 };
            Rgba([40 * class_idx as u8, (3 * x) as u8, (4 * y) as u8, alpha])
        });
        let bytes = encoded(cutout, ImageFormat::Png);
        put(root.path(), &format!("objects/{class_idx:02}_{class}.png"), bytes);
    }
    for index in 0..10 {
        let bytes = encoded(photo(120, 90, index), ImageFormat::Jpeg);
        put(root.path(), &format!("backgrounds_made/{index}.jpg"), bytes);
    }
    let spec = SourceSpec::Cutouts(root.path().to_owned());
    (root, spec)
}

/// A rectangle on a photograph, in its pixels.
#[derive(Clone, Copy)]
struct Rect {
    left: u32,
    top: u32,
    width: u32,
    height: u32,
}

impl Rect {
    /// Large enough for a portrait; two fit next to each other on the screen's part of the photograph.
    const LARGE: Self = Self { left: 48, top: 50, width: 68, height: 80 };

    fn outline(self, coding: &str) -> Value {
        let Self { left, top, width, height } = self;
        let (right, bottom) = (left + width, top + height);
        // Down the columns: what is above the rectangle with what is below the column before, then its column.
        let mut counts = vec![left * HEIGHT + top];
        (1..width).for_each(|_| counts.extend([height, HEIGHT - height]));
        counts.extend([height, HEIGHT - bottom + (WIDTH - right) * HEIGHT]);
        match coding {
            "polygons" => json!([[left, top, right, top, right, bottom, left, bottom]]),
            "text" => {
                let runs = Rle::from_counts(HEIGHT, WIDTH, counts).unwrap();
                json!({"size": [HEIGHT, WIDTH], "counts": runs.to_compressed()})
            }
            _ => json!({"size": [HEIGHT, WIDTH], "counts": counts}),
        }
    }
}

/// Another one for every seed.
fn photo(width: u32, height: u32, seed: u32) -> RgbImage {
    RgbImage::from_fn(width, height, |x, y| {
        Rgb([(seed * 37) as u8, (x * 2 + seed * 11) as u8, (y * 3 + seed * 5) as u8])
    })
}

fn encoded(image: impl Into<DynamicImage>, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    image.into().write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

fn put(root: &Path, relative: &str, bytes: impl AsRef<[u8]>) {
    let path = root.join(relative);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}
