//! Output files chosen by the user.

use crate::error::{Context, Result};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use touchstream_files::AsideFile;

/// An output file under a name that the user chose, created before the work whose result it will contain. A regular file
/// is written under a temporary name and renamed; devices and pipes are written to directly, and links are kept.
pub struct OutputFile {
    path: PathBuf,
    target: Target,
}

enum Target {
    Aside(AsideFile),
    Device(BufWriter<File>),
}

impl OutputFile {
    pub fn create(path: &Path) -> Result<Self> {
        let target = open_target(path).with_context(|| cannot_write(path))?;
        Ok(Self { path: path.to_owned(), target })
    }

    /// Writes all of the file.
    pub fn finish_with(mut self, bytes: &[u8]) -> Result<()> {
        self.write_all(bytes).with_context(|| cannot_write(&self.path))?;
        self.finish()
    }

    pub fn finish(self) -> Result<()> {
        let finished = match self.target {
            Target::Aside(file) => file.put_in_place(),
            Target::Device(mut file) => file.flush(),
        };
        finished.with_context(|| cannot_write(&self.path))
    }
}

fn open_target(path: &Path) -> io::Result<Target> {
    match fs::metadata(path) {
        Ok(facts) if facts.is_file() => Ok(Target::Aside(AsideFile::create(&fs::canonicalize(path)?)?)),
        Ok(facts) if facts.is_dir() => Err(io::Error::from(io::ErrorKind::IsADirectory)),
        Ok(_) => Ok(Target::Device(BufWriter::new(OpenOptions::new().write(true).open(path)?))),
        Err(_) => Ok(Target::Aside(AsideFile::create(path)?)),
    }
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write {}", path.display())
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.target {
            Target::Aside(file) => file.write(bytes),
            Target::Device(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.target {
            Target::Aside(file) => file.flush(),
            Target::Device(file) => file.flush(),
        }
    }
}

pub fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    OutputFile::create(path)?.finish_with(bytes)
}
