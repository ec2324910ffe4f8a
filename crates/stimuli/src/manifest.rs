//! What was found in a source and what was skipped.

use serde::{Deserialize, Serialize};
use std::fmt;
use touchstream_env::stimuli::{ContentHash, Split};

/// The contents of an open source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Manifest {
    /// As written on the command line.
    pub source: String,
    /// Hexadecimal; see [`touchstream_env::stimuli::Stimuli::content_hash`].
    pub content_hash: String,
    pub classes: Vec<ClassCounts>,
    pub objects: SplitCounts,
    pub scenes: SplitCounts,
    pub skipped: Vec<Skipped>,
    /// Other information, one sentence each.
    pub notes: Vec<String>,
}

/// A class and its portraits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClassCounts {
    pub name: String,
    pub portraits: SplitCounts,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SplitCounts {
    pub train: u32,
    pub validation: u32,
}

impl SplitCounts {
    pub const fn new(train: u32, validation: u32) -> Self {
        Self { train, validation }
    }

    /// The lengths of two lists.
    pub(crate) fn of_lists<T>([train, validation]: &[Vec<T>; 2]) -> Self {
        Self::new(train.len() as u32, validation.len() as u32)
    }

    pub const fn of(self, split: Split) -> u32 {
        match split {
            Split::Train => self.train,
            Split::Validation => self.validation,
        }
    }
}

impl fmt::Display for SplitCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} + {}", self.train, self.validation)
    }
}

/// A file, or an entry of a file, that could not be used.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Skipped {
    /// Relative to the source's folder; an entry of a file follows after `#`.
    pub file: String,
    /// Without a full stop.
    pub reason: String,
}

impl Skipped {
    pub fn new(file: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { file: file.into(), reason: reason.into() }
    }
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file, self.reason)
    }
}

/// Maximum number of skipped files listed in the summary.
const N_SKIPPED_NAMED: usize = 10;
/// Maximum number of classes listed in the summary.
const N_CLASSES_NAMED: usize = 12;

impl Manifest {
    /// A human-readable summary with at most twelve classes and ten skipped files.
    pub fn summary(&self) -> String {
        let total =
            |split: Split| self.classes.iter().map(|class| u64::from(class.portraits.of(split))).sum::<u64>();
        let mut lines = vec![
            format!("{} ({})", self.source, &self.content_hash[..12.min(self.content_hash.len())]),
            format!(
                "  {} classes, portraits {} + {} (train + validation), localization screens {}, scenes {}",
                self.classes.len(),
                total(Split::Train),
                total(Split::Validation),
                self.objects,
                self.scenes,
            ),
        ];
        lines.extend(
            self.classes
                .iter()
                .take(N_CLASSES_NAMED)
                .map(|class| format!("  {}: {}", class.name, class.portraits)),
        );
        if let Some(n_more) = self.classes.len().checked_sub(N_CLASSES_NAMED).filter(|&n| n > 0) {
            lines.push(format!("  and {n_more} classes more"));
        }
        lines.extend(self.notes.iter().map(|note| format!("  note: {note}")));
        if !self.skipped.is_empty() {
            lines.push(format!("  skipped {}:", self.skipped.len()));
            lines.extend(self.skipped.iter().take(N_SKIPPED_NAMED).map(|skipped| format!("    {skipped}")));
        }
        if let Some(n_more) = self.skipped.len().checked_sub(N_SKIPPED_NAMED).filter(|&n| n > 0) {
            lines.push(format!("    and {n_more} more"));
        }
        lines.join("\n")
    }
}

impl fmt::Display for Manifest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.summary())
    }
}

/// Collects the facts that determine a source's pixels, boxes and masks, in any order.
#[derive(Debug, Default)]
pub(crate) struct ContentFacts {
    facts: Vec<(String, Vec<u8>)>,
}

impl ContentFacts {
    /// Begins with the kind of source, and a number that is raised whenever its code makes other pixels from the same
    /// files.
    pub(crate) fn new(kind: &str, drawing_version: u32) -> Self {
        let mut facts = Self::default();
        facts.add("source", kind);
        facts.add("drawing version", drawing_version.to_string());
        facts
    }

    pub(crate) fn add(&mut self, name: impl Into<String>, value: impl AsRef<[u8]>) {
        self.facts.push((name.into(), value.as_ref().to_vec()));
    }

    /// The hash of all facts; independent of their order.
    pub(crate) fn hash(mut self) -> ContentHash {
        self.facts.sort();
        let mut hasher = blake3::Hasher::new();
        for (name, value) in &self.facts {
            for part in [name.as_bytes(), value] {
                hasher.update(&(part.len() as u64).to_le_bytes());
                hasher.update(part);
            }
        }
        ContentHash(*hasher.finalize().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_depends_on_facts_and_not_on_their_order() {
        let hash = |facts: &[(&str, &str)]| {
            let mut gathered = ContentFacts::new("test", 1);
            facts.iter().for_each(|&(name, value)| gathered.add(name, value));
            gathered.hash()
        };
        let reference = hash(&[("a", "1"), ("b", "2")]);
        assert_eq!(reference, hash(&[("b", "2"), ("a", "1")]));
        assert_ne!(reference, hash(&[("a", "1"), ("b", "3")]));
        assert_ne!(reference, hash(&[("a", "1b"), ("", "2")]));
        assert_ne!(reference, hash(&[("a", "1")]));
    }

    #[test]
    fn a_summary_names_ten_skipped_files_and_counts_the_rest() {
        let manifest = Manifest {
            source: "folder:x".into(),
            content_hash: "0123456789abcdef".into(),
            classes: vec![ClassCounts { name: "panda".into(), portraits: SplitCounts::new(5, 2) }],
            objects: SplitCounts::default(),
            scenes: SplitCounts::new(3, 1),
            skipped: (0..12).map(|n| Skipped::new(format!("{n}.jpg"), "is empty")).collect(),
            notes: vec!["well".into()],
        };
        let summary = manifest.summary();
        for part in
            ["panda: 5 + 2", "scenes 3 + 1", "skipped 12:", "9.jpg: is empty", "and 2 more", "note: well"]
        {
            assert!(summary.contains(part), "{part} in {summary}");
        }
        assert!(!summary.contains("10.jpg"));
        assert!(
            serde_json::to_string(&manifest).unwrap().contains(r#""portraits":{"train":5,"validation":2}"#)
        );
    }
}
