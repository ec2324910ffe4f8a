//! A working folder with a cache of its own, where the program is driven as a user drives it.

// Each test program uses what it needs of this.
#![allow(dead_code)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

pub struct Desk {
    folder: TempDir,
}

impl Desk {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    pub fn cache(&self) -> PathBuf {
        self.file("cache")
    }

    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.file(name), text).unwrap();
    }

    /// The program without a terminal.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_touchstream"));
        command
            .args(args)
            .current_dir(self.path())
            .env("TOUCHSTREAM_CACHE", self.cache())
            .stdin(Stdio::null());
        command
    }

    pub fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    #[track_caller]
    pub fn succeeds(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    #[track_caller]
    pub fn fails(&self, args: &[&str], message: &str) -> String {
        check_failure(self.run(args), message)
    }
}

/// It failed with exit code 1, or 2 for words it does not know, and says why, without a panic.
#[track_caller]
pub fn check_failure(output: Output, message: &str) -> String {
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(matches!(output.status.code(), Some(1 | 2)), "{:?}: {error}", output.status);
    assert!(error.contains(message) && !error.contains("panicked"), "{error}");
    error
}
