//! The inputs and targets of regression: scene vectors and true boxes.

use touchstream_env::pixel_box::PixelBox;

/// Scene vectors of screens, at least one, and the boxes of the objects on them.
pub struct BoxedScenes {
    pub scene_len: usize,
    /// `[n, scene_len]`
    pub scenes: Vec<f32>,
    /// `[n]`
    pub boxes: Vec<PixelBox>,
}
