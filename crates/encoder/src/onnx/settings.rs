//! What a user says about an ONNX model: its file, its nodes and how screens become its input.

use crate::image_input::{IMAGENET_DEVIATION, IMAGENET_MEAN};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// An ONNX model as an encoder, as asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct OnnxSettings {
    /// The `.onnx` file, weights inside.
    pub file: PathBuf,
    /// The value (or the node, which stands for its first output) that is the scene vector, flattened.
    pub scene: String,
    /// The value or node that is the spatial map; without one, features have no map.
    pub map: Option<String>,
    /// How screens become the model's input.
    pub preprocessing: Preprocessing,
}

impl OnnxSettings {
    /// A model with the usual preprocessing and no map.
    pub fn new(file: impl Into<PathBuf>, scene: impl Into<String>) -> Self {
        Self { file: file.into(), scene: scene.into(), map: None, preprocessing: Preprocessing::default() }
    }

    /// The same with a spatial map from this node.
    pub fn with_map(self, map: impl Into<String>) -> Self {
        Self { map: Some(map.into()), ..self }
    }
}

/// How screens become the model's input: `(pixel / 255 - mean) / std`, red first.
#[derive(Clone, Debug, PartialEq)]
pub struct Preprocessing {
    /// Subtracted from red, green and blue, each in 0..=1.
    pub mean: [f32; 3],
    /// Divides red, green and blue after that; above 0.
    pub std: [f32; 3],
    /// The order of the input's axes; `None` finds it from the shape that the model declares.
    pub layout: Option<Layout>,
}

impl Default for Preprocessing {
    /// Mean and deviation of ImageNet, which nearly all models were trained with.
    fn default() -> Self {
        Self { mean: IMAGENET_MEAN, std: IMAGENET_DEVIATION, layout: None }
    }
}

impl Preprocessing {
    /// These settings as a phrase.
    pub(super) fn said(&self) -> String {
        match (self.mean, self.std) {
            (IMAGENET_MEAN, IMAGENET_DEVIATION) => "ImageNet's mean and deviation".to_owned(),
            (mean, std) => format!("mean {mean:?} and deviation {std:?}"),
        }
    }

    /// What is wrong with these settings, as a sentence without a full stop.
    pub(super) fn check(&self) -> Result<(), String> {
        let all = |values: [f32; 3], ok: fn(f32) -> bool| values.into_iter().all(ok);
        if !all(self.mean, |value| (0.0..=1.0).contains(&value)) {
            let mean = self.mean;
            return Err(format!(
                "mean {mean:?} must be three numbers from 0 to 1: pixels are 0..1 when it is subtracted"
            ));
        }
        if !all(self.std, |value| value.is_normal() && value > 0.0) {
            let std = self.std;
            return Err(format!(
                "std {std:?} must be three numbers above 0: it divides pixels of 0..1 less the mean"
            ));
        }
        Ok(())
    }
}

/// The order of an image tensor's axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// `[1, channels, rows, columns]`, PyTorch's.
    Nchw,
    /// `[1, rows, columns, channels]`, TensorFlow's.
    Nhwc,
}

impl Layout {
    /// The word a user says it by.
    pub fn word(self) -> &'static str {
        match self {
            Self::Nchw => "nchw",
            Self::Nhwc => "nhwc",
        }
    }

    /// The layout of that word.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Nchw, Self::Nhwc].into_iter().find(|layout| layout.word() == word)
    }
}
