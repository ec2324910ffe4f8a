//! A value for every touch: the true reward map of a state, or a prediction of it.

use crate::touch::{N_TOUCHES, SCREEN_SIDE_PX, Touch};

/// A value for each of the 50,176 touches, `[224 rows, 224 columns]`.
#[derive(Clone, Debug, PartialEq)]
pub struct RewardMap {
    values: Box<[f32]>,
}

impl RewardMap {
    /// Zero everywhere.
    pub fn zeros() -> Self {
        Self { values: vec![0.0; N_TOUCHES].into_boxed_slice() }
    }

    pub fn at(&self, touch: Touch) -> f32 {
        self.values[touch.index()]
    }

    /// All values, `[224, 224]`.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// All values, `[224, 224]`, mutable.
    pub fn values_mut(&mut self) -> &mut [f32] {
        &mut self.values
    }

    /// The rows from the top, 224 values each.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.values.chunks_exact(SCREEN_SIDE_PX)
    }

    /// Sets each touch's value to `value(touch)`.
    pub fn fill_with(&mut self, mut value: impl FnMut(Touch) -> f32) {
        for (slot, touch) in self.values.iter_mut().zip(Touch::all()) {
            *slot = value(touch);
        }
    }

    /// The largest value: the highest reward that a touch can earn.
    pub fn best(&self) -> f32 {
        self.values.iter().copied().fold(f32::NEG_INFINITY, f32::max)
    }

    /// The touch with the largest value, the first in reading order among equals.
    pub fn best_touch(&self) -> Touch {
        let best = self.best();
        let index = self.values.iter().position(|&value| value == best).unwrap_or(0);
        Touch::at_index(index)
    }

    /// The mean over all touches: the expected reward of a uniform touch.
    pub fn mean(&self) -> f64 {
        self.values.iter().map(|&value| f64::from(value)).sum::<f64>() / N_TOUCHES as f64
    }
}
