//! Signed distances to simple solids around the origin: negative inside, in the units of the point.
//!
//! Distances that are not exact are too small, or too large by a few percent, for which the catalogue's `step`
//! compensates.

use crate::vec3::{Vec3, v};

pub(crate) fn sphere(p: Vec3, radius: f32) -> f32 {
    p.length() - radius
}

/// An ellipsoid with three radii.
pub(crate) fn ellipsoid(p: Vec3, radii: Vec3) -> f32 {
    let q = v(p.x / radii.x, p.y / radii.y, p.z / radii.z);
    let slope = v(q.x / radii.x, q.y / radii.y, q.z / radii.z).length();
    let level = q.length();
    if slope < 1e-6 { -radii.x.min(radii.y).min(radii.z) } else { level * (level - 1.0) / slope }
}

/// A box with half sides `half` and rounded edges; rounding does not enlarge it.
pub(crate) fn cuboid(p: Vec3, half: Vec3, round: f32) -> f32 {
    let q = v(p.x.abs() - half.x + round, p.y.abs() - half.y + round, p.z.abs() - half.z + round);
    let outside = v(q.x.max(0.0), q.y.max(0.0), q.z.max(0.0)).length();
    outside + q.x.max(q.y).max(q.z).min(0.0) - round
}

/// A capsule from `a` to `b`.
pub(crate) fn capsule(p: Vec3, a: Vec3, b: Vec3, radius: f32) -> f32 {
    limb(p, a, b, radius, radius)
}

/// A capsule from `a` to `b` whose radius varies linearly.
pub(crate) fn limb(p: Vec3, a: Vec3, b: Vec3, radius_a: f32, radius_b: f32) -> f32 {
    let (from_a, along) = (p - a, b - a);
    let share = (from_a.dot(along) / along.dot(along).max(1e-9)).clamp(0.0, 1.0);
    (from_a - along * share).length() - radius_a - (radius_b - radius_a) * share
}

/// A limb in the xy plane, cut flat at `half_depth` on both sides.
pub(crate) fn blade(
    p: Vec3,
    a: (f32, f32),
    b: (f32, f32),
    radius_a: f32,
    radius_b: f32,
    half_depth: f32,
) -> f32 {
    let flat = limb(v(p.x, p.y, 0.0), v(a.0, a.1, 0.0), v(b.0, b.1, 0.0), radius_a, radius_b);
    extruded(flat, p.z, half_depth)
}

/// A cylinder along y.
pub(crate) fn cylinder(p: Vec3, radius: f32, half_height: f32) -> f32 {
    extruded((p.x * p.x + p.z * p.z).sqrt() - radius, p.y, half_height)
}

/// A cylinder along x.
pub(crate) fn cylinder_x(p: Vec3, radius: f32, half_length: f32) -> f32 {
    cylinder(p.swap_xy(), radius, half_length)
}

/// A cylinder along z, such as a wheel of a vehicle that drives along x.
pub(crate) fn cylinder_z(p: Vec3, radius: f32, half_length: f32) -> f32 {
    cylinder(p.swap_yz(), radius, half_length)
}

/// A truncated cone along y.
pub(crate) fn frustum(p: Vec3, radius_bottom: f32, radius_top: f32, half_height: f32) -> f32 {
    let across = (p.x * p.x + p.z * p.z).sqrt();
    let (slope_x, slope_y) = (radius_top - radius_bottom, 2.0 * half_height);
    let cap_radius = if p.y < 0.0 { radius_bottom } else { radius_top };
    let (cap_x, cap_y) = (across - across.min(cap_radius), p.y.abs() - half_height);
    let share = (((radius_top - across) * slope_x + (half_height - p.y) * slope_y)
        / (slope_x * slope_x + slope_y * slope_y).max(1e-9))
    .clamp(0.0, 1.0);
    let (side_x, side_y) = (across - radius_top + slope_x * share, p.y - half_height + slope_y * share);
    let sign = if side_x < 0.0 && cap_y < 0.0 { -1.0 } else { 1.0 };
    sign * (cap_x * cap_x + cap_y * cap_y).min(side_x * side_x + side_y * side_y).sqrt()
}

/// A ring around the y axis.
pub(crate) fn torus(p: Vec3, ring_radius: f32, tube_radius: f32) -> f32 {
    let across = (p.x * p.x + p.z * p.z).sqrt() - ring_radius;
    (across * across + p.y * p.y).sqrt() - tube_radius
}

/// A ring around the z axis, seen from the front as a circle.
pub(crate) fn torus_z(p: Vec3, ring_radius: f32, tube_radius: f32) -> f32 {
    torus(p.swap_yz(), ring_radius, tube_radius)
}

/// An elliptical plate in the xy plane.
pub(crate) fn oval_plate(p: Vec3, radius_x: f32, radius_y: f32, half_depth: f32) -> f32 {
    let (qx, qy) = (p.x / radius_x, p.y / radius_y);
    let level = (qx * qx + qy * qy).sqrt();
    let (sx, sy) = (qx / radius_x, qy / radius_y);
    let slope = (sx * sx + sy * sy).sqrt();
    let flat = if slope < 1e-6 { -radius_x.min(radius_y) } else { level * (level - 1.0) / slope };
    extruded(flat, p.z, half_depth)
}

/// A triangular plate in the xy plane, corners counter-clockwise.
pub(crate) fn triangle_plate(p: Vec3, corners: [(f32, f32); 3], half_depth: f32) -> f32 {
    let mut nearest = f32::MAX;
    let mut inside = true;
    for idx in 0..3 {
        let (a, b) = (corners[idx], corners[(idx + 1) % 3]);
        let (ex, ey) = (b.0 - a.0, b.1 - a.1);
        let (wx, wy) = (p.x - a.0, p.y - a.1);
        let share = ((wx * ex + wy * ey) / (ex * ex + ey * ey)).clamp(0.0, 1.0);
        let (dx, dy) = (wx - ex * share, wy - ey * share);
        nearest = nearest.min(dx * dx + dy * dy);
        inside &= ex * wy - ey * wx >= 0.0;
    }
    let flat = if inside { -nearest.sqrt() } else { nearest.sqrt() };
    extruded(flat, p.z, half_depth)
}

/// A roof along z: a triangular prism of half width `half_width` and height `height` on y = 0.
pub(crate) fn gable(p: Vec3, half_width: f32, height: f32, half_length: f32) -> f32 {
    let slope_length = (half_width * half_width + height * height).sqrt();
    let slope = (p.x.abs() * height + p.y * half_width - half_width * height) / slope_length;
    slope.max(-p.y).max(p.z.abs() - half_length)
}

/// Extrudes a flat outline at distance `flat`.
pub(crate) fn extruded(flat: f32, along: f32, half_depth: f32) -> f32 {
    let depth = along.abs() - half_depth;
    let (fx, fy) = (flat.max(0.0), depth.max(0.0));
    (fx * fx + fy * fy).sqrt() + flat.max(depth).min(0.0)
}
