//! Localization and scenes, driven as a user drives them: what a run leaves behind to look at.

#![allow(clippy::unwrap_used)]

mod desk;

use desk::Desk;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;

/// Pixels of a film's column, of its left edge, and between two examples in a row.
const COLUMN: u32 = 118;
const EDGE: u32 = 6;
const EXAMPLE_GAP: u32 = 18;

struct Filmed<'a> {
    words: &'a [&'a str],
    /// Screens of a trial, predicted and true maps.
    n_columns: u32,
    n_examples: u32,
}

#[track_caller]
fn check(desk: &Desk, case: &Filmed<'_>) {
    let common = ["--steps", "320", "--map-steps", "0,160,320", "--map-examples", "3", "--out", "run"];
    desk.succeeds(&[&["train"], case.words, &common].concat());
    let film = png::Decoder::new(BufReader::new(File::open(desk.file("run/maps.apng")).unwrap()));
    let film = film.read_info().unwrap();
    let info = film.info();
    assert_eq!(info.animation_control().unwrap().num_frames, 3);
    assert_eq!(info.width, 2 * case.n_columns * COLUMN + EXAMPLE_GAP + EDGE);
    let n_rows = case.n_examples.div_ceil(2);
    assert!(info.height > n_rows * COLUMN && info.height < (n_rows + 1) * COLUMN, "{}", info.height);
    let page = fs::read_to_string(desk.file("run/page.html")).unwrap();
    assert!(page.contains("data:image/apng") && page.contains("data:image/png"));
}

#[test]
fn both_touches_of_localization_are_filmed() {
    let desk = Desk::new();
    let words = ["--task", "localization", "--module", "conv-ems", "--objects", "24,8", "--candidates", "32"];
    check(&desk, &Filmed { words: &words, n_columns: 1 + 2 * 2, n_examples: 3 });
}

/// A module that looks one reward ahead says nothing of what the first touch leads to.
#[test]
fn maps_that_a_module_does_not_predict_are_not_filmed() {
    let desk = Desk::new();
    let words = ["--task", "localization", "--k-f", "1", "--objects", "24,8", "--candidates", "32"];
    check(&desk, &Filmed { words: &words, n_columns: 1 + 2, n_examples: 3 });
}

/// A folder in COCO's layout: on every scene a cat on the left and a dog on the right, large enough to be cut out.
fn write_coco(desk: &Desk) {
    // No scene of one split is in the other.
    for (split, n, highest) in [("train", 6, 10), ("val", 4, 15)] {
        fs::create_dir_all(desk.file(&format!("coco/{split}2017"))).unwrap();
        fs::create_dir_all(desk.file("coco/annotations")).unwrap();
        let (mut images, mut annotations) = (Vec::new(), Vec::new());
        for image in 1..=n {
            let name = format!("{image}.png");
            let top = highest + 10 * (image - 1);
            write_scene(&desk.file(&format!("coco/{split}2017/{name}")), top);
            images
                .push(serde_json::json!({"id": image, "file_name": name, "width": WIDTH, "height": HEIGHT}));
            for (class, left) in [(1, CAT), (2, DOG)] {
                let (right, bottom) = (left + SIDE, top + SIDE);
                annotations.push(serde_json::json!({
                    "id": 10 * image + class, "image_id": image, "category_id": class, "iscrowd": 0,
                    "area": SIDE * SIDE, "bbox": [left, top, SIDE, SIDE],
                    "segmentation": [[left, top, right, top, right, bottom, left, bottom]],
                }));
            }
        }
        let classes = serde_json::json!([{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}]);
        let all = serde_json::json!({"images": images, "annotations": annotations, "categories": classes});
        desk.write(&format!("coco/annotations/instances_{split}2017.json"), &all.to_string());
    }
}

/// Of a scene and of what is on it, in pixels.
const WIDTH: usize = 240;
const HEIGHT: usize = 200;
const SIDE: usize = 100;
const CAT: usize = 10;
const DOG: usize = 130;

fn write_scene(path: &Path, top: usize) {
    let pixel = |row: usize, col: usize| match (top..top + SIDE).contains(&row) {
        true if (CAT..CAT + SIDE).contains(&col) => [200, 30, 30],
        true if (DOG..DOG + SIDE).contains(&col) => [30, 30, 200],
        _ => [120, 160, 120],
    };
    let pixels: Vec<u8> =
        (0..HEIGHT).flat_map(|row| (0..WIDTH).flat_map(move |col| pixel(row, col))).collect();
    let mut encoder = png::Encoder::new(File::create(path).unwrap(), WIDTH as u32, HEIGHT as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.write_header().unwrap().write_image_data(&pixels).unwrap();
}

#[test]
fn scenes_are_filmed_and_touches_on_objects_are_told() {
    let desk = Desk::new();
    write_coco(&desk);
    let task = ["--task", "coco-mts", "--data", "coco:coco", "--targets", "4", "--candidates", "32"];
    check(&desk, &Filmed { words: &task, n_columns: 2 + 2, n_examples: 3 });
    let curve = fs::read_to_string(desk.file("run/curve.csv")).unwrap();
    let (head, last) = (curve.lines().next().unwrap(), curve.lines().last().unwrap());
    let column = head.split(',').position(|name| name == "validation_on_object").unwrap();
    let share: f64 = last.split(',').nth(column).unwrap().parse().unwrap();
    // Two squares of 100 px on a scene of 240 x 200.
    assert!((0.2..=1.0).contains(&share), "{share}");
    let page = fs::read_to_string(desk.file("run/page.html")).unwrap();
    assert!(page.contains("on any object") && page.contains("share of touches"));
    assert!(page.contains("targets") && !page.contains("dropout"), "settings beyond the paper are reported");
    let judged = desk.succeeds(&["eval", "run", "--trials", "40"]);
    assert!(judged.contains("object"), "{judged}");
}
