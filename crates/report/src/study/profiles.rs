//! Performance profiles: which share of runs scores above each threshold.

use crate::study::axis::extent;
use crate::study::band_line::BandPoint;
use crate::study::figure::Figure;
use crate::study::panels::{Panel, PanelCurve, Panels, XRange};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profiles {
    pub id: String,
    pub title: String,
    pub caption: String,
    /// What tau is a threshold of: `normalized area (τ)`.
    pub x_label: String,
    pub lines: Vec<ProfileLine>,
}

/// The profile of one method.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProfileLine {
    pub name: String,
    /// Which colour and dashes it has: the same as in other figures of the method.
    pub style_idx: usize,
    /// At each tau, the share of runs that score more, from 0 to 1, and its band.
    pub points: Vec<BandPoint>,
}

impl Profiles {
    pub fn figure(&self) -> Figure {
        let taus = self.lines.iter().flat_map(|line| &line.points).map(|point| point.x);
        let (low, high) = extent(taus).unwrap_or((0.0, 1.0));
        let curves = self.lines.iter().map(|line| PanelCurve {
            name_idx: line.style_idx,
            points: line.points.clone(),
            ..PanelCurve::default()
        });
        let n_styles = self.lines.iter().map(|line| line.style_idx + 1).max().unwrap_or(0);
        let mut names = vec![String::new(); n_styles];
        self.lines.iter().for_each(|line| names[line.style_idx].clone_from(&line.name));
        Panels {
            id: self.id.clone(),
            title: self.title.clone(),
            caption: self.caption.clone(),
            x_label: self.x_label.clone(),
            y_label: "share of runs above τ".into(),
            x_range: XRange::Given(low, high),
            y_range: (0.0, 1.0),
            line_names: names,
            n_columns: None,
            panels: vec![Panel { curves: curves.collect(), ..Panel::default() }],
        }
        .figure()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::figure::tests::{HOSTILE, check_stands_alone};

    #[test]
    fn a_profile_fills_its_range_of_thresholds() {
        let point = |x, y| BandPoint { x, y, lower: y - 0.1, upper: y };
        let line = ProfileLine {
            name: HOSTILE.into(),
            style_idx: 4,
            points: vec![point(-0.5, 1.0), point(0.25, 0.5), point(1.0, 0.0)],
        };
        let other = ProfileLine { style_idx: 1, ..line.clone() };
        let figure = Profiles { lines: vec![line, other], ..Profiles::default() }.figure();
        check_stands_alone(&figure);
        // From the left edge to the right one, the middle in the middle.
        assert!(figure.svg.contains("points=\"66.0,"), "{}", figure.svg);
        assert!(figure.svg.contains(" 341.0,") && figure.svg.contains(" 616.0,"), "{}", figure.svg);
        assert_eq!(figure.svg.matches("<polygon class=\"band").count(), 2);
        // Each in its own style: in the plot and in the legend.
        for (class, n) in [("line s4", 2), ("line s1", 2), ("line s0", 0)] {
            assert_eq!(figure.svg.matches(&format!("class=\"{class}\"")).count(), n, "{class}");
        }
    }
}
