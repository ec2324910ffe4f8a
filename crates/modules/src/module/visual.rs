//! The part of a module that does not depend on touches: the first stage's pre-activations from features. It is computed for
//! all steps between two updates at once.

use crate::linear::products::add_products;
use crate::linear::{DistinctRows, InputRows};
use crate::module::convolution::ConvolvedRows;
use crate::module::network::Module;
use crate::module::structure::{ModuleShape, Structure};
use std::ops::Range;

/// The features that a module reads at each step of a batch.
pub trait SceneHistory: Copy {
    /// The scene vector of the screen `lag` steps before `step`, `[scene_len]`; zeros before the first screen.
    fn scene(&self, step: usize, lag: usize) -> &[f32];
    /// Copies the spatial map of the screen at `step`, `[n_places, n_channels]`; zeros before the first screen. Called for
    /// convolutional modules only.
    fn copy_map(&self, step: usize, out: &mut [f32]);
    /// The first step with the same screen, if it is known: features of its map are computed once.
    fn shown_before(&self, step: usize) -> Option<usize> {
        let _ = step;
        None
    }
}

/// Feature histories whose screens have indices.
pub trait ScreenHistory: SceneHistory {
    /// The index of the screen `lag` steps before `step`; `None` before the first screen.
    fn screen(&self, step: usize, lag: usize) -> Option<usize>;
}

/// Features that are processed together for all lags: those of a batch stay in the second-level cache, so a scene vector that
/// is current at one step and past at the next is read from memory once.
const PIECE: usize = 1024;

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

/// The first column of a lag's scene vectors, which are ordered oldest first.
pub(super) fn first_col(shape: &ModuleShape, lag: usize) -> usize {
    (shape.k_b - lag) * shape.scene_len
}

/// Pre-activations of the first stage, from biases and features, for a batch of steps.
#[derive(Clone, Debug)]
pub struct VisualRows {
    /// The stage that reads scene vectors.
    scenes: ScenePreact,
    /// The convolutions after it, in a convolutional module.
    convolved: Option<Box<ConvolvedRows>>,
}

impl VisualRows {
    pub fn new(structure: &Structure, n_rows: usize) -> Self {
        let n_units = structure.scene_stage().n_units;
        let n_lags = structure.shape().k_b + 1;
        let convolved = structure.shape().convolutions.as_ref();
        Self {
            scenes: ScenePreact {
                preact: vec![0.0; n_rows * n_units],
                of_lags: vec![0.0; n_lags * n_rows * n_units],
                n_units,
                distinct: vec![DistinctRows::new(n_rows); n_lags],
            },
            convolved: convolved.map(|shape| Box::new(ConvolvedRows::new(structure, shape, n_rows))),
        }
    }

    /// `[n_rows, n_units]`
    pub fn rows(&self, rows: Range<usize>) -> &[f32] {
        match &self.convolved {
            None => self.scenes.rows(rows),
            Some(convolved) => convolved.rows(rows),
        }
    }

    pub(crate) fn convolved(&self) -> Option<&ConvolvedRows> {
        self.convolved.as_deref()
    }

    /// Contributions of the screens at a lag, `[n_rows, n_units]`.
    pub(crate) fn of_lag(&self, lag: usize) -> &[f32] {
        let n = self.scenes.preact.len();
        &self.scenes.of_lags[lag * n..][..n]
    }

    /// Sets all rows from biases and `of_screen(row, lag, out)`, which sets the contribution of a screen.
    pub(crate) fn set(&mut self, biases: &[f32], of_screen: impl Fn(usize, usize, &mut [f32])) {
        let ScenePreact { preact, of_lags, n_units, .. } = &mut self.scenes;
        for (lag, of_lag) in of_lags.chunks_exact_mut(preact.len()).enumerate() {
            for (row, of_row) in of_lag.chunks_exact_mut(*n_units).enumerate() {
                of_screen(row, lag, of_row);
            }
        }
        self.scenes.add_lags(biases);
    }
}

/// Pre-activations from biases and scene vectors.
#[derive(Clone, Debug)]
struct ScenePreact {
    /// `[n_rows, n_units]`
    preact: Vec<f32>,
    /// Contributions of the screens at each lag, `[n_lags, n_rows, n_units]`.
    of_lags: Vec<f32>,
    n_units: usize,
    /// Scene vectors that differ, for each lag.
    distinct: Vec<DistinctRows>,
}

impl ScenePreact {
    fn rows(&self, rows: Range<usize>) -> &[f32] {
        &self.preact[rows.start * self.n_units..rows.end * self.n_units]
    }

    /// Adds the contributions of all lags to the biases.
    fn add_lags(&mut self, biases: &[f32]) {
        self.preact.chunks_exact_mut(self.n_units).for_each(|preact| preact.copy_from_slice(biases));
        for of_lag in self.of_lags.chunks_exact(self.preact.len()) {
            self.preact.iter_mut().zip(of_lag).for_each(|(sum, more)| *sum += more);
        }
    }
}

impl Module {
    /// Computes all rows.
    pub fn visual(&self, history: &impl SceneHistory, rows: &mut VisualRows) {
        let stage = self.structure().scene_stage();
        let shape = self.structure().shape();
        let ScenePreact { preact, of_lags, n_units, distinct } = &mut rows.scenes;
        for (lag, distinct) in distinct.iter_mut().enumerate() {
            distinct.find(Lagged { history, lag, start: 0, end: shape.scene_len });
        }
        of_lags.fill(0.0);
        for piece in pieces(shape.scene_len) {
            for (lag, (of_lag, distinct)) in
                of_lags.chunks_exact_mut(preact.len()).zip(&*distinct).enumerate()
            {
                let weights = self.weights(stage).columns(first_col(shape, lag) + piece.start, piece.len());
                let scenes = distinct.select(Lagged { history, lag, start: piece.start, end: piece.end });
                add_products(self.instructions(), weights, scenes, &mut of_lag[..distinct.len() * *n_units]);
            }
        }
        for (of_lag, distinct) in of_lags.chunks_exact_mut(preact.len()).zip(&*distinct) {
            distinct.spread(of_lag, *n_units);
        }
        rows.scenes.add_lags(self.biases(stage));
        if let Some(convolved) = &mut rows.convolved {
            convolved.look(self, history, &rows.scenes.preact);
        }
    }
}
