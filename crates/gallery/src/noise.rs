//! Smooth noise from a hash of integer coordinates.

/// Uniform in [0, 1) for each lattice point.
fn lattice(x: i32, y: i32, z: i32) -> f32 {
    let mut hash = (x as u32).wrapping_mul(0x8da6_b343)
        ^ (y as u32).wrapping_mul(0xd816_3841)
        ^ (z as u32).wrapping_mul(0xcb1a_b31f);
    hash = (hash ^ (hash >> 15)).wrapping_mul(0x2c1b_3c6d);
    hash = (hash ^ (hash >> 12)).wrapping_mul(0x297a_2d39);
    ((hash ^ (hash >> 15)) >> 8) as f32 * (1.0 / 16_777_216.0)
}

/// Smoothstep: maps [0, 1] to [0, 1] with derivative 0 at both ends.
fn eased(share: f32) -> f32 {
    share * share * (3.0 - 2.0 * share)
}

fn mixed(a: f32, b: f32, share: f32) -> f32 {
    a + (b - a) * share
}

/// Noise in [0, 1] on a plane, with one bump per unit; `salt` selects another field.
pub(crate) fn noise_2d(x: f32, y: f32, salt: i32) -> f32 {
    let (x_floor, y_floor) = (x.floor(), y.floor());
    let (xi, yi) = (x_floor as i32, y_floor as i32);
    let (sx, sy) = (eased(x - x_floor), eased(y - y_floor));
    let above = mixed(lattice(xi, yi, salt), lattice(xi + 1, yi, salt), sx);
    let below = mixed(lattice(xi, yi + 1, salt), lattice(xi + 1, yi + 1, salt), sx);
    mixed(above, below, sy)
}

/// Noise in [0, 1] in space, with one bump per unit.
pub(crate) fn noise_3d(x: f32, y: f32, z: f32) -> f32 {
    let floor = z.floor();
    let layer = floor as i32;
    let share = eased(z - floor);
    mixed(noise_2d(x, y, layer), noise_2d(x, y, layer + 1), share)
}
