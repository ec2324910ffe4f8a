//! Unusable ONNX files: an error that names file and cause, and never a panic.
#![cfg(feature = "onnx")]
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use touchstream_encoder::{
    Encoder, Features, Layout, OnnxEncoder, OnnxModelInfo, OnnxSettings, Preprocessing,
};
use touchstream_env::screen::Screen;

fn golden(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/onnx").join(name)
}

/// The error of opening a model, which must name the file.
#[track_caller]
fn said(settings: &OnnxSettings) -> String {
    let said = OnnxEncoder::open(settings).map(|_| ()).unwrap_err().to_string();
    assert!(said.starts_with(&format!("{}: ", settings.file.display())), "{said}");
    said
}

#[track_caller]
fn check(settings: &OnnxSettings, parts: &[&str]) {
    let said = said(settings);
    for part in parts {
        assert!(said.contains(part), "`{part}` is not in: {said}");
    }
}

/// The small model with a text in it replaced by another of the same length, at the first `n_places`.
fn replaced(folder: &Path, from: &str, to: &str, n_places: usize) -> PathBuf {
    assert_eq!(from.len(), to.len());
    let mut bytes = fs::read(golden("small_cnn.onnx")).unwrap();
    let places: Vec<usize> = (0..bytes.len() - from.len())
        .filter(|&at| bytes[at..].starts_with(from.as_bytes()))
        .take(n_places)
        .collect();
    assert!(!places.is_empty(), "no {from}");
    for at in places {
        bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
    }
    let path = folder.join("replaced.onnx");
    fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn missing_and_invalid_files() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| OnnxSettings::new(folder.path().join(name), "fc");
    check(&at("missing.onnx"), &["cannot read the model", "No such file"]);
    check(&OnnxSettings::new(folder.path(), "fc"), &["cannot read the model"]);
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    write("empty.onnx", b"");
    check(&at("empty.onnx"), &["not an ONNX file"]);
    write("text.onnx", b"this is no model but a text of some length");
    check(&at("text.onnx"), &["not an ONNX file"]);
    write("png.onnx", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    check(&at("png.onnx"), &["not an ONNX file"]);
    let model = fs::read(golden("small_cnn.onnx")).unwrap();
    write("half.onnx", &model[..model.len() / 2]);
    check(&at("half.onnx"), &["it is truncated"]);
}

#[test]
fn a_file_that_is_too_large_is_refused_before_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("huge.onnx");
    fs::File::create(&path).unwrap().set_len((4 << 30) + 1).unwrap();
    check(&OnnxSettings::new(path, "fc"), &["larger than 4096 MB"]);
}

#[test]
fn missing_and_unsuitable_nodes() {
    let scene = |name: &str| OnnxSettings::new(golden("small_cnn.onnx"), name);
    check(
        &scene("rellu3"),
        &["no node or value `rellu3`", "did you mean `relu3`?", "`probabilities`", "`fc`"],
    );
    check(&scene("fc").with_map("relu33"), &["no node or value `relu33`", "did you mean `relu3`?"]);
    check(&scene("image"), &["`image` is the input of the model"]);
    check(&scene("weight_0"), &["`weight_0` is a weight of the model"]);
    check(&scene("fc").with_map("flat"), &["`flat` has shape [1, 784], which is not a spatial map"]);
    check(&scene("fc").with_map("pooled"), &["[1, 16, 1, 1]", "not a spatial map"]);
}

#[test]
fn settings_that_do_not_fit() {
    let mut settings = OnnxSettings::new(golden("small_cnn.onnx"), "fc");
    settings.preprocessing.std[1] = 0.0;
    check(&settings, &["std", "above 0"]);
    settings.preprocessing.std[1] = 1.0;
    settings.preprocessing.mean[0] = f32::NAN;
    check(&settings, &["mean", "from 0 to 1"]);
    settings.preprocessing.mean[0] = 0.0;
    settings.preprocessing.layout = Some(Layout::Nhwc);
    check(&settings, &["its input `image` has shape [?, 3, 224, 224]", "axis 3"]);
}

#[test]
fn operators_that_the_runtime_lacks_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let model = replaced(folder.path(), "MaxPool", "LpPooll", usize::MAX);
    check(&OnnxSettings::new(&model, "fc"), &["operator `LpPooll` of node `node_pool1` is not supported"]);
    // Nodes after the requested ones are ignored.
    OnnxEncoder::open(&OnnxSettings::new(&model, "relu1")).unwrap();
    let info = OnnxModelInfo::read(&model, &Preprocessing::default()).unwrap();
    assert!(info.not_run.unwrap().contains("LpPooll"));
    assert!(info.values.iter().any(|value| value.name == "relu3"));
}

#[test]
fn nodes_out_of_order_and_values_made_twice_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let model = replaced(folder.path(), "conv2", "conv9", usize::MAX);
    OnnxEncoder::open(&OnnxSettings::new(&model, "fc")).unwrap();
    // The first convolution now reads what a later node makes.
    let model = replaced(folder.path(), "image", "relu3", 1);
    check(
        &OnnxSettings::new(&model, "fc"),
        &["node `node_conv1` reads `relu3`, which no earlier node computes"],
    );
    // Now the input has that name too.
    let model = replaced(folder.path(), "image", "relu3", usize::MAX);
    check(&OnnxSettings::new(&model, "fc"), &["`relu3` is computed by a node, but exists already"]);
}

#[test]
fn unsuitable_models_are_explained() {
    let odd = |name: &str, scene: &str| OnnxSettings::new(golden(&format!("odd_{name}.onnx")), scene);
    check(&odd("two_inputs", "z"), &["one input, the screen", "read 2 inputs: `image`, `scale`"]);
    OnnxEncoder::open(&odd("two_inputs", "y")).unwrap();
    check(&odd("bytes_in", "y"), &["its input `image` takes uint8", "float32"]);
    check(&odd("batch_of_8", "y"), &["has shape [8, 3, 224, 224] and takes no single screen"]);
    check(&odd("integers_out", "y"), &["`y` has type", "int", "features must be float32"]);
    check(&odd("external_data", "z"), &["in another file (`odd.onnx.data`)", "external_data=False"]);
    check(&odd("permutation", "y"), &["the runtime refuses it: it failed with: permutation is invalid"]);
    OnnxEncoder::open(&odd("branches", "y")).unwrap();
    check(&odd("deep", "y"), &["nest more than 8 deep"]);
}

#[test]
fn random_numbers_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let model = replaced(folder.path(), "MaxPool", "RandomX", 1);
    check(&OnnxSettings::new(&model, "fc"), &["node `node_pool1` (RandomX) draws random numbers"]);
}

fn damaged(bytes: &mut Vec<u8>, edits: &[(usize, u8)], cut: Option<usize>) {
    for &(at, byte) in edits {
        let at = at % bytes.len();
        bytes[at] = byte;
    }
    if let Some(len) = cut {
        bytes.truncate(len % bytes.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Bytes of a real model changed at random: opened and encoded, or refused.
    #[test]
    fn a_damaged_model_is_refused_or_runs(
        model in prop::sample::select(vec![("channels_last.onnx", "scene"), ("tokens.onnx", "tokens")]),
        edits in prop::collection::vec((any::<usize>(), any::<u8>()), 1..6),
        cut in prop::option::weighted(0.1, any::<usize>()),
        from_end in any::<bool>(),
    ) {
        let mut bytes = fs::read(golden(model.0)).unwrap();
        // The graph itself, before the weights, is what can break in interesting ways.
        let n_graph_bytes = 3000;
        let len = bytes.len();
        let edits: Vec<_> = edits
            .into_iter()
            .map(|(at, byte)| (if from_end { len - 1 - at % 600 } else { at % n_graph_bytes }, byte))
            .collect();
        damaged(&mut bytes, &edits, cut);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("damaged.onnx");
        fs::write(&path, bytes).unwrap();
        if let Ok(encoder) = OnnxEncoder::open(&OnnxSettings::new(&path, model.1)) {
            let mut features = [Features::zeros(encoder.shape())];
            drop(encoder.encode(&[Screen::grey()], &mut features));
        }
        drop(OnnxModelInfo::read(&path, &Preprocessing::default()));
    }
}
