//! Human-like figures.

use crate::combine::{Surface, blend, union};
use crate::primitives::{capsule, cuboid, cylinder, cylinder_z, ellipsoid, frustum, limb, sphere};
use crate::shape::Shape;
use crate::vec3::{Vec3, v};

pub(crate) fn person(p: Vec3, shape: &Shape) -> Surface {
    let q = p.fold_x();
    let head = ellipsoid(p.at(0.0, 0.72, 0.0), v(0.14, 0.17, 0.15));
    let neck = capsule(p, v(0.0, 0.5, 0.0), v(0.0, 0.62, 0.0), 0.06);
    let chest = blend(
        limb(q, v(0.0, 0.36, 0.0), v(0.16, 0.4, 0.0), 0.14, 0.1),
        limb(p, v(0.0, 0.3, 0.0), v(0.0, 0.0, 0.0), 0.17, 0.15),
        0.08,
    );
    let hips = ellipsoid(p.at(0.0, -0.06, 0.0), v(0.19, 0.12, 0.14));
    let stride = 0.08 + 0.06 * shape.a;
    let legs = union([
        limb(p, v(0.1, -0.08, 0.0), v(0.12, -0.48, stride), 0.1, 0.07),
        limb(p, v(0.12, -0.48, stride), v(0.13, -0.88, stride * 0.6), 0.07, 0.05),
        limb(p, v(-0.1, -0.08, 0.0), v(-0.12, -0.48, -stride * 0.4), 0.1, 0.07),
        limb(p, v(-0.12, -0.48, -stride * 0.4), v(-0.13, -0.88, -stride), 0.07, 0.05),
    ]);
    let shoes = union([
        limb(p, v(0.13, -0.91, stride * 0.6), v(0.15, -0.92, stride * 0.6 + 0.13), 0.06, 0.05),
        limb(p, v(-0.13, -0.91, -stride), v(-0.15, -0.92, -stride + 0.13), 0.06, 0.05),
    ]);
    // One arm waves, the other hangs down.
    let hand = v(0.46, 0.72 + 0.1 * shape.b, 0.06);
    let skin = union([
        limb(p, v(0.46, 0.3, 0.02), hand, 0.06, 0.045),
        sphere(p - hand, 0.07),
        limb(p, v(-0.32, 0.1, 0.0), v(-0.36, -0.14, 0.08), 0.06, 0.045),
        sphere(p.at(-0.36, -0.16, 0.08), 0.065),
        neck,
    ]);
    let sleeves = union([
        limb(p, v(0.22, 0.42, 0.0), v(0.46, 0.3, 0.02), 0.085, 0.065),
        limb(p, v(-0.22, 0.42, 0.0), v(-0.32, 0.1, 0.0), 0.085, 0.065),
    ]);
    let hair = ellipsoid(p.at(0.0, 0.77, -0.04), v(0.155, 0.15, 0.15));
    Surface::new(0, union([chest, sleeves]))
        .with(1, union([hips, legs]))
        .with(2, union([head, skin]))
        .with(3, union([hair, shoes]))
}

pub(crate) fn robot(p: Vec3, shape: &Shape) -> Surface {
    let q = p.fold_x();
    let head = cuboid(p.at(0.0, 0.5, 0.0), v(0.24, 0.19, 0.2), 0.03);
    let torso = cuboid(p.at(0.0, -0.02, 0.0), v(0.34, 0.28, 0.23), 0.03);
    let antenna = union([
        capsule(q, v(0.14, 0.68, 0.0), v(0.2 + 0.04 * shape.a, 0.86, 0.0), 0.02),
        sphere(q.at(0.2 + 0.04 * shape.a, 0.88, 0.0), 0.05),
    ]);
    let eyes = cylinder_z(q.at(0.1, 0.55, 0.2), 0.065, 0.03);
    let mouth = cuboid(p.at(0.0, 0.4, 0.2), v(0.12, 0.025, 0.025), 0.0);
    let panel = cuboid(p.at(0.0, 0.02, 0.23), v(0.2, 0.13, 0.02), 0.0);
    let neck = cylinder(p.at(0.0, 0.28, 0.0), 0.09, 0.06);
    let elbow = v(0.56, -0.06 + 0.06 * shape.b, 0.0);
    let wrist = v(0.56, -0.14, 0.3);
    let arms = union([
        sphere(q.at(0.39, 0.16, 0.0), 0.11),
        capsule(q, v(0.42, 0.16, 0.0), elbow, 0.06),
        capsule(q, elbow, wrist, 0.06),
    ]);
    let claws = union([
        capsule(q, wrist, wrist + v(0.09, 0.0, 0.08), 0.035),
        capsule(q, wrist, wrist + v(-0.09, 0.0, 0.08), 0.035),
        capsule(q, wrist + v(0.09, 0.0, 0.08), wrist + v(0.04, 0.0, 0.18), 0.03),
        capsule(q, wrist + v(-0.09, 0.0, 0.08), wrist + v(-0.04, 0.0, 0.18), 0.03),
    ]);
    let legs = cuboid(q.at(0.17, -0.52, 0.0), v(0.09, 0.26, 0.09), 0.02);
    let feet = cuboid(q.at(0.18, -0.8, 0.06), v(0.14, 0.07, 0.2), 0.03);
    Surface::new(0, union([head, torso]))
        .with(1, union([arms, legs, neck]))
        .with(2, union([eyes, mouth, antenna]))
        .with(3, union([claws, feet, panel]))
}

pub(crate) fn snowman(p: Vec3, shape: &Shape) -> Surface {
    let q = p.fold_x();
    let balls = union([
        sphere(p.at(0.0, -0.56, 0.0), 0.38),
        sphere(p.at(0.0, -0.04, 0.0), 0.28),
        sphere(p.at(0.0, 0.36, 0.0), 0.2),
    ]);
    let hat = union([
        cylinder(p.at(0.0, 0.53, 0.0), 0.27, 0.025),
        frustum(p.at(0.0, 0.68, 0.0), 0.16, 0.18, 0.14 + 0.02 * shape.a),
    ]);
    let nose = limb(p, v(0.0, 0.36, 0.18), v(0.0, 0.34, 0.46), 0.055, 0.01);
    let hand = v(0.68, 0.24 + 0.1 * shape.b, 0.04);
    let arms = union([
        capsule(q, v(0.22, 0.02, 0.0), hand, 0.03),
        capsule(q, hand - v(0.08, 0.04, 0.0), hand + v(-0.02, 0.12, 0.0), 0.022),
        capsule(q, hand - v(0.08, 0.04, 0.0), hand + v(0.06, -0.06, 0.0), 0.022),
    ]);
    let coals = union([
        sphere(q.at(0.075, 0.42, 0.175), 0.035),
        sphere(p.at(0.0, 0.08, 0.26), 0.04),
        sphere(p.at(0.0, -0.06, 0.285), 0.04),
    ]);
    let scarf = union([
        cylinder(p.at(0.0, 0.19, 0.0), 0.19, 0.05) - 0.02,
        capsule(p, v(0.12, 0.17, 0.17), v(0.16, -0.08, 0.27), 0.055),
    ]);
    Surface::new(0, balls).with(1, hat).with(2, union([nose, scarf])).with(3, union([arms, coals]))
}
