//! The manifest of a finished result: what its files were when it was written. It is written last.

use crate::error::{Context, Error, Result};
use crate::sealed::{Unsealed, sealed_text, unsealed};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Component, Path};
use touchstream_files::{none_if_not_found, read_at_most, write_aside_durably};

/// The name of a manifest in the folder of its files.
pub const MANIFEST: &str = "manifest.json";
const FORMAT: u32 = 1;
const MAX_BYTES: u64 = 256 << 20;

/// The files of a result, by path from its folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    format: u32,
    /// Version of the program.
    program: String,
    /// Hash of a run's identity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<String>,
    files: BTreeMap<String, Content>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Content {
    n_bytes: u64,
    blake3: String,
}

impl Content {
    fn of(bytes: &[u8]) -> Self {
        Self { n_bytes: bytes.len() as u64, blake3: blake3::hash(bytes).to_hex().to_string() }
    }
}

impl Manifest {
    pub fn new(identity: Option<String>) -> Self {
        let program = env!("CARGO_PKG_VERSION").into();
        Self { format: FORMAT, program, identity, files: BTreeMap::new() }
    }

    /// Adds files of a folder as they are on disk.
    pub fn with_files_in(mut self, folder: &Path, names: impl IntoIterator<Item = String>) -> Result<Self> {
        for name in names {
            let path = folder.join(&name);
            let content = content_of(&path).at(&path)?;
            self.files.insert(name, content);
        }
        Ok(self)
    }

    pub fn add(&mut self, name: String, bytes: &[u8]) {
        self.files.insert(name, Content::of(bytes));
    }

    /// The files of both; of those that both list, what the other lists.
    pub fn with(&self, other: &Self) -> Self {
        let mut both = self.clone();
        both.files.extend(other.files.clone());
        both
    }

    /// The manifest of some of its files.
    pub fn of_only(&self, is_kept: impl Fn(&str) -> bool) -> Self {
        let kept = self.files.iter().filter(|(name, _)| is_kept(name));
        let files = kept.map(|(name, content)| (name.clone(), content.clone())).collect();
        Self { files, ..self.clone() }
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    pub fn has(&self, name: &str) -> bool {
        self.files.contains_key(name)
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        sealed_text(self)
    }

    pub fn write(&self, folder: &Path) -> Result<()> {
        self.write_as(folder, MANIFEST)
    }

    /// Under another name, where the folder may have a manifest of another result.
    pub fn write_as(&self, folder: &Path, name: &str) -> Result<()> {
        let path = folder.join(name);
        write_aside_durably(&path, &self.to_bytes()).at(&path)
    }

    /// `None` if the folder has no manifest.
    pub fn read(folder: &Path) -> Result<Option<Self>> {
        Self::read_as(folder, MANIFEST)
    }

    pub fn read_as(folder: &Path, name: &str) -> Result<Option<Self>> {
        let path = folder.join(name);
        let bytes = none_if_not_found(read_at_most(&path, MAX_BYTES)).at(&path)?;
        bytes.map(|bytes| Self::from_bytes(&bytes, &path)).transpose()
    }

    pub fn from_bytes(bytes: &[u8], path: &Path) -> Result<Self> {
        match unsealed::<Self>(bytes) {
            Unsealed::Intact(manifest) if manifest.format == FORMAT => {
                match manifest.files.keys().all(is_inside) {
                    true => Ok(manifest),
                    false => Err(Error::damaged(path, "it lists a file outside of its folder")),
                }
            }
            Unsealed::Intact(Self { format, .. }) => {
                Err(Error::damaged(path, format!("format {format} is of a later version of the program")))
            }
            Unsealed::WithoutSeal(_) | Unsealed::Damaged => Err(Error::damaged(path, "it is damaged")),
        }
    }

    /// Deletes the manifest of a folder whose files are about to change.
    pub fn remove(folder: &Path) -> Result<()> {
        let path = folder.join(MANIFEST);
        none_if_not_found(fs::remove_file(&path)).at(&path).map(|_| ())
    }

    /// Whether these are the bytes of a file when the manifest was written.
    pub fn check(&self, name: &str, path: &Path, bytes: &[u8]) -> Result<()> {
        match self.files.get(name) {
            None => Err(Error::damaged(path, "manifest.json does not list it")),
            Some(content) => difference(content, &Content::of(bytes))
                .map_or(Ok(()), |problem| Err(Error::damaged(path, problem))),
        }
    }

    /// The first file that only one of the manifests lists, or that differs.
    pub fn first_difference<'a>(&'a self, other: &'a Self) -> Option<&'a str> {
        let mut names = self.names().chain(other.names());
        names.find(|name| self.files.get(*name) != other.files.get(*name))
    }

    /// The problem of a file in a folder, if it is not as listed. An error if it cannot be read now.
    pub fn problem_of(&self, name: &str, folder: &Path) -> Result<Option<String>> {
        let path = folder.join(name);
        let Some(content) = self.files.get(name) else {
            return Ok(Some("manifest.json does not list it".into()));
        };
        // A length differs at once; content is read in any case where it does not.
        match none_if_not_found(fs::metadata(&path)).at(&path)? {
            None => return Ok(Some(MISSING.into())),
            Some(facts) if !facts.is_file() => return Ok(Some("it is not a file".into())),
            Some(facts) if facts.len() != content.n_bytes => {
                return Ok(Some(other_length(facts.len(), content.n_bytes)));
            }
            Some(_) => {}
        }
        Ok(difference(content, &content_of(&path).at(&path)?))
    }

    /// The first file in a folder that is not as listed, and its problem.
    pub fn first_problem(&self, folder: &Path) -> Result<Option<Error>> {
        for name in self.names() {
            if let Some(problem) = self.problem_of(name, folder)? {
                return Ok(Some(Error::damaged(&folder.join(name), problem)));
            }
        }
        Ok(None)
    }
}

fn is_inside(name: &String) -> bool {
    Path::new(name).components().all(|part| matches!(part, Component::Normal(_)))
}

pub const MISSING: &str = "it is missing, although manifest.json lists it";

fn difference(expected: &Content, found: &Content) -> Option<String> {
    if expected.n_bytes != found.n_bytes {
        return Some(other_length(found.n_bytes, expected.n_bytes));
    }
    (expected != found).then(|| "it is damaged: its content is not what manifest.json lists".to_owned())
}

fn other_length(found: u64, expected: u64) -> String {
    format!("it is damaged: {found} bytes instead of {expected}")
}

/// Reads a file of any length piece by piece.
fn content_of(path: &Path) -> io::Result<Content> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    let mut file = File::open(path)?;
    let (mut hasher, mut n_bytes, mut piece) = (blake3::Hasher::new(), 0, vec![0; 1 << 16]);
    loop {
        match file.read(&mut piece)? {
            0 => break,
            n => {
                hasher.update(&piece[..n]);
                n_bytes += n as u64;
            }
        }
    }
    Ok(Content { n_bytes, blake3: hasher.finalize().to_hex().to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_as_listed_is_named() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path();
        for name in ["a", "b"] {
            fs::write(folder.join(name), "12345").unwrap();
        }
        let names = || ["a", "b"].map(String::from);
        let manifest = Manifest::new(Some("x".into())).with_files_in(folder, names()).unwrap();
        assert_eq!(Manifest::read(folder).unwrap(), None);
        manifest.write(folder).unwrap();
        assert_eq!(Manifest::read(folder).unwrap(), Some(manifest.clone()));
        assert!(manifest.first_problem(folder).unwrap().is_none());
        let check = |expected: &str| {
            let problem = manifest.first_problem(folder).unwrap().map(|error| error.to_string());
            assert!(problem.as_ref().is_some_and(|text| text.contains(expected)), "{problem:?}");
        };
        fs::write(folder.join("b"), "12346").unwrap();
        check("b: it is damaged: its content is not what manifest.json lists");
        assert!(manifest.check("b", &folder.join("b"), b"12346").is_err());
        manifest.check("b", &folder.join("b"), b"12345").unwrap();
        assert!(manifest.check("c", &folder.join("c"), b"12345").is_err(), "it is not listed");
        fs::write(folder.join("b"), "1234").unwrap();
        check("b: it is damaged: 4 bytes instead of 5");
        fs::remove_file(folder.join("b")).unwrap();
        check("b: it is missing");
        Manifest::remove(folder).unwrap();
        assert_eq!(Manifest::read(folder).unwrap(), None);
    }
}
