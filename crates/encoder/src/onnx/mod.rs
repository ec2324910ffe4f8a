//! Any ONNX model as an encoder: screens go in, the values of two named nodes come out.

mod cut;
mod error;
mod file;
mod info;
mod input;
mod lanes;
mod model;
mod pixels;
mod resample;
mod runner;
mod settings;
mod spatial;
mod wire;

pub use error::{OnnxError, OnnxProblem};
pub use info::{OnnxModelInfo, OnnxValue};
pub use model::OnnxEncoder;
pub use settings::{Layout, OnnxSettings, Preprocessing};
