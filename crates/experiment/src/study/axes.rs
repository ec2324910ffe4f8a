//! Parses the axes of a study: lists of names with `*`, numbers of seeds.

use crate::config::{is_path, parse_task_arg};
use crate::error::{Result, bail};
use crate::study::pair::pair_words;
use std::path::Path;
use touchstream_agents::find_module;
use touchstream_analysis::{MAIN_MODULES, twelve_tasks};
use touchstream_env::schedule::NAMED_SCHEDULES;
use touchstream_env::task::paper_tasks;
use touchstream_modules::module::MODULES;

/// The module that is not among the paper's 24.
const CONVOLUTIONAL: &str = "conv-ems";

/// EMS and its 23 ablations.
pub fn all_modules() -> Vec<String> {
    MODULES.iter().map(|kind| kind.id.to_owned()).filter(|id| id != CONVOLUTIONAL).collect()
}

/// The modules that match the patterns (`ems`, `none-*`, `main`, `all`), in the order of the patterns, without
/// duplicates.
pub fn modules_of(words: &[String]) -> Result<Vec<String>> {
    let ids: Vec<&str> = MODULES.iter().map(|kind| kind.id).collect();
    let mut found = Vec::new();
    for word in words {
        match word.as_str() {
            "all" => found.extend(all_modules()),
            "main" => found.extend(MAIN_MODULES.map(|(id, _)| id.to_owned())),
            pattern if pattern.contains('*') => found.extend(matching("modules", pattern, &ids)?),
            id => found.push(find_module(id)?.id.to_owned()),
        }
    }
    Ok(each_once(found))
}

/// Tasks by id, pattern or file; `all` means the twelve tasks of TA-N-AUC.
pub fn tasks_of(words: &[String]) -> Result<Vec<String>> {
    let ids: Vec<&str> = paper_tasks().iter().map(|task| task.id()).collect();
    let mut found = Vec::new();
    for word in words {
        match word.as_str() {
            "all" => found.extend(twelve_tasks().map(String::from)),
            pattern if pattern.contains('*') && !is_path(pattern) => {
                found.extend(matching("tasks", pattern, &ids)?);
            }
            word => {
                parse_task_arg(word)?;
                found.push(word.to_owned());
            }
        }
    }
    Ok(each_once(found))
}

/// Switches by name, such as `switch-3` or `switch-1*`; by number, `0` for the same task again, or range, `1..15`; or
/// any two tasks, `FROM--TO`.
pub fn switches_of(words: &[String]) -> Result<Vec<String>> {
    let ids: Vec<&str> = NAMED_SCHEDULES.iter().map(|row| row.id).collect();
    let mut found = Vec::new();
    for word in words {
        let (first, last) = word.split_once("..").unwrap_or((word, word));
        if let (Ok(first), Ok(last)) = (first.trim().parse::<usize>(), last.trim().parse::<usize>()) {
            if first > last || last >= ids.len() {
                bail!(
                    Settings,
                    "switches: `{word}` is not a switch; they are 1 to 15, and 0 for the same task again"
                );
            }
            found.extend(ids[first..=last].iter().map(|id| (*id).to_owned()));
        } else if word.contains('*') {
            found.extend(matching("switches", word, &ids)?);
        } else if ids.contains(&word.as_str()) {
            found.push(word.clone());
        } else if let Some((from, to)) = pair_words(word, Path::new("")) {
            parse_task_arg(from)?;
            parse_task_arg(to)?;
            found.push(word.clone());
        } else {
            bail!(
                Settings,
                "switches: `{word}` is not a switch; they are 1 to 15, 0 for the same task again, or FROM--TO"
            );
        }
    }
    Ok(each_once(found))
}

fn matching(axis: &str, pattern: &str, ids: &[&str]) -> Result<Vec<String>> {
    let found: Vec<String> =
        ids.iter().filter(|id| matches(pattern, id)).map(|id| (*id).to_owned()).collect();
    if found.is_empty() {
        bail!(Settings, "{axis}: nothing is called `{pattern}`; there are {}", ids.join(", "));
    }
    Ok(found)
}

/// Whether a name matches a pattern in which `*` matches any text. Each piece between two `*` is matched at its first
/// occurrence, which leaves the longest rest, so no backtracking is needed.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == name };
    let (middle, end) = rest.rsplit_once('*').unwrap_or(("", rest));
    let Some(mut left) = name.strip_prefix(start).and_then(|left| left.strip_suffix(end)) else {
        return false;
    };
    middle.split('*').all(|piece| {
        left.find(piece).is_some_and(|at| {
            left = &left[at + piece.len()..];
            true
        })
    })
}

fn each_once(names: Vec<String>) -> Vec<String> {
    let mut once: Vec<String> = Vec::new();
    for name in names {
        if !once.contains(&name) {
            once.push(name);
        }
    }
    once
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn a_star_stands_for_anything() {
        #[track_caller]
        fn check(pattern: &str, name: &str, fits: bool) {
            assert_eq!(matches(pattern, name), fits, "{pattern} {name}");
        }
        for pattern in ["*", "**", "ab*", "*ba", "a*a", "a*b*a", "*b*", "abba", "a**a", "*a*b*b*a*"] {
            check(pattern, "abba", true);
        }
        // Patterns for which a wrong choice for `*` would need backtracking.
        for pattern in ["", "a", "abba*a", "a*c*a", "*abbab", "ab*bba", "*b*b*b*", "abb", "bba"] {
            check(pattern, "abba", false);
        }
        // Fast, regardless of the number of `*`.
        check(&format!("{}x", "*a".repeat(5000)), &"a".repeat(10_000), false);
        check(&format!("{}*b*a", "*a".repeat(5000)), &"a".repeat(10_000), false);
    }

    #[test]
    fn names_patterns_and_groups_become_lists() {
        assert_eq!(all_modules().len(), 24);
        assert_eq!(tasks_of(&words(&["all"])).unwrap().len(), 12);
        assert_eq!(modules_of(&words(&["ems", "none-relu-*", "ems"])).unwrap().len(), 4);
        assert_eq!(tasks_of(&words(&["sr-*"])).unwrap().len(), 3);
        assert_eq!(tasks_of(&words(&["mts-*way-*-stationary"])).unwrap(), ["mts-4way-4shown-stationary"]);
        assert_eq!(
            switches_of(&words(&["1..3", "0", "switch-2"])).unwrap(),
            ["switch-1", "switch-2", "switch-3", "no-switch"]
        );
        assert_eq!(switches_of(&words(&["sr-2way--localization"])).unwrap().len(), 1);
        for wrong in ["16", "3..1", "switch-16", "sr-2way--nothing", "x*"] {
            assert!(switches_of(&words(&[wrong])).is_err(), "{wrong}");
        }
        assert!(modules_of(&words(&["emms"])).unwrap_err().to_string().contains("ems"));
        assert!(tasks_of(&words(&["zz*"])).is_err());
    }
}
