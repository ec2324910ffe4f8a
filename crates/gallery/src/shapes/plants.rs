//! Plants, fruit and vegetables.

use crate::combine::{Surface, TURN_15, TURN_22, blend, fold_eight, sector, union};
use crate::portable_maths::{angle_of, sin_cos};
use crate::primitives::{capsule, cylinder, ellipsoid, frustum, limb, sphere};
use crate::shape::Shape;
use crate::vec3::{Vec3, v};

pub(crate) fn palm_tree(p: Vec3, shape: &Shape) -> Surface {
    let top = v(0.12 + 0.1 * shape.a, 0.36, 0.0);
    let trunk = union([
        limb(p, v(-0.06, -0.92, 0.0), v(-0.02, -0.3, 0.0), 0.1, 0.075),
        limb(p, v(-0.02, -0.3, 0.0), top, 0.075, 0.06),
    ]);
    let f = sector(p - top, 7.0);
    // Fronds are wide and thin: distances are measured with doubled height.
    let tall = v(f.x, f.y * 2.5, f.z);
    let droop = -0.14 + 0.08 * shape.b;
    let fronds = union([
        limb(tall, v(0.0, 0.1, 0.0), v(0.34, 0.46, 0.0), 0.05, 0.13),
        limb(tall, v(0.34, 0.46, 0.0), v(0.74, droop * 2.5, 0.0), 0.13, 0.02),
    ]) * 0.4;
    let nuts = sphere((p - top).fold_xz().at(0.09, -0.06, 0.09), 0.085);
    Surface::new(0, fronds).with(1, trunk).with(2, nuts)
}

pub(crate) fn conifer(p: Vec3, shape: &Shape) -> Surface {
    let wide = 0.54 + 0.06 * shape.a;
    let trunk = cylinder(p.at(0.0, -0.74, 0.0), 0.1, 0.24);
    Surface::new(1, trunk)
        .with(0, frustum(p.at(0.0, -0.32, 0.0), wide, 0.14, 0.27))
        .with(2, frustum(p.at(0.0, 0.08, 0.0), wide * 0.78, 0.08, 0.26))
        .with(0, frustum(p.at(0.0, 0.52, 0.0), wide * 0.55, 0.0, 0.32))
}

pub(crate) fn cactus(p: Vec3, shape: &Shape) -> Surface {
    let right = 0.0 + 0.1 * shape.a;
    let left = 0.14 + 0.1 * shape.b;
    let trunk = capsule(p, v(0.0, -0.6, 0.0), v(0.0, 0.68, 0.0), 0.19);
    let arms = union([
        capsule(p, v(0.0, right - 0.18, 0.0), v(0.44, right - 0.14, 0.0), 0.11),
        capsule(p, v(0.44, right - 0.14, 0.0), v(0.46, right + 0.34, 0.0), 0.12),
        capsule(p, v(0.0, left - 0.1, 0.0), v(-0.4, left - 0.06, 0.0), 0.1),
        capsule(p, v(-0.4, left - 0.06, 0.0), v(-0.42, left + 0.26, 0.0), 0.11),
    ]);
    // Ribs on the trunk: eight soft ridges.
    let ridge = (fold_eight(p).z * 6.0).min(1.0) * 0.02;
    let pot = union([
        frustum(p.at(0.0, -0.72, 0.0), 0.24, 0.33, 0.18),
        cylinder(p.at(0.0, -0.56, 0.0), 0.37, 0.05),
    ]);
    let bloom = sphere(p.at(0.0, 0.88, 0.0), 0.09);
    Surface::new(0, blend(trunk + ridge, arms, 0.05)).with(1, pot).with(2, bloom)
}

pub(crate) fn mushroom(p: Vec3, shape: &Shape) -> Surface {
    let wide = 0.66 + 0.06 * shape.a;
    let stem = limb(p, v(0.0, -0.62, 0.0), v(0.0, 0.1, 0.0), 0.24, 0.15);
    let dome = ellipsoid(p.at(0.0, 0.06, 0.0), v(wide, 0.58, wide));
    let cap = dome.max(0.04 - p.y + 0.1 * (p.x * p.x + p.z * p.z));
    let ring = frustum(p.at(0.0, -0.1, 0.0), 0.26, 0.14, 0.06);
    let d = fold_eight(p);
    let q = p.fold_xz();
    let warts = union([
        sphere(d.at(wide * 0.88, 0.28, 0.0), 0.09),
        sphere(q.at(wide * 0.44, 0.5, wide * 0.44), 0.1),
        sphere(p.at(0.0, 0.6, 0.0), 0.11),
    ]);
    Surface::new(0, cap).with(1, stem).with(2, warts).with(1, ring)
}

pub(crate) fn potted_flower(p: Vec3, shape: &Shape) -> Surface {
    let centre = v(0.0, 0.5, 0.12);
    // The bloom faces forward and slightly up.
    let bloom = TURN_22.back().about_x(p - centre).swap_yz();
    let f = fold_eight(bloom);
    let reach = 0.3 + 0.03 * shape.a;
    let petals = ellipsoid(f.at(reach, 0.0, 0.0), v(0.18, 0.045, 0.115));
    let heart = ellipsoid(bloom, v(0.16, 0.09, 0.16));
    let stem = union([
        capsule(p, v(0.0, -0.6, 0.0), v(0.0, 0.2, 0.0), 0.035),
        capsule(p, v(0.0, 0.2, 0.0), centre, 0.035),
    ]);
    let leaf_y = -0.1 + 0.06 * shape.b;
    let q = p.fold_x();
    let tall = v(q.x, q.y, q.z * 0.6);
    let leaves = limb(tall, v(0.0, -0.35, 0.0), v(0.34, leaf_y, 0.0), 0.03, 0.06).min(limb(
        tall,
        v(0.34, leaf_y, 0.0),
        v(0.5, leaf_y - 0.02, 0.0),
        0.06,
        0.01,
    ));
    let pot =
        union([frustum(p.at(0.0, -0.68, 0.0), 0.2, 0.29, 0.2), cylinder(p.at(0.0, -0.48, 0.0), 0.33, 0.05)]);
    Surface::new(0, petals).with(1, heart).with(2, union([stem, leaves])).with(3, pot)
}

pub(crate) fn banana(p: Vec3, shape: &Shape) -> Surface {
    let ring = 0.72;
    let half_angle = 1.0 + 0.08 * shape.a;
    let c = p.at(0.0, 0.56, 0.0);
    let angle = angle_of(c.x, -c.y).clamp(-half_angle, half_angle);
    let (sin, cos) = sin_cos(angle);
    let nearest = v(ring * sin, -ring * cos, 0.0);
    let share = angle / half_angle;
    let taper = 1.0 - 0.72 * share * share * share * share;
    // Real ones have five sides; these are slightly flattened.
    let offset = c - nearest;
    let tube = v(offset.x, offset.y, offset.z * 1.05).length() - (0.2 + 0.015 * shape.b) * taper;
    let tip = if share > 0.93 {
        1
    } else if share < -0.95 {
        2
    } else {
        0
    };
    let (sin, cos) = sin_cos(half_angle);
    let end = v(ring * sin, 0.56 - ring * cos, 0.0);
    let stalk = limb(p, end, end + v(0.07, 0.16, 0.0), 0.06, 0.045);
    Surface::new(tip, tube).with(1, stalk)
}

pub(crate) fn cherries(p: Vec3, shape: &Shape) -> Surface {
    let joint = v(0.05, 0.78, 0.0);
    let left = v(-0.4, -0.36 + 0.06 * shape.a, 0.08);
    let right = v(0.4, -0.44 + 0.06 * shape.b, -0.06);
    let fruit = union([sphere(p - left, 0.31), sphere(p - right, 0.32)]);
    let bend_left = v(-0.3, 0.3, 0.04);
    let bend_right = v(0.36, 0.26, -0.03);
    let stalks = union([
        capsule(p, left + v(0.0, 0.24, 0.0), bend_left, 0.028),
        capsule(p, bend_left, joint, 0.028),
        capsule(p, right + v(0.0, 0.24, 0.0), bend_right, 0.028),
        capsule(p, bend_right, joint, 0.028),
    ]);
    let leaf = ellipsoid(TURN_15.about_z(p.at(0.38, 0.78, 0.0)), v(0.34, 0.05, 0.17));
    Surface::new(0, fruit).with(1, stalks).with(2, leaf)
}

pub(crate) fn carrot(p: Vec3, shape: &Shape) -> Surface {
    let girth = 0.25 + 0.02 * shape.a;
    let root = limb(p, v(0.0, 0.2, 0.0), v(0.0, -0.96, 0.0), girth, 0.015);
    // Shallow rings around the root.
    let rings = p.y * 7.0;
    let groove = (0.5 - (rings - rings.round()).abs()).max(0.42) - 0.42;
    let l = sector(p.at(0.0, 0.38, 0.0), 7.0);
    let tall = v(l.x, l.y, l.z * 0.8);
    let leaves = union([
        limb(tall, v(0.0, 0.0, 0.0), v(0.12, 0.26, 0.0), 0.03, 0.035),
        limb(tall, v(0.12, 0.26, 0.0), v(0.32 + 0.06 * shape.b, 0.5, 0.0), 0.06, 0.025),
        limb(p, v(0.0, 0.4, 0.0), v(0.02, 0.98, 0.0), 0.03, 0.06),
    ]);
    Surface::new(0, root + groove * 0.25).with(1, leaves)
}
