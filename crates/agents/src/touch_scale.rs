//! The scale of touch coordinates.

use serde::{Deserialize, Serialize};
use touchstream_env::task::{Paradigm, Task};
use touchstream_env::touch::{SCREEN_SIDE_PX, Touch};

/// The touch coordinate at the screen edge; the middle is 0.
///
/// In the paper, touches are pixels relative to the middle of the screen; no scaling is mentioned. The paper's initial
/// weights and its initial bias of transformed touches are reasonable only in pixels: with 1 at the edge, training with
/// N(0, 0.01) starts on a long plateau, and a bias of 1 moves a touch by half a screen instead of one pixel.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TouchScale(pub f32);

impl TouchScale {
    pub const ONE: Self = Self(1.0);
    /// One unit per pixel, as in the paper.
    pub const PIXELS: Self = Self((SCREEN_SIDE_PX - 1) as f32 / 2.0);
    /// For tasks whose reward map may have edges anywhere on the screen. A new module computes the same function at any
    /// scale ([`InitialWeights::FanIn`]), but Adam changes its dependence on touches faster at a larger scale. At 1,
    /// predicted rewards stay blurred at the edges of templates for a long time; from 48 on they fluctuate there.
    ///
    /// [`InitialWeights::FanIn`]: touchstream_modules::module::InitialWeights
    pub const FINE: Self = Self(24.0);

    /// The default of a task. In stimulus-response the edges between rewarded regions run through the middle of the
    /// screen, where coordinates change sign at any scale; templates, corners and outlines may be anywhere.
    pub fn of_task(task: &Task) -> Self {
        match task.paradigm() {
            Paradigm::StimulusResponse { .. } => Self::ONE,
            Paradigm::MatchToSample(_) | Paradigm::Localization => Self::FINE,
        }
    }

    /// The larger of two scales, for modules that learn two tasks.
    pub fn finer(self, other: Self) -> Self {
        Self(self.0.max(other.0))
    }

    pub(crate) fn one() -> Self {
        Self::ONE
    }

    /// 0 in the middle of the screen, minus or plus the scale at its edges.
    #[inline(always)]
    pub fn centred_from_pixel(self, pixel: u16) -> f32 {
        ((2 * pixel) as f32 / (SCREEN_SIDE_PX - 1) as f32 - 1.0) * self.0
    }

    /// Row and column.
    pub fn centred_from_touch(self, touch: Touch) -> [f32; 2] {
        [touch.row(), touch.col()].map(|pixel| self.centred_from_pixel(pixel as u16))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_are_at_the_scale() {
        let corner = |scale: TouchScale, row, col| scale.centred_from_touch(Touch::new(row, col).unwrap());
        assert_eq!(corner(TouchScale::ONE, 0, 0), [-1.0, -1.0]);
        assert_eq!(corner(TouchScale::ONE, 0, 223), [-1.0, 1.0]);
        assert_eq!(corner(TouchScale(6.0), 223, 223), [6.0, 6.0]);
        assert_eq!(corner(TouchScale::PIXELS, 0, 223), [-111.5, 111.5]);
        let [above, below] = [111, 112].map(|row| corner(TouchScale::PIXELS, row, 0)[0]);
        assert!((above + 0.5).abs() < 1e-5 && (below - 0.5).abs() < 1e-5, "{above}, {below}");
    }
}
