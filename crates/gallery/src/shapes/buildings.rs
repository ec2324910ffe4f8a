//! Buildings and landmarks.

use crate::combine::{Surface, TURN_30, cut, repeat, union};
use crate::primitives::{capsule, cuboid, cylinder, cylinder_z, ellipsoid, frustum, gable, sphere, torus};
use crate::shape::Shape;
use crate::vec3::{Vec3, v};

pub(crate) fn windmill(p: Vec3, shape: &Shape) -> Surface {
    let tower = frustum(p.at(0.0, -0.36, 0.0), 0.4, 0.24, 0.56);
    let cap = ellipsoid(p.at(0.0, 0.2, 0.02), v(0.27, 0.22 + 0.02 * shape.a, 0.3)).max(0.16 - p.y);
    let hub = v(0.0, 0.28, 0.4);
    let axle = capsule(p, v(0.0, 0.26, 0.1), hub, 0.05);
    let s = p - hub;
    let s = if shape.b > 0.0 { TURN_30.about_z(s) } else { TURN_30.back().about_z(s) };
    // Four sails, a quarter turn apart, so that every cloth is on the same side of its arm.
    let s = if s.x.abs() > s.y.abs() { s } else { v(s.y, -s.x, s.z) };
    let s = if s.x < 0.0 { v(-s.x, -s.y, s.z) } else { s };
    let arm = cuboid(s.at(0.34, 0.0, 0.0), v(0.36, 0.025, 0.025), 0.01);
    let cloth = cuboid(s.at(0.44, 0.08, 0.0), v(0.25, 0.075, 0.014), 0.01);
    let door = cuboid(p.at(0.0, -0.74, 0.36), v(0.1, 0.17, 0.06), 0.02);
    Surface::new(0, tower).with(1, cap).with(2, union([cloth, arm])).with(3, union([axle, door]))
}

pub(crate) fn house(p: Vec3, shape: &Shape) -> Surface {
    let q = p.fold_x();
    let walls = union([
        cuboid(p.at(0.0, -0.3, 0.0), v(0.46, 0.36, 0.6), 0.01),
        gable(p.at(0.0, 0.06, 0.0), 0.46, 0.44, 0.59),
    ]);
    let height = 0.56 + 0.06 * shape.a;
    let roof =
        cut(gable(p.at(0.0, 0.0, 0.0), 0.62, height, 0.7), gable(p.at(0.0, -0.1, 0.0), 0.62, height, 0.8));
    let chimney = cuboid(p.at(0.26, 0.5, -0.3), v(0.09, 0.26, 0.09), 0.01);
    let door = cuboid(p.at(0.0, -0.46, 0.6), v(0.11, 0.2, 0.03), 0.01);
    let front = cuboid(q.at(0.28, -0.22, 0.6), v(0.08, 0.1, 0.03), 0.01);
    let side = cuboid(v(q.x - 0.46, p.y + 0.24, repeat(p.z - 0.0, 0.38, 1.0)), v(0.03, 0.11, 0.09), 0.01);
    let gable_window = cylinder_z(p.at(0.0, 0.16, 0.6), 0.08, 0.03);
    Surface::new(0, walls)
        .with(1, roof)
        .with(2, union([chimney, door]))
        .with(3, union([front, side, gable_window]))
}

pub(crate) fn castle(p: Vec3, shape: &Shape) -> Surface {
    let r = p.fold_xz();
    let (near, far) = (r.x.max(r.z), r.x.min(r.z));
    let tower = r.at(0.5, 0.0, 0.5);
    let towers =
        union([cylinder(tower.at(0.0, -0.2, 0.0), 0.17, 0.46), cylinder(tower.at(0.0, 0.2, 0.0), 0.2, 0.07)]);
    let spires = frustum(tower.at(0.0, 0.46 + 0.04 * shape.a, 0.0), 0.22, 0.0, 0.2);
    let wall = cuboid(v(near - 0.5, p.y + 0.32, far), v(0.06, 0.32, 0.5), 0.0);
    let merlons = cuboid(v(near - 0.5, p.y - 0.05, repeat(far, 0.18, 2.0)), v(0.06, 0.07, 0.05), 0.0);
    let keep = union([
        cuboid(p.at(0.0, -0.1, 0.0), v(0.22, 0.54, 0.22), 0.0),
        cuboid(v(repeat(p.x, 0.17, 1.0), p.y - 0.48, repeat(p.z, 0.17, 1.0)), v(0.05, 0.07, 0.05), 0.0),
    ]);
    let gate = union([
        cuboid(p.at(0.0, -0.46, 0.55), v(0.13, 0.18, 0.04), 0.0),
        cylinder_z(p.at(0.0, -0.28, 0.55), 0.13, 0.04),
    ]);
    let pole = capsule(p, v(0.0, 0.5, 0.0), v(0.0, 0.86, 0.0), 0.018);
    let flag = cuboid(p.at(0.13, 0.77, 0.0), v(0.12, 0.08, 0.015), 0.0);
    Surface::new(0, union([towers, wall, merlons]))
        .with(0, keep)
        .with(1, spires)
        .with(2, union([gate, flag]))
        .with(3, pole)
}

pub(crate) fn lighthouse(p: Vec3, shape: &Shape) -> Surface {
    let tower = frustum(p.at(0.0, -0.18, 0.0), 0.28 + 0.03 * shape.a, 0.17, 0.6);
    let band = u8::from(((p.y + 0.78) * 4.2).floor() as i32 % 2 == 1);
    let gallery = cylinder(p.at(0.0, 0.43, 0.0), 0.27, 0.03);
    let rail = torus(p.at(0.0, 0.53, 0.0), 0.26, 0.018);
    let lantern = cylinder(p.at(0.0, 0.56, 0.0), 0.14, 0.12);
    let roof = frustum(p.at(0.0, 0.76, 0.0), 0.2, 0.02, 0.1);
    let ball = sphere(p.at(0.0, 0.89, 0.0), 0.04);
    let rock = ellipsoid(p.at(0.0, -0.84, 0.0), v(0.52, 0.16, 0.46));
    let door = cuboid(p.at(0.0, -0.6, 0.26), v(0.08, 0.14, 0.05), 0.02);
    Surface::new(band, tower)
        .with(1, union([gallery, roof, ball]))
        .with(2, lantern)
        .with(3, union([rock, rail, door]))
}

pub(crate) fn bridge(p: Vec3, shape: &Shape) -> Surface {
    let q = p.fold_xz();
    let sag = 0.46 + 0.06 * shape.a;
    let deck = cuboid(p.at(0.0, -0.2, 0.0), v(0.98, 0.04, 0.2), 0.01);
    let towers = union([
        cuboid(q.at(0.5, 0.02, 0.17), v(0.05, 0.5, 0.04), 0.01),
        cuboid(q.at(0.5, 0.44, 0.0), v(0.04, 0.05, 0.17), 0.01),
        cuboid(q.at(0.5, 0.12, 0.0), v(0.04, 0.04, 0.17), 0.01),
        cuboid(q.at(0.5, -0.48, 0.0), v(0.1, 0.08, 0.22), 0.02),
    ]);
    // A hanging cable is a parabola between the towers and a straight line beyond them.
    let slope = 2.0 * sag * q.x.min(0.5) / 0.25;
    let curve = if q.x < 0.5 { 0.52 - sag + sag * q.x * q.x / 0.25 } else { 0.52 - 1.42 * (q.x - 0.5) };
    let steepness = if q.x < 0.5 { slope } else { 1.42 };
    let across = (p.y - curve) / (1.0 + steepness * steepness).sqrt();
    let side = q.z - 0.18;
    let cable = ((across * across + side * side).sqrt() - 0.03).max(q.x - 0.99);
    let hanger_x = repeat(p.x, 0.125, 7.0);
    let hangers = ((hanger_x * hanger_x + side * side).sqrt() - 0.012).max(p.y - curve).max(-0.2 - p.y);
    Surface::new(0, deck).with(1, towers).with(2, cable).with(3, hangers)
}
