//! A thing whose form and view are settled: ready to be traced, placed and painted.

use crate::camera::{Extent, Frame};
use crate::compose::Place;
use crate::light::Light;
use crate::march::Body;
use crate::palette::Colour;
use crate::pose::{Pose, PoseRange};
use crate::shape::Shape;
use crate::silhouette::Silhouette;
use crate::texture::Coat;
use touchstream_env::seed::RandomStream;
use touchstream_env::touch::SCREEN_SIDE_PX;

/// Empty pixels around a thing, for its soft rim.
const MARGIN_PX: usize = 2;

/// One thing in one view.
pub(crate) struct Still {
    body: Body,
    pose: Pose,
    extent: Extent,
    n_rows: usize,
    n_cols: usize,
}

impl Still {
    pub(crate) fn draw(range: &PoseRange, class: usize, form: &mut RandomStream) -> Self {
        let body = Body::new(class, Shape::draw(form));
        let pose = Pose::draw(range, class, body.radius, form);
        let extent = body.extent(&pose.camera);
        let (height_px, width_px) = extent.size_px(&extent.framed(pose.side_px, 0.0, 0.0));
        let whole = |length_px: f32| (length_px.ceil() as usize + 2 * MARGIN_PX).min(SCREEN_SIDE_PX);
        Self { body, pose, extent, n_rows: whole(height_px), n_cols: whole(width_px) }
    }

    fn frame(&self) -> Frame {
        self.extent.framed(self.pose.side_px, self.n_rows as f32 * 0.5, self.n_cols as f32 * 0.5)
    }

    pub(crate) fn silhouette(&self) -> Silhouette {
        Silhouette::trace(&self.body, &self.pose.camera, &self.frame(), (self.n_rows, self.n_cols))
    }

    /// The colours of its own silhouette.
    pub(crate) fn painted(&self, silhouette: &Silhouette, coat: &Coat, light: &Light) -> Vec<Colour> {
        silhouette.painted(&self.body, &self.pose.camera, &self.frame(), coat, light)
    }

    /// The last row and the last column at which it may begin and still be wholly on the screen.
    pub(crate) fn last_place(&self) -> Place {
        (SCREEN_SIDE_PX - self.n_rows, SCREEN_SIDE_PX - self.n_cols)
    }

    /// Where its pose puts it. A shift is a share of the room there is, so that things do not gather at the
    /// rims.
    pub(crate) fn posed_place(&self) -> Place {
        let along = |last: usize, shift: f32| (last as f32 * (0.5 + shift)).clamp(0.0, last as f32) as usize;
        let (last_top, last_left) = self.last_place();
        (along(last_top, self.pose.shift_rows), along(last_left, self.pose.shift_cols))
    }

    /// The (row, column) on which it stands when placed, and how far its shadow reaches to each side, in pixels.
    pub(crate) fn foot(&self, (top, left): Place) -> ((f32, f32), f32) {
        let width_px = self.n_cols as f32;
        let row_px = (top + self.n_rows) as f32 - width_px * 0.08;
        ((row_px, left as f32 + width_px * 0.5), width_px * 0.62)
    }
}
