//! ONNX models as encoders: the input is a screen, the features are the values of two named nodes.
//!
//! Files can always be parsed and cut; running them requires the feature `onnx`.

// Without the runtime, some of the parsed fields are unused.
#![cfg_attr(not(feature = "onnx"), allow(dead_code))]

#[cfg(feature = "onnx")]
mod caught_panics;
mod cut;
mod error;
mod file;
#[cfg(feature = "onnx")]
mod info;
mod input;
#[cfg(feature = "onnx")]
mod lanes;
#[cfg(feature = "onnx")]
mod model;
#[cfg(feature = "onnx")]
mod pixels;
#[cfg(feature = "onnx")]
mod resample;
#[cfg(feature = "onnx")]
mod runner;
mod settings;
#[cfg(feature = "onnx")]
mod spatial;
#[cfg(feature = "onnx")]
mod trial_run;
mod wire;

#[cfg(feature = "onnx")]
pub use caught_panics::is_caught_panic;
pub use cut::{cut_onnx, onnx_values};
pub use error::{OnnxError, OnnxProblem};
#[cfg(feature = "onnx")]
pub use info::{OnnxModelInfo, OnnxValue};
#[cfg(feature = "onnx")]
pub use model::OnnxEncoder;
pub use settings::{Layout, OnnxSettings, Preprocessing};
#[cfg(feature = "onnx")]
pub use trial_run::{OUT_OF_MEMORY, TRIAL_RUN, answer_trial_run, try_onnx_models_with};
