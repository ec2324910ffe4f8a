//! The two tasks of a switch: one of the paper's, or any two tasks.

use crate::config::{is_path, parse_task_arg};
use crate::error::{Result, bail};
use std::path::Path;
use touchstream_env::schedule::NAMED_SCHEDULES;
use touchstream_env::task::{Task, find_task};

/// A base task and a second task.
#[derive(Clone, Debug)]
pub struct Pair {
    /// `switch-13`, `no-switch`, or the ids of the two tasks.
    pub name: String,
    pub base: Task,
    pub second: Task,
    /// Whether it is one of the paper's switches.
    pub is_named: bool,
}

/// The pair for a switch's name, or for two tasks: `FROM--TO`.
pub fn pair_of(word: &str) -> Result<Pair> {
    if let Some(row) = NAMED_SCHEDULES.iter().find(|row| row.id == word) {
        return Ok(Pair {
            name: row.id.into(),
            base: find_task(row.base)?,
            second: find_task(row.switch)?,
            is_named: true,
        });
    }
    let Some((from, to)) = pair_words(word, Path::new("")) else {
        bail!(Settings, "`{word}` is not a switch")
    };
    let (base, second) = (parse_task_arg(from)?, parse_task_arg(to)?);
    Ok(Pair { name: format!("{}--{}", base.id(), second.id()), base, second, is_named: false })
}

/// The two tasks of `FROM--TO`. Names of tasks and files may themselves contain `--`, so the first split into two known
/// tasks is used. Files are relative to a folder.
pub fn pair_words<'a>(word: &'a str, folder: &Path) -> Option<(&'a str, &'a str)> {
    let is_task = |word: &str| match is_path(word) {
        true => folder.join(word).is_file(),
        false => find_task(word).is_ok(),
    };
    let places = word.match_indices("--").map(|(at, gap)| (&word[..at], &word[at + gap.len()..]));
    let between = |&(from, to): &(&str, &str)| is_task(from) && is_task(to);
    places.clone().find(between).or_else(|| word.split_once("--"))
}

/// All tasks of the paper's switches. Features are centred on the screens of all of them, so that a base can be shared
/// by several switches.
pub fn tasks_of_all() -> Result<Vec<Task>> {
    let mut ids: Vec<&str> = NAMED_SCHEDULES.iter().flat_map(|row| [row.base, row.switch]).collect();
    ids.sort_unstable();
    ids.dedup();
    Ok(ids.into_iter().map(find_task).collect::<Result<Vec<_>, _>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_or_two_tasks_are_a_pair() {
        assert_eq!(pair_of("switch-13").unwrap().second.id(), "sr-2way+class-reversal");
        assert_eq!(pair_of("sr-2way--localization").unwrap().name, "sr-2way--localization");
        assert!(pair_of("switch-16").is_err() && pair_of("sr-2way--x").is_err());
    }

    #[test]
    fn names_of_files_may_have_gaps_of_their_own() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("a--b");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("my--task.toml"), "").unwrap();
        let word = "my--task.toml--sr-2way";
        assert_eq!(pair_words(word, &folder), Some(("my--task.toml", "sr-2way")));
        let file = folder.join("my--task.toml").display().to_string();
        let word = format!("{file}--{file}");
        assert_eq!(pair_words(&word, Path::new("")), Some((file.as_str(), file.as_str())));
        assert_eq!(pair_words("x--y--z", &folder), Some(("x", "y--z")));
        assert_eq!(pair_words("switch-3", &folder), None);
    }
}
