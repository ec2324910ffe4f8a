//! The convolutional bottleneck: from a spatial map and tiled scene vectors to the pre-activations of the next layer,
//! and back. It does not depend on the touch.

mod flattened;
mod forward;
mod gradient;

pub(crate) use forward::ConvolvedRows;
pub(crate) use gradient::ConvolutionGradient;
