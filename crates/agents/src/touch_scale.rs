//! In which numbers modules read touches.

use serde::{Deserialize, Serialize};
use touchstream_env::task::{Paradigm, Task};
use touchstream_env::touch::{SCREEN_SIDE_PX, Touch};

/// What a coordinate counts at the screen's edge; it is 0 in the middle.
///
/// The paper says that touches are pixels, counted from the middle, and nothing of their scale. Its initial weights and its
/// bias of transformed touches only make sense in pixels: N(0, 0.01) stands on a long plateau where the edge is at 1, and a
/// bias of 1 moves a touch by half a screen there, by one pixel here.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TouchScale(pub f32);

impl TouchScale {
    /// The edge at 1.
    pub const ONE: Self = Self(1.0);
    /// One for every pixel, as the paper has it.
    pub const PIXELS: Self = Self((SCREEN_SIDE_PX - 1) as f32 / 2.0);
    /// For borders that may be anywhere. A module starts as the same function on any scale ([`InitialWeights::FanIn`]); Adam
    /// then moves what it makes of touches so many times as fast. With 1 the borders of buttons stay soft for long; from 48
    /// on they are shaken.
    ///
    /// [`InitialWeights::FanIn`]: touchstream_modules::module::InitialWeights
    pub const FINE: Self = Self(24.0);

    /// What we read touches of a task in. Borders of stimulus-response run through the middle of the screen, where
    /// coordinates change their sign on any scale; buttons, corners and outlines may be anywhere.
    pub fn of_task(task: &Task) -> Self {
        match task.paradigm() {
            Paradigm::StimulusResponse { .. } => Self::ONE,
            Paradigm::MatchToSample(_) | Paradigm::Localization => Self::FINE,
        }
    }

    /// What two tasks can share.
    pub fn finer(self, other: Self) -> Self {
        Self(self.0.max(other.0))
    }

    pub(crate) fn one() -> Self {
        Self::ONE
    }

    /// Where a pixel is: 0 in the middle of the screen, minus or plus the scale at its edges.
    pub fn centred_from_pixel(self, pixel: usize) -> f32 {
        ((2 * pixel) as f32 / (SCREEN_SIDE_PX - 1) as f32 - 1.0) * self.0
    }

    /// Row and column of a touch, counted from the middle of the screen.
    pub fn centred_from_touch(self, touch: Touch) -> [f32; 2] {
        [touch.row(), touch.col()].map(|pixel| self.centred_from_pixel(pixel))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_are_as_far_as_the_scale_says() {
        let corner = |scale: TouchScale, row, col| scale.centred_from_touch(Touch::new(row, col).unwrap());
        assert_eq!(corner(TouchScale::ONE, 0, 0), [-1.0, -1.0]);
        assert_eq!(corner(TouchScale::ONE, 0, 223), [-1.0, 1.0]);
        assert_eq!(corner(TouchScale(6.0), 223, 223), [6.0, 6.0]);
        assert_eq!(corner(TouchScale::PIXELS, 0, 223), [-111.5, 111.5]);
        let [above, below] = [111, 112].map(|row| corner(TouchScale::PIXELS, row, 0)[0]);
        assert!((above + 0.5).abs() < 1e-5 && (below - 0.5).abs() < 1e-5, "{above}, {below}");
    }
}
