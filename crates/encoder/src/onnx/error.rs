//! Why an ONNX model cannot be an encoder.

use std::path::{Path, PathBuf};

use super::wire::WireError;

/// An ONNX file that cannot be used, and why.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", file.display())]
pub struct OnnxError {
    /// The file.
    pub file: PathBuf,
    /// What is wrong with it.
    pub problem: OnnxProblem,
}

impl OnnxError {
    pub(super) fn at(file: &Path) -> impl FnOnce(OnnxProblem) -> Self {
        |problem| Self { file: file.to_path_buf(), problem }
    }
}

/// Why an ONNX model cannot be an encoder, as a sentence without a full stop.
#[derive(Debug, thiserror::Error)]
pub enum OnnxProblem {
    /// The file is not there, is not a file, is too large or cannot be read.
    #[error("cannot read the model: {0}")]
    Unreadable(#[from] std::io::Error),
    /// Truncated, or not an ONNX file.
    #[error("cannot read the model: {0}")]
    Damaged(String),
    /// Weights in a second file.
    #[error(
        "its weights are in another file (`{location}`); save the model as one file, \
         in PyTorch with torch.onnx.export(..., external_data=False)"
    )]
    ExternalData {
        /// The other file, as the model names it.
        location: String,
    },
    /// No value and no node of this name.
    #[error("it has no node or value `{asked}`{suggestion}; {candidates}")]
    NoSuchNode {
        /// What was asked for.
        asked: String,
        /// `; did you mean ...?` or nothing.
        suggestion: String,
        /// Names that could be asked for, as a clause.
        candidates: String,
    },
    /// A weight or the input, which depends on no screen or is the screen itself.
    #[error("`{asked}` is {what} of the model, not the output of a node")]
    NotComputed {
        /// What was asked for.
        asked: String,
        /// `the input` or `a weight`.
        what: &'static str,
    },
    /// The asked nodes read no input or several.
    #[error("an encoder has one input, the screen; what was asked for reads {}", said(.names))]
    Inputs {
        /// Names of the inputs that the asked nodes depend on.
        names: Vec<String>,
    },
    /// An input that a screen cannot be made into.
    #[error("its input `{name}` {reason}")]
    Input {
        /// Name of the input.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Preprocessing settings without sense.
    #[error("preprocessing: {0}")]
    Preprocessing(String),
    /// Nodes that are not in order, or that read what nothing makes.
    #[error("node `{node}` reads `{value}`, which no node before it makes")]
    Unordered {
        /// The node.
        node: String,
        /// The value it reads.
        value: String,
    },
    /// Two nodes of one output, or a node whose output is an input or a weight too.
    #[error("`{value}` is made by a node and is there before it")]
    MadeTwice {
        /// The value.
        value: String,
    },
    /// Random numbers would make features differ from run to run.
    #[error("node `{node}` ({operator}) draws random numbers, and an encoder must be fixed")]
    Random {
        /// The node.
        node: String,
        /// Its operator.
        operator: String,
    },
    /// The runtime lacks an operator.
    #[error("operator `{operator}` of node `{node}` is not supported by the runtime")]
    Unsupported {
        /// The operator, with its domain unless it is a standard one.
        operator: String,
        /// The node.
        node: String,
    },
    /// The runtime refuses the model or fails to run it.
    #[error("the runtime refuses it: {0}")]
    Refused(String),
    /// A node whose numbers are not floats.
    #[error("`{node}` gives {kind}, and features are float32")]
    NotFloat {
        /// The value asked for.
        node: String,
        /// What it gives.
        kind: String,
    },
    /// A node that gives nothing.
    #[error("`{node}` gives no numbers: its shape is {shape:?}")]
    Empty {
        /// The value asked for.
        node: String,
        /// Its shape.
        shape: Vec<usize>,
    },
    /// A node whose shape is no spatial map.
    #[error(
        "`{node}` has shape {shape:?}, which is no spatial map: that is [1, channels, side, side], \
         [1, side, side, channels] or [1, tokens, channels] with side x side tokens \
         (and 1 or 5 before them), side at least 2"
    )]
    NoMap {
        /// The value asked for.
        node: String,
        /// Its shape.
        shape: Vec<usize>,
    },
}

impl From<WireError> for OnnxProblem {
    fn from(error: WireError) -> Self {
        Self::Damaged(error.to_string())
    }
}

fn said(names: &[String]) -> String {
    match names {
        [] => "no input of the model".to_owned(),
        names => format!("{} inputs: `{}`", names.len(), names.join("`, `")),
    }
}
