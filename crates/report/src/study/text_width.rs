//! Estimates the width of texts in DejaVu Sans, which is wider than the fonts that browsers use instead.

/// Advance widths of the characters from space to `~`, in hundredths of the font size.
#[rustfmt::skip]
const PLAIN: [u8; 95] = [
    32, 40, 46, 84, 64, 95, 78, 27, 39, 39, 50, 84, 32, 36, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64,
    34, 34, 84, 84, 84, 53, 100, 68, 69, 70, 77, 63, 58, 77, 75, 29, 29, 66, 56, 86, 75, 79, 60, 79, 69, 63,
    61, 73, 68, 99, 69, 61, 69, 39, 34, 39, 84, 50, 50, 61, 63, 55, 63, 62, 35, 63, 63, 28, 28, 58, 28, 97,
    63, 61, 63, 63, 41, 52, 39, 63, 59, 82, 59, 59, 52, 64, 34, 64, 84,
];

/// Bold text is at most this much wider.
const BOLD: f64 = 1.16;

/// Width of a text in pixels, at a font size of `size_px`.
pub(super) fn text_width_px(text: &str, size_px: f64) -> f64 {
    let hundredths = text.chars().map(|letter| {
        let idx = (letter as usize).wrapping_sub(' ' as usize);
        // Other characters are rarely wider than this.
        f64::from(PLAIN.get(idx).copied().unwrap_or(84))
    });
    hundredths.sum::<f64>() * size_px / 100.0
}

/// The text, or as much of its beginning as fits into `width_px`, with an ellipsis.
pub(super) fn fitted(text: &str, size_px: f64, width_px: f64) -> String {
    if text_width_px(text, size_px) <= width_px {
        return text.into();
    }
    let mut kept = String::new();
    for letter in text.chars() {
        kept.push(letter);
        if text_width_px(&kept, size_px) + 0.84 * size_px > width_px {
            kept.pop();
            break;
        }
    }
    kept + "…"
}

/// The same for bold text.
pub(super) fn fitted_bold(text: &str, size_px: f64, width_px: f64) -> String {
    fitted(text, BOLD * size_px, width_px)
}

/// Maximum number of lines of a title.
const MOST_LINES: usize = 3;

/// Bold text in one line or, if it does not fit, in two or three: broken after a colon, else at a space, before a plus,
/// or after a hyphen. Text that still does not fit is truncated.
pub(super) fn bold_lines(text: &str, size_px: f64, width_px: f64) -> Vec<String> {
    let fits = |line: &str| text_width_px(line, BOLD * size_px) <= width_px;
    let mut lines = Vec::new();
    let mut rest = text;
    while !fits(rest) && lines.len() + 1 < MOST_LINES {
        let Some((line, behind)) = broken(rest, &fits) else { break };
        lines.push(line.to_owned());
        rest = behind;
    }
    lines.push(fitted_bold(rest, size_px, width_px));
    lines
}

/// Splits off a first line that fits: after a colon if the rest then also fits, else at a space, else within a word.
fn broken<'a>(text: &'a str, fits: &impl Fn(&str) -> bool) -> Option<(&'a str, &'a str)> {
    let at = |at: usize| (text[..at].trim_end(), text[at..].trim_start());
    let breaks = |places: Vec<usize>| {
        let breaks = places.into_iter().map(at);
        breaks.filter(|(first, second)| !first.is_empty() && !second.is_empty() && fits(first))
    };
    let spaces = || breaks(text.match_indices(' ').map(|(at, _)| at).collect());
    let pluses = || breaks(text.match_indices('+').map(|(at, _)| at).collect());
    let hyphens = breaks(text.match_indices('-').map(|(at, sign)| at + sign.len()).collect());
    let after_colon = || spaces().filter(|(first, _)| first.ends_with(':'));
    let whole = after_colon().filter(|(_, second)| fits(second)).last();
    // The part after a plus stays together on a third line.
    let in_three = after_colon().filter(|(_, second)| second.contains('+')).last();
    whole.or(in_three).or_else(|| spaces().last()).or_else(|| pluses().last()).or_else(|| hyphens.last())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lettering::{Weight, text_path};

    fn drawn_width_px(text: &str, weight: Weight) -> f64 {
        f64::from(text_path(text, weight, 20.0).1)
    }

    #[test]
    fn every_letter_has_its_own_width() {
        for letter in '!'..='~' {
            let text = letter.to_string().repeat(20);
            let (counted, drawn) = (text_width_px(&text, 20.0), drawn_width_px(&text, Weight::Regular));
            // The table is in hundredths.
            assert!((counted - drawn).abs() <= 2.1, "{letter}: {counted} for {drawn}");
        }
    }

    #[test]
    fn a_text_is_as_wide_as_its_letters_when_drawn() {
        for text in ["mts-4way-4shown-permuted", "normalized area (τ)", "ILlij WM 0.123 [−4, 5]", "ems"] {
            let (counted, drawn) = (text_width_px(text, 20.0), drawn_width_px(text, Weight::Regular));
            assert!(drawn <= counted + 1.0 && drawn > 0.9 * counted, "{text}: {counted} for {drawn}");
            let bold = drawn_width_px(text, Weight::Bold);
            assert!(bold <= BOLD * counted + 1.0, "{text}: {} for {bold}", BOLD * counted);
        }
    }

    #[test]
    fn a_long_title_has_more_lines() {
        #[track_caller]
        fn check(text: &str, width: f64, wanted: &[&str]) {
            assert_eq!(bold_lines(text, 10.0, width), wanted);
        }
        check("", 10.0, &[""]);
        check("four shown", 100.0, &["four shown"]);
        check("match: four shown", 80.0, &["match:", "four shown"]);
        // At the last space if there is no colon, or if the text after the colon is too long.
        check("match four shown", 80.0, &["match four", "shown"]);
        check("a: four shown, fixed", 80.0, &["a: four", "shown, fixed"]);
        check("mmmmmmmm", 40.0, &["mm…"]);
        check("four mmmmmmmm mmmm", 60.0, &["four", "mmmm…"]);
        // Names of tasks have no spaces.
        check("switch-3: mts+new-classes", 80.0, &["switch-3:", "mts", "+new-classes"]);
        check("four-shown-permuted", 80.0, &["four-shown-", "permuted"]);
    }

    #[test]
    fn a_long_text_is_cut_to_its_room() {
        for (text, room, expected) in [("abc", 30.0, "abc"), ("abcdefgh", 30.0, "abc…"), ("abc", 0.0, "…")]
        {
            assert_eq!(fitted(text, 10.0, room), expected);
        }
        assert!(text_width_px(&fitted("mmmmmmmmmmmm", 10.0, 60.0), 10.0) <= 60.0);
    }
}
