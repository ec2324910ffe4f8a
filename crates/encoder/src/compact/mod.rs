//! The built-in encoder: a small convolutional network of our own with weights inside the program.

mod encoder;
mod network;
mod weights;

pub use encoder::Compact;
