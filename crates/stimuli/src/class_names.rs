//! Finds classes by name, in several spellings, and puts the paper's four classes first.

use crate::error::SourceError;
use touchstream_env::nearest;

/// The paper's four classes: WordNet id and plain names, in the paper's order.
const PAPER_CLASSES: [(&str, &[&str]); 4] = [
    ("n02096585", &["boston_terrier", "boston_bull", "boston_bulldog"]),
    ("n02279972", &["monarch", "monarch_butterfly", "danaus_plexippus"]),
    ("n04037443", &["race_car", "racer", "racing_car", "racecar"]),
    ("n02510455", &["giant_panda", "panda", "panda_bear"]),
];

/// The index in [`PAPER_CLASSES`] of the class with a name.
fn paper_class(name: &str) -> Option<usize> {
    let (id, rest) = wordnet_id_and_name(&plain(name));
    PAPER_CLASSES.iter().position(|(paper_id, names)| {
        id.as_deref() == Some(*paper_id) || id.is_none() && names.contains(&rest.as_str())
    })
}

/// Splits `n02096585_boston_bull`; either part may be missing.
fn wordnet_id_and_name(plain_name: &str) -> (Option<String>, String) {
    let is_id = |text: &str| {
        text.len() == 9 && text.starts_with('n') && text[1..].bytes().all(|byte| byte.is_ascii_digit())
    };
    match plain_name.get(..9) {
        Some(id) if is_id(id) => (Some(id.to_owned()), plain_name[9..].trim_start_matches('_').to_owned()),
        _ => (None, plain_name.to_owned()),
    }
}

/// Whether a requested name denotes a class of the source.
fn matches(requested: &str, class: &str) -> bool {
    let (requested_id, requested_name) = wordnet_id_and_name(&plain(requested));
    let (class_id, class_name) = wordnet_id_and_name(&plain(class));
    match (&requested_id, &class_id) {
        (Some(requested_id), Some(class_id)) => requested_id == class_id,
        _ if !requested_name.is_empty() && requested_name == class_name => true,
        _ => paper_class(requested).is_some_and(|paper| paper_class(class) == Some(paper)),
    }
}

/// The paper's classes first, then the others alphabetically.
pub fn sort_for_paper(classes: &mut [String]) {
    classes.sort_by_key(|class| (paper_class(class).unwrap_or(PAPER_CLASSES.len()), class.clone()));
}

/// The index of the class with a name. An exact match has priority over another spelling.
pub fn find_class(requested: &str, available: &[String]) -> Result<usize, SourceError> {
    let exact = available.iter().position(|class| class == requested);
    exact.or_else(|| available.iter().position(|class| matches(requested, class))).ok_or_else(|| {
        SourceError::UnknownClass {
            name: requested.to_owned(),
            nearest: nearest(requested, available.iter().map(String::as_str)).map(str::to_owned),
            available: available.to_vec(),
        }
    })
}

/// Indices of the requested classes, in the order of the request; all classes without a request.
pub fn select_classes(requested: Option<&[String]>, available: &[String]) -> Result<Vec<usize>, SourceError> {
    let Some(requested) = requested else { return Ok((0..available.len()).collect()) };
    let mut selected = Vec::with_capacity(requested.len());
    for name in requested {
        let class = find_class(name, available)?;
        if selected.contains(&class) {
            return Err(SourceError::ClassTwice { name: available[class].clone() });
        }
        selected.push(class);
    }
    Ok(selected)
}

/// Lower-case letters and digits; all other characters become `_`.
fn plain(name: &str) -> String {
    let lower = name.trim().to_lowercase();
    lower.chars().map(|letter| if letter.is_alphanumeric() { letter } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn the_papers_classes_come_first_under_any_name() {
        let cases = [
            (
                ["church", "Giant Panda", "racer", "boston_bull", "monarch-butterfly"],
                ["boston_bull", "monarch-butterfly", "racer", "Giant Panda", "church"],
            ),
            (
                ["n02510455", "n01440764", "n04037443-racer", "n02096585-Boston_bull", "monarch"],
                ["n02096585-Boston_bull", "monarch", "n04037443-racer", "n02510455", "n01440764"],
            ),
            (["a", "n00000001_panda", "c", "b", "panda"], ["panda", "a", "b", "c", "n00000001_panda"]),
        ];
        for (given, expected) in cases {
            let mut classes = names(&given);
            sort_for_paper(&mut classes);
            assert_eq!(classes, expected);
        }
    }

    #[test]
    fn classes_are_found_by_name_and_id() {
        let available = names(&["n02096585", "n02279972-monarch", "church", "gas_pump"]);
        for (asked, expected) in [
            ("Boston Terrier", 0),
            ("n02096585-Boston_bull", 0),
            ("monarch", 1),
            ("n02279972", 1),
            ("Church", 2),
            ("gas pump", 3),
        ] {
            assert_eq!(find_class(asked, &available).unwrap(), expected, "{asked}");
        }
        assert_eq!(select_classes(Some(&names(&["church", "monarch"])), &available).unwrap(), [2, 1]);
        assert_eq!(select_classes(None, &available).unwrap(), [0, 1, 2, 3]);
    }

    #[test]
    fn an_unknown_class_gets_a_suggestion() {
        let available = names(&["church", "gas_pump"]);
        let error = find_class("chirch", &available).unwrap_err().to_string();
        assert_eq!(error, "no class `chirch` (did you mean `church`?); classes: church, gas_pump");
        let error = find_class("zebra", &available).unwrap_err().to_string();
        assert_eq!(error, "no class `zebra`; classes: church, gas_pump");
        let twice = select_classes(Some(&names(&["church", "Church"])), &available).unwrap_err();
        assert_eq!(twice.to_string(), "class `church` is requested twice");
    }
}
