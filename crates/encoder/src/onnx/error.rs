//! Why an ONNX model cannot be an encoder.

use std::path::{Path, PathBuf};

use super::wire::WireError;

/// Why an ONNX file cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", file.display())]
pub struct OnnxError {
    pub file: PathBuf,
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
    /// The file is missing, too large or unreadable.
    #[error("cannot read the model: {0}")]
    Unreadable(#[from] std::io::Error),
    /// The file is truncated, or not an ONNX file.
    #[error("cannot read the model: {0}")]
    Damaged(String),
    /// The weights are in a second file.
    #[error(
        "its weights are in another file (`{location}`); save the model as one file, \
         in PyTorch with torch.onnx.export(..., external_data=False)"
    )]
    ExternalData { location: String },
    #[error("it has no node or value `{asked}`{suggestion}; {candidates}")]
    NoSuchNode { asked: String, suggestion: String, candidates: String },
    /// The name is a weight, which does not depend on the screen, or the input, which is the screen.
    #[error("`{asked}` is {what} of the model, not the output of a node")]
    NotComputed { asked: String, what: &'static str },
    #[error("an encoder has one input, the screen; the requested nodes read {}", list_inputs(.names))]
    Inputs { names: Vec<String> },
    #[error("its input `{name}` {reason}")]
    Input { name: String, reason: String },
    /// Invalid preprocessing settings.
    #[error("preprocessing: {0}")]
    Preprocessing(String),
    #[error("node `{node}` reads `{value}`, which no earlier node computes")]
    Unordered { node: String, value: String },
    #[error("`{value}` is computed by a node, but exists already")]
    MadeTwice { value: String },
    /// Random operators would make features differ from run to run.
    #[error("node `{node}` ({operator}) draws random numbers, but an encoder must be deterministic")]
    Random { node: String, operator: String },
    /// The runtime does not implement an operator, which is named with its domain unless that is the standard one.
    #[error("operator `{operator}` of node `{node}` is not supported by the runtime")]
    Unsupported { operator: String, node: String },
    #[error("the runtime refuses it: {0}")]
    Refused(String),
    /// The process that ran it once ended without an answer.
    #[error("running it once needs more than {max_gb} GB of memory, or its graph is too deep")]
    TooLarge { max_gb: u64 },
    #[error("running it once takes more than {max_secs} seconds")]
    TooSlow { max_secs: u64 },
    #[error("`{node}` has type {kind}, but features must be float32")]
    NotFloat { node: String, kind: String },
    #[error("`{node}` is empty: its shape is {shape:?}")]
    Empty { node: String, shape: Vec<usize> },
    /// The shape is not that of a spatial map.
    #[error(
        "`{node}` has shape {shape:?}, which is not a spatial map: that is [1, channels, side, side], \
         [1, side, side, channels] or [1, tokens, channels] with side x side tokens \
         (and 1 or 5 before them), side at least 2"
    )]
    NoMap { node: String, shape: Vec<usize> },
}

impl From<WireError> for OnnxProblem {
    fn from(error: WireError) -> Self {
        Self::Damaged(error.to_string())
    }
}

fn list_inputs(names: &[String]) -> String {
    match names {
        [] => "no input of the model".to_owned(),
        names => format!("{} inputs: `{}`", names.len(), names.join("`, `")),
    }
}
