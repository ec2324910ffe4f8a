//! Backgrounds: painted planes and clutter that belongs to no class.

use crate::noise::noise_2d;
use crate::palette::{Colour, draw_colour};
use crate::portable_maths::sin_cos;
use crate::texture::Paint;
use crate::vec3::v;
use touchstream_env::seed::RandomStream;
use touchstream_env::touch::{N_TOUCHES, SCREEN_SIDE_PX};

#[derive(Clone, Copy, Debug)]
enum Outline {
    Disc,
    Bar,
    Ring,
    Polygon,
    Blob,
}

const OUTLINES: [Outline; 6] =
    [Outline::Disc, Outline::Bar, Outline::Bar, Outline::Ring, Outline::Polygon, Outline::Blob];

const MAX_CORNERS: usize = 6;

/// One piece of clutter; lengths are in pixels.
struct Piece {
    outline: Outline,
    row_px: f32,
    col_px: f32,
    radius_px: f32,
    /// For a bar: width over length. For a ring: wall over radius.
    slenderness: f32,
    cos: f32,
    sin: f32,
    /// Unit normals and distances of a polygon's sides.
    sides: [(f32, f32, f32); MAX_CORNERS],
    n_sides: usize,
    softness_px: f32,
    opacity: f32,
    paint: Paint,
    /// 0 is flat, 1 shades like a cushion.
    relief: f32,
    salt: i32,
}

impl Piece {
    fn draw(stream: &mut RandomStream) -> Self {
        let outline = *stream.pick(&OUTLINES);
        let (sin, cos) = sin_cos(stream.in_range(0.0, std::f32::consts::TAU));
        let radius_px = 8.0 + 82.0 * stream.unit_f32() * stream.unit_f32();
        let n_sides = stream.between(3, MAX_CORNERS as u32) as usize;
        let sides = std::array::from_fn(|side| {
            let angle = (side as f32 + stream.in_range(-0.25, 0.25)) * std::f32::consts::TAU / n_sides as f32;
            let (sin, cos) = sin_cos(angle);
            (cos, sin, stream.in_range(0.4, 0.9))
        });
        let softness_px =
            if stream.chance(0.4) { stream.in_range(3.0, 14.0) } else { stream.in_range(0.8, 2.0) };
        Self {
            outline,
            row_px: stream.in_range(-10.0, SCREEN_SIDE_PX as f32 + 10.0),
            col_px: stream.in_range(-10.0, SCREEN_SIDE_PX as f32 + 10.0),
            radius_px,
            slenderness: stream.in_range(0.06, 0.5),
            cos,
            sin,
            sides,
            n_sides,
            softness_px,
            opacity: stream.in_range(0.45, 1.0),
            paint: Paint::draw(stream),
            relief: if stream.chance(0.5) { stream.in_range(0.4, 1.0) } else { 0.0 },
            salt: stream.next_u32() as i32 >> 8,
        }
    }

    /// Signed distance in pixels of a point in the piece's own rotated frame.
    fn distance_px(&self, x: f32, y: f32) -> f32 {
        let radius = self.radius_px;
        let from_middle = (x * x + y * y).sqrt();
        match self.outline {
            Outline::Disc => from_middle - radius,
            Outline::Ring => (from_middle - radius * 0.8).abs() - radius * self.slenderness * 0.4,
            Outline::Bar => {
                let (dx, dy) = (x.abs() - radius, y.abs() - radius * self.slenderness);
                (dx.max(0.0) * dx.max(0.0) + dy.max(0.0) * dy.max(0.0)).sqrt() + dx.max(dy).min(0.0)
            }
            Outline::Polygon => self.sides[..self.n_sides]
                .iter()
                .map(|&(nx, ny, share)| x * nx + y * ny - share * radius)
                .fold(f32::MIN, f32::max),
            Outline::Blob => {
                let bumps = noise_2d(x * 2.2 / radius, y * 2.2 / radius, self.salt);
                from_middle - radius * (0.45 + 0.5 * bumps)
            }
        }
    }

    fn lay_over(&self, canvas: &mut [Colour]) {
        let reach = self.radius_px * 1.45 + self.softness_px;
        let last = SCREEN_SIDE_PX as f32;
        let first_row = (self.row_px - reach).clamp(0.0, last) as usize;
        let past_row = (self.row_px + reach).clamp(0.0, last) as usize;
        let first_col = (self.col_px - reach).clamp(0.0, last) as usize;
        let past_col = (self.col_px + reach).clamp(0.0, last) as usize;
        for row in first_row..past_row {
            let dy = row as f32 - self.row_px;
            for col in first_col..past_col {
                let dx = col as f32 - self.col_px;
                let (x, y) = (self.cos * dx + self.sin * dy, self.cos * dy - self.sin * dx);
                let distance = self.distance_px(x, y);
                let share = (0.5 - distance / self.softness_px).clamp(0.0, 1.0) * self.opacity;
                if share > 0.0 {
                    let colour = self.paint.colour(v(x, y, 0.0) * 0.02) * self.shading(distance, x, y);
                    let under = &mut canvas[row * SCREEN_SIDE_PX + col];
                    *under = *under + (colour - *under) * share;
                }
            }
        }
    }

    /// A cushion is darker towards its edge, and brighter on one side.
    fn shading(&self, distance: f32, x: f32, y: f32) -> f32 {
        let depth = (-distance / (self.radius_px * self.slenderness.max(0.25))).clamp(0.0, 1.0).sqrt();
        let lit = (0.35 + 0.65 * depth) * (1.0 + 0.35 * (x - y) / self.radius_px);
        1.0 + self.relief * (lit - 1.0)
    }
}

/// A complete background, `[224, 224]` linear colours.
pub(crate) fn draw_background(stream: &mut RandomStream) -> Vec<Colour> {
    let (first, second, third) = (Paint::draw(stream), draw_colour(stream), draw_colour(stream));
    let grain_of_first = stream.in_range(0.004, 0.02);
    let salt = stream.next_u32() as i32 >> 8;
    let (coarse, fine) = (stream.in_range(0.008, 0.03), stream.in_range(0.03, 0.12));
    let roughness = if stream.chance(0.3) { 0.0 } else { stream.in_range(0.1, 0.9) };
    let (sin, cos) = sin_cos(stream.in_range(0.0, std::f32::consts::TAU));
    // With a horizon, the colour changes in the lower part.
    let horizon = if stream.chance(0.5) { stream.in_range(80.0, 190.0) } else { f32::MAX };
    let ground = draw_colour(stream);
    let mut canvas = Vec::with_capacity(N_TOUCHES);
    for row in 0..SCREEN_SIDE_PX {
        let y = row as f32;
        let below = ((y - horizon) * 0.3).clamp(0.0, 1.0);
        for col in 0..SCREEN_SIDE_PX {
            let x = col as f32;
            let slope = (0.5 + (x - 112.0) * cos / 300.0 + (y - 112.0) * sin / 300.0).clamp(0.0, 1.0);
            let broad = noise_2d(x * coarse, y * coarse, salt);
            let grain = if roughness > 0.0 {
                noise_2d(x * fine, y * fine, salt ^ 1) * 0.65
                    + noise_2d(x * fine * 2.7, y * fine * 2.7, salt ^ 2) * 0.35
            } else {
                0.0
            };
            let wall = first.colour(v(x, y, 0.0) * grain_of_first);
            let sky = wall + (second - wall) * (0.5 * slope + 0.5 * broad);
            let base = sky + (ground - sky) * below;
            canvas.push(base + (third - base) * (roughness * ((grain - 0.35) * 1.6).clamp(0.0, 1.0)));
        }
    }
    let n_pieces = stream.between(5, 22);
    for _ in 0..n_pieces {
        Piece::draw(stream).lay_over(&mut canvas);
    }
    let brightness = stream.in_range(0.45, 1.05);
    canvas.iter_mut().for_each(|colour| *colour = *colour * brightness);
    canvas
}
