//! Points and directions in space, with portable arithmetic only.

use std::ops::{Add, Mul, Neg, Sub};

/// A point or a direction; `y` is up.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub(crate) struct Vec3 {
    pub x: f32,
    pub y: f32,
    pub z: f32,
}

/// Short, because shapes consist mostly of points.
pub(crate) const fn v(x: f32, y: f32, z: f32) -> Vec3 {
    Vec3 { x, y, z }
}

impl Vec3 {
    pub(crate) fn dot(self, other: Self) -> f32 {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    pub(crate) fn cross(self, other: Self) -> Self {
        v(
            self.y * other.z - self.z * other.y,
            self.z * other.x - self.x * other.z,
            self.x * other.y - self.y * other.x,
        )
    }

    pub(crate) fn length(self) -> f32 {
        self.dot(self).sqrt()
    }

    /// The unit direction; straight up for the zero vector.
    pub(crate) fn normalized(self) -> Self {
        let length = self.length();
        if length > 1e-12 { self * (1.0 / length) } else { v(0.0, 1.0, 0.0) }
    }

    /// The point relative to (`x`, `y`, `z`).
    pub(crate) fn at(self, x: f32, y: f32, z: f32) -> Self {
        v(self.x - x, self.y - y, self.z - z)
    }

    /// Mirrors left to right.
    pub(crate) fn fold_x(self) -> Self {
        v(self.x.abs(), self.y, self.z)
    }

    /// Mirrors front to back.
    pub(crate) fn fold_z(self) -> Self {
        v(self.x, self.y, self.z.abs())
    }

    /// Mirrors both horizontal axes.
    pub(crate) fn fold_xz(self) -> Self {
        v(self.x.abs(), self.y, self.z.abs())
    }

    /// Rotates an object along y to lie along x.
    pub(crate) fn swap_xy(self) -> Self {
        v(self.y, self.x, self.z)
    }

    /// Rotates an object along y to lie along z.
    pub(crate) fn swap_yz(self) -> Self {
        v(self.x, self.z, self.y)
    }

    /// Component by component.
    pub(crate) fn scaled(self, by: Self) -> Self {
        v(self.x * by.x, self.y * by.y, self.z * by.z)
    }
}

impl Add for Vec3 {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        v(self.x + other.x, self.y + other.y, self.z + other.z)
    }
}

impl Sub for Vec3 {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        v(self.x - other.x, self.y - other.y, self.z - other.z)
    }
}

impl Mul<f32> for Vec3 {
    type Output = Self;
    fn mul(self, by: f32) -> Self {
        v(self.x * by, self.y * by, self.z * by)
    }
}

impl Neg for Vec3 {
    type Output = Self;
    fn neg(self) -> Self {
        v(-self.x, -self.y, -self.z)
    }
}
