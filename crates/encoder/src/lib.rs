//! The eyes: fixed networks that turn a screen into a scene vector and a spatial map.
//!
//! The walk's station between screen and module. This crate knows screens and weights; it knows no task, no
//! reward, no cache of features and no terminal.

mod encoder;

pub use encoder::{EncodeError, Encoder, FeatureShape, Features, MAP_SIDE};
