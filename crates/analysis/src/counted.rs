//! Formats counts for texts.

use crate::statistics::SampleSize;
use std::fmt;

/// `10,463`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (idx, digit) in digits.chars().enumerate() {
        if idx > 0 && (digits.len() - idx).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 task`, `2 tasks`.
pub(crate) fn count(n: usize, what: &str) -> String {
    match (n, what) {
        (1, _) => format!("1 {what}"),
        (_, what) if what.ends_with("switch") => format!("{n} {what}es"),
        _ => format!("{n} {what}s"),
    }
}

/// `3 seeds`, `3 to 5 seeds`.
pub(crate) fn seeds(fewest: usize, most: usize) -> String {
    if fewest == most { count(most, "seed") } else { format!("{fewest} to {most} seeds") }
}

impl fmt::Display for SampleSize {
    /// `12 tasks, 3 to 5 seeds each`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {} each", count(self.n_tasks, "task"), seeds(self.fewest_seeds, self.most_seeds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_plurals_and_large_numbers_have_commas() {
        assert_eq!([0, 999, 1000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(
            (count(1, "task"), count(2, "switch"), seeds(3, 5)),
            ("1 task".into(), "2 switches".into(), "3 to 5 seeds".into())
        );
    }
}
