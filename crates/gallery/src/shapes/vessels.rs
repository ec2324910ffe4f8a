//! Aircraft and ships.

use crate::combine::{Surface, TURN_15, TURN_45, blend, union};
use crate::portable_maths::angle_of;
use crate::primitives::{
    blade, capsule, cuboid, cylinder_z, ellipsoid, frustum, limb, sphere, torus_z, triangle_plate,
};
use crate::shape::Shape;
use crate::vec3::{Vec3, v};

pub(crate) fn helicopter(p: Vec3, shape: &Shape) -> Surface {
    let q = p.fold_z();
    let cabin = ellipsoid(p.at(0.24, -0.08, 0.0), v(0.42, 0.29, 0.27));
    let glass = ellipsoid(p.at(0.38, -0.02, 0.0), v(0.31, 0.22, 0.24));
    let boom = limb(p, v(-0.02, 0.02, 0.0), v(-0.85, 0.14, 0.0), 0.13, 0.05);
    let fin = blade(p, (-0.84, 0.12), (-0.95, 0.38), 0.08, 0.06, 0.025);
    let engine = cuboid(p.at(0.08, 0.22, 0.0), v(0.22, 0.08, 0.13), 0.06);
    let mast = capsule(p, v(0.1, 0.2, 0.0), v(0.1, 0.42, 0.0), 0.04);
    // The rotor has an angle of its own.
    let r = if shape.b > 0.0 { TURN_15 } else { TURN_45 }.about_y(p.at(0.1, 0.43, 0.0));
    let (long, short) = (r.x.abs().max(r.z.abs()), r.x.abs().min(r.z.abs()));
    let rotor = cuboid(v(long, r.y, short), v(0.86, 0.022, 0.055), 0.01);
    let tail_rotor = union([
        cuboid(p.at(-0.88, 0.2, 0.08), v(0.035, 0.22, 0.015), 0.01),
        cuboid(p.at(-0.88, 0.2, 0.08), v(0.22, 0.035, 0.015), 0.01),
    ]);
    let skid_y = -0.5 - 0.03 * shape.a;
    let skids = union([
        capsule(q, v(-0.18, skid_y, 0.26), v(0.56, skid_y, 0.26), 0.032),
        capsule(q, v(0.06, -0.25, 0.12), v(0.02, skid_y, 0.26), 0.026),
        capsule(q, v(0.38, -0.25, 0.12), v(0.42, skid_y, 0.26), 0.026),
        capsule(q, v(0.56, skid_y, 0.26), v(0.66, skid_y + 0.08, 0.26), 0.03),
    ]);
    Surface::new(0, union([blend(cabin, boom, 0.12), engine, fin]))
        .with(1, glass)
        .with(2, union([mast, rotor, tail_rotor]))
        .with(3, skids)
}

pub(crate) fn biplane(p: Vec3, shape: &Shape) -> Surface {
    let q = p.fold_z();
    let span = 0.8 + 0.05 * shape.a;
    let fuselage = limb(p, v(0.5, 0.0, 0.0), v(-0.75, 0.06, 0.0), 0.155, 0.05);
    let wings = union([
        cuboid(p.at(0.24, 0.3, 0.0), v(0.17, 0.025, span), 0.02),
        cuboid(p.at(0.18, -0.12, 0.0), v(0.16, 0.025, span - 0.06), 0.02),
    ]);
    let tail = union([
        cuboid(p.at(-0.74, 0.08, 0.0), v(0.11, 0.02, 0.3), 0.01),
        blade(p, (-0.68, 0.1), (-0.78, 0.26), 0.1, 0.07, 0.02),
    ]);
    let struts = union([
        capsule(q, v(0.32, 0.3, 0.55), v(0.28, -0.12, 0.55), 0.02),
        capsule(q, v(0.12, 0.3, 0.55), v(0.08, -0.12, 0.55), 0.02),
        capsule(q, v(0.28, 0.3, 0.12), v(0.28, 0.08, 0.08), 0.02),
    ]);
    let gear = capsule(q, v(0.3, -0.1, 0.06), v(0.34, -0.36, 0.2), 0.025);
    let wheel = cylinder_z(q.at(0.34, -0.38, 0.22), 0.11, 0.035);
    let blade_turned = if shape.b > 0.0 { TURN_45.about_x(p) } else { p };
    let propeller = cuboid(blade_turned.at(0.7, 0.0, 0.0), v(0.018, 0.3, 0.04), 0.015);
    Surface::new(0, union([fuselage, tail]))
        .with(1, wings)
        .with(2, union([propeller, sphere(p.at(0.66, 0.0, 0.0), 0.07)]))
        .with(3, union([struts, gear, wheel]))
        .with(3, sphere(p.at(-0.06, 0.18, 0.0), 0.08))
}

pub(crate) fn rocket(p: Vec3, shape: &Shape) -> Surface {
    let girth = 0.27 + 0.03 * shape.a;
    let hull = ellipsoid(p.at(0.0, 0.05, 0.0), v(girth, 0.85, girth)).max(-0.58 - p.y);
    let (x, z) = (p.x.abs(), p.z.abs());
    let fins = v(x.max(z), p.y, x.min(z));
    let fin = union([
        blade(fins, (0.2, -0.28), (0.46, -0.62), 0.07, 0.07, 0.03),
        blade(fins, (0.46, -0.62), (0.46, -0.86), 0.07, 0.03, 0.03),
    ]);
    let nozzle = frustum(p.at(0.0, -0.66, 0.0), 0.18, 0.12, 0.09);
    let porthole = union([
        sphere(p.at(0.0, 0.28, girth - 0.07), 0.11),
        torus_z(p.at(0.0, 0.28, girth - 0.02), 0.11, 0.035),
    ]);
    Surface::new(if p.y > 0.52 { 1 } else { 0 }, hull).with(1, fin).with(3, nozzle).with(2, porthole)
}

pub(crate) fn sailboat(p: Vec3, shape: &Shape) -> Surface {
    let deck = -0.48;
    let hull = ellipsoid(p.at(0.0, deck, 0.0), v(0.74, 0.34, 0.27)).max(p.y - deck).max(deck - 0.26 - p.y);
    let cabin = cuboid(p.at(-0.12, deck + 0.05, 0.0), v(0.22, 0.07, 0.13), 0.04);
    let mast = capsule(p, v(0.08, deck, 0.0), v(0.08, 0.92, 0.0), 0.028);
    let boom = capsule(p, v(0.08, deck + 0.2, 0.0), v(-0.6, deck + 0.2, 0.0), 0.025);
    // Sails billow: their middle plane bends away with the distance from the mast.
    let belly = p.z - 0.25 * (p.x - 0.08) * (p.x - 0.08) * (1.0 + 0.5 * shape.a);
    let s = v(p.x, p.y, belly);
    let main = triangle_plate(s, [(0.04, -0.24), (0.04, 0.88), (-0.58, -0.24)], 0.02);
    let jib = triangle_plate(s, [(0.14, 0.74), (0.14, -0.34), (0.7, -0.4)], 0.02);
    Surface::new(0, hull).with(1, main).with(2, jib).with(3, union([cabin, mast, boom]))
}

pub(crate) fn balloon(p: Vec3, shape: &Shape) -> Surface {
    let round = 0.54 + 0.03 * shape.a;
    let envelope = limb(p, v(0.0, 0.32, 0.0), v(0.0, -0.32, 0.0), round, 0.16);
    // Gores of two colours: twelve sectors.
    let gore = angle_of(p.z, p.x) * (6.0 / std::f32::consts::PI);
    let colour = u8::from((gore.floor() as i32).rem_euclid(2) == 1);
    let q = p.fold_xz();
    let ropes = capsule(q, v(0.12, -0.4, 0.12), v(0.12, -0.72, 0.12), 0.016);
    let basket = cuboid(p.at(0.0, -0.82, 0.0), v(0.16, 0.11, 0.16), 0.03);
    Surface::new(colour, envelope).with(3, ropes).with(2, basket)
}
