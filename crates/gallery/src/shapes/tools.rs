//! Tools, instruments and accessories.

use crate::combine::{Surface, blend, cut, fold_eight, repeat, sector, union};
use crate::portable_maths::angle_of;
use crate::primitives::{
    capsule, cuboid, cylinder, cylinder_x, cylinder_z, ellipsoid, extruded, limb, sphere, torus, torus_z,
    triangle_plate,
};
use crate::shape::Shape;
use crate::vec3::{Vec3, v};

pub(crate) fn guitar(p: Vec3, shape: &Shape) -> Surface {
    let round = |x: f32, y: f32, radius: f32| (x * x + y * y).sqrt() - radius;
    let outline = blend(round(p.x, p.y + 0.55, 0.36 + 0.02 * shape.a), round(p.x, p.y + 0.08, 0.27), 0.16);
    let body = extruded(outline, p.z, 0.12);
    let binding = extruded(outline.abs() - 0.03, p.z.abs() - 0.115, 0.02);
    let neck = cuboid(p.at(0.0, 0.4, 0.13), v(0.055, 0.42, 0.035), 0.02);
    let head = cuboid(p.at(0.0, 0.88, 0.12), v(0.1, 0.12, 0.03), 0.02);
    let pegs = capsule(
        v(p.x.abs(), repeat(p.y - 0.88, 0.08, 1.0), p.z - 0.12),
        v(0.08, 0.0, 0.0),
        v(0.15, 0.0, 0.0),
        0.024,
    );
    let hole = cylinder_z(p.at(0.0, -0.16, 0.12), 0.12, 0.015);
    let saddle = cuboid(p.at(0.0, -0.62, 0.13), v(0.16, 0.03, 0.03), 0.01);
    let strings = capsule(v(p.x.abs(), p.y, p.z), v(0.02, -0.62, 0.165), v(0.02, 0.8, 0.17), 0.008);
    Surface::new(0, body)
        .with(1, union([neck, head]))
        .with(2, union([hole, binding]))
        .with(3, union([saddle, pegs, strings]))
}

pub(crate) fn dumbbell(p: Vec3, shape: &Shape) -> Surface {
    let q = p.fold_x();
    let bar = cylinder_x(p, 0.075, 0.88);
    let plates = union([
        cylinder_x(q.at(0.48, 0.0, 0.0), 0.36 + 0.03 * shape.a, 0.07) - 0.02,
        cylinder_x(q.at(0.67, 0.0, 0.0), 0.28 + 0.03 * shape.b, 0.06) - 0.02,
    ]);
    let collars =
        union([cylinder_x(q.at(0.8, 0.0, 0.0), 0.12, 0.04), cylinder_x(q.at(0.36, 0.0, 0.0), 0.12, 0.03)]);
    Surface::new(0, plates).with(1, bar).with(2, collars)
}

pub(crate) fn spring(p: Vec3, shape: &Shape) -> Surface {
    let ring = 0.42 + 0.03 * shape.a;
    let pitch = 0.3;
    let across = (p.x * p.x + p.z * p.z).sqrt() - ring;
    let phase = angle_of(p.z, p.x) / std::f32::consts::TAU;
    let turns = p.y / pitch;
    // The nearest of five coils.
    let coil = (turns - phase).round().clamp(-2.0, 2.0);
    let along = p.y - (coil + phase) * pitch;
    let wire = (across * across + along * along).sqrt() - (0.075 + 0.01 * shape.b);
    let rings = union([torus(p.at(0.0, -0.8, 0.0), ring, 0.085), torus(p.at(0.0, 0.8, 0.0), ring, 0.085)]);
    Surface::new(0, wire).with(1, rings)
}

pub(crate) fn gear(p: Vec3, shape: &Shape) -> Surface {
    let a = p.swap_yz();
    let t = sector(a, 10.0);
    let rim = cut(cylinder(a, 0.62, 0.15), cylinder(a, 0.4, 0.4));
    let tooth = cuboid(t.at(0.7, 0.0, 0.0), v(0.13, 0.15, 0.105 - 0.15 * (t.x - 0.7)), 0.02);
    let hub = cut(cylinder(a, 0.24, 0.2), cylinder(a, 0.11 + 0.02 * shape.a, 0.4));
    let (x, z) = (a.x.abs(), a.z.abs());
    let spokes = cuboid(v(x.max(z) - 0.32, a.y, x.min(z)), v(0.14, 0.09, 0.075 + 0.02 * shape.b), 0.02);
    Surface::new(0, rim.min(tooth * 0.9)).with(1, hub).with(2, spokes)
}

pub(crate) fn crown(p: Vec3, shape: &Shape) -> Surface {
    let t = fold_eight(p);
    // It widens upwards.
    let radius = 0.56 + 0.12 * (p.y + 0.3);
    let wall = (t.x - radius).abs() - 0.04;
    let band = cuboid(v(t.x - radius, p.y + 0.36, 0.0), v(0.055, 0.1, 0.3), 0.02);
    let height = 0.4 + 0.06 * shape.a;
    // Spikes: the top edge falls with the distance from the centre of a sector.
    let edge = (p.y - height + 3.0 * t.z) * 0.32;
    let spikes = wall.max(edge).max(-0.4 - p.y);
    let balls = sphere(t.at(0.56 + 0.12 * (height + 0.3), height + 0.03, 0.0), 0.075);
    let gems = sphere(t.at(0.6, -0.36, 0.0), 0.075);
    let lining = ellipsoid(p.at(0.0, -0.42, 0.0), v(0.55, 0.3, 0.55)).max(-0.4 - p.y);
    Surface::new(0, spikes).with(3, band).with(1, balls).with(2, union([gems, lining]))
}

pub(crate) fn anchor(p: Vec3, shape: &Shape) -> Surface {
    let q = p.fold_x();
    let shank = limb(p, v(0.0, 0.56, 0.0), v(0.0, -0.72, 0.0), 0.07, 0.1);
    let eye = torus_z(p.at(0.0, 0.76, 0.0), 0.14, 0.05);
    let stock = capsule(q, v(0.0, 0.44, 0.0), v(0.42 + 0.03 * shape.a, 0.44, 0.0), 0.065);
    let knob = sphere(q.at(0.42 + 0.03 * shape.a, 0.44, 0.0), 0.09);
    let arms = union([
        limb(q, v(0.0, -0.78, 0.0), v(0.38, -0.64, 0.0), 0.11, 0.09),
        limb(q, v(0.38, -0.64, 0.0), v(0.64, -0.3, 0.0), 0.09, 0.06),
    ]);
    let fluke = triangle_plate(q, [(0.42, -0.36), (0.8, -0.44), (0.7, -0.02)], 0.12) - 0.01;
    Surface::new(0, union([shank, arms])).with(1, union([eye, stock])).with(2, fluke).with(3, knob)
}

pub(crate) fn hammer(p: Vec3, shape: &Shape) -> Surface {
    let grip = cuboid(p.at(0.0, -0.5, 0.0), v(0.09, 0.38, 0.075), 0.06);
    let handle = cuboid(p.at(0.0, 0.0, 0.0), v(0.065, 0.66, 0.055), 0.045);
    let neck = cylinder_x(p.at(0.2, 0.66, 0.0), 0.1, 0.14);
    let face = cylinder_x(p.at(0.4, 0.66, 0.0), 0.17 + 0.02 * shape.a, 0.1) - 0.01;
    let block = cuboid(p.at(0.0, 0.66, 0.0), v(0.13, 0.15, 0.12), 0.03);
    let q = p.fold_z();
    let droop = 0.42 + 0.06 * shape.b;
    let claw = union([
        limb(q, v(-0.08, 0.7, 0.05), v(-0.34, 0.66, 0.08), 0.085, 0.065),
        limb(q, v(-0.34, 0.66, 0.08), v(-0.58, droop, 0.11), 0.065, 0.03),
    ]);
    Surface::new(0, union([face, neck, block, claw])).with(1, handle).with(2, grip)
}

pub(crate) fn spectacles(p: Vec3, shape: &Shape) -> Surface {
    let q = p.fold_x();
    let radius = 0.3 + 0.03 * shape.a;
    let rim = q.at(0.4, 0.0, 0.4);
    let rims = torus_z(rim, radius, 0.05);
    let lenses = cylinder_z(rim, radius, 0.015);
    let nose = torus_z(p.at(0.0, 0.0, 0.4), 0.11, 0.038).max(-0.02 - p.y);
    let hinge = v(0.4 + radius, 0.08, 0.4);
    let ear = v(0.7, 0.08, -0.4);
    let temples =
        union([capsule(q, hinge, ear, 0.042), limb(q, ear, ear + v(0.0, -0.2, -0.18), 0.042, 0.055)]);
    Surface::new(0, union([rims, nose])).with(1, lenses).with(2, temples)
}
