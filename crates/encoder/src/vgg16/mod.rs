//! The paper's encoder: VGG-16 up to its first fully connected layer.

mod fc6;
mod network;
mod random_fc6;
pub mod weights;

pub use network::{CONVOLUTION_MULTIPLY_ADDS, VGG16_SHAPE, Vgg16};
pub use random_fc6::RANDOM_FC6_SEED;
