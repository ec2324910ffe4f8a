//! The part of a module's first stage that reads scene vectors: the same for all touches, so it is computed once a
//! screen, and for all steps between two updates at once.

use crate::linear::InputRows;
use crate::linear::products::add_products;
use crate::module::network::Module;
use crate::module::structure::ModuleShape;
use std::ops::Range;

/// The scene vectors that a module reads at some steps.
pub trait SceneHistory: Copy {
    /// The scene vector of the screen shown `lag` steps before a step, `[scene_len]`; zeros where there was none.
    fn scene(&self, step: usize, lag: usize) -> &[f32];
}

/// Numbers of a scene vector that are read in one go, by all lags: those of a batch of steps stay in the second cache,
/// and a scene vector that is the present one of a step and the past one of the next comes from memory once.
const PIECE: usize = 1024;

/// Pieces of a scene vector.
pub(super) fn pieces(scene_len: usize) -> impl Iterator<Item = Range<usize>> {
    (0..scene_len).step_by(PIECE).map(move |start| start..scene_len.min(start + PIECE))
}

/// A piece of the scene vectors of one lag.
#[derive(Clone, Copy)]
pub(super) struct Lagged<'a, H> {
    pub history: &'a H,
    pub lag: usize,
    pub start: usize,
    pub end: usize,
}

impl<'a, H: SceneHistory> InputRows<'a> for Lagged<'a, H> {
    #[inline(always)]
    fn row(self, step: usize) -> &'a [f32] {
        &self.history.scene(step, self.lag)[self.start..self.end]
    }
}

/// The first column of a lag's scene vectors: the oldest stand first.
pub(super) fn first_col(shape: &ModuleShape, lag: usize) -> usize {
    (shape.k_b - lag) * shape.scene_len
}

impl Module {
    /// Sets `out`, `[n_steps, n_units]` of the first stage: biases, and what comes from scene vectors.
    pub fn visual(&self, history: &impl SceneHistory, out: &mut [f32]) {
        let stage = &self.structure().stages()[0];
        for out in out.chunks_exact_mut(stage.n_units) {
            out.copy_from_slice(self.biases(stage));
        }
        let shape = self.structure().shape();
        for piece in pieces(shape.scene_len) {
            for lag in 0..=shape.k_b {
                let weights = self.weights(stage).columns(first_col(shape, lag) + piece.start, piece.len());
                let scenes = Lagged { history, lag, start: piece.start, end: piece.end };
                add_products(self.instructions(), weights, scenes, out);
            }
        }
    }
}
