//! Compact against PyTorch running the same weights (`scripts/make_compact_golden.py`), and against itself in other
//! batches and on other threads.
//!
//! Tolerance: the norm of the difference over the norm of PyTorch's output, at most 1e-4.
#![allow(clippy::unwrap_used)]

use serde::Deserialize;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use touchstream_encoder::{Compact, Encoder, Features};
use touchstream_env::screen::Screen;

const TOLERANCE: f64 = 1e-4;

/// Every `stride`-th value, and the norm of all.
#[derive(Deserialize)]
struct Sampled {
    stride: usize,
    norm: f64,
    values: Vec<f64>,
}

#[derive(Deserialize)]
struct Golden {
    scene: Sampled,
    map: Sampled,
}

fn golden_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn screens() -> Vec<Screen> {
    let open = |idx: usize| {
        let file = File::open(golden_folder().join(format!("screen-{idx}.png"))).unwrap();
        let mut reader = png::Decoder::new(BufReader::new(file)).read_info().unwrap();
        let mut screen = Screen::grey();
        let info = reader.next_frame(screen.pixels_mut()).unwrap();
        assert_eq!((info.width, info.height, info.color_type), (224, 224, png::ColorType::Rgb));
        screen
    };
    (0..3).map(open).collect()
}

fn encoded(encoder: &Compact, screens: &[Screen]) -> Vec<Features> {
    let mut features = vec![Features::zeros(encoder.shape()); screens.len()];
    encoder.encode(screens, &mut features).unwrap();
    features
}

#[track_caller]
fn check(what: &str, found: &[f32], expected: &Sampled) {
    let norm = |squares: f64| squares.sqrt();
    let sample: Vec<f64> = found.iter().step_by(expected.stride).map(|&value| f64::from(value)).collect();
    assert_eq!(sample.len(), expected.values.len(), "{what}");
    assert!(sample.len() >= 1000, "{what}: {} numbers", sample.len());
    let difference = norm(sample.iter().zip(&expected.values).map(|(a, b)| (a - b) * (a - b)).sum());
    let relative = difference / norm(expected.values.iter().map(|value| value * value).sum());
    assert!(relative <= TOLERANCE, "{what}: differs by {relative:e} of its norm");
    let found_norm = norm(found.iter().map(|&value| f64::from(value) * f64::from(value)).sum());
    assert!((found_norm / expected.norm - 1.0).abs() <= TOLERANCE, "{what}: norm {found_norm}");
}

#[test]
fn equals_pytorch() {
    let golden = std::fs::read_to_string(golden_folder().join("compact.json")).unwrap();
    let golden: Vec<Golden> = serde_json::from_str(&golden).unwrap();
    let features = encoded(&Compact::built_in(), &screens());
    assert_eq!(golden.len(), features.len());
    for (idx, (features, golden)) in features.iter().zip(&golden).enumerate() {
        check(&format!("scene vector of screen {idx}"), &features.scene, &golden.scene);
        check(&format!("spatial map of screen {idx}"), &features.map, &golden.map);
    }
}

#[test]
fn the_same_bits_in_any_batch_and_on_any_number_of_threads() {
    let encoder = Compact::built_in();
    let screens = screens();
    let pool = |n_threads| rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
    let eight: Vec<Screen> = (0..8).map(|idx| screens[idx % 3].clone()).collect();
    let alone: Vec<Features> = pool(1).install(|| {
        screens.iter().flat_map(|screen| encoded(&encoder, std::slice::from_ref(screen))).collect()
    });
    for n_threads in [1, 2, 3] {
        let pool = pool(n_threads);
        let one_by_one =
            |screen: &Screen| pool.install(|| encoded(&encoder, std::slice::from_ref(screen))).remove(0);
        for (idx, features) in pool.install(|| encoded(&encoder, &eight)).iter().enumerate() {
            assert!(*features == alone[idx % 3], "screen {idx} of 8 on {n_threads} threads");
        }
        for (idx, screen) in screens.iter().enumerate() {
            assert!(one_by_one(screen) == alone[idx], "screen {idx} alone on {n_threads} threads");
        }
    }
}

/// Moving a template must change the scene vector: matching is unsolvable for encoders that discard positions.
#[test]
fn the_scene_vector_encodes_positions() {
    let match_screen = &screens()[1];
    let mut upside_down = Screen::grey();
    let rows = match_screen.pixels().chunks_exact(224 * 3);
    for (row, mirrored) in upside_down.pixels_mut().chunks_exact_mut(224 * 3).zip(rows.rev()) {
        row.copy_from_slice(mirrored);
    }
    let features = encoded(&Compact::built_in(), &[match_screen.clone(), upside_down]);
    let norm = |values: &[f32]| values.iter().map(|value| value * value).sum::<f32>().sqrt();
    let difference: Vec<f32> = features[0].scene.iter().zip(&features[1].scene).map(|(a, b)| a - b).collect();
    assert!(norm(&difference) > 0.3 * norm(&features[0].scene), "{}", norm(&difference));
}
