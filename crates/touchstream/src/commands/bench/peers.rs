//! Other people's software doing the same work, in a process of its own that is asked for one measurement at a time.

use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const SCRIPT: &str = include_str!("../../../../../peers/vgg16_convolutions.py");

/// A running Python process that measures VGG-16's convolutions.
pub struct Peers {
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
    pub names: Vec<String>,
}

impl Peers {
    /// Starts a Python that has `numpy`, `safetensors` and at least one of `torch` and `onnxruntime` with `onnx`.
    pub fn start(python: &Path, weights: &Path) -> Result<Self> {
        let mut child = Command::new(python)
            .args(["-c", SCRIPT])
            .arg(weights)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", python.display()))?;
        let (Some(questions), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            bail!("the peers' process has no pipes");
        };
        let mut peers = Self { child, questions, answers: BufReader::new(answers), names: Vec::new() };
        peers.names = peers.answer().context("the peers' process did not start")?;
        if peers.names.is_empty() {
            bail!("{} has neither torch nor onnxruntime with onnx", python.display());
        }
        Ok(peers)
    }

    /// Seconds of each of some runs.
    pub fn measure(
        &mut self,
        peer: &str,
        n_threads: usize,
        batch_size: usize,
        n_runs: usize,
    ) -> Result<Vec<f64>> {
        writeln!(self.questions, "{peer}\t{n_threads}\t{batch_size}\t{n_runs}")?;
        self.answer().with_context(|| format!("{peer} did not answer"))
    }

    fn answer<T: serde::de::DeserializeOwned>(&mut self) -> Result<T> {
        let mut line = String::new();
        if self.answers.read_line(&mut line)? == 0 {
            bail!("it ended early; what it said is above");
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
