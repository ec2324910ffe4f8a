//! Scene vectors of screens, wherever they come from.

use touchstream_env::trial::ScreenRecipe;

/// The features of all screens that a stream can show.
pub trait Scenes {
    /// Numbers of a scene vector.
    fn scene_len(&self) -> usize;
    /// The number of a screen; `None` if it is not one of these.
    fn index_of(&self, screen: &ScreenRecipe) -> Option<u32>;
    /// A screen's scene vector, `[scene_len]`.
    fn scene(&self, index: u32) -> &[f32];
    /// How many screens there are.
    fn n_screens(&self) -> usize;
}

/// A stream showed a screen that has no features.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "there are no features of the screen {screen:?}: they were made for other tasks, placements or images"
)]
pub struct NoScene {
    /// Which.
    pub screen: ScreenRecipe,
}
