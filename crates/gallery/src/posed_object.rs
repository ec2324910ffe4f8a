//! An object with a fixed form and pose: ready to be traced, placed and painted.

use crate::camera::{Extent, Frame};
use crate::compose::PixelPos;
use crate::light::Light;
use crate::march::Body;
use crate::palette::Colour;
use crate::pose::{Pose, PoseRange};
use crate::shape::Shape;
use crate::silhouette::Silhouette;
use crate::texture::Coat;
use touchstream_env::seed::RandomStream;
use touchstream_env::touch::SCREEN_SIDE_PX;

/// Number of empty pixels around an object, for its antialiased edge.
const MARGIN_PX: usize = 2;

/// One object in one pose.
pub(crate) struct PosedObject {
    body: Body,
    pose: Pose,
    extent: Extent,
    n_rows: usize,
    n_cols: usize,
}

impl PosedObject {
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

    /// The colours of the object's silhouette.
    pub(crate) fn painted(&self, silhouette: &Silhouette, coat: &Coat, light: &Light) -> Vec<Colour> {
        silhouette.painted(&self.body, &self.pose.camera, &self.frame(), coat, light)
    }

    /// The last row and column at which the object fits on the screen.
    pub(crate) fn last_place(&self) -> PixelPos {
        (SCREEN_SIDE_PX - self.n_rows, SCREEN_SIDE_PX - self.n_cols)
    }

    /// The position of the object's pose. A shift is a share of the free space, so that objects do not accumulate at the
    /// edges.
    pub(crate) fn posed_place(&self) -> PixelPos {
        let along = |last: usize, shift: f32| (last as f32 * (0.5 + shift)).clamp(0.0, last as f32) as usize;
        let (last_top, last_left) = self.last_place();
        (along(last_top, self.pose.shift_rows), along(last_left, self.pose.shift_cols))
    }

    /// The (row, column) of its base at a position, and how far its shadow extends to each side, in pixels.
    pub(crate) fn foot(&self, (top, left): PixelPos) -> ((f32, f32), f32) {
        let width_px = self.n_cols as f32;
        let row_px = (top + self.n_rows) as f32 - width_px * 0.08;
        ((row_px, left as f32 + width_px * 0.5), width_px * 0.62)
    }
}
