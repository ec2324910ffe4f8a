//! The record of every start of a study, with its command.

use crate::error::{Context, Result};
use crate::study::StudyFolder;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::Write;

/// One start of a study.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// The command as typed.
    pub command: String,
    pub version: String,
    /// The commit that the program was built from.
    pub commit: String,
}

impl Start {
    pub fn by_arguments(arguments: impl Iterator<Item = String>, commit: &str) -> Self {
        let quoted: Vec<String> = arguments.map(|argument| quoted(&argument)).collect();
        Self {
            command: format!("touchstream {}", quoted.join(" ")),
            version: env!("CARGO_PKG_VERSION").into(),
            commit: commit.into(),
        }
    }

    /// Appends the start to the study's record.
    pub fn note_in(&self, folder: &StudyFolder) -> Result<()> {
        let path = folder.path().join(FILE);
        if starts_of(folder)?.contains(self) {
            return Ok(());
        }
        let line = serde_json::to_string(self)? + "\n";
        let file = fs::OpenOptions::new().create(true).append(true).open(&path);
        // A single write, so that lines of several processes do not mix.
        file.and_then(|mut file| file.write_all(line.as_bytes())).at(&path)
    }
}

pub const FILE: &str = "starts.jsonl";

/// All starts so far; unreadable lines are skipped.
pub fn starts_of(folder: &StudyFolder) -> Result<Vec<Start>> {
    let path = folder.path().join(FILE);
    if !path.exists() {
        return Ok(Vec::new());
    }
    let bytes = fs::read(&path).at(&path)?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}

/// Quotes an argument for a shell.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+%@".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_would_split_them() {
        assert_eq!(quoted("sr-2way"), "sr-2way");
        assert_eq!(quoted("sr-*"), "'sr-*'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn a_start_is_noted_once() {
        let place = tempfile::tempdir().unwrap();
        let folder = StudyFolder::at(place.path());
        let start =
            |command: &str| Start { command: command.into(), version: "1".into(), commit: "c".into() };
        for command in ["a", "b", "a"] {
            start(command).note_in(&folder).unwrap();
        }
        assert_eq!(starts_of(&folder).unwrap(), [start("a"), start("b")]);
    }
}
