//! Small multiples: one panel per task, one line per method, with common axes and one legend.

use crate::study::axis::{Scale, extent};
use crate::study::band_line::{BandPoint, draw_band, draw_line, draw_seed};
use crate::study::figure::{Breadth, Drawing, Figure};
use crate::study::legend::{Legend, Sign};
use crate::study::plot_area::{PlotArea, TickLabels};
use crate::study::text_width::bold_lines;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panels {
    pub id: String,
    pub title: String,
    pub caption: String,
    pub x_label: String,
    pub y_label: String,
    /// By default from 0 to the end of the longest line of each panel.
    pub x_range: Option<(f64, f64)>,
    /// Names of the lines, in the order of the legend. The first seven have different colours.
    pub line_names: Vec<String>,
    /// Panels per row; by default depends on the number of panels.
    pub n_columns: Option<usize>,
    pub panels: Vec<Panel>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panel {
    pub title: String,
    /// Reward of uniform touches, shown as a dashed line.
    pub chance: Option<f64>,
    /// The step up to which areas are compared, shown as a dotted line.
    pub horizon: Option<f64>,
    /// Earlier lines are drawn above later ones. With more than about seven lines, bands hide too much.
    pub curves: Vec<PanelCurve>,
}

/// One line of a panel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PanelCurve {
    /// Index in the figure's `line_names`.
    pub name_idx: usize,
    pub points: Vec<BandPoint>,
    /// Single seeds, shown as thin lines.
    pub seeds: Vec<Vec<(f64, f64)>>,
    /// The paper's choice, shown as a diamond on the line.
    pub paper: Option<(f64, f64)>,
}

impl PanelCurve {
    fn shows_something(&self) -> bool {
        let is_there = |x: f64, y: f64| x.is_finite() && y.is_finite();
        self.points.iter().any(|point| is_there(point.x, point.y))
            || self.seeds.iter().flatten().any(|&(x, y)| is_there(x, y))
    }
}

/// Rewards and shares, in every panel; lines outside are drawn along the edge.
const Y_RANGE: (f64, f64) = (0.0, 1.0);
const LEFT: f64 = 66.0;
const RIGHT: f64 = 24.0;
const COLUMN_GAP: f64 = 36.0;
const TICKS_HEIGHT: f64 = 34.0;
const TITLE_LINE_HEIGHT: f64 = 16.0;

/// Panels per row, total width in pixels, and height of a panel.
fn layout(n_panels: usize, n_columns: Option<usize>) -> (usize, f64, f64) {
    match n_columns.unwrap_or(n_panels) {
        0 | 1 => (1, 640.0, 300.0),
        2 => (2, 800.0, 210.0),
        4 if n_columns.is_none() => (2, 800.0, 210.0),
        4.. if n_columns.is_some() => (n_columns.unwrap_or(4), 960.0, 120.0),
        _ => (3, 900.0, 160.0),
    }
}

impl Panels {
    pub fn figure(&self) -> Figure {
        let mut drawing = Drawing::new();
        let (n_columns, width, height) = layout(self.panels.len(), self.n_columns);
        let legend = Legend::new(self.legend_entries(), width - 28.0);
        legend.draw(&mut drawing, 14.0, 10.0);
        let top = 10.0 + legend.height() + 6.0;
        let panel_width = (width - LEFT - RIGHT + COLUMN_GAP) / n_columns as f64 - COLUMN_GAP;
        let titles: Vec<Vec<String>> =
            self.panels.iter().map(|panel| bold_lines(&panel.title, 13.0, panel_width)).collect();
        let is_titled = self.panels.iter().any(|panel| !panel.title.is_empty());
        // For each row of panels, the height of its longest title.
        let title_heights: Vec<f64> = titles
            .chunks(n_columns)
            .map(|titles| {
                let n_lines = titles.iter().map(Vec::len).max().filter(|_| is_titled).unwrap_or(0);
                8.0 + n_lines as f64 * TITLE_LINE_HEIGHT
            })
            .collect();
        let rows_height =
            |titles: &[f64]| titles.iter().map(|title| title + height + TICKS_HEIGHT).sum::<f64>();
        for (idx, panel) in self.panels.iter().enumerate() {
            let (row, column) = (idx / n_columns, idx % n_columns);
            let left = LEFT + column as f64 * (panel_width + COLUMN_GAP);
            let (title_height, above) = (title_heights[row], top + rows_height(&title_heights[..row]));
            let area = PlotArea {
                x: Scale { values: self.x_values(panel), pixels: (left, left + panel_width) },
                y: Scale { values: Y_RANGE, pixels: (above + title_height + height, above + title_height) },
            };
            let labels = if column == 0 { TickLabels::BelowAndLeft } else { TickLabels::Below };
            for (line, up) in titles[idx].iter().rev().zip(0_u8..) {
                let y = above + title_height - 8.0 - f64::from(up) * TITLE_LINE_HEIGHT;
                drawing.text("bold", left, y, line);
            }
            area.draw(&mut drawing, labels);
            draw_panel(&mut drawing, &area, panel);
        }
        let bottom = top + rows_height(&title_heights);
        drawing.text("middle", (LEFT + width - RIGHT) / 2.0, bottom + 8.0, &self.x_label);
        drawing.turned_text("middle", 18.0, (top + bottom) / 2.0, -90.0, &self.y_label);
        let breadth = if n_columns == 1 { Breadth::Narrow } else { Breadth::Wide };
        drawing.figure(&self.id, &self.title, &self.caption, (width, bottom + 20.0), breadth)
    }

    fn legend_entries(&self) -> Vec<(Sign, &str)> {
        let is_drawn = |idx: usize| {
            let curves = self.panels.iter().flat_map(|panel| &panel.curves);
            curves.filter(|curve| curve.name_idx == idx).any(PanelCurve::shows_something)
        };
        let names = self.line_names.iter().enumerate().filter(|(idx, _)| is_drawn(*idx));
        let lines = names.map(|(idx, name)| (Sign::Line(idx), name.as_str()));
        let level = self.panels.iter().any(|panel| panel.chance.is_some()).then_some((Sign::Level, "chance"));
        let mark = self.panels.iter().any(|panel| panel.horizon.is_some()).then_some((Sign::Mark, "horizon"));
        let mut curves = self.panels.iter().flat_map(|panel| &panel.curves);
        let paper = curves.any(|curve| curve.paper.is_some()).then_some((Sign::Paper, "the paper"));
        lines.chain(level).chain(mark).chain(paper).collect()
    }

    fn x_values(&self, panel: &Panel) -> (f64, f64) {
        let points = panel.curves.iter().flat_map(|curve| &curve.points).map(|point| point.x);
        let longest = || extent(points.chain(panel.horizon)).map_or(1.0, |(_, high)| high);
        self.x_range.unwrap_or_else(|| (0.0, longest().max(f64::MIN_POSITIVE)))
    }
}

/// Draws seeds, then bands above them, then lines; the first line is on top.
fn draw_panel(drawing: &mut Drawing, area: &PlotArea, panel: &Panel) {
    let ((left, right), (bottom, top)) = (area.x.pixels, area.y.pixels);
    if let Some(chance) = panel.chance.filter(|chance| area.y.holds(*chance)) {
        let at = area.y.at(chance);
        drawing.line("level", (left, at), (right, at));
    }
    if let Some(horizon) = panel.horizon.filter(|horizon| area.x.holds(*horizon)) {
        let at = area.x.at(horizon);
        drawing.line("mark", (at, bottom), (at, top));
    }
    for curve in panel.curves.iter().rev() {
        curve.seeds.iter().for_each(|seed| draw_seed(drawing, area, curve.name_idx, seed));
    }
    for curve in panel.curves.iter().rev() {
        draw_band(drawing, area, curve.name_idx, &curve.points);
    }
    for curve in panel.curves.iter().rev() {
        draw_line(drawing, area, curve.name_idx, &curve.points);
    }
    for (x, y) in panel.curves.iter().filter_map(|curve| curve.paper) {
        drawing.diamond(area.x.at(x), area.y.at(y));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::figure::tests::{HOSTILE, check_stands_alone};

    fn panels(n_panels: usize, n_lines: usize) -> Panels {
        let point = |x: f64| BandPoint { x, y: 0.5, lower: 0.25, upper: 1.5 };
        let curve = |name_idx| PanelCurve {
            name_idx,
            points: [0.0, 50.0, 100.0].map(point).to_vec(),
            seeds: vec![vec![(0.0, 0.1), (100.0, f64::NAN), (100.0, 0.2)]],
            paper: None,
        };
        let panel = Panel {
            title: HOSTILE.into(),
            chance: Some(0.5),
            horizon: Some(80.0),
            curves: (0..n_lines).map(curve).collect(),
        };
        Panels {
            id: "curves".into(),
            title: HOSTILE.into(),
            caption: HOSTILE.into(),
            x_label: HOSTILE.into(),
            y_label: HOSTILE.into(),
            x_range: None,
            line_names: vec![HOSTILE.into(); n_lines],
            n_columns: None,
            panels: vec![panel; n_panels],
        }
    }

    #[test]
    fn any_number_of_panels_stands_alone() {
        for (n_panels, n_lines) in [(0, 0), (1, 1), (2, 3), (12, 7), (15, 24)] {
            let figure = panels(n_panels, n_lines).figure();
            check_stands_alone(&figure);
            let count = |part: &str| figure.svg.matches(part).count();
            assert_eq!(count("<polygon class=\"band"), n_panels * n_lines);
            assert_eq!(count("<polyline class=\"line s"), n_panels * n_lines);
            assert_eq!(count("<polyline class=\"line thin"), n_panels * n_lines);
            // Once per panel, and once in the legend.
            assert_eq!(count("class=\"level\""), if n_panels > 0 { n_panels + 1 } else { 0 });
        }
    }

    #[test]
    fn a_band_has_its_own_edges() {
        let svg = panels(1, 1).figure().svg;
        // A panel is 300 high: values above its top are at the top, the lower edge of the band is at a quarter, the
        // line in the middle.
        let area_top = svg.split("<polygon class=\"band f0\" points=\"66.0,").nth(1).unwrap();
        let (top, _) = area_top.split_once(' ').unwrap();
        let top: f64 = top.parse().unwrap();
        assert!(svg.contains(&format!("66.0,{:.1}\"/>", top + 225.0)), "{svg}");
        assert!(svg.contains(&format!("points=\"66.0,{:.1} ", top + 150.0)), "{svg}");
    }

    #[test]
    fn the_legend_names_what_is_drawn() {
        let mut figure = panels(2, 3);
        figure.line_names = ["first", "second", "third", "fourth"].map(String::from).to_vec();
        figure.panels[0].curves.remove(1);
        figure.panels[1].curves.remove(1);
        // The legend contains a line that only one panel has.
        figure.panels[1].curves.pop();
        // A line without points is not drawn.
        figure.panels[0].curves.push(PanelCurve { name_idx: 3, ..PanelCurve::default() });
        let found: Vec<(Sign, &str)> = figure.legend_entries();
        let lines = [(Sign::Line(0), "first"), (Sign::Line(2), "third")];
        assert_eq!(found, [lines, [(Sign::Level, "chance"), (Sign::Mark, "horizon")]].concat());
    }

    #[test]
    fn the_papers_choice_is_a_diamond_on_its_line() {
        let mut figure = panels(1, 2);
        assert_eq!(figure.figure().svg.matches("<path class=\"paper-value\"").count(), 0);
        figure.panels[0].curves[1].paper = Some((50.0, 0.5));
        let svg = figure.figure().svg;
        // Halfway between 66 and 616; the other diamond is in the legend.
        assert_eq!(svg.matches("<path class=\"paper-value\" d=\"M341.0 ").count(), 1, "{svg}");
        assert_eq!(svg.matches("<path class=\"paper-value\"").count(), 2);
        assert!(svg.contains(">the paper</text>"));
    }

    #[test]
    fn a_long_title_stands_whole_in_two_lines() {
        let mut figure = panels(3, 1);
        figure.panels.iter_mut().for_each(|panel| panel.title = "short".into());
        let height = |svg: &str| svg.split("height=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
        let before: f64 = height(&figure.figure().svg).parse().unwrap();
        figure.panels[1].title = "4-way match-to-sample: four shown, permuted".into();
        let svg = figure.figure().svg;
        assert!(
            svg.contains(">4-way match-to-sample:</text>") && svg.contains(">four shown, permuted</text>")
        );
        assert_eq!(height(&svg).parse::<f64>().unwrap(), before + TITLE_LINE_HEIGHT);
        // The titles of one row do not change the height of the others.
        let mut two_rows = figure.clone();
        two_rows.panels.extend(vec![figure.panels[0].clone(); 3]);
        let with_long: f64 = height(&two_rows.figure().svg).parse().unwrap();
        two_rows.panels[1].title = "short".into();
        let without: f64 = height(&two_rows.figure().svg).parse().unwrap();
        assert_eq!(with_long, without + TITLE_LINE_HEIGHT);
        // Short titles are directly above their panel.
        let y_of = |text: &str| {
            let (head, _) = svg.split_once(&format!("\">{text}</text>")).unwrap();
            head.rsplit("y=\"").next().unwrap().to_owned()
        };
        assert_eq!(y_of("short"), y_of("four shown, permuted"));
    }

    #[test]
    fn a_panel_may_have_its_own_steps() {
        let mut figure = panels(2, 1);
        figure.panels[1].curves[0].points[2].x = 1000.0;
        let ends = |figure: &Panels| [0, 1].map(|idx| figure.x_values(&figure.panels[idx]).1);
        assert_eq!(ends(&figure), [100.0, 1000.0]);
        figure.x_range = Some((-1.0, 5.0));
        assert_eq!(figure.x_values(&figure.panels[0]), (-1.0, 5.0));
    }
}
