//! The proportions that vary within a class.

use crate::vec3::{Vec3, v};
use touchstream_env::seed::RandomStream;

/// The proportions of one object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// In [-1, 1], as is `b`; their meaning depends on the class (a neck, a leg, a spout).
    pub a: f32,
    pub b: f32,
    /// Factors along x, y and z, near 1.
    pub stretch: Vec3,
}

impl Shape {
    /// The centre of every range.
    pub(crate) const TYPICAL: Self = Self { a: 0.0, b: 0.0, stretch: v(1.0, 1.0, 1.0) };

    pub(crate) fn draw(stream: &mut RandomStream) -> Self {
        let mut factor = || stream.in_range(0.9, 1.1);
        let stretch = v(factor(), factor(), factor());
        Self { a: stream.in_range(-1.0, 1.0), b: stream.in_range(-1.0, 1.0), stretch }
    }
}
