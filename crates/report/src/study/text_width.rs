//! How wide a text will be: in DejaVu Sans, which is wider than what browsers take instead.

/// Advance widths of the letters from space to `~`, in hundredths of the letters' size.
#[rustfmt::skip]
const PLAIN: [u8; 95] = [
    32, 40, 46, 84, 64, 95, 78, 27, 39, 39, 50, 84, 32, 36, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64,
    34, 34, 84, 84, 84, 53, 100, 68, 69, 70, 77, 63, 58, 77, 75, 29, 29, 66, 56, 86, 75, 79, 60, 79, 69, 63,
    61, 73, 68, 99, 69, 61, 69, 39, 34, 39, 84, 50, 50, 61, 63, 55, 63, 62, 35, 63, 63, 28, 28, 58, 28, 97,
    63, 61, 63, 63, 41, 52, 39, 63, 59, 82, 59, 59, 52, 64, 34, 64, 84,
];

/// Bold letters are at most this much wider, all in all.
const BOLD: f64 = 1.13;

/// Width of a text in letters of `size_px`, in pixels.
pub(super) fn text_width_px(text: &str, size_px: f64) -> f64 {
    let hundredths = text.chars().map(|letter| {
        let idx = (letter as usize).wrapping_sub(' ' as usize);
        // Signs that are not in the table are seldom wider than this.
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

/// The same for bold letters.
pub(super) fn fitted_bold(text: &str, size_px: f64, width_px: f64) -> String {
    fitted(text, BOLD * size_px, width_px)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_to_its_room() {
        for (text, room, expected) in [("abc", 30.0, "abc"), ("abcdefgh", 30.0, "abc…"), ("abc", 0.0, "…")]
        {
            assert_eq!(fitted(text, 10.0, room), expected);
        }
        assert!(text_width_px(&fitted("mmmmmmmmmmmm", 10.0, 60.0), 10.0) <= 60.0);
    }
}
