//! Animals that fly, swim or crawl.

use crate::combine::{Surface, TURN_15, TURN_30, blend, fold_eight, union};
use crate::portable_maths::angle_of;
use crate::primitives::{blade, cuboid, ellipsoid, limb, oval_plate, sphere};
use crate::shape::Shape;
use crate::vec3::{Vec3, v};

pub(crate) fn butterfly(p: Vec3, shape: &Shape) -> Surface {
    let q = p.fold_x();
    // Raised wings are visible from every side.
    let w = TURN_15.about_y(q);
    let upper = TURN_30.about_z(w.at(0.46, 0.34, 0.0));
    let lower = TURN_30.back().about_z(w.at(0.34, -0.3, 0.0));
    let upper_wing = oval_plate(upper, 0.46, 0.3 + 0.03 * shape.a, 0.025);
    let lower_wing = oval_plate(lower, 0.32, 0.26 + 0.03 * shape.b, 0.025);
    let spots = union([
        oval_plate(upper.at(0.2, 0.0, 0.0), 0.13, 0.12, 0.04),
        oval_plate(lower.at(0.08, 0.0, 0.0), 0.1, 0.1, 0.04),
    ]);
    let antenna = limb(q, v(0.02, 0.42, 0.04), v(0.2, 0.76, 0.14), 0.018, 0.018);
    Surface::new(0, upper_wing)
        .with(1, lower_wing)
        .with(2, spots)
        .with(3, limb(p, v(0.0, -0.42, 0.0), v(0.0, 0.3, 0.0), 0.045, 0.085))
        .with(3, sphere(p.at(0.0, 0.4, 0.02), 0.09))
        .with(3, antenna.min(sphere(q.at(0.2, 0.76, 0.14), 0.035)))
}

pub(crate) fn duck(p: Vec3, shape: &Shape) -> Surface {
    let q = p.fold_z();
    let head_y = 0.36 + 0.05 * shape.a;
    let body = ellipsoid(p.at(-0.1, -0.18, 0.0), v(0.52, 0.3, 0.33));
    let neck = limb(p, v(0.2, -0.08, 0.0), v(0.3, head_y, 0.0), 0.18, 0.13);
    let head = sphere(p.at(0.32, head_y, 0.0), 0.22);
    let tail = limb(p, v(-0.45, -0.1, 0.0), v(-0.76, 0.14 + 0.06 * shape.b, 0.0), 0.17, 0.03);
    let bill = cuboid(p.at(0.6, head_y - 0.06, 0.0), v(0.17, 0.045, 0.11), 0.044);
    let wing = ellipsoid(q.at(-0.15, -0.12, 0.29), v(0.34, 0.18, 0.09));
    let feet = cuboid(q.at(0.0, -0.54, 0.16), v(0.16, 0.03, 0.11), 0.03);
    let leg = limb(q, v(-0.05, -0.35, 0.15), v(-0.05, -0.54, 0.16), 0.04, 0.04);
    Surface::new(0, blend(blend(blend(body, neck, 0.1), head, 0.04), tail, 0.1))
        .with(1, union([bill, feet, leg]))
        .with(2, wing)
        .with(3, sphere(q.at(0.45, head_y + 0.08, 0.15), 0.045))
}

pub(crate) fn fish(p: Vec3, shape: &Shape) -> Surface {
    let q = p.fold_z();
    let body = ellipsoid(p.at(0.08, 0.0, 0.0), v(0.55, 0.32 + 0.05 * shape.a, 0.19));
    let tail = blade(v(p.x, p.y.abs(), p.z), (-0.4, 0.02), (-0.8, 0.3), 0.06, 0.13, 0.03);
    let dorsal = blade(p, (0.15, 0.28), (-0.2, 0.4 + 0.04 * shape.b), 0.1, 0.08, 0.025);
    let belly = blade(p, (0.0, -0.26), (-0.16, -0.42), 0.07, 0.04, 0.025);
    let pectoral = limb(q, v(0.2, -0.08, 0.15), v(-0.02, -0.2, 0.42), 0.05, 0.07);
    let lips = limb(q, v(0.62, -0.04, 0.0), v(0.6, -0.05, 0.07), 0.05, 0.03);
    Surface::new(0, body)
        .with(1, union([tail, dorsal, belly]))
        .with(1, pectoral)
        .with(2, lips)
        .with(3, sphere(q.at(0.38, 0.08, 0.13), 0.06))
}

pub(crate) fn octopus(p: Vec3, shape: &Shape) -> Surface {
    let t = fold_eight(p);
    let tip_y = -0.25 + 0.15 * shape.a;
    let arms = union([
        limb(t, v(0.15, 0.0, 0.0), v(0.45, -0.42, 0.0), 0.13, 0.1),
        limb(t, v(0.45, -0.42, 0.0), v(0.76, -0.5, 0.03), 0.1, 0.06),
        limb(t, v(0.76, -0.5, 0.03), v(0.92, tip_y, 0.0), 0.06, 0.03),
    ]);
    let q = p.fold_x();
    let head = ellipsoid(p.at(0.0, 0.36, -0.04), v(0.36, 0.42 + 0.05 * shape.b, 0.36));
    Surface::new(0, blend(head, arms, 0.1))
        .with(2, sphere(q.at(0.15, 0.24, 0.28), 0.1))
        .with(3, sphere(q.at(0.155, 0.25, 0.36), 0.05))
}

pub(crate) fn snail(p: Vec3, shape: &Shape) -> Surface {
    let q = p.fold_z();
    let c = p.at(-0.14, 0.14, 0.0);
    let across = (c.x * c.x + c.y * c.y).sqrt();
    // A spiral groove: its phase grows with angle and distance from the hub.
    let turns = angle_of(c.y, c.x) / std::f32::consts::TAU + across * 6.0;
    let groove = turns - turns.round();
    let depth = (0.5 - groove.abs() * 2.0) * 0.05;
    let coil = ellipsoid(c, v(0.46, 0.46, 0.3)) + depth * (across * 6.0).min(1.0);
    let foot = limb(p, v(-0.72, -0.42, 0.0), v(0.5, -0.38, 0.0), 0.05, 0.14);
    let neck = limb(p, v(0.48, -0.36, 0.0), v(0.66, -0.02, 0.0), 0.14, 0.11);
    let (eye_x, eye_y) = (0.8 + 0.06 * shape.a, 0.3);
    let horn = limb(q, v(0.68, 0.02, 0.06), v(eye_x, eye_y, 0.13), 0.035, 0.025);
    let feeler = limb(q, v(0.74, -0.04, 0.05), v(0.86, -0.02, 0.1), 0.03, 0.02);
    Surface::new(u8::from(groove.abs() > 0.3), coil)
        .with(2, blend(foot, neck, 0.12))
        .with(2, union([horn, feeler]))
        .with(3, sphere(q.at(eye_x, eye_y, 0.13), 0.045))
}

pub(crate) fn turtle(p: Vec3, shape: &Shape) -> Surface {
    let q = p.fold_z();
    let dome = ellipsoid(p.at(-0.04, -0.1, 0.0), v(0.52, 0.42 + 0.05 * shape.a, 0.44)).max(-0.12 - p.y);
    // Plates: a coarse lattice of grooves over the dome.
    let along = (p.x + 0.04) * 3.2;
    let on_seam = (along - along.round()).abs() > 0.44 || (q.z - 0.17).abs() < 0.02;
    let rim = ellipsoid(p.at(-0.04, -0.13, 0.0), v(0.58, 0.08, 0.5));
    let neck = limb(p, v(0.44, -0.12, 0.0), v(0.68, 0.02, 0.0), 0.1, 0.09);
    let head = ellipsoid(p.at(0.76, 0.06 + 0.04 * shape.b, 0.0), v(0.16, 0.12, 0.12));
    let fore = limb(q, v(0.3, -0.16, 0.34), v(0.44, -0.38, 0.5), 0.11, 0.09);
    let hind = limb(q, v(-0.36, -0.16, 0.32), v(-0.5, -0.38, 0.46), 0.11, 0.09);
    let tail = limb(p, v(-0.5, -0.16, 0.0), v(-0.74, -0.24, 0.0), 0.07, 0.02);
    Surface::new(u8::from(on_seam), dome)
        .with(1, rim)
        .with(2, blend(neck, head, 0.06))
        .with(2, union([fore, hind, tail]))
        .with(3, sphere(q.at(0.84, 0.11, 0.08), 0.035))
}

pub(crate) fn spider(p: Vec3, shape: &Shape) -> Surface {
    let q = p.fold_z();
    let knee_y = 0.32 + 0.06 * shape.a;
    let mut legs = f32::MAX;
    // Hip, knee and foot along x, from the front pair to the hind pair.
    for (hip_x, knee_x, foot_x, knee_z, foot_z) in [
        (0.2, 0.42, 0.78, 0.32, 0.42),
        (0.15, 0.24, 0.34, 0.46, 0.8),
        (0.08, -0.04, -0.14, 0.48, 0.86),
        (0.02, -0.28, -0.6, 0.4, 0.66),
    ] {
        let knee = v(knee_x, knee_y, knee_z);
        let upper = limb(q, v(hip_x, -0.08, 0.1), knee, 0.05, 0.038);
        let lower = limb(q, knee, v(foot_x, -0.42, foot_z), 0.038, 0.016);
        legs = legs.min(upper).min(lower);
    }
    let abdomen = ellipsoid(p.at(-0.34, 0.02, 0.0), v(0.34 + 0.04 * shape.b, 0.25, 0.27));
    let fang = limb(q, v(0.3, -0.14, 0.05), v(0.36, -0.26, 0.05), 0.04, 0.015);
    Surface::new(0, abdomen)
        .with(1, ellipsoid(p.at(0.14, -0.06, 0.0), v(0.22, 0.15, 0.18)))
        .with(2, legs)
        .with(3, union([fang, sphere(q.at(0.3, 0.03, 0.07), 0.045)]))
}
