//! Settings of an ONNX model: its file, its nodes and its preprocessing.

use crate::image_input::{IMAGENET_DEVIATION, IMAGENET_MEAN};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// An ONNX model as an encoder.
#[derive(Clone, Debug, PartialEq)]
pub struct OnnxSettings {
    /// The `.onnx` file, which must contain the weights.
    pub file: PathBuf,
    /// The scene vector: the name of a value, or of a node for its first output. It is flattened.
    pub scene: String,
    /// The spatial map: the name of a value or node; `None` for features without a map.
    pub map: Option<String>,
    /// How screens are converted to the model's input.
    pub preprocessing: Preprocessing,
}

impl OnnxSettings {
    /// A model with ImageNet's preprocessing and no map.
    pub fn new(file: impl Into<PathBuf>, scene: impl Into<String>) -> Self {
        Self { file: file.into(), scene: scene.into(), map: None, preprocessing: Preprocessing::default() }
    }

    /// Adds a spatial map.
    pub fn with_map(self, map: impl Into<String>) -> Self {
        Self { map: Some(map.into()), ..self }
    }
}

/// How screens are converted to the model's input: `(pixel / 255 - mean) / std`, in the order RGB.
#[derive(Clone, Debug, PartialEq)]
pub struct Preprocessing {
    /// Mean of red, green and blue, each in 0..=1.
    pub mean: [f32; 3],
    /// Standard deviation of red, green and blue, above 0.
    pub std: [f32; 3],
    /// The order of the input's axes; `None` to derive it from the declared shape.
    pub layout: Option<Layout>,
}

impl Default for Preprocessing {
    /// Mean and deviation of ImageNet, which most models were trained with.
    fn default() -> Self {
        Self { mean: IMAGENET_MEAN, std: IMAGENET_DEVIATION, layout: None }
    }
}

impl Preprocessing {
    pub(super) fn describe(&self) -> String {
        match (self.mean, self.std) {
            (IMAGENET_MEAN, IMAGENET_DEVIATION) => "ImageNet's mean and deviation".to_owned(),
            (mean, std) => format!("mean {mean:?} and deviation {std:?}"),
        }
    }

    /// An error message, without a full stop, if the settings are invalid.
    pub(super) fn check(&self) -> Result<(), String> {
        let all = |values: [f32; 3], ok: fn(f32) -> bool| values.into_iter().all(ok);
        if !all(self.mean, |value| (0.0..=1.0).contains(&value)) {
            let mean = self.mean;
            return Err(format!(
                "mean {mean:?} must be three numbers from 0 to 1, because it is subtracted from pixels in 0..1"
            ));
        }
        if !all(self.std, |value| value.is_normal() && value > 0.0) {
            let std = self.std;
            return Err(format!(
                "std {std:?} must be three numbers above 0, because it divides pixels minus the mean"
            ));
        }
        Ok(())
    }
}

/// The order of an image tensor's axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// `[1, channels, rows, columns]`, as in PyTorch.
    Nchw,
    /// `[1, rows, columns, channels]`, as in TensorFlow.
    Nhwc,
}

impl Layout {
    /// `nchw` or `nhwc`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nchw => "nchw",
            Self::Nhwc => "nhwc",
        }
    }

    /// The inverse of [`Layout::name`].
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Nchw, Self::Nhwc].into_iter().find(|layout| layout.name() == name)
    }
}
