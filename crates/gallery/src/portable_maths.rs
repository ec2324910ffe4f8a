//! Trigonometry with the same bits on every platform: the standard library uses the platform's maths library, whose last
//! bits differ. Additions, multiplications and square roots are exact everywhere.

/// Sine and cosine of an angle in radians.
pub(crate) fn sin_cos(angle: f32) -> (f32, f32) {
    libm::sincosf(angle)
}

/// The angle of the point (`x`, `y`), in `-PI..=PI`.
pub(crate) fn angle_of(y: f32, x: f32) -> f32 {
    libm::atan2f(y, x)
}
