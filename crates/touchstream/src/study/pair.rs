//! Which switches: the paper's, by number, or any two tasks.

use crate::words::task_from_word;
use anyhow::{Result, bail};
use touchstream_env::schedule::NAMED_SCHEDULES;
use touchstream_env::task::{Task, find_task};

/// A base task, then another.
#[derive(Clone, Debug)]
pub struct Pair {
    /// `switch-13`, `no-switch`, or the two tasks.
    pub name: String,
    pub base: Task,
    pub second: Task,
    /// Whether it is one of the paper's.
    pub is_named: bool,
}

/// The pair of a switch's name, or of two tasks: `FROM--TO`.
pub fn pair_of(word: &str) -> Result<Pair> {
    if let Some(row) = NAMED_SCHEDULES.iter().find(|row| row.id == word) {
        return Ok(Pair {
            name: row.id.into(),
            base: find_task(row.base)?,
            second: find_task(row.switch)?,
            is_named: true,
        });
    }
    let Some((from, to)) = word.split_once("--") else { bail!("`{word}` is not a switch") };
    let (base, second) = (task_from_word(from)?, task_from_word(to)?);
    Ok(Pair { name: format!("{}--{}", base.id(), second.id()), base, second, is_named: false })
}

/// All tasks of the paper's switches: what features are centred on, so that a base serves every switch.
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
}
