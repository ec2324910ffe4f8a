//! The surface paint of an object's parts, which does not depend on the class.

use crate::combine::N_PARTS;
use crate::noise::noise_3d;
use crate::palette::{Colour, draw_colour};
use crate::vec3::{Vec3, v};
use touchstream_env::seed::RandomStream;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Pattern {
    Plain,
    Stripes,
    Checks,
    Dots,
    Marble,
    Clouds,
    Gradient,
}

/// Drawn uniformly; plain is listed more than once.
const PATTERNS: [Pattern; 10] = [
    Pattern::Plain,
    Pattern::Plain,
    Pattern::Plain,
    Pattern::Stripes,
    Pattern::Checks,
    Pattern::Dots,
    Pattern::Marble,
    Pattern::Clouds,
    Pattern::Gradient,
    Pattern::Gradient,
];

#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint {
    pub pattern: Pattern,
    pub first: Colour,
    pub second: Colour,
    /// Unit direction of stripes and gradients.
    direction: Vec3,
    /// Periods per unit of length.
    frequency: f32,
    offset: Vec3,
    /// Strength of the highlight.
    pub gloss: f32,
}

impl Paint {
    pub(crate) fn draw(stream: &mut RandomStream) -> Self {
        let pattern = *stream.pick(&PATTERNS);
        let first = draw_colour(stream);
        // Half way to another colour: patterns should not dominate the shape.
        let second = first + (draw_colour(stream) - first) * stream.in_range(0.35, 0.9);
        let mut signed = || stream.in_range(-1.0, 1.0);
        let direction = v(signed(), signed(), signed()).normalized();
        let offset = v(signed(), signed(), signed()) * 20.0;
        let frequency = stream.in_range(2.0, 7.0);
        let gloss = if stream.chance(0.4) { stream.in_range(0.2, 0.8) } else { 0.0 };
        Self { pattern, first, second, direction, frequency, offset, gloss }
    }

    const fn plain(colour: Colour) -> Self {
        Self {
            pattern: Pattern::Plain,
            first: colour,
            second: colour,
            direction: v(0.0, 1.0, 0.0),
            frequency: 1.0,
            offset: v(0.0, 0.0, 0.0),
            gloss: 0.15,
        }
    }

    /// The colour at a point of the object.
    pub(crate) fn colour(&self, p: Vec3) -> Colour {
        self.first + (self.second - self.first) * self.share_of_second(p)
    }

    fn share_of_second(&self, p: Vec3) -> f32 {
        let q = p * self.frequency + self.offset;
        match self.pattern {
            Pattern::Plain => 0.0,
            Pattern::Stripes => square_wave(q.dot(self.direction)),
            Pattern::Checks => {
                let n_steps = q.x.floor() + q.y.floor() + q.z.floor();
                f32::from(u8::from(n_steps.rem_euclid(2.0) >= 1.0))
            }
            Pattern::Dots => {
                let cell = v(q.x - q.x.round(), q.y - q.y.round(), q.z - q.z.round());
                ((0.42 - cell.length()) * 8.0).clamp(0.0, 1.0)
            }
            Pattern::Marble => {
                let warp = noise_3d(q.x, q.y, q.z) * 2.0 + noise_3d(q.x * 2.0, q.y * 2.0, q.z * 2.0);
                triangle_wave(q.dot(self.direction) * 0.6 + warp)
            }
            Pattern::Clouds => {
                let soft = noise_3d(q.x, q.y, q.z) * 0.65 + noise_3d(q.x * 2.3, q.y * 2.3, q.z * 2.3) * 0.35;
                ((soft - 0.3) * 2.5).clamp(0.0, 1.0)
            }
            Pattern::Gradient => (0.5 + 0.6 * p.dot(self.direction)).clamp(0.0, 1.0),
        }
    }
}

/// A square wave of period 1 between 0 and 1, with short ramps for antialiasing.
fn square_wave(along: f32) -> f32 {
    ((triangle_wave(along) - 0.5) * 8.0 + 0.5).clamp(0.0, 1.0)
}

/// A triangle wave of period 1 between 0 and 1.
fn triangle_wave(along: f32) -> f32 {
    ((along - along.floor()) * 2.0 - 1.0).abs()
}

/// The paints of all parts of one object.
pub(crate) type Coat = [Paint; N_PARTS];

/// A coat for an object of any class: without the class as an argument, it cannot depend on it.
pub(crate) fn draw_coat(stream: &mut RandomStream) -> Coat {
    std::array::from_fn(|_| Paint::draw(stream))
}

/// The coat of every template: the same muted colours for all classes.
pub(crate) const TEMPLATE_COAT: Coat = [
    Paint::plain(v(0.62, 0.58, 0.5)),
    Paint::plain(v(0.16, 0.3, 0.5)),
    Paint::plain(v(0.6, 0.2, 0.12)),
    Paint::plain(v(0.05, 0.06, 0.07)),
];
