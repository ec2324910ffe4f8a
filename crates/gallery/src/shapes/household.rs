//! Furniture and household objects.

use crate::combine::{Surface, TURN_15, TURN_30, blend, cut, repeat, shell, union};
use crate::portable_maths::angle_of;
use crate::primitives::{
    blade, capsule, cuboid, cylinder, cylinder_z, ellipsoid, frustum, limb, sphere, torus_z,
};
use crate::shape::Shape;
use crate::vec3::{Vec3, v};

pub(crate) fn teapot(p: Vec3, shape: &Shape) -> Surface {
    let body = ellipsoid(p.at(0.0, -0.08, 0.0), v(0.46, 0.37 + 0.04 * shape.a, 0.46));
    let lid = ellipsoid(p.at(0.0, 0.24, 0.0), v(0.27, 0.11, 0.27));
    let tip_y = 0.3 + 0.05 * shape.b;
    let spout = blend(
        limb(p, v(0.36, -0.2, 0.0), v(0.62, -0.02, 0.0), 0.14, 0.09),
        limb(p, v(0.62, -0.02, 0.0), v(0.82, tip_y, 0.0), 0.09, 0.055),
        0.05,
    );
    let handle = torus_z(p.at(-0.5, 0.0, 0.0), 0.25, 0.05);
    let foot = cylinder(p.at(0.0, -0.43, 0.0), 0.27, 0.03);
    Surface::new(0, blend(body, spout, 0.05))
        .with(1, union([lid, sphere(p.at(0.0, 0.4, 0.0), 0.075)]))
        .with(2, handle)
        .with(1, foot)
}

pub(crate) fn mug(p: Vec3, shape: &Shape) -> Surface {
    let half = 0.46 + 0.05 * shape.a;
    let c = p.at(-0.12, 0.0, 0.0);
    let wall = cut(cylinder(c, 0.42, half) - 0.02, cylinder(c.at(0.0, 0.1, 0.0), 0.37, half + 0.02));
    let handle = cut(torus_z(p.at(0.36, 0.0, 0.0), 0.26, 0.065), cylinder(c, 0.38, half));
    let drink = cylinder(c.at(0.0, half - 0.18, 0.0), 0.38, 0.02);
    Surface::new(0, wall).with(1, handle).with(2, drink)
}

pub(crate) fn wine_glass(p: Vec3, shape: &Shape) -> Surface {
    let girth = 0.36 + 0.04 * shape.a;
    let bowl = shell(ellipsoid(p.at(0.0, 0.36, 0.0), v(girth, 0.5, girth)), 0.022).max(p.y - 0.64);
    let stem = limb(p, v(0.0, -0.1, 0.0), v(0.0, -0.8, 0.0), 0.045, 0.04);
    let foot = frustum(p.at(0.0, -0.83, 0.0), 0.34, 0.05, 0.045);
    let wine = ellipsoid(p.at(0.0, 0.36, 0.0), v(girth - 0.01, 0.49, girth - 0.01)).max(p.y - 0.42);
    Surface::new(0, bowl).with(1, wine).with(0, blend(stem, foot, 0.1))
}

pub(crate) fn bottle(p: Vec3, shape: &Shape) -> Surface {
    let girth = 0.25 + 0.02 * shape.a;
    let shoulder = 0.18 + 0.06 * shape.b;
    let body = cylinder(p.at(0.0, -0.36, 0.0), girth - 0.04, 0.5) - 0.04;
    let taper = frustum(p.at(0.0, shoulder + 0.12, 0.0), girth, 0.08, 0.16);
    let neck = cylinder(p.at(0.0, 0.58, 0.0), 0.085, 0.32);
    let label = cylinder(p.at(0.0, -0.38, 0.0), girth + 0.012, 0.22);
    let cap = cylinder(p.at(0.0, 0.83, 0.0), 0.11, 0.09);
    Surface::new(0, blend(blend(body, taper, 0.08), neck, 0.08)).with(1, label).with(2, cap)
}

pub(crate) fn chair(p: Vec3, shape: &Shape) -> Surface {
    let q = p.fold_x();
    let r = p.fold_xz();
    let back_top = 0.84 + 0.06 * shape.a;
    let seat = cuboid(p.at(0.0, -0.08, 0.0), v(0.38, 0.05, 0.38), 0.03);
    let legs = limb(r, v(0.32, -0.1, 0.32), v(0.35, -0.86, 0.35), 0.05, 0.04);
    let posts = capsule(q, v(0.32, -0.08, -0.34), v(0.33, back_top, -0.44), 0.045);
    let lean = v(p.x, p.y, p.z + 0.38 + 0.1 * (p.y - 0.35));
    let slats = cuboid(v(lean.x, repeat(lean.y - 0.48, 0.26, 1.0), lean.z), v(0.31, 0.07, 0.025), 0.02);
    Surface::new(0, seat).with(1, union([legs, posts])).with(2, slats)
}

pub(crate) fn table(p: Vec3, shape: &Shape) -> Surface {
    let r = p.fold_xz();
    let length = 0.8 + 0.06 * shape.a;
    let top = cuboid(p.at(0.0, 0.28, 0.0), v(length, 0.05, 0.48), 0.03);
    let apron = cut(
        cuboid(p.at(0.0, 0.17, 0.0), v(length - 0.08, 0.08, 0.4), 0.01),
        cuboid(p.at(0.0, 0.12, 0.0), v(length - 0.12, 0.1, 0.36), 0.0),
    );
    let legs = limb(r, v(length - 0.1, 0.2, 0.38), v(length - 0.1, -0.58, 0.38), 0.07, 0.045);
    Surface::new(0, top).with(1, legs).with(1, apron)
}

pub(crate) fn sofa(p: Vec3, shape: &Shape) -> Surface {
    let q = p.fold_x();
    let base = cuboid(p.at(0.0, -0.22, 0.0), v(0.72, 0.14, 0.36), 0.04);
    let back = cuboid(p.at(0.0, 0.1, -0.3), v(0.76, 0.36 + 0.04 * shape.a, 0.13), 0.1);
    let arm = cuboid(q.at(0.76, -0.08, 0.02), v(0.13, 0.27, 0.38), 0.11);
    let cushions = cuboid(q.at(0.32, -0.03, 0.08), v(0.31, 0.1, 0.3), 0.07);
    let rests = cuboid(q.at(0.32, 0.2, -0.15), v(0.3, 0.2, 0.08), 0.07);
    let feet = cylinder(p.fold_xz().at(0.68, -0.4, 0.28), 0.05, 0.06);
    Surface::new(0, union([base, back, arm])).with(1, union([cushions, rests])).with(2, feet)
}

pub(crate) fn desk_lamp(p: Vec3, shape: &Shape) -> Surface {
    let elbow = v(-0.45, 0.02, 0.0);
    let top = v(0.08, 0.56 + 0.06 * shape.a, 0.0);
    let base = blend(
        cylinder(p.at(-0.05, -0.76, 0.0), 0.36, 0.045),
        cylinder(p.at(-0.05, -0.7, 0.0), 0.1, 0.06),
        0.05,
    );
    let arms = union([capsule(p, v(-0.05, -0.7, 0.0), elbow, 0.042), capsule(p, elbow, top, 0.042)]);
    let joints = union([sphere(p - elbow, 0.075), sphere(p - top, 0.075)]);
    // The shade opens downwards and to the right.
    let h = TURN_30.about_z(p - top).at(0.12, -0.2, 0.0);
    let shade = cut(frustum(h, 0.36, 0.12, 0.2), frustum(h.at(0.0, -0.04, 0.0), 0.33, 0.09, 0.2));
    let bulb = sphere(h.at(0.0, -0.1, 0.0), 0.13);
    Surface::new(0, union([base, arms])).with(1, shade).with(2, bulb).with(3, joints)
}

pub(crate) fn umbrella(p: Vec3, shape: &Shape) -> Surface {
    let gore = angle_of(p.z, p.x) * (4.0 / std::f32::consts::PI);
    let colour = u8::from((gore.floor() as i32).rem_euclid(2) == 1);
    // Scalloped rim: it rises between the ribs.
    let rise = (gore - gore.floor() - 0.5).abs();
    let rim = 0.14 - 0.28 * rise * rise;
    let dome = ellipsoid(p.at(0.0, 0.1, 0.0), v(0.84, 0.56 + 0.06 * shape.a, 0.84));
    let canopy = shell(dome, 0.022).max((rim - p.y) * 0.8);
    let shaft = capsule(p, v(0.0, -0.72, 0.0), v(0.0, 0.82, 0.0), 0.03);
    let crook = torus_z(p.at(0.13, -0.74, 0.0), 0.13, 0.04).max(p.y + 0.74);
    let end = sphere(p.at(0.26, -0.74, 0.0), 0.04);
    Surface::new(colour, canopy).with(2, shaft).with(3, union([crook, end]))
}

pub(crate) fn stepladder(p: Vec3, shape: &Shape) -> Surface {
    let spread = 0.42 + 0.06 * shape.a;
    let q = p.fold_z();
    let rails = union([
        limb(q, v(0.02, 0.84, 0.2), v(spread, -0.86, 0.34), 0.04, 0.04),
        limb(q, v(-0.02, 0.84, 0.2), v(-spread, -0.86, 0.34), 0.035, 0.035),
    ]);
    // Treads on the front rails: their x depends on their height.
    let y = repeat(p.y + 0.06, 0.3, 2.0);
    let level = p.y - y;
    let x = (0.84 - level) * (spread / 1.7);
    let treads = cuboid(v(p.x - x, y, p.z), v(0.09, 0.025, 0.2 + (0.84 - level) * 0.08), 0.015);
    let stay = capsule(q, v(spread * 0.6, -0.2, 0.28), v(-spread * 0.6, -0.2, 0.28), 0.018);
    let top = cuboid(p.at(0.0, 0.86, 0.0), v(0.13, 0.035, 0.25), 0.02);
    Surface::new(0, rails).with(1, treads).with(2, top).with(3, stay)
}

pub(crate) fn padlock(p: Vec3, shape: &Shape) -> Surface {
    let body = cuboid(p.at(0.0, -0.3, 0.0), v(0.46, 0.36, 0.2), 0.06);
    let reach = 0.34 + 0.07 * shape.a;
    let q = p.fold_x();
    let bow = torus_z(p.at(0.0, reach, 0.0), 0.28, 0.085).max(reach - p.y);
    let legs = capsule(q, v(0.28, 0.0, 0.0), v(0.28, reach, 0.0), 0.085);
    let front = p.fold_z().at(0.0, 0.0, 0.2);
    let keyhole = union([
        cylinder_z(front.at(0.0, -0.2, 0.0), 0.1, 0.02),
        blade(front, (0.0, -0.26), (0.0, -0.42), 0.05, 0.08, 0.02),
    ]);
    let plate = cuboid(p.at(0.0, -0.62, 0.0), v(0.475, 0.06, 0.215), 0.03);
    Surface::new(0, body).with(1, union([bow, legs])).with(2, keyhole).with(3, plate)
}

pub(crate) fn watering_can(p: Vec3, shape: &Shape) -> Surface {
    let c = p.at(-0.15, -0.12, 0.0);
    let body = cut(frustum(c, 0.38, 0.33, 0.36), cylinder(c.at(0.0, 0.3, 0.0), 0.28, 0.3));
    let tip = v(0.8, 0.3 + 0.06 * shape.a, 0.0);
    let spout = limb(p, v(0.12, -0.34, 0.0), tip, 0.1, 0.055);
    let r = TURN_15.about_z(TURN_30.back().about_z(p - tip)).at(0.0, 0.06, 0.0);
    let rose = frustum(TURN_30.back().about_z(r), 0.06, 0.17, 0.08);
    let handle = torus_z(p.at(-0.42, 0.2, 0.0), 0.33, 0.045).max(-(p.x * 0.6 + 0.42) + p.y * -0.2 - 0.4);
    let rim = cylinder(p.at(-0.15, 0.24, 0.0), 0.35, 0.03);
    let rim = cut(rim, cylinder(p.at(-0.15, 0.24, 0.0), 0.28, 0.2));
    Surface::new(0, body).with(0, spout).with(1, union([rose, rim])).with(2, handle)
}
