//! Encoders: fixed networks that turn a screen into a scene vector and a spatial map.
//!
//! This crate knows screens and weights, but no tasks, rewards or feature caches, and prints nothing.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod arithmetic;
mod buffer_pool;
mod compact;
mod convolution;
mod encoder;
mod image_input;
pub mod inspect;
pub mod install;
mod matrix_product;
mod onnx;
pub mod peak;
mod spec;
pub mod tensor_file;
pub mod vgg16;

pub use compact::Compact;
pub use encoder::{EncodeError, Encoder, FeatureShape, Features, MAP_SIDE};
pub use image_input::{IMAGENET_DEVIATION, IMAGENET_MEAN};
pub use onnx::{Layout, OnnxError, OnnxProblem, OnnxSettings, Preprocessing, cut_onnx, onnx_values};
#[cfg(feature = "onnx")]
pub use onnx::{
    OUT_OF_MEMORY, OnnxEncoder, OnnxModelInfo, OnnxValue, TRIAL_RUN, answer_trial_run, is_caught_panic,
    try_onnx_models_with,
};
pub use spec::{EncoderSpec, EncoderSpecError};
