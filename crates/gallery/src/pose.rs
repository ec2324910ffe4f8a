//! Random poses: from which side, how large and where an object is drawn.

use crate::camera::Camera;
use crate::catalogue::CATALOGUE;
use touchstream_env::seed::RandomStream;

/// Ranges of a pose, both ends included.
pub(crate) struct PoseRange {
    pub elevation_deg: (f32, f32),
    pub roll_deg: (f32, f32),
    /// Longer side of the object's box.
    pub side_px: (f32, f32),
    /// Maximum shift of the box from the centre, as a share of the free space; 0.5 reaches the edges.
    pub shift: f32,
}

pub(crate) const PORTRAIT_POSE: PoseRange =
    PoseRange { elevation_deg: (5.0, 40.0), roll_deg: (-10.0, 10.0), side_px: (145.0, 205.0), shift: 0.3 };

pub(crate) const OBJECT_POSE: PoseRange =
    PoseRange { elevation_deg: (0.0, 48.0), roll_deg: (-42.0, 42.0), side_px: (42.0, 170.0), shift: 0.5 };

/// At most half of the screen, so that two objects always fit next to each other.
pub(crate) const SCENE_POSE: PoseRange =
    PoseRange { elevation_deg: (5.0, 40.0), roll_deg: (-20.0, 20.0), side_px: (64.0, 108.0), shift: 0.5 };

/// The pose of one object.
pub(crate) struct Pose {
    pub camera: Camera,
    /// Longer side of the object's box.
    pub side_px: f32,
    /// Shift down from the centre, as a share of the free space.
    pub shift_rows: f32,
    /// Shift to the right, likewise.
    pub shift_cols: f32,
}

impl Pose {
    /// A pose for an object of a class with this bounding radius.
    pub(crate) fn draw(range: &PoseRange, class: usize, radius: f32, stream: &mut RandomStream) -> Self {
        let within = |stream: &mut RandomStream, (low, high): (f32, f32)| stream.in_range(low, high);
        let edge_on_deg = CATALOGUE[class % CATALOGUE.len()].edge_on_deg;
        let widest = 90.0 - edge_on_deg;
        let side_deg = if stream.chance(0.5) { 0.0 } else { 180.0 };
        let azimuth_deg = side_deg + stream.in_range(-widest, widest);
        let elevation_deg = within(stream, range.elevation_deg);
        let roll_deg = within(stream, range.roll_deg);
        let distance = radius * stream.in_range(2.8, 6.0);
        Self {
            camera: Camera::looking(azimuth_deg, elevation_deg, roll_deg, distance),
            side_px: within(stream, range.side_px),
            shift_rows: stream.in_range(-range.shift, range.shift),
            shift_cols: stream.in_range(-range.shift, range.shift),
        }
    }
}
