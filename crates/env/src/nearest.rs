//! "Did you mean ...?": suggests the known name closest to a misspelt one.

/// The candidate with the smallest edit distance, if it is close enough to be a likely typo.
pub fn nearest<'a>(wrong: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (edit_distance(wrong, candidate), candidate))
        .min_by_key(|&(distance, _)| distance)
        .filter(|&(distance, candidate)| distance <= 2 + candidate.len() / 3)
        .map(|(_, candidate)| candidate)
}

/// `; did you mean `NAME`?`, or an empty string without a name: the end of an error message.
pub fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

/// Levenshtein distance.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (n_before, char_a) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = n_before + 1;
        for (idx, &char_b) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(char_a != char_b);
            diagonal = row[idx + 1];
            row[idx + 1] = replaced.min(diagonal + 1).min(row[idx] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_levenshtein_distances() {
        for (a, b, distance) in
            [("", "", 0), ("", "abc", 3), ("kitten", "sitting", 3), ("sr-2way", "sr-2way", 0)]
        {
            assert_eq!(edit_distance(a, b), distance, "{a} {b}");
            assert_eq!(edit_distance(b, a), distance, "{b} {a}");
        }
    }

    #[test]
    fn typos_get_suggestions_and_nonsense_does_not() {
        let words = ["sr-2way", "mts-2way-stationary", "localization"];
        assert_eq!(nearest("sr2way", words), Some("sr-2way"));
        assert_eq!(nearest("localisation", words), Some("localization"));
        assert_eq!(nearest("qqqqqqqqqqqqqqqqqqqqqqq", words), None);
    }
}
