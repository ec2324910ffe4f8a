//! What makes one thing of a class differ from another in form.

use crate::vec3::{Vec3, v};
use touchstream_env::seed::RandomStream;

/// The proportions of one thing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Each in [-1, 1]; what it changes is the class's own affair (a neck, a leg, a spout).
    pub a: f32,
    /// See `a`.
    pub b: f32,
    /// Factors along x, y and z, near 1.
    pub stretch: Vec3,
}

impl Shape {
    /// The middle of every range.
    pub(crate) const TYPICAL: Self = Self { a: 0.0, b: 0.0, stretch: v(1.0, 1.0, 1.0) };

    pub(crate) fn draw(stream: &mut RandomStream) -> Self {
        let mut factor = || stream.in_range(0.9, 1.1);
        let stretch = v(factor(), factor(), factor());
        Self { a: stream.in_range(-1.0, 1.0), b: stream.in_range(-1.0, 1.0), stretch }
    }
}
