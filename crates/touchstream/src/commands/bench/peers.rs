//! Other software doing the same work, in a Python process that is asked for one measurement at a time.

use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A running Python process that measures.
pub struct Peers {
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
    pub names: Vec<String>,
}

impl Peers {
    /// Starts a script with its arguments. Its first answer is the list of its peers.
    pub fn start(python: &Path, script: &str, args: &[&Path], environment: &[(&str, &str)]) -> Result<Self> {
        let mut child = Command::new(python)
            .args(["-c", script])
            .args(args)
            .envs(environment.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", python.display()))?;
        let (Some(questions), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            bail!("the Python process has no pipes");
        };
        let mut peers = Self { child, questions, answers: BufReader::new(answers), names: Vec::new() };
        peers.names = peers.answer().context("the peers did not start")?;
        if peers.names.is_empty() {
            bail!("{} has none of the peers' packages", python.display());
        }
        Ok(peers)
    }

    /// The answer to one line.
    pub fn ask(&mut self, question: &str) -> Result<Vec<f64>> {
        writeln!(self.questions, "{question}")?;
        self.answer().with_context(|| format!("no answer to `{question}`"))
    }

    fn answer<T: serde::de::DeserializeOwned>(&mut self) -> Result<T> {
        let mut line = String::new();
        if self.answers.read_line(&mut line)? == 0 {
            bail!("the Python process ended early; its messages are above");
        }
        Ok(serde_json::from_str(&line)?)
    }
}

impl Drop for Peers {
    fn drop(&mut self) {
        // It may have ended already; either way there is nothing left to do about it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
