//! Estimates with their intervals: one row per method or switch, grouped under headings.

use crate::study::axis::{Scale, extent, tick_label};
use crate::study::figure::{Breadth, Drawing, Figure, xml_text};
use crate::study::legend::{Legend, Sign};
use crate::study::style::{fill_class, solid_class, stroke_class};
use crate::study::text_width::{fitted, fitted_bold, text_width_px};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Intervals {
    pub id: String,
    pub title: String,
    pub caption: String,
    pub x_label: String,
    /// The horizontal range; by default that of all values. Values outside are shown as an arrow at the edge.
    pub range: Option<(f64, f64)>,
    /// Position and name of a dashed vertical line, such as `no gain` at 0.
    pub reference: Option<(f64, String)>,
    /// Names of what is compared within a row, such as voting methods, each with its colour. The legend contains those
    /// that have an estimate. If all names are empty, each row names its content itself.
    pub series: Vec<String>,
    pub groups: Vec<IntervalGroup>,
}

/// Rows under a common heading.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IntervalGroup {
    /// Empty for no heading.
    pub heading: String,
    pub rows: Vec<IntervalRow>,
}

/// One row: a name, and one estimate per series.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IntervalRow {
    pub label: String,
    pub estimates: Vec<Mark>,
}

/// An estimate in a row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mark {
    /// Index in the figure's `series`, which determines the colour; `None` for grey.
    pub series_idx: Option<usize>,
    /// `None` if there were no runs.
    pub value: Option<f64>,
    /// Both ends of the interval; `None` if there were too few runs.
    pub interval: Option<(f64, f64)>,
    /// Values of single seeds, shown as small dots.
    pub seeds: Vec<f64>,
    /// The paper's value, shown as a diamond.
    pub paper: Option<f64>,
    pub n: u64,
}

const PLOT_WIDTH: f64 = 400.0;
const N_WIDTH: f64 = 48.0;
const LINE_HEIGHT: f64 = 17.0;
const ROW_GAP: f64 = 8.0;
const HEADING_HEIGHT: f64 = 28.0;
const LONGEST_LABEL: f64 = 340.0;
/// Figures at least this high have tick labels at the top, too.
const TALL: f64 = 600.0;

impl Intervals {
    pub fn figure(&self) -> Figure {
        let mut drawing = Drawing::new();
        let labels = self.groups.iter().flat_map(|group| &group.rows).map(|row| &row.label);
        let widest = labels.map(|label| text_width_px(label, 13.0)).fold(110.0, f64::max).min(LONGEST_LABEL);
        let left = widest + 32.0;
        let right = left + PLOT_WIDTH;
        let width = right + N_WIDTH + 14.0;
        let legend = Legend::new(self.legend_entries(), width - 28.0);
        legend.draw(&mut drawing, 14.0, 10.0);
        let top = 10.0 + legend.height() + 26.0;
        let bottom = top + self.groups.iter().map(group_height).sum::<f64>();
        let x = Scale { values: self.range.unwrap_or_else(|| self.full_range()), pixels: (left, right) };
        for tick in x.ticks(6) {
            let at = x.at(tick);
            drawing.line("grid", (at, top - 4.0), (at, bottom + 4.0));
            drawing.text("faint middle", at, bottom + 19.0, &tick_label(tick));
            if bottom - top > TALL {
                drawing.text("faint middle", at, top - 10.0, &tick_label(tick));
            }
        }
        drawing.text("faint end", right + N_WIDTH, top - 8.0, "n");
        let mut rows = Vec::new();
        let mut y = top;
        for group in &self.groups {
            y += heading_height(group);
            drawing.text("bold", 14.0, y - 9.0, &fitted_bold(&group.heading, 13.0, width - 28.0));
            for row in &group.rows {
                rows.push((y, row));
                y += row_height(row);
                drawing.line("grid", (14.0, y), (right + N_WIDTH, y));
            }
        }
        drawing.line("axis", (left, bottom), (right, bottom));
        if let Some((at, _)) = self.reference.as_ref().filter(|(at, _)| x.holds(*at)) {
            drawing.line("level", (x.at(*at), top - 4.0), (x.at(*at), bottom));
        }
        rows.into_iter().for_each(|(y, row)| draw_row(&mut drawing, &x, y, row));
        drawing.text("middle", (left + right) / 2.0, bottom + 40.0, &self.x_label);
        let breadth = if width > 760.0 { Breadth::Wide } else { Breadth::Narrow };
        drawing.figure(&self.id, &self.title, &self.caption, (width, bottom + 52.0), breadth)
    }

    fn estimates(&self) -> impl Iterator<Item = &Mark> {
        self.groups.iter().flat_map(|group| &group.rows).flat_map(|row| &row.estimates)
    }

    fn legend_entries(&self) -> Vec<(Sign, &str)> {
        let mut entries = Vec::new();
        let is_there = |idx: usize| self.estimates().any(|estimate| estimate.series_idx == Some(idx));
        let series = self.series.iter().enumerate().filter(|(idx, _)| is_there(*idx));
        entries.extend(series.map(|(idx, name)| (Sign::Estimate(idx), name.as_str())));
        if self.estimates().any(|estimate| !estimate.seeds.is_empty()) {
            entries.push((Sign::Seed, "one seed"));
        }
        if self.estimates().any(|estimate| estimate.paper.is_some()) {
            entries.push((Sign::Paper, "the paper"));
        }
        if let Some((_, name)) = &self.reference {
            entries.push((Sign::Level, name));
        }
        entries
    }

    /// The range of all values, with a margin at both ends.
    fn full_range(&self) -> (f64, f64) {
        let shown = self.estimates().flat_map(|estimate| {
            let ends = estimate.interval.into_iter().flat_map(|(lower, upper)| [lower, upper]);
            ends.chain(estimate.value).chain(estimate.paper).chain(estimate.seeds.iter().copied())
        });
        let reference = self.reference.as_ref().map(|(at, _)| *at);
        let (low, high) = extent(shown.chain(reference)).unwrap_or((0.0, 1.0));
        let margin = if high > low { 0.04 * (high - low) } else { 0.5 };
        (low - margin, high + margin)
    }
}

fn row_height(row: &IntervalRow) -> f64 {
    row.estimates.len().max(1) as f64 * LINE_HEIGHT + ROW_GAP
}

fn heading_height(group: &IntervalGroup) -> f64 {
    if group.heading.is_empty() { 0.0 } else { HEADING_HEIGHT }
}

fn group_height(group: &IntervalGroup) -> f64 {
    heading_height(group) + group.rows.iter().map(row_height).sum::<f64>()
}

fn draw_row(drawing: &mut Drawing, x: &Scale, top: f64, row: &IntervalRow) {
    let (left, right) = x.pixels;
    let middle = top + row_height(row) / 2.0;
    drawing.text("end", left - 16.0, middle + 4.5, &fitted(&row.label, 13.0, LONGEST_LABEL));
    for (idx, estimate) in row.estimates.iter().enumerate() {
        let y = top + (ROW_GAP + LINE_HEIGHT) / 2.0 + idx as f64 * LINE_HEIGHT;
        draw_estimate(drawing, x, y, estimate, &row.label);
        drawing.text("faint small end", right + N_WIDTH, y + 4.0, &estimate.n.to_string());
    }
}

fn draw_estimate(drawing: &mut Drawing, x: &Scale, y: f64, estimate: &Mark, label: &str) {
    let (stroke, solid, fill) = match estimate.series_idx {
        Some(idx) => (stroke_class(idx), solid_class(idx), fill_class(idx)),
        None => ("axis".into(), "axis".into(), "faint".into()),
    };
    let finite = |value: Option<f64>| value.filter(|value| value.is_finite());
    let Some(value) = finite(estimate.value) else {
        drawing.text("faint small", x.pixels.0 + 6.0, y + 4.0, "none");
        return;
    };
    drawing.add("<g>");
    let interval = estimate.interval.filter(|(lower, upper)| lower.is_finite() && upper.is_finite());
    let words = interval.map_or_else(String::new, |(lower, upper)| format!(" [{lower:.3}, {upper:.3}]"));
    drawing.add(&format!("<title>{}: {value:.3}{words}, n = {}</title>", xml_text(label), estimate.n));
    for &seed in estimate.seeds.iter().filter(|seed| seed.is_finite()) {
        // A little lower, so that the interval does not cover it.
        let y = y + 5.5;
        mark(drawing, x, y, seed, &fill, |drawing, at| drawing.dot(&format!("seed {fill}"), at, y, 2.2));
    }
    if let Some((lower, upper)) = interval {
        drawing.line(&format!("line {stroke}"), (x.at(lower), y), (x.at(upper), y));
        for end in [lower, upper] {
            mark(drawing, x, y, end, &fill, |drawing, at| {
                drawing.line(&format!("line {solid}"), (at, y - 4.0), (at, y + 4.0));
            });
        }
    }
    if let Some(paper) = finite(estimate.paper) {
        mark(drawing, x, y, paper, "faint", |drawing, at| drawing.diamond(at, y));
    }
    mark(drawing, x, y, value, &fill, |drawing, at| drawing.dot(&fill, at, y, 4.2));
    drawing.add("</g>");
}

/// Draws a mark at a value, or an arrow at the edge if the value is outside the range.
fn mark(
    drawing: &mut Drawing,
    x: &Scale,
    y: f64,
    value: f64,
    class: &str,
    draw: impl FnOnce(&mut Drawing, f64),
) {
    let at = x.at(value);
    if x.holds(value) {
        return draw(drawing, at);
    }
    let towards = if value < x.values.0 { -7.0 } else { 7.0 };
    drawing.add(&format!(
        "<path class=\"beyond {class}\" d=\"M{at:.1} {:.1}l{towards} 4l{} 4z\"/>",
        y - 4.0,
        -towards
    ));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::figure::tests::{HOSTILE, check_stands_alone};

    fn intervals() -> Intervals {
        let estimate = Mark {
            series_idx: Some(0),
            value: Some(0.5),
            interval: Some((0.25, 1.0)),
            seeds: vec![0.0, 0.5],
            paper: Some(0.75),
            n: 2,
        };
        let none = Mark { series_idx: Some(1), ..Mark::default() };
        let row = IntervalRow { label: HOSTILE.into(), estimates: vec![estimate, none] };
        Intervals {
            range: Some((0.0, 1.0)),
            reference: Some((0.0, HOSTILE.into())),
            series: vec![HOSTILE.into(), "unit".into()],
            groups: vec![IntervalGroup { heading: HOSTILE.into(), rows: vec![row] }],
            ..Intervals::default()
        }
    }

    #[test]
    fn an_estimate_is_drawn_where_it_lies() {
        let figure = intervals().figure();
        check_stands_alone(&figure);
        // The plot is 400 wide and begins at 142.
        let place = |part: &str| figure.svg.matches(part).count();
        assert_eq!(place("<circle class=\"f0\" cx=\"342.0\""), 1, "{}", figure.svg);
        assert_eq!(place("<line class=\"line s0\" x1=\"242.0\""), 2, "{}", figure.svg);
        assert_eq!(place("x2=\"542.0\""), 3 + 1, "{}", figure.svg);
        assert_eq!(place("<circle class=\"seed f0\""), 2);
        assert_eq!(place("<path class=\"paper-value\" d=\"M442.0"), 1);
        assert_eq!(place(">none</text>"), 1);
        assert_eq!(place("class=\"beyond"), 0);
    }

    #[test]
    fn what_lies_beyond_is_an_arrow() {
        let mut figure = intervals();
        figure.range = Some((0.3, 0.6));
        // Both ends of the interval, the paper's value and one seed; the reference line is not counted.
        assert_eq!(figure.figure().svg.matches("class=\"beyond").count(), 4);
        figure.range = None;
        assert_eq!(figure.figure().svg.matches("class=\"beyond").count(), 0);
    }

    #[test]
    fn a_series_has_its_colour_whichever_others_are_there() {
        let mut figure = intervals();
        figure.series = ["scratch", "layer", "unit"].map(String::from).to_vec();
        figure.groups[0].rows[0].estimates[0].series_idx = Some(2);
        let names: Vec<&str> = figure.legend_entries().into_iter().map(|(_, name)| name).collect();
        assert_eq!(names, ["layer", "unit", "one seed", "the paper", HOSTILE]);
        let svg = figure.figure().svg;
        assert!(svg.contains("<circle class=\"f2\"") && !svg.contains("<circle class=\"f0\""), "{svg}");
        // Without an index the line is grey; indices beyond the palette give dashed lines.
        for (series_idx, class) in [(None, "line axis"), (Some(8), "line s1 d1")] {
            figure.groups[0].rows[0].estimates[0].series_idx = series_idx;
            assert!(figure.figure().svg.contains(&format!("<line class=\"{class}\"")), "{class}");
        }
    }

    #[test]
    fn ticks_of_a_tall_figure_are_named_twice() {
        let mut figure = intervals();
        let n_named = |figure: &Intervals| figure.figure().svg.matches(">0.4</text>").count();
        assert_eq!(n_named(&figure), 1);
        figure.groups[0].rows = vec![figure.groups[0].rows[0].clone(); 20];
        assert_eq!(n_named(&figure), 2);
    }

    #[test]
    fn without_any_run_there_is_still_a_figure() {
        check_stands_alone(&Intervals::default().figure());
    }
}
