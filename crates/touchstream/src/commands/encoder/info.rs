//! `touchstream encoder info`: architecture, shapes and weights of an encoder.

use super::list::map_axes;
use crate::settings_args::{CacheArg, Typed};
use crate::stdio::print_line;
use crate::terminal::Terminal;
use crate::text_table::aligned;
use anyhow::Result;
use clap::Args;
use serde::Serialize;
use std::path::{Path, PathBuf};
use touchstream_encoder::vgg16::{RANDOM_FC6_SEED, VGG16_SHAPE, Vgg16};
use touchstream_encoder::{
    Compact, Encoder, EncoderSpec, FeatureShape, MAP_SIDE, OnnxModelInfo, OnnxValue, Preprocessing,
};
use touchstream_experiment::config::EncoderOptions;

#[derive(Args)]
pub struct InfoArgs {
    /// compact, vgg16 or onnx:FILE
    #[arg(value_name = "ENCODER")]
    encoder: EncoderSpec,
    #[command(flatten)]
    how: Typed<EncoderOptions>,
    #[command(flatten)]
    cache: CacheArg,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct EncoderFacts {
    encoder: String,
    architecture: &'static str,
    input: String,
    scene_len: usize,
    /// Rows, columns and channels; absent without --map.
    map: Option<[usize; 3]>,
    /// Of weights and settings; absent if the weights are not installed.
    content_hash: Option<String>,
    weights_file: Option<PathBuf>,
    /// The kind of FC6, for vgg16.
    fc6: Option<String>,
    calibration: &'static str,
}

const INPUT: &str = "224 x 224 RGB, ImageNet's mean and deviation";
const CALIBRATION: &str = "raw features; when they are cached, the mean over calibration screens is subtracted, and \
                           scene vectors are scaled to one norm";

pub fn run(args: &InfoArgs) -> Result<()> {
    args.how.check(&args.encoder)?;
    let cache_dir = args.cache.folder();
    match &args.encoder {
        EncoderSpec::Onnx(file) if args.how.scene.is_none() => {
            list_nodes(file, &args.how.preprocessing(), args.json)
        }
        EncoderSpec::Onnx(file) => show(&onnx_facts(&args.how, file)?, args.json),
        EncoderSpec::Vgg16 => show(&vgg16_facts(&args.how, cache_dir.as_deref())?, args.json),
        EncoderSpec::Compact => show(&compact_facts(), args.json),
    }
}

fn compact_facts() -> EncoderFacts {
    let encoder = Compact::built_in();
    EncoderFacts {
        content_hash: Some(encoder.content_hash().to_string()),
        ..facts_of(encoder.name().into(), "a small convolutional network, built in", encoder.shape())
    }
}

fn onnx_facts(how: &EncoderOptions, file: &Path) -> Result<EncoderFacts> {
    let encoder = how.open_onnx(file, &Terminal::default())?;
    let has_map = encoder.shape().map_channels > 0;
    let facts = facts_of(encoder.name().into(), "an ONNX model", encoder.shape());
    Ok(EncoderFacts {
        input: encoder.input(),
        map: facts.map.filter(|_| has_map),
        content_hash: Some(encoder.content_hash().to_string()),
        ..facts
    })
}

fn facts_of(encoder: String, architecture: &'static str, shape: FeatureShape) -> EncoderFacts {
    EncoderFacts {
        encoder,
        architecture,
        input: INPUT.to_owned(),
        scene_len: shape.scene_len,
        map: Some(map_axes(shape)),
        content_hash: None,
        weights_file: None,
        fc6: None,
        calibration: CALIBRATION,
    }
}

/// Without building the network, whose random FC6 alone takes 400 MB.
fn vgg16_facts(how: &EncoderOptions, cache_dir: Option<&Path>) -> Result<EncoderFacts> {
    const ARCHITECTURE: &str =
        "VGG-16: 13 convolutions of 3 x 3 (conv1_1 to conv5_3) in 5 blocks, pool5, FC6; the map is conv5_3";
    let facts = facts_of("vgg16".into(), ARCHITECTURE, VGG16_SHAPE);
    let Ok(file) = how.vgg16_file(cache_dir) else { return Ok(facts) };
    let weights = how.read_vgg16(cache_dir)?;
    let fc6 = match weights.fc6 {
        Some(_) => "trained, from the weights file".to_owned(),
        None => format!("fixed random (seed {RANDOM_FC6_SEED}): relu(P pool5), P Gaussian, 4096 x 25088"),
    };
    Ok(EncoderFacts {
        content_hash: Some(Vgg16::hash_of(&weights).to_string()),
        weights_file: Some(file),
        fc6: Some(fc6),
        ..facts
    })
}

fn show(facts: &EncoderFacts, json: bool) -> Result<()> {
    if json {
        print_line!("{}", serde_json::to_string_pretty(facts)?);
        return Ok(());
    }
    let map = match facts.map {
        Some([rows, columns, channels]) => format!("{rows} x {columns} x {channels}"),
        None => "none (no --map NODE)".into(),
    };
    let weights = match &facts.weights_file {
        Some(file) => file.display().to_string(),
        None if facts.content_hash.is_some() => "in the model file, or built in".into(),
        None => "not installed; run `touchstream encoder install vgg16`, or use --weights FILE".into(),
    };
    let lines = [
        ("architecture", Some(facts.architecture.to_owned())),
        ("input", Some(facts.input.clone())),
        ("scene vector", Some(facts.scene_len.to_string())),
        ("spatial map", Some(map)),
        ("weights", Some(weights)),
        ("FC6", facts.fc6.clone()),
        ("hash", facts.content_hash.clone()),
        ("calibration", Some(facts.calibration.to_owned())),
    ];
    print_line!("{}", facts.encoder);
    let cells: Vec<[String; 2]> =
        lines.into_iter().filter_map(|(name, value)| Some([format!("  {name}"), value?])).collect();
    print_line!("{}", aligned(&cells).trim_end());
    Ok(())
}

#[derive(Serialize)]
struct ModelFacts {
    encoder: String,
    inputs: Vec<String>,
    outputs: Vec<String>,
    values: Vec<ValueFacts>,
    /// Why the model could not be run; shapes are then read from the file.
    not_run: Option<String>,
}

#[derive(Serialize)]
struct ValueFacts {
    name: String,
    operator: String,
    shape: Option<Vec<usize>>,
    can_be_map: bool,
    /// Side of the value as a spatial map; resampled to 14.
    map_side: Option<usize>,
}

impl From<OnnxValue> for ValueFacts {
    fn from(value: OnnxValue) -> Self {
        let OnnxValue { name, operator, shape, map_side } = value;
        Self { name, operator, shape, can_be_map: map_side.is_some(), map_side }
    }
}

fn list_nodes(file: &Path, preprocessing: &Preprocessing, json: bool) -> Result<()> {
    let OnnxModelInfo { inputs, outputs, values, not_run } = OnnxModelInfo::read(file, preprocessing)?;
    let facts = ModelFacts {
        encoder: format!("onnx:{}", file.display()),
        inputs,
        outputs,
        values: values.into_iter().map(ValueFacts::from).collect(),
        not_run,
    };
    if json {
        print_line!("{}", serde_json::to_string_pretty(&facts)?);
        return Ok(());
    }
    print_line!(
        "{}\n  inputs   {}\n  outputs  {}\n",
        facts.encoder,
        facts.inputs.join(", "),
        facts.outputs.join(", ")
    );
    let headings = ["node", "operator", "shape", "map"].map(String::from);
    let cells = |value: &ValueFacts| {
        let shape = value.shape.as_ref().map_or("-".into(), |shape| format!("{shape:?}"));
        let map = match value.map_side {
            Some(MAP_SIDE) => "yes".to_owned(),
            Some(side) => format!("yes, resampled from {side} x {side}"),
            None => String::new(),
        };
        [value.name.clone(), value.operator.clone(), shape, map]
    };
    let rows: Vec<[String; 4]> = [headings].into_iter().chain(facts.values.iter().map(cells)).collect();
    print_line!("{}", aligned(&rows).trim_end());
    if let Some(reason) = &facts.not_run {
        print_line!("\nthe model could not be run: {reason}");
    }
    print_line!("\nchoose with --scene NODE --map NODE");
    Ok(())
}
