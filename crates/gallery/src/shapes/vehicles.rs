//! Vehicles on wheels, rails or tracks.

use crate::combine::{Surface, blend, repeat, union};
use crate::primitives::{
    capsule, cuboid, cylinder, cylinder_x, cylinder_z, ellipsoid, frustum, limb, sphere, torus_z,
};
use crate::shape::Shape;
use crate::vec3::{Vec3, v};

pub(crate) fn race_car(p: Vec3, shape: &Shape) -> Surface {
    let q = p.fold_z();
    let (front_x, rear_x) = (0.52 + 0.04 * shape.a, -0.54);
    let tub = limb(v(p.x, p.y * 1.2, p.z), v(-0.5, -0.06, 0.0), v(0.84, -0.22, 0.0), 0.19, 0.07) * 0.85;
    let pods = cuboid(q.at(-0.14, -0.1, 0.2), v(0.3, 0.1, 0.12), 0.06);
    let airbox = limb(p, v(-0.2, 0.2, 0.0), v(-0.62, 0.02, 0.0), 0.09, 0.07);
    let tyres = union([
        cylinder_z(q.at(front_x, -0.14, 0.38), 0.18, 0.1),
        cylinder_z(q.at(rear_x, -0.11, 0.38), 0.21, 0.12),
    ]);
    let axles = union([
        capsule(q, v(front_x, -0.14, 0.0), v(front_x, -0.14, 0.36), 0.025),
        capsule(q, v(rear_x, -0.11, 0.0), v(rear_x, -0.11, 0.36), 0.03),
    ]);
    let hubs = union([
        cylinder_z(q.at(front_x, -0.14, 0.38), 0.08, 0.115),
        cylinder_z(q.at(rear_x, -0.11, 0.38), 0.09, 0.135),
    ]);
    let rear_wing = union([
        cuboid(p.at(-0.82, 0.26, 0.0), v(0.11, 0.02, 0.34), 0.01),
        cuboid(q.at(-0.82, 0.13, 0.34), v(0.14, 0.16, 0.018), 0.01),
        cuboid(p.at(-0.78, 0.1, 0.0), v(0.05, 0.16, 0.03), 0.01),
    ]);
    let front_wing = cuboid(p.at(0.86, -0.24, 0.0), v(0.1, 0.022, 0.44), 0.01);
    Surface::new(0, union([blend(tub, pods, 0.05), airbox]))
        .with(1, union([tyres, axles]))
        .with(3, union([rear_wing, front_wing]))
        .with(3, hubs)
        .with(2, sphere(p.at(-0.02, 0.16, 0.0), 0.1 + 0.01 * shape.b))
}

pub(crate) fn bus(p: Vec3, shape: &Shape) -> Surface {
    let q = p.fold_z();
    let top = 0.5 + 0.04 * shape.a;
    let body = cuboid(p.at(0.0, (top - 0.42) / 2.0, 0.0), v(0.7, (top + 0.42) / 2.0, 0.26), 0.06);
    let pane_x = repeat(p.x + 0.05, 0.22, 2.0);
    let panes = union([
        cuboid(v(pane_x, p.y - 0.28, q.z - 0.25), v(0.085, 0.1, 0.022), 0.0),
        cuboid(v(pane_x, p.y + 0.06, q.z - 0.25), v(0.085, 0.1, 0.022), 0.0),
    ]);
    let screens = union([
        cuboid(p.at(0.69, 0.28, 0.0), v(0.022, 0.1, 0.2), 0.0),
        cuboid(p.at(0.69, -0.06, 0.0), v(0.022, 0.13, 0.2), 0.0),
        cuboid(p.at(-0.69, 0.28, 0.0), v(0.022, 0.08, 0.17), 0.0),
    ]);
    let wheel_y = -0.44;
    let wheels = cylinder_z(v(p.x.abs() - 0.42, p.y - wheel_y, q.z - 0.2), 0.14, 0.08);
    let band = cuboid(p.at(0.0, 0.11, 0.0), v(0.71, 0.025, 0.27), 0.01);
    let lamps = sphere(q.at(0.69, -0.3, 0.17), 0.05);
    Surface::new(0, body).with(1, union([panes, screens])).with(2, wheels).with(3, union([band, lamps]))
}

pub(crate) fn truck(p: Vec3, shape: &Shape) -> Surface {
    let q = p.fold_z();
    let cargo_top = 0.46 + 0.08 * shape.a;
    let cargo =
        cuboid(p.at(-0.28, (cargo_top - 0.22) / 2.0, 0.0), v(0.56, (cargo_top + 0.22) / 2.0, 0.29), 0.02);
    let cab = union([
        cuboid(p.at(0.58, -0.02, 0.0), v(0.19, 0.3, 0.26), 0.05),
        cuboid(p.at(0.76, -0.18, 0.0), v(0.16, 0.14, 0.24), 0.05),
    ]);
    let chassis = cuboid(p.at(0.0, -0.3, 0.0), v(0.84, 0.05, 0.2), 0.02);
    let glass = union([
        cuboid(p.at(0.76, 0.12, 0.0), v(0.022, 0.1, 0.2), 0.01),
        cuboid(q.at(0.6, 0.12, 0.25), v(0.11, 0.1, 0.022), 0.01),
    ]);
    let wheels = union([
        cylinder_z(q.at(0.66, -0.4, 0.22), 0.15, 0.08),
        cylinder_z(q.at(-0.3, -0.4, 0.22), 0.15, 0.08),
        cylinder_z(q.at(-0.63, -0.4, 0.22), 0.15, 0.08),
    ]);
    let pipe = capsule(q, v(0.4, 0.0, 0.27), v(0.4, 0.45, 0.27), 0.035);
    Surface::new(0, cab).with(1, cargo).with(2, union([wheels, chassis])).with(3, union([glass, pipe]))
}

pub(crate) fn locomotive(p: Vec3, shape: &Shape) -> Surface {
    let q = p.fold_z();
    let stack_top = 0.58 + 0.05 * shape.a;
    let boiler = cylinder_x(p.at(0.2, 0.08, 0.0), 0.24, 0.5);
    let smokebox = cylinder_x(p.at(0.7, 0.08, 0.0), 0.26, 0.05);
    let cab = cuboid(p.at(-0.5, 0.16, 0.0), v(0.22, 0.36, 0.3), 0.02);
    let window = cuboid(q.at(-0.5, 0.3, 0.29), v(0.12, 0.11, 0.022), 0.01);
    let roof = cuboid(p.at(-0.5, 0.54, 0.0), v(0.29, 0.045, 0.37), 0.03);
    let stack = union([
        frustum(p.at(0.56, 0.42, 0.0), 0.07, 0.09, 0.16),
        frustum(p.at(0.56, stack_top, 0.0), 0.09, 0.15, 0.07),
    ]);
    let dome = sphere(p.at(0.1, 0.32, 0.0), 0.12);
    let frame = cuboid(p.at(0.0, -0.22, 0.0), v(0.76, 0.06, 0.26), 0.02);
    let wheels = cylinder_z(v(repeat(p.x + 0.02, 0.4, 1.0), p.y + 0.36, q.z - 0.26), 0.19, 0.05);
    let rod = capsule(q, v(-0.42, -0.4, 0.33), v(0.38, -0.4, 0.33), 0.03);
    let catcher = limb(q, v(0.76, -0.28, 0.0), v(0.92, -0.48, 0.0), 0.12, 0.05).min(limb(
        q,
        v(0.72, -0.3, 0.2),
        v(0.9, -0.48, 0.1),
        0.05,
        0.05,
    ));
    let lamp = cylinder_x(p.at(0.76, 0.3, 0.0), 0.08, 0.07);
    Surface::new(0, union([boiler, cab]))
        .with(1, union([roof, stack, dome]))
        .with(1, smokebox)
        .with(2, union([wheels, frame, catcher]))
        .with(3, union([rod, window, lamp]))
}

pub(crate) fn bicycle(p: Vec3, shape: &Shape) -> Surface {
    let q = p.fold_z();
    let rear = v(-0.52, -0.26, 0.0);
    let front = v(0.54, -0.26, 0.0);
    let crank = v(-0.08, -0.28, 0.0);
    let seat = v(-0.2, 0.22 + 0.04 * shape.a, 0.0);
    let head = v(0.36, 0.28, 0.0);
    let wheel = v(p.x.abs() - 0.53, p.y + 0.26, p.z);
    let tyres = torus_z(wheel, 0.36, 0.042);
    let (sx, sy) = (wheel.x.abs(), wheel.y.abs());
    let spokes = union([
        limb(v(sx.max(sy), sx.min(sy), p.z), v(0.0, 0.0, 0.0), v(0.36, 0.0, 0.0), 0.014, 0.012),
        limb(v(sx, sy, p.z), v(0.0, 0.0, 0.0), v(0.255, 0.255, 0.0), 0.014, 0.012),
    ]);
    let frame = union([
        capsule(p, rear, crank, 0.032),
        capsule(p, crank, seat, 0.036),
        capsule(p, seat, head, 0.036),
        capsule(p, crank, head, 0.036),
        capsule(p, rear, seat, 0.03),
        capsule(p, head + v(-0.02, 0.12, 0.0), front, 0.034),
    ]);
    let bar_y = 0.42 + 0.03 * shape.b;
    let bars = union([
        capsule(q, v(0.34, bar_y, 0.0), v(0.32, bar_y + 0.02, 0.26), 0.03),
        capsule(q, v(0.32, bar_y + 0.02, 0.26), v(0.2, bar_y, 0.28), 0.034),
    ]);
    let saddle = limb(p, seat + v(0.1, 0.1, 0.0), seat + v(-0.12, 0.11, 0.0), 0.035, 0.075);
    let post = capsule(p, seat, seat + v(-0.02, 0.1, 0.0), 0.03);
    let pedals = union([
        capsule(p, crank + v(0.0, 0.0, 0.06), crank + v(0.12, -0.12, 0.08), 0.022),
        cuboid(p - crank - v(0.13, -0.13, 0.13), v(0.06, 0.02, 0.05), 0.01),
        capsule(p, crank + v(0.0, 0.0, -0.06), crank + v(-0.12, 0.12, -0.08), 0.022),
        cuboid(p - crank - v(-0.13, 0.13, -0.13), v(0.06, 0.02, 0.05), 0.01),
    ]);
    Surface::new(0, frame)
        .with(1, tyres)
        .with(3, spokes)
        .with(2, union([saddle, bars, post]))
        .with(3, union([pedals, cylinder_z(p - crank, 0.1, 0.02)]))
}

pub(crate) fn tank(p: Vec3, shape: &Shape) -> Surface {
    let q = p.fold_z();
    let hull = cuboid(p.at(0.0, -0.12, 0.0), v(0.62, 0.14, 0.32), 0.05);
    let track = cuboid(q.at(0.0, -0.24, 0.4), v(0.74, 0.19, 0.11), 0.1);
    let wheels = cylinder_z(v(repeat(p.x, 0.27, 2.0), p.y + 0.26, q.z - 0.42), 0.115, 0.1);
    let turret = blend(
        frustum(p.at(-0.08, 0.12, 0.0), 0.34, 0.26, 0.12),
        cuboid(p.at(-0.3, 0.12, 0.0), v(0.16, 0.1, 0.2), 0.04),
        0.06,
    );
    let muzzle = v(0.96, 0.16 + 0.06 * shape.a, 0.0);
    let gun = capsule(p, v(0.15, 0.12, 0.0), muzzle, 0.045);
    let brake = capsule(p, muzzle - v(0.12, 0.0, 0.0), muzzle, 0.065);
    let hatch = cylinder(p.at(-0.12, 0.27, 0.08), 0.1, 0.04);
    Surface::new(0, union([hull, ellipsoid(p.at(0.2, 0.12, 0.0), v(0.14, 0.1, 0.12))]))
        .with(0, turret)
        .with(1, track)
        .with(2, wheels)
        .with(3, union([gun, brake, hatch]))
}
