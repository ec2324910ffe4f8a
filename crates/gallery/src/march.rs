//! Sphere tracing: follows rays to the surface of a solid.

use crate::camera::{Camera, Extent, Frame};
use crate::catalogue::{CATALOGUE, ClassRow};
use crate::combine::Surface;
use crate::shape::Shape;
use crate::vec3::{Vec3, v};

const MAX_STEPS: usize = 96;

/// Number of cells along each side of the coarse grid that finds an object's extent.
const N_COARSE_CELLS: usize = 56;

/// Number of cells along each side of a block that is skipped if it is empty.
const COARSE_BLOCK: usize = 4;

/// An object of a class, ready to be traced.
pub(crate) struct Body {
    row: &'static ClassRow,
    shape: Shape,
    unstretch: Vec3,
    /// Scales distances down so that they remain valid after stretching.
    safety: f32,
    /// The object is within this distance of the origin.
    pub radius: f32,
}

/// The end of a ray.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ending {
    /// On the surface, at this distance from the eye.
    Hit(f32),
    /// Missed the surface; closest at distance `nearest` from the eye, with a `gap` in pixels.
    Miss { nearest: f32, gap: f32 },
}

/// A square of pixels that are traced together, starting at distance `start` from the eye.
#[derive(Clone, Copy)]
struct Tile {
    top: usize,
    left: usize,
    /// 16, 4 or 1.
    side: usize,
    start: f32,
}

impl Body {
    /// An object of the class with this index, modulo the number of classes.
    pub(crate) fn new(class: usize, shape: Shape) -> Self {
        let row = &CATALOGUE[class % CATALOGUE.len()];
        let s = shape.stretch;
        Self {
            row,
            shape,
            unstretch: v(1.0 / s.x, 1.0 / s.y, 1.0 / s.z),
            safety: row.step * s.x.min(s.y).min(s.z),
            radius: row.radius * s.x.max(s.y).max(s.z),
        }
    }

    /// The surface nearest to `p`; its distance is never overestimated.
    pub(crate) fn surface(&self, p: Vec3) -> Surface {
        let surface = (self.row.solid)(p.scaled(self.unstretch), &self.shape);
        Surface { distance: surface.distance * self.safety, part: surface.part }
    }

    /// The direction in which the distance grows fastest.
    pub(crate) fn normal(&self, p: Vec3) -> Vec3 {
        const REACH: f32 = 0.003;
        // Four samples, at the corners of a tetrahedron, instead of six for central differences.
        [v(1.0, -1.0, -1.0), v(-1.0, -1.0, 1.0), v(-1.0, 1.0, -1.0), v(1.0, 1.0, 1.0)]
            .into_iter()
            .fold(Vec3::default(), |sum, corner| sum + corner * self.surface(p + corner * REACH).distance)
            .normalized()
    }

    /// The part of a ray from the eye that is inside the bounding sphere.
    fn span(&self, eye: Vec3, ray: Vec3, widening: f32) -> Option<(f32, f32)> {
        let middle = -eye.dot(ray);
        let radius = self.radius + widening * middle;
        let discriminant = middle * middle - eye.dot(eye) + radius * radius;
        let half = (discriminant >= 0.0).then(|| discriminant.sqrt())?;
        Some(((middle - half).max(0.0), middle + half))
    }

    /// Follows a cone of half width `spread` per unit of distance. Returns the smallest distance at which something may be
    /// inside it, if anything is.
    fn march_cone(&self, eye: Vec3, ray: Vec3, spread: f32, start: f32) -> Option<f32> {
        let (first, last) = self.span(eye, ray, spread)?;
        let mut along = start.max(first);
        for _ in 0..MAX_STEPS {
            let gap = self.surface(eye + ray * along).distance - spread * along;
            if gap < 0.004 {
                return Some(along);
            }
            along += gap;
            if along > last {
                return None;
            }
        }
        Some(along)
    }

    /// Follows one ray; `pixel` is the width of a pixel at distance 1.
    fn march_ray(&self, eye: Vec3, ray: Vec3, pixel: f32, start: f32) -> Ending {
        let mut ending = Ending::Miss { nearest: start, gap: f32::MAX };
        let Some((first, last)) = self.span(eye, ray, pixel) else { return ending };
        let mut along = start.max(first);
        let mut smallest_gap = f32::MAX;
        for _ in 0..MAX_STEPS {
            let distance = self.surface(eye + ray * along).distance;
            let gap = distance / (pixel * along);
            if gap < 0.15 {
                return Ending::Hit(along);
            }
            if gap < smallest_gap {
                smallest_gap = gap;
                ending = Ending::Miss { nearest: along, gap };
            }
            along += distance;
            if along > last {
                break;
            }
        }
        ending
    }

    /// Calls `visit(row, col, ending)` for each pixel of the rectangle that the object touches or nearly touches.
    pub(crate) fn trace(
        &self,
        camera: &Camera,
        frame: &Frame,
        n_rows: usize,
        n_cols: usize,
        mut visit: impl FnMut(usize, usize, Ending),
    ) {
        const TILE_SIDE: usize = 16;
        let size = (n_rows, n_cols);
        for top in (0..n_rows).step_by(TILE_SIDE) {
            for left in (0..n_cols).step_by(TILE_SIDE) {
                let tile = Tile { top, left, side: TILE_SIDE, start: 0.0 };
                self.trace_tile(camera, frame, size, tile, &mut visit);
            }
        }
    }

    /// If a cone around the tile is empty, a single march replaces one per pixel.
    fn trace_tile(
        &self,
        camera: &Camera,
        frame: &Frame,
        size: (usize, usize),
        tile: Tile,
        visit: &mut impl FnMut(usize, usize, Ending),
    ) {
        if tile.top >= size.0 || tile.left >= size.1 {
            return;
        }
        let half = tile.side as f32 * 0.5;
        let (across, above) = frame.plane_from_pixel(tile.top as f32 + half, tile.left as f32 + half);
        let ray = camera.ray(across, above);
        if tile.side == 1 {
            let ending = self.march_ray(camera.eye, ray, 1.0 / frame.focal_px, tile.start);
            if !matches!(ending, Ending::Miss { gap, .. } if gap > 1.0) {
                visit(tile.top, tile.left, ending);
            }
            return;
        }
        // Half the diagonal, and one pixel more for the antialiased edge.
        let spread = (half * std::f32::consts::SQRT_2 + 1.0) / frame.focal_px;
        let Some(reached) = self.march_cone(camera.eye, ray, spread, tile.start) else { return };
        // All rays of a tile start at the same distance from the eye, slightly before the cone's end.
        let start = (reached - 0.004).max(0.0);
        let side = tile.side / 4;
        for top in (tile.top..tile.top + tile.side).step_by(side) {
            for left in (tile.left..tile.left + tile.side).step_by(side) {
                self.trace_tile(camera, frame, size, Tile { top, left, side, start }, visit);
            }
        }
    }

    /// The rectangle of the image plane that the object fills, too large by at most a few hundredths.
    pub(crate) fn extent(&self, camera: &Camera) -> Extent {
        let distance = camera.eye.length();
        let reach = self.radius / (distance * distance - self.radius * self.radius).max(0.01).sqrt();
        let cell = 2.0 * reach / N_COARSE_CELLS as f32;
        let place = |row: f32, col: f32| (col * cell - reach, reach - row * cell);
        let spread_of = |n_cells: usize| cell * n_cells as f32 * (0.5 * std::f32::consts::SQRT_2);
        let mut found: Option<Extent> = None;
        let blocks = (0..N_COARSE_CELLS).step_by(COARSE_BLOCK);
        for (top, left) in blocks.clone().flat_map(|top| blocks.clone().map(move |left| (top, left))) {
            let half = COARSE_BLOCK as f32 * 0.5;
            let (across, above) = place(top as f32 + half, left as f32 + half);
            let ray = camera.ray(across, above);
            let Some(start) = self.march_cone(camera.eye, ray, spread_of(COARSE_BLOCK), 0.0) else {
                continue;
            };
            for idx in 0..COARSE_BLOCK * COARSE_BLOCK {
                let (row, col) = ((top + idx / COARSE_BLOCK) as f32, (left + idx % COARSE_BLOCK) as f32);
                let ((cell_left, cell_top), (cell_right, cell_bottom)) =
                    (place(row, col), place(row + 1.0, col + 1.0));
                let cell = Extent { left: cell_left, right: cell_right, bottom: cell_bottom, top: cell_top };
                if found.is_some_and(|extent| extent.contains(&cell)) {
                    continue;
                }
                let (across, above) = place(row + 0.5, col + 0.5);
                let ray = camera.ray(across, above);
                if self.march_cone(camera.eye, ray, spread_of(1), start - 0.004).is_some() {
                    found = Some(found.map_or(cell, |extent| extent.joined(&cell)));
                }
            }
        }
        found.unwrap_or(Extent { left: -reach, right: reach, bottom: -reach, top: reach })
    }
}
