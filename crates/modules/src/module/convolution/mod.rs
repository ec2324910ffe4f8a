//! The convolutional bottleneck: from a spatial map and tiled scene vectors to the sums of the layer behind, and back.
//! Nothing of it depends on the touch.

mod flattened;
mod forward;
mod gradient;

pub(crate) use forward::ConvolvedRows;
pub(crate) use gradient::ConvolutionGradient;
