//! The area of one plot: its grid, ticks and their labels.

use crate::study::axis::{Scale, tick_label};
use crate::study::figure::Drawing;

/// Position and axes of a plot.
pub(super) struct PlotArea {
    pub x: Scale,
    pub y: Scale,
}

/// Which ticks have labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TickLabels {
    Below,
    BelowAndLeft,
}

impl PlotArea {
    /// Draws grid lines and labels, before the plot.
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
