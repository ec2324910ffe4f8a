//! The colours of all figures: a palette that colour-blind readers can distinguish, for the light and the dark style.

use std::fmt::Write;

/// Okabe and Ito's colours without yellow, which is hard to see on white.
const LIGHT: [&str; N_COLOURS] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#222222"];
const DARK: [&str; N_COLOURS] = ["#4f9fe0", "#ff8547", "#2fc79a", "#e59ac6", "#ffc04d", "#a5dcff", "#f2f2f2"];

const N_COLOURS: usize = 7;

/// Text size of figures in pixels.
pub(super) const TEXT_PX: f64 = 13.0;
/// Text size of the class `small`.
pub(super) const SMALL_TEXT_PX: f64 = 11.0;

/// Solid, dashed, dotted, and dashed with dots: each is used for one round through the colours.
const DASHES: [&str; 4] = ["", " d1", " d2", " d3"];

/// Classes of the `idx`-th line: the first seven differ in colour, later ones in colour and dashes.
pub(super) fn stroke_class(idx: usize) -> String {
    format!("s{}{}", idx % N_COLOURS, DASHES[idx / N_COLOURS % DASHES.len()])
}

/// Class of a solid line in the `idx`-th colour.
pub(super) fn solid_class(idx: usize) -> String {
    format!("s{}", idx % N_COLOURS)
}

/// Class of a shape filled with the `idx`-th colour.
pub(super) fn fill_class(idx: usize) -> String {
    format!("f{}", idx % N_COLOURS)
}

/// The style element of a figure. Rules for light colours come first, so that programs that ignore media queries use
/// them.
pub(super) fn style_element() -> String {
    let mut css = String::from("<style>\n");
    css.push_str(SHAPES);
    css.push_str(&colours("#ffffff", "#222222", "#5f5f5f", "#e2e2e2", &LIGHT));
    css.push_str("@media (prefers-color-scheme: dark) {\n");
    css.push_str(&colours("#161616", "#e8e8e8", "#a6a6a6", "#383838", &DARK));
    css.push_str("}\n</style>\n");
    css
}

/// The rules that do not depend on light or dark. Every rule names the figure's class, because inside a page it would
/// otherwise apply to the whole page.
const SHAPES: &str = "\
.study-figure { font-family: system-ui, 'DejaVu Sans', sans-serif; font-size: 13px; }
.study-figure .small { font-size: 11px; }
.study-figure .bold { font-weight: bold; }
.study-figure .middle { text-anchor: middle; }
.study-figure .end { text-anchor: end; }
.study-figure .grid { stroke-width: 1; }
.study-figure .line { fill: none; stroke-width: 2; stroke-linejoin: round; }
.study-figure .thin { stroke-width: 1; stroke-opacity: 0.5; }
.study-figure .band { stroke: none; fill-opacity: 0.18; opacity: 1; }
.study-figure .level { fill: none; stroke-width: 1.4; stroke-dasharray: 5 4; }
.study-figure .mark { fill: none; stroke-width: 1.4; stroke-dasharray: 1.5 3; }
.study-figure .seed { fill-opacity: 0.45; }
.study-figure .paper-value { stroke-width: 1.6; }
.study-figure .hatch { fill: none; stroke-width: 1; }
.study-figure .d1 { stroke-dasharray: 7 3; }
.study-figure .d2 { stroke-dasharray: 2 2.5; }
.study-figure .d3 { stroke-dasharray: 8 3 2 3; }
";

fn colours(paper: &str, ink: &str, faint: &str, grid: &str, palette: &[&str; N_COLOURS]) -> String {
    let mut css = format!(
        ".study-figure .paper {{ fill: {paper}; }}
.study-figure text {{ fill: {ink}; }}
.study-figure .faint {{ fill: {faint}; }}
.study-figure .grid, .study-figure .hatch {{ stroke: {grid}; }}
.study-figure .axis {{ stroke: {faint}; }}
.study-figure .level, .study-figure .mark {{ stroke: {faint}; }}
.study-figure .paper-value {{ fill: {paper}; stroke: {ink}; }}
"
    );
    for (idx, colour) in palette.iter().enumerate() {
        let _ = writeln!(
            css,
            ".study-figure .s{idx} {{ stroke: {colour}; }} .study-figure .f{idx} {{ fill: {colour}; }}"
        );
    }
    css
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn letters_are_as_large_as_they_are_said_to_be() {
        let size = |px: f64| format!("font-size: {px}px; }}\n");
        assert!(SHAPES.contains(&format!("sans-serif; {}", size(TEXT_PX))), "{SHAPES}");
        assert!(SHAPES.contains(&format!(".small {{ {}", size(SMALL_TEXT_PX))), "{SHAPES}");
        assert_eq!(SHAPES.matches("font-size").count(), 2);
    }

    #[test]
    fn twenty_four_lines_are_told_apart() {
        let classes: BTreeSet<String> = (0..24).map(stroke_class).collect();
        assert_eq!(classes.len(), 24);
    }
}
