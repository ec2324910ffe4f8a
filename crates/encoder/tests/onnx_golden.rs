//! ONNX models against onnxruntime on the same screen. Goldens and models: `scripts/make_onnx_golden.py`.
#![cfg(feature = "onnx")]
#![allow(clippy::unwrap_used)]

use std::path::PathBuf;

use touchstream_encoder::{
    Encoder, Features, Layout, OnnxEncoder, OnnxModelInfo, OnnxSettings, Preprocessing,
};
use touchstream_env::screen::Screen;
use touchstream_env::touch::SCREEN_SIDE_PX;

/// Largest difference from onnxruntime, as a fraction of the golden's largest value.
const TOLERANCE: f32 = 1e-4;

fn golden(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/onnx").join(name)
}

fn golden_values(name: &str) -> Vec<f32> {
    let bytes = std::fs::read(golden(name)).unwrap();
    bytes.chunks_exact(4).map(|number| f32::from_le_bytes(number.try_into().unwrap())).collect()
}

/// The golden screen, shifted so that several differ.
fn screen(shift: usize) -> Screen {
    let mut screen = Screen::grey();
    for (idx, byte) in screen.pixels_mut().iter_mut().enumerate() {
        let (row, col, colour) = (idx / 3 / SCREEN_SIDE_PX, idx / 3 % SCREEN_SIDE_PX, idx % 3);
        *byte = ((7 * row + 13 * col + 29 * colour + 31 * shift) % 256) as u8;
    }
    screen
}

fn encode(encoder: &OnnxEncoder, screens: &[Screen]) -> Vec<Features> {
    let mut features = vec![Features::zeros(encoder.shape()); screens.len()];
    encoder.encode(screens, &mut features).unwrap();
    features
}

#[track_caller]
fn assert_close(what: &str, found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let largest = expected.iter().fold(0.0, |largest: f32, value| largest.max(value.abs()));
    let apart = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(largest > 0.1, "{what}: a golden of nearly nothing says nothing");
    assert!(apart <= TOLERANCE * largest, "{what}: {apart} apart, largest value {largest}");
}

#[track_caller]
fn check(settings: &OnnxSettings, goldens: &str) -> OnnxEncoder {
    let encoder = OnnxEncoder::open(settings).unwrap();
    let features = &encode(&encoder, &[screen(0)])[0];
    assert_close("scene", &features.scene, &golden_values(&format!("{goldens}.scene")));
    assert_close("map", &features.map, &golden_values(&format!("{goldens}.map")));
    encoder
}

fn small_cnn() -> OnnxSettings {
    OnnxSettings::new(golden("small_cnn.onnx"), "fc").with_map("relu3")
}

#[test]
fn a_residual_network_equals_onnxruntime() {
    let encoder = check(&small_cnn(), "small_cnn");
    assert_eq!((encoder.shape().scene_len, encoder.shape().map_channels), (32, 16));
    assert!(encoder.notes().is_empty(), "{:?}", encoder.notes());
    assert!(encoder.name().starts_with("onnx:") && encoder.name().ends_with("small_cnn.onnx"));
}

#[test]
fn other_preprocessing_and_a_block_averaged_map_equal_onnxruntime() {
    let mut settings = OnnxSettings::new(golden("small_cnn.onnx"), "flat").with_map("pool1");
    settings.preprocessing = Preprocessing { mean: [0.5; 3], std: [0.25; 3], layout: Some(Layout::Nchw) };
    let encoder = check(&settings, "small_cnn_other");
    assert_eq!(encoder.notes(), ["the map has 28 x 28 positions, resampled to 14 x 14"]);
}

#[test]
fn channels_last_and_another_side_equal_onnxruntime() {
    let settings = OnnxSettings::new(golden("channels_last.onnx"), "scene").with_map("map");
    let encoder = check(&settings, "channels_last");
    assert_eq!(encoder.notes().len(), 2, "{:?}", encoder.notes());
}

#[test]
fn tokens_equal_onnxruntime() {
    let settings = OnnxSettings::new(golden("tokens.onnx"), "tokens").with_map("tokens");
    let encoder = check(&settings, "tokens");
    assert_eq!((encoder.shape().scene_len, encoder.shape().map_channels), (50 * 24, 24));
}

#[test]
fn nodes_are_found_by_node_name() {
    let by_node = OnnxSettings::new(golden("small_cnn.onnx"), "node_fc").with_map("node_relu3");
    let encoder = check(&by_node, "small_cnn");
    let by_value = OnnxEncoder::open(&small_cnn()).unwrap();
    assert_eq!(encoder.content_hash(), by_value.content_hash());
}

#[test]
fn equal_screens_give_equal_bits_in_any_batch_and_on_any_number_of_threads() {
    for (file, scene, map) in [("small_cnn.onnx", "fc", "relu3"), ("tokens.onnx", "tokens", "block")] {
        let encoder = OnnxEncoder::open(&OnnxSettings::new(golden(file), scene).with_map(map)).unwrap();
        let screens: Vec<Screen> = (0..8).map(screen).collect();
        let alone: Vec<Features> =
            screens.iter().flat_map(|screen| encode(&encoder, std::slice::from_ref(screen))).collect();
        for n_threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            assert!(pool.install(|| encode(&encoder, &screens)) == alone, "{file}, {n_threads} threads");
        }
        assert_ne!(alone[0].scene, alone[1].scene, "different screens look different");
    }
}

#[test]
fn a_value_and_its_copy_may_both_be_requested() {
    let settings = OnnxSettings::new(golden("small_cnn.onnx"), "relu3_again").with_map("relu3");
    let encoder = OnnxEncoder::open(&settings).unwrap();
    let features = &encode(&encoder, &[screen(0)])[0];
    assert_close("map", &features.map, &golden_values("small_cnn.map"));
    assert!(
        features.scene.iter().zip(0..).all(|(value, idx)| *value == features.map[idx % 196 * 16 + idx / 196])
    );
}

#[test]
fn features_without_a_map() {
    let encoder = OnnxEncoder::open(&OnnxSettings::new(golden("small_cnn.onnx"), "fc")).unwrap();
    assert_eq!(encoder.shape().map_channels, 0);
    assert!(encode(&encoder, &[screen(0)])[0].map.is_empty());
}

#[test]
fn the_hash_depends_on_nodes_and_preprocessing() {
    let hash = |settings: &OnnxSettings| OnnxEncoder::open(settings).unwrap().content_hash();
    let mut other_mean = small_cnn();
    other_mean.preprocessing.mean[2] = 0.5;
    let mut asked_layout = small_cnn();
    asked_layout.preprocessing.layout = Some(Layout::Nchw);
    let others = [
        hash(&OnnxSettings::new(golden("small_cnn.onnx"), "fc")),
        hash(&OnnxSettings::new(golden("small_cnn.onnx"), "flat").with_map("relu3")),
        hash(&OnnxSettings::new(golden("small_cnn.onnx"), "fc").with_map("relu2")),
        hash(&other_mean),
    ];
    assert!(!others.contains(&hash(&small_cnn())));
    assert_eq!(hash(&asked_layout), hash(&small_cnn()), "a layout that was asked for and found is the same");
}

#[test]
fn a_pooled_scene_vector_gives_a_note() {
    let encoder = OnnxEncoder::open(&OnnxSettings::new(golden("small_cnn.onnx"), "pooled")).unwrap();
    assert_eq!(encoder.shape().scene_len, 16);
    assert!(encoder.notes()[0].contains("`pooled` is pooled over all positions"), "{:?}", encoder.notes());
}

#[test]
fn info_lists_values_with_shapes() {
    let info = OnnxModelInfo::read(&golden("small_cnn.onnx"), &Preprocessing::default()).unwrap();
    assert_eq!(info.not_run, None);
    assert_eq!(info.inputs, ["image [?, 3, 224, 224]"]);
    assert_eq!(info.outputs, ["probabilities"]);
    let relu3 = info.values.iter().find(|value| value.name == "relu3").unwrap();
    assert_eq!((relu3.operator.as_str(), relu3.shape.as_deref()), ("Relu", Some(&[1, 16, 14, 14][..])));
    let maps: Vec<_> = info
        .values
        .iter()
        .filter(|value| value.map_side.is_some())
        .map(|value| (value.name.as_str(), value.map_side.unwrap()))
        .collect();
    assert!(maps.contains(&("relu3", 14)) && maps.contains(&("pool1", 28)), "{maps:?}");
    assert!(!maps.iter().any(|(name, _)| ["fc", "flat", "pooled"].contains(name)), "{maps:?}");
}
