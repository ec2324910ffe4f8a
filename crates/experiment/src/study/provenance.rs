//! The record of every start of a study, with its command.

use crate::error::{Context, Result};
use crate::sealed::{Unsealed, sealed_line, unsealed};
use crate::study::StudyFolder;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::Write;
use touchstream_files::{none_if_not_found, read_at_most};

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

    /// Stands for a start whose record is damaged.
    fn damaged() -> Self {
        let unknown = || "(its record is damaged)".to_owned();
        Self { command: unknown(), version: unknown(), commit: unknown() }
    }

    /// Appends the start to the study's record.
    pub fn note_in(&self, folder: &StudyFolder) -> Result<()> {
        let path = folder.path().join(FILE);
        if starts_of(folder)?.contains(self) {
            return Ok(());
        }
        let line = sealed_line(self);
        let file = fs::OpenOptions::new().create(true).append(true).open(&path);
        // A single write, so that lines of several processes do not mix.
        file.and_then(|mut file| file.write_all(&line)).at(&path)
    }
}

pub const FILE: &str = "starts.jsonl";
const MAX_BYTES: u64 = 64 << 20;

/// All starts so far. A line that was torn or damaged is left out; its start is noted as unknown.
pub fn starts_of(folder: &StudyFolder) -> Result<Vec<Start>> {
    let path = folder.path().join(FILE);
    let bytes = none_if_not_found(read_at_most(&path, MAX_BYTES)).at(&path)?.unwrap_or_default();
    let mut starts: Vec<Start> = Vec::new();
    for line in bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        let start = unsealed(line).value().unwrap_or_else(Start::damaged);
        if !starts.contains(&start) {
            starts.push(start);
        }
    }
    Ok(starts)
}

/// Whether a line of the file is damaged.
pub fn has_damaged_start(bytes: &[u8]) -> bool {
    let mut lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    !bytes.ends_with(b"\n") || lines.any(|line| unsealed::<Start>(line) == Unsealed::Damaged)
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
