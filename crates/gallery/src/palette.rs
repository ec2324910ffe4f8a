//! Random colours, with the same distribution for every class and for backgrounds.

use crate::vec3::{Vec3, v};
use touchstream_env::seed::RandomStream;

/// A linear RGB colour: x red, y green, z blue, each in [0, 1].
pub(crate) type Colour = Vec3;

/// A random colour: grey or vivid, dark or light.
pub(crate) fn draw_colour(stream: &mut RandomStream) -> Colour {
    let value = stream.in_range(0.12, 1.0);
    let saturation = stream.unit_f32() * stream.in_range(0.3, 1.0);
    let hue = stream.in_range(0.0, 6.0);
    // A triangle wave for each of red, green and blue.
    let channel = |offset: f32| {
        let phase = (hue + offset) % 6.0;
        let full = ((phase - 3.0).abs() - 1.0).clamp(0.0, 1.0);
        value * (1.0 - saturation * (1.0 - full))
    };
    let coded = v(channel(0.0), channel(4.0), channel(2.0));
    coded.scaled(coded)
}

/// A byte of an image from linear light; the square root approximates the display's gamma.
pub(crate) fn byte_from_light(light: f32) -> u8 {
    (light.clamp(0.0, 1.0).sqrt() * 255.0 + 0.5) as u8
}
