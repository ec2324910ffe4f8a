//! Combines signed distances: unions that keep the nearest part, blends, cuts, repetitions, rotations.

use crate::portable_maths::{angle_of, sin_cos};
use crate::vec3::{Vec3, v};

/// Number of differently coloured parts of a shape.
pub(crate) const N_PARTS: usize = 4;

/// The distance to the nearest surface, and the part of the shape that it belongs to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surface {
    pub distance: f32,
    /// In `0..N_PARTS`.
    pub part: u8,
}

impl Surface {
    pub(crate) fn new(part: u8, distance: f32) -> Self {
        Self { distance, part }
    }

    /// The union with another part.
    pub(crate) fn with(self, part: u8, distance: f32) -> Self {
        if distance < self.distance { Self { distance, part } } else { self }
    }
}

/// The nearest of several distances.
pub(crate) fn union<const N: usize>(distances: [f32; N]) -> f32 {
    distances.into_iter().fold(f32::MAX, f32::min)
}

/// A union whose seam is smoothed over a width of about `width`.
pub(crate) fn blend(a: f32, b: f32, width: f32) -> f32 {
    let near = (width - (a - b).abs()).max(0.0) / width;
    a.min(b) - near * near * width * 0.25
}

/// The part of `solid` outside of `tool`.
pub(crate) fn cut(solid: f32, tool: f32) -> f32 {
    solid.max(-tool)
}

/// A wall of half thickness `half_wall` along the surface of a solid.
pub(crate) fn shell(solid: f32, half_wall: f32) -> f32 {
    solid.abs() - half_wall
}

/// A rotation as cosine and sine, so that rotating a point needs no trigonometry.
#[derive(Clone, Copy)]
pub(crate) struct Turn {
    cos: f32,
    sin: f32,
}

pub(crate) const TURN_15: Turn = Turn { cos: 0.965_925_8, sin: 0.258_819_04 };
pub(crate) const TURN_22: Turn = Turn { cos: 0.923_879_5, sin: 0.382_683_43 };
pub(crate) const TURN_30: Turn = Turn { cos: 0.866_025_4, sin: 0.5 };
pub(crate) const TURN_45: Turn = Turn { cos: 0.707_106_77, sin: 0.707_106_77 };

impl Turn {
    /// The inverse rotation.
    pub(crate) const fn back(self) -> Self {
        Self { cos: self.cos, sin: -self.sin }
    }

    /// `p` in a frame rotated about z, counter-clockwise as seen from the front.
    pub(crate) fn about_z(self, p: Vec3) -> Vec3 {
        v(self.cos * p.x + self.sin * p.y, self.cos * p.y - self.sin * p.x, p.z)
    }

    /// `p` in a frame rotated about y: x turns towards -z.
    pub(crate) fn about_y(self, p: Vec3) -> Vec3 {
        v(self.cos * p.x - self.sin * p.z, p.y, self.cos * p.z + self.sin * p.x)
    }

    /// `p` in a frame rotated about x: y turns towards z.
    pub(crate) fn about_x(self, p: Vec3) -> Vec3 {
        v(p.x, self.cos * p.y + self.sin * p.z, self.cos * p.z - self.sin * p.y)
    }
}

/// Repeats the sector around +x `n` times around y, by rotating `p` into it.
pub(crate) fn sector(p: Vec3, n: f32) -> Vec3 {
    let step = std::f32::consts::TAU / n;
    let angle = angle_of(p.z, p.x);
    let turned = angle - step * (angle / step).round();
    let across = (p.x * p.x + p.z * p.z).sqrt();
    let (sin, cos) = sin_cos(turned);
    v(across * cos, p.y, across * sin)
}

/// Eight sectors around y by reflections: cheaper than [`sector`]. The sector is centred on +x, with z >= 0.
pub(crate) fn fold_eight(p: Vec3) -> Vec3 {
    let (x, z) = (p.x.abs(), p.z.abs());
    let (x, z) = (x.max(z), x.min(z));
    // The wedge of 0 to 45 degrees, rotated so that its centre is on +x.
    let turned = TURN_22.about_y(v(x, p.y, -z));
    turned.fold_z()
}

/// The offset from the nearest of `2 * n_each_side + 1` points spaced `spacing` apart.
pub(crate) fn repeat(along: f32, spacing: f32, n_each_side: f32) -> f32 {
    along - spacing * (along / spacing).round().clamp(-n_each_side, n_each_side)
}
