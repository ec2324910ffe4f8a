//! The built-in encoder: a small convolutional network whose weights are part of the program.

mod encoder;
mod network;
mod weights;

pub use encoder::Compact;
