//! The area of one plot: its grid, ticks and their labels.

use crate::study::axis::{Scale, tick_label};
use crate::study::figure::Drawing;

/// Where a plot stands and what its sides mean.
pub(super) struct PlotArea {
    /// From left to right.
    pub x: Scale,
    /// From bottom to top.
    pub y: Scale,
}

/// Which ticks have labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TickLabels {
    /// Those below.
    Below,
    /// Those below and at the left.
    BelowAndLeft,
}

impl PlotArea {
    /// Grid lines and labels; what is plotted goes on top.
    pub fn draw(&self, drawing: &mut Drawing, labels: TickLabels) {
        let ((left, right), (bottom, top)) = (self.x.pixels, self.y.pixels);
        for tick in self.y.ticks(5) {
            let at = self.y.at(tick);
            drawing.line("grid", (left, at), (right, at));
            if labels == TickLabels::BelowAndLeft {
                drawing.text("faint end", left - 7.0, at + 4.5, &tick_label(tick));
            }
        }
        for tick in self.x.ticks(5) {
            let at = self.x.at(tick);
            drawing.line("grid", (at, top), (at, bottom + 4.0));
            drawing.text("faint middle", at, bottom + 18.0, &tick_label(tick));
        }
        drawing.line("axis", (left, bottom), (right, bottom));
    }
}
