//! What a module sees: the part of its first stage that no touch changes. It is computed once a screen, and for all steps
//! between two updates at once.

use crate::linear::InputRows;
use crate::linear::products::add_products;
use crate::module::convolution::ConvolvedRows;
use crate::module::network::Module;
use crate::module::structure::{ModuleShape, Structure};
use std::ops::Range;

/// The features that a module reads at some steps.
pub trait SceneHistory: Copy {
    /// The scene vector of the screen shown `lag` steps before a step, `[scene_len]`; zeros where there was none.
    fn scene(&self, step: usize, lag: usize) -> &[f32];
    /// Copies the spatial map of the screen shown at a step, `[n_places, n_channels]`; zeros where there was none. Asked
    /// for by modules that convolve.
    fn copy_map(&self, step: usize, out: &mut [f32]);
    /// The first step that shows the same screen as this one, if any earlier one is known to: what its map gives is computed
    /// once.
    fn shown_before(&self, step: usize) -> Option<usize> {
        let _ = step;
        None
    }
}

/// Scene vectors that have numbers.
pub trait ScreenHistory: SceneHistory {
    /// The number of the screen shown `lag` steps before a step; `None` where there was none.
    fn screen(&self, step: usize, lag: usize) -> Option<usize>;
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

/// What a module sees at some steps: the sums of its first stage that come from biases and features.
#[derive(Clone, Debug)]
pub struct VisualRows {
    /// Of the stage that reads scene vectors.
    scenes: SceneSums,
    /// Behind them, in a module that convolves.
    convolved: Option<Box<ConvolvedRows>>,
}

impl VisualRows {
    /// For modules of a structure.
    pub fn new(structure: &Structure, n_rows: usize) -> Self {
        let n_units = structure.scene_stage().n_units;
        let n_lags = structure.shape().k_b + 1;
        let convolved = structure.shape().convolutions.as_ref();
        Self {
            scenes: SceneSums {
                sums: vec![0.0; n_rows * n_units],
                of_lags: vec![0.0; n_lags * n_rows * n_units],
                n_units,
            },
            convolved: convolved.map(|shape| Box::new(ConvolvedRows::new(structure, shape, n_rows))),
        }
    }

    /// Some steps, `[n, n_units]`.
    pub fn rows(&self, rows: Range<usize>) -> &[f32] {
        match &self.convolved {
            None => self.scenes.rows(rows),
            Some(convolved) => convolved.rows(rows),
        }
    }

    /// What convolutions have made of the screens, if the module has any.
    pub(crate) fn convolved(&self) -> Option<&ConvolvedRows> {
        self.convolved.as_deref()
    }

    /// What screens of a lag contribute, `[n_rows, n_units]`.
    pub(crate) fn of_lag(&self, lag: usize) -> &[f32] {
        let n = self.scenes.sums.len();
        &self.scenes.of_lags[lag * n..][..n]
    }

    /// Sets all rows from biases and a function that sets what the screen of a row and lag contributes.
    pub(crate) fn set(&mut self, biases: &[f32], of_screen: impl Fn(usize, usize, &mut [f32])) {
        let SceneSums { sums, of_lags, n_units } = &mut self.scenes;
        for (lag, of_lag) in of_lags.chunks_exact_mut(sums.len()).enumerate() {
            for (row, of_row) in of_lag.chunks_exact_mut(*n_units).enumerate() {
                of_screen(row, lag, of_row);
            }
        }
        self.scenes.sum_up(biases);
    }
}

/// Sums of a stage that come from biases and scene vectors.
#[derive(Clone, Debug)]
struct SceneSums {
    /// `[n_rows, n_units]`
    sums: Vec<f32>,
    /// `[n_lags, n_rows, n_units]`: what screens of each lag contribute.
    of_lags: Vec<f32>,
    n_units: usize,
}

impl SceneSums {
    fn rows(&self, rows: Range<usize>) -> &[f32] {
        &self.sums[rows.start * self.n_units..rows.end * self.n_units]
    }

    /// Adds up what all lags contribute, in the same order whoever found it.
    fn sum_up(&mut self, biases: &[f32]) {
        self.sums.chunks_exact_mut(self.n_units).for_each(|sums| sums.copy_from_slice(biases));
        for of_lag in self.of_lags.chunks_exact(self.sums.len()) {
            self.sums.iter_mut().zip(of_lag).for_each(|(sum, more)| *sum += more);
        }
    }
}

impl Module {
    /// Sets all rows: biases, and what comes from features.
    pub fn visual(&self, history: &impl SceneHistory, rows: &mut VisualRows) {
        let stage = self.structure().scene_stage();
        let shape = self.structure().shape();
        let SceneSums { sums, of_lags, .. } = &mut rows.scenes;
        of_lags.fill(0.0);
        for piece in pieces(shape.scene_len) {
            for (lag, of_lag) in of_lags.chunks_exact_mut(sums.len()).enumerate() {
                let weights = self.weights(stage).columns(first_col(shape, lag) + piece.start, piece.len());
                let scenes = Lagged { history, lag, start: piece.start, end: piece.end };
                add_products(self.instructions(), weights, scenes, of_lag);
            }
        }
        rows.scenes.sum_up(self.biases(stage));
        if let Some(convolved) = &mut rows.convolved {
            convolved.look(self, history, &rows.scenes.sums);
        }
    }
}
