//! How a study came about: every start of it, with the command as it was typed.

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::Write;
use touchstream_lab::study::StudyFolder;

/// One start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// As it was typed.
    pub command: String,
    pub version: String,
    /// What the program was built from.
    pub commit: String,
}

impl Start {
    /// This one.
    pub fn this() -> Self {
        let words: Vec<String> = std::env::args().skip(1).map(|word| quoted(&word)).collect();
        Self {
            command: format!("touchstream {}", words.join(" ")),
            version: env!("CARGO_PKG_VERSION").into(),
            commit: env!("TOUCHSTREAM_COMMIT").into(),
        }
    }

    /// Adds it to the study's record.
    pub fn note_in(&self, folder: &StudyFolder) -> Result<()> {
        let path = folder.path().join(FILE);
        if starts_of(folder)?.contains(self) {
            return Ok(());
        }
        let line = serde_json::to_string(self)? + "\n";
        let file = fs::OpenOptions::new().create(true).append(true).open(&path);
        // One write: lines of several processes do not mix.
        file.and_then(|mut file| file.write_all(line.as_bytes())).with_context(|| path.display().to_string())
    }
}

/// Where starts are written down.
pub const FILE: &str = "starts.jsonl";

/// All starts so far; lines that nobody can read are passed over.
pub fn starts_of(folder: &StudyFolder) -> Result<Vec<Start>> {
    let path = folder.path().join(FILE);
    if !path.exists() {
        return Ok(Vec::new());
    }
    let bytes = fs::read(&path).with_context(|| path.display().to_string())?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}

/// As a shell reads it as one word.
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
