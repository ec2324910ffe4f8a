//! How an encoder is written on the command line: `compact`, `vgg16` or `onnx:FILE`.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use touchstream_env::{did_you_mean, nearest};

/// The kind of an encoder and its file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum EncoderSpec {
    /// The small built-in network.
    #[default]
    Compact,
    /// The paper's network.
    Vgg16,
    /// An ONNX model.
    Onnx(PathBuf),
}

/// Why a text is not an encoder.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncoderSpecError {
    #[error("`{text}` is not an encoder (compact, vgg16, onnx:FILE){}", did_you_mean(*.nearest))]
    Unknown { text: String, nearest: Option<&'static str> },
    #[error("`onnx` needs a model file: onnx:FILE")]
    NoFile,
    #[error("`{kind}` takes no file, but `{file}` was given{}", if *kind == "vgg16" { "; weights are given with --weights FILE" } else { "" })]
    NeedlessFile { kind: &'static str, file: String },
}

impl EncoderSpec {
    /// `compact`, `vgg16` or `onnx`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Compact => "compact",
            Self::Vgg16 => "vgg16",
            Self::Onnx(_) => "onnx",
        }
    }

    /// The same encoder with an absolute path.
    pub fn absolute(self) -> Self {
        match self {
            Self::Onnx(file) => Self::Onnx(std::path::absolute(&file).unwrap_or(file)),
            built_in => built_in,
        }
    }
}

impl FromStr for EncoderSpec {
    type Err = EncoderSpecError;

    fn from_str(text: &str) -> Result<Self, EncoderSpecError> {
        let (kind, file) = text.split_once(':').map_or((text, None), |(kind, file)| (kind, Some(file)));
        match (kind, file) {
            ("compact", None) => Ok(Self::Compact),
            ("vgg16", None) => Ok(Self::Vgg16),
            ("compact", Some(file)) => {
                Err(EncoderSpecError::NeedlessFile { kind: "compact", file: file.to_owned() })
            }
            ("vgg16", Some(file)) => {
                Err(EncoderSpecError::NeedlessFile { kind: "vgg16", file: file.to_owned() })
            }
            ("onnx", None | Some("")) => Err(EncoderSpecError::NoFile),
            ("onnx", Some(file)) => Ok(Self::Onnx(PathBuf::from(file))),
            _ => {
                let nearest = nearest(kind, ["compact", "vgg16", "onnx"]);
                let nearest = nearest.map(|kind| if kind == "onnx" { "onnx:FILE" } else { kind });
                Err(EncoderSpecError::Unknown { text: text.to_owned(), nearest })
            }
        }
    }
}

impl fmt::Display for EncoderSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Compact | Self::Vgg16 => f.write_str(self.kind()),
            Self::Onnx(file) => write!(f, "onnx:{}", file.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs_survive_a_round_trip() {
        let cases = [
            ("compact", EncoderSpec::Compact),
            ("vgg16", EncoderSpec::Vgg16),
            ("onnx:models/a:b.onnx", EncoderSpec::Onnx("models/a:b.onnx".into())),
        ];
        for (word, spec) in cases {
            assert_eq!(word.parse(), Ok(spec.clone()));
            assert_eq!(spec.to_string(), word);
        }
    }

    #[test]
    fn misspelt_specs_get_a_suggestion() {
        let cases = [
            ("vgg", "`vgg` is not an encoder (compact, vgg16, onnx:FILE); did you mean `vgg16`?"),
            (
                "onx:m.onnx",
                "`onx:m.onnx` is not an encoder (compact, vgg16, onnx:FILE); did you mean `onnx:FILE`?",
            ),
            ("transformer", "`transformer` is not an encoder (compact, vgg16, onnx:FILE)"),
            ("onnx", "`onnx` needs a model file: onnx:FILE"),
            ("onnx:", "`onnx` needs a model file: onnx:FILE"),
            ("compact:x", "`compact` takes no file, but `x` was given"),
            ("vgg16:w", "`vgg16` takes no file, but `w` was given; weights are given with --weights FILE"),
        ];
        for (word, message) in cases {
            assert_eq!(word.parse::<EncoderSpec>().unwrap_err().to_string(), message);
        }
    }
}
