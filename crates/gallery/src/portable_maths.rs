//! Angles to lengths and back, the same bits on every platform: the standard library asks the platform's own
//! maths library, whose last bits differ. Sums, products and square roots are exact everywhere.

/// Sine and cosine of an angle in radians.
pub(crate) fn sin_cos(angle: f32) -> (f32, f32) {
    libm::sincosf(angle)
}

/// The angle of the point (`x`, `y`), in `-PI..=PI`.
pub(crate) fn angle_of(y: f32, x: f32) -> f32 {
    libm::atan2f(y, x)
}
