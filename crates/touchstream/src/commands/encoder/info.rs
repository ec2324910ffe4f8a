//! `touchstream encoder info`: architecture, shapes and weights of an encoder.

use crate::settings_args::{CacheArg, Typed};
use crate::stdio::{print_json, print_line};
use crate::terminal::Terminal;
use crate::text_table::aligned;
use anyhow::Result;
use clap::Args;
use std::path::Path;
use touchstream_encoder::{EncoderSpec, MAP_SIDE, OnnxValue, Preprocessing};
use touchstream_experiment::config::EncoderOptions;
use touchstream_experiment::encoder_facts::{
    EncoderFacts, ModelFacts, compact_facts, onnx_facts, vgg16_facts,
};

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

pub fn run(args: &InfoArgs) -> Result<()> {
    args.how.check(&args.encoder)?;
    let cache_dir = args.cache.folder();
    match &args.encoder {
        EncoderSpec::Onnx(file) if args.how.scene.is_none() => {
            list_nodes(file, &args.how.preprocessing(), args.json)
        }
        EncoderSpec::Onnx(file) => show(&onnx_facts(&args.how, file, &Terminal::default())?, args.json),
        EncoderSpec::Vgg16 => show(&vgg16_facts(&args.how, cache_dir.as_deref())?, args.json),
        EncoderSpec::Compact => show(&compact_facts(), args.json),
    }
}

fn show(facts: &EncoderFacts, json: bool) -> Result<()> {
    if json {
        return print_json(facts);
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

fn list_nodes(file: &Path, preprocessing: &Preprocessing, json: bool) -> Result<()> {
    let facts = ModelFacts::read(file, preprocessing)?;
    if json {
        return print_json(&facts);
    }
    print_line!(
        "{}\n  inputs   {}\n  outputs  {}\n",
        facts.encoder,
        facts.model.inputs.join(", "),
        facts.model.outputs.join(", ")
    );
    let headings = ["node", "operator", "shape", "map"].map(String::from);
    let cells = |value: &OnnxValue| {
        let shape = value.shape.as_ref().map_or("-".into(), |shape| format!("{shape:?}"));
        let map = match value.map_side {
            Some(MAP_SIDE) => "yes".to_owned(),
            Some(side) => format!("yes, resampled from {side} x {side}"),
            None => String::new(),
        };
        [value.name.clone(), value.operator.clone(), shape, map]
    };
    let rows: Vec<[String; 4]> = [headings].into_iter().chain(facts.model.values.iter().map(cells)).collect();
    print_line!("{}", aligned(&rows).trim_end());
    if let Some(reason) = &facts.model.not_run {
        print_line!("\nthe model could not be run: {reason}");
    }
    print_line!("\nchoose with --scene NODE --map NODE");
    Ok(())
}
