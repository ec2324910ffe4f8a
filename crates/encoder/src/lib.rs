//! The eyes: fixed networks that turn a screen into a scene vector and a spatial map.
//!
//! The walk's station between screen and module. This crate knows screens and weights; it knows no task, no
//! reward, no cache of features and no terminal.

mod convolution;
mod encoder;
mod image_input;
mod instructions;
mod matrix_product;
pub mod peak;
pub mod tensor_file;
pub mod vgg16;
pub mod weights;

pub use encoder::{EncodeError, Encoder, FeatureShape, Features, MAP_SIDE};
pub use image_input::{IMAGENET_DEVIATION, IMAGENET_MEAN};
