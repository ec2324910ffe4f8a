//! Lighting: one lamp, the sky, and approximate self-shadowing.

use crate::camera::Camera;
use crate::march::Body;
use crate::palette::Colour;
use crate::texture::Coat;
use crate::vec3::{Vec3, v};
use touchstream_env::seed::RandomStream;

/// The light of one image; directions are relative to the camera.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Light {
    /// Unit direction towards the lamp: right, up, and back to the camera.
    towards: Vec3,
    lamp: Colour,
    sky: Colour,
}

impl Light {
    /// The light of every template.
    pub(crate) const TEMPLATE: Self =
        Self { towards: v(-0.45, 0.64, 0.62), lamp: v(0.95, 0.95, 0.92), sky: v(0.3, 0.31, 0.33) };

    pub(crate) fn draw(stream: &mut RandomStream) -> Self {
        let towards = v(stream.in_range(-1.0, 1.0), stream.in_range(-0.15, 1.0), stream.in_range(0.25, 1.0))
            .normalized();
        let brightness = stream.in_range(0.75, 1.5);
        let mut tint = || 1.0 + stream.in_range(-0.18, 0.18);
        let lamp = v(tint(), tint(), tint()) * brightness;
        let ambient = stream.in_range(0.2, 0.5);
        let mut tint = || 1.0 + stream.in_range(-0.2, 0.2);
        let sky = v(tint(), tint(), tint()) * ambient;
        Self { towards, lamp, sky }
    }

    /// The linear colour of the surface point `p`, seen along `ray`.
    pub(crate) fn shade(&self, body: &Body, coat: &Coat, camera: &Camera, ray: Vec3, p: Vec3) -> Colour {
        let lamp_direction =
            camera.right * self.towards.x + camera.up * self.towards.y - camera.forward * self.towards.z;
        let paint = &coat[usize::from(body.surface(p).part) % coat.len()];
        let normal = body.normal(p);
        let facing = normal.dot(lamp_direction).max(0.0);
        let openness = clearance(body, p, normal, 0.16);
        let unshadowed = if facing > 0.0 {
            let from = p + normal * 0.02;
            clearance(body, from, lamp_direction, 0.12) * clearance(body, from, lamp_direction, 0.34)
        } else {
            0.0
        };
        let from_above = 0.65 + 0.35 * normal.dot(camera.up);
        let halfway = (lamp_direction - ray).normalized();
        let glint = power_of_32(normal.dot(halfway).max(0.0)) * paint.gloss * unshadowed;
        let light = self.sky * (from_above * (0.35 + 0.65 * openness)) + self.lamp * (facing * unshadowed);
        paint.colour(p).scaled(light) + self.lamp * glint
    }
}

/// How unobstructed the way from `p` along `direction` is, from 0 to 1, estimated from one sample at `reach`.
fn clearance(body: &Body, p: Vec3, direction: Vec3, reach: f32) -> f32 {
    (body.surface(p + direction * reach).distance / reach * 1.5 + 0.1).clamp(0.0, 1.0)
}

fn power_of_32(x: f32) -> f32 {
    let x2 = x * x;
    let x4 = x2 * x2;
    let x8 = x4 * x4;
    let x16 = x8 * x8;
    x16 * x16
}
