//! Mammals: animals on four legs, and a sitting panda.

use crate::combine::{Surface, blend, union};
use crate::primitives::{capsule, cuboid, ellipsoid, limb, sphere};
use crate::shape::Shape;
use crate::vec3::{Vec3, v};

pub(crate) fn terrier(p: Vec3, shape: &Shape) -> Surface {
    let q = p.fold_z();
    let foot = -0.58 - 0.05 * shape.a;
    let body = limb(p, v(-0.42, 0.03, 0.0), v(0.3, 0.08, 0.0), 0.19, 0.23);
    let neck = limb(p, v(0.28, 0.15, 0.0), v(0.5, 0.42, 0.0), 0.15, 0.13);
    let head = sphere(p.at(0.55, 0.46, 0.0), 0.19);
    let fore = limb(q, v(0.28, 0.0, 0.13), v(0.3, foot, 0.13), 0.09, 0.07);
    let hind = limb(q, v(-0.4, 0.02, 0.13), v(-0.46, foot, 0.13), 0.12, 0.07);
    let paws = union([
        limb(q, v(0.3, foot, 0.13), v(0.38, foot, 0.13), 0.07, 0.06),
        limb(q, v(-0.46, foot, 0.13), v(-0.38, foot, 0.13), 0.07, 0.06),
    ]);
    let tail = limb(p, v(-0.55, 0.12, 0.0), v(-0.74, 0.46 + 0.1 * shape.b, 0.0), 0.07, 0.035);
    let snout = cuboid(p.at(0.78, 0.4, 0.0), v(0.17, 0.09, 0.1), 0.07);
    let beard = limb(p, v(0.72, 0.32, 0.0), v(0.86, 0.26, 0.0), 0.07, 0.06);
    let ear = limb(q, v(0.46, 0.6, 0.13), v(0.47, 0.8, 0.17), 0.075, 0.02);
    let coat = blend(blend(body, neck, 0.1), head, 0.06);
    Surface::new(0, blend(coat, union([fore, hind]), 0.06).min(paws))
        .with(0, tail)
        .with(1, union([snout, beard]))
        .with(1, ear)
        .with(2, sphere(p.at(0.95, 0.45, 0.0), 0.055))
        .with(3, sphere(q.at(0.7, 0.54, 0.09), 0.04))
}

pub(crate) fn panda(p: Vec3, shape: &Shape) -> Surface {
    let q = p.fold_z();
    let body = ellipsoid(p.at(-0.02, -0.28, 0.0), v(0.43, 0.48, 0.43));
    let head = ellipsoid(p.at(0.08, 0.4, 0.0), v(0.36, 0.33, 0.41));
    let muzzle = sphere(p.at(0.36, 0.31, 0.0), 0.14);
    let ear = sphere(q.at(0.0, 0.7, 0.3), 0.13 + 0.02 * shape.a);
    let patch = ellipsoid(q.at(0.35, 0.45, 0.17), v(0.08, 0.11, 0.09));
    let arm = limb(q, v(0.08, 0.02, 0.38), v(0.42, -0.22 + 0.06 * shape.b, 0.3), 0.16, 0.13);
    let leg = limb(q, v(0.1, -0.6, 0.32), v(0.52, -0.6, 0.4), 0.18, 0.16);
    Surface::new(0, blend(body, head, 0.05))
        .with(0, muzzle)
        .with(1, union([ear, patch, arm, leg]))
        .with(1, sphere(p.at(0.49, 0.35, 0.0), 0.055))
        .with(2, sphere(q.at(0.42, 0.47, 0.18), 0.045))
        .with(3, ellipsoid(q.at(0.67, -0.6, 0.41), v(0.04, 0.1, 0.1)))
}

pub(crate) fn elephant(p: Vec3, shape: &Shape) -> Surface {
    let q = p.fold_z();
    let body = ellipsoid(p.at(-0.15, 0.12, 0.0), v(0.5, 0.37, 0.34));
    let head = sphere(p.at(0.4, 0.28, 0.0), 0.25);
    let tip_x = 0.9 + 0.08 * shape.a;
    let trunk = union([
        limb(p, v(0.56, 0.22, 0.0), v(0.76, -0.08, 0.0), 0.13, 0.095),
        limb(p, v(0.76, -0.08, 0.0), v(0.8, -0.4, 0.0), 0.095, 0.07),
        limb(p, v(0.8, -0.4, 0.0), v(tip_x, -0.5, 0.0), 0.07, 0.055),
    ]);
    let ear = ellipsoid(q.at(0.3, 0.26, 0.4), v(0.06, 0.29 + 0.03 * shape.b, 0.22));
    let fore = limb(q, v(0.15, 0.0, 0.19), v(0.17, -0.6, 0.19), 0.15, 0.12);
    let hind = limb(q, v(-0.42, 0.0, 0.19), v(-0.44, -0.6, 0.19), 0.16, 0.12);
    let tail = limb(p, v(-0.62, 0.2, 0.0), v(-0.74, -0.2, 0.0), 0.03, 0.02);
    let tusk = union([
        limb(q, v(0.52, 0.12, 0.13), v(0.7, -0.1, 0.16), 0.045, 0.035),
        limb(q, v(0.7, -0.1, 0.16), v(0.86, -0.08, 0.16), 0.035, 0.01),
    ]);
    let skin = blend(blend(body, head, 0.12), trunk, 0.05);
    Surface::new(0, blend(skin, union([fore, hind]), 0.06))
        .with(0, tail)
        .with(1, ear)
        .with(2, tusk)
        .with(3, sphere(q.at(0.56, 0.37, 0.17), 0.035))
}

pub(crate) fn giraffe(p: Vec3, shape: &Shape) -> Surface {
    let q = p.fold_z();
    let (head_x, head_y) = (0.36 + 0.06 * shape.b, 0.66 + 0.06 * shape.a);
    let body = ellipsoid(p.at(-0.16, -0.16, 0.0), v(0.32, 0.18, 0.15));
    let neck = limb(p, v(0.04, -0.08, 0.0), v(head_x - 0.02, head_y, 0.0), 0.13, 0.065);
    let head = limb(p, v(head_x, head_y + 0.04, 0.0), v(head_x + 0.24, head_y - 0.05, 0.0), 0.09, 0.05);
    let fore = limb(q, v(0.06, -0.16, 0.09), v(0.08, -0.92, 0.1), 0.07, 0.04);
    let hind = limb(q, v(-0.36, -0.18, 0.09), v(-0.38, -0.92, 0.1), 0.09, 0.04);
    let tail = limb(p, v(-0.46, -0.1, 0.0), v(-0.56, -0.48, 0.0), 0.025, 0.035);
    let horn =
        capsule(q, v(head_x - 0.02, head_y + 0.08, 0.04), v(head_x - 0.05, head_y + 0.22, 0.06), 0.022);
    let ear =
        limb(q, v(head_x - 0.05, head_y + 0.08, 0.08), v(head_x - 0.1, head_y + 0.11, 0.2), 0.035, 0.02);
    let mane = limb(p, v(-0.08, 0.06, 0.0), v(head_x - 0.1, head_y + 0.02, 0.0), 0.05, 0.035);
    Surface::new(0, blend(blend(body, neck, 0.12), head, 0.05))
        .with(0, union([fore, hind]))
        .with(1, union([mane, tail]))
        .with(2, union([horn, ear]))
        .with(3, sphere(q.at(head_x + 0.05, head_y + 0.08, 0.07), 0.028))
}

pub(crate) fn rabbit(p: Vec3, shape: &Shape) -> Surface {
    let q = p.fold_z();
    let ear_x = 0.1 + 0.08 * shape.b;
    let body = ellipsoid(p.at(-0.12, -0.28, 0.0), v(0.4, 0.36, 0.3));
    let chest = sphere(p.at(0.14, -0.2, 0.0), 0.24);
    let head = ellipsoid(p.at(0.32, 0.14, 0.0), v(0.25, 0.21, 0.2));
    let ear = limb(q, v(0.24, 0.28, 0.09), v(ear_x, 0.84 + 0.06 * shape.a, 0.17), 0.065, 0.075);
    let inner = limb(q, v(0.29, 0.38, 0.1), v(ear_x + 0.05, 0.82, 0.175), 0.035, 0.045);
    let haunch = ellipsoid(q.at(-0.18, -0.4, 0.2), v(0.24, 0.24, 0.15));
    let fore = limb(q, v(0.24, -0.3, 0.11), v(0.3, -0.62, 0.11), 0.08, 0.06);
    let foot = limb(q, v(-0.15, -0.63, 0.23), v(0.16, -0.64, 0.24), 0.07, 0.06);
    let coat = blend(blend(body, chest, 0.1), head, 0.08);
    Surface::new(0, blend(coat, union([haunch, ear]), 0.04))
        .with(0, union([fore, foot]))
        .with(1, inner)
        .with(1, sphere(p.at(-0.52, -0.36, 0.0), 0.13))
        .with(2, sphere(p.at(0.57, 0.14, 0.0), 0.04))
        .with(3, sphere(q.at(0.44, 0.22, 0.15), 0.045))
}
