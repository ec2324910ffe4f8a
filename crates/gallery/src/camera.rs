//! The camera, and the mapping from its image plane to pixels.

use crate::portable_maths::sin_cos;
use crate::vec3::{Vec3, v};

/// A camera that looks at the origin, in the object's coordinates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Camera {
    pub eye: Vec3,
    pub right: Vec3,
    pub up: Vec3,
    pub forward: Vec3,
}

impl Camera {
    /// A camera at `distance`; azimuth 0 sees the object from +z, a positive elevation from above, and a positive roll
    /// rotates the object counter-clockwise in the image. Angles are in degrees.
    pub(crate) fn looking(azimuth_deg: f32, elevation_deg: f32, roll_deg: f32, distance: f32) -> Self {
        let (sin_azimuth, cos_azimuth) = sin_cos(azimuth_deg.to_radians());
        let (sin_elevation, cos_elevation) = sin_cos(elevation_deg.to_radians());
        let (sin_roll, cos_roll) = sin_cos(roll_deg.to_radians());
        let back = v(sin_azimuth * cos_elevation, sin_elevation, cos_azimuth * cos_elevation);
        let level_right = v(cos_azimuth, 0.0, -sin_azimuth);
        let level_up = back.cross(level_right);
        Self {
            eye: back * distance,
            right: level_right * cos_roll - level_up * sin_roll,
            up: level_right * sin_roll + level_up * cos_roll,
            forward: -back,
        }
    }

    /// The unit direction through (`across`, `above`) on an image plane at distance 1.
    pub(crate) fn ray(&self, across: f32, above: f32) -> Vec3 {
        (self.forward + self.right * across + self.up * above).normalized()
    }
}

/// The mapping from image plane to pixels. Moving or scaling an object on the image changes only this, so its
/// perspective stays the same.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    /// Pixels per unit of the image plane.
    pub focal_px: f32,
    /// Position of the optical axis in pixels.
    pub centre_row_px: f32,
    /// See `centre_row_px`.
    pub centre_col_px: f32,
}

impl Frame {
    /// The point on the image plane, (across, above), of a pixel position.
    pub(crate) fn plane_from_pixel(&self, row_px: f32, col_px: f32) -> (f32, f32) {
        ((col_px - self.centre_col_px) / self.focal_px, (self.centre_row_px - row_px) / self.focal_px)
    }
}

/// A rectangle on the image plane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    pub left: f32,
    pub right: f32,
    pub bottom: f32,
    pub top: f32,
}

impl Extent {
    /// The longer of width and height.
    pub(crate) fn longest(&self) -> f32 {
        (self.right - self.left).max(self.top - self.bottom).max(1e-4)
    }

    /// Whether another rectangle is inside this one.
    pub(crate) fn contains(&self, other: &Self) -> bool {
        self.left <= other.left
            && self.right >= other.right
            && self.bottom <= other.bottom
            && self.top >= other.top
    }

    /// The smallest rectangle around both.
    pub(crate) fn joined(&self, other: &Self) -> Self {
        Self {
            left: self.left.min(other.left),
            right: self.right.max(other.right),
            bottom: self.bottom.min(other.bottom),
            top: self.top.max(other.top),
        }
    }

    /// The frame in which the longer side is `side_px` and the centre is at the given pixel.
    pub(crate) fn framed(&self, side_px: f32, middle_row_px: f32, middle_col_px: f32) -> Frame {
        let focal_px = side_px / self.longest();
        Frame {
            focal_px,
            centre_row_px: middle_row_px + focal_px * 0.5 * (self.top + self.bottom),
            centre_col_px: middle_col_px - focal_px * 0.5 * (self.left + self.right),
        }
    }

    /// Height and width in pixels under a frame.
    pub(crate) fn size_px(&self, frame: &Frame) -> (f32, f32) {
        ((self.top - self.bottom) * frame.focal_px, (self.right - self.left) * frame.focal_px)
    }
}
