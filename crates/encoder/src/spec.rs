//! The word by which a user names an encoder: `compact`, `vgg16` or `onnx:FILE`.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use touchstream_env::{did_you_mean, nearest};

/// Which encoder, and where it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum EncoderSpec {
    /// The small built-in network.
    #[default]
    Compact,
    /// The paper's network.
    Vgg16,
    /// A model of the user's.
    Onnx(PathBuf),
}

/// A word that names no encoder.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncoderSpecError {
    /// The kind is unknown.
    #[error("`{word}` is not an encoder (compact, vgg16, onnx:FILE){}", did_you_mean(*.nearest))]
    Unknown {
        /// As given.
        word: String,
        /// The likeliest right word.
        nearest: Option<&'static str>,
    },
    /// `onnx` stands without a file.
    #[error("`onnx` needs a model file: onnx:FILE")]
    NoFile,
    /// An encoder that takes no file was given one.
    #[error("`{kind}` takes no file, but `{file}` was given{}", if *kind == "vgg16" { "; weights are given with --weights FILE" } else { "" })]
    NeedlessFile {
        /// `compact` or `vgg16`.
        kind: &'static str,
        /// As given.
        file: String,
    },
}

const FORMS: [(&str, &str); 3] = [("compact", "compact"), ("vgg16", "vgg16"), ("onnx", "onnx:FILE")];

impl EncoderSpec {
    /// The kind alone: `compact`, `vgg16` or `onnx`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Compact => "compact",
            Self::Vgg16 => "vgg16",
            Self::Onnx(_) => "onnx",
        }
    }
}

impl EncoderSpec {
    /// The same encoder, found from whatever folder one stands in.
    pub fn absolute(self) -> Self {
        match self {
            Self::Onnx(file) => Self::Onnx(std::path::absolute(&file).unwrap_or(file)),
            built_in => built_in,
        }
    }
}

impl FromStr for EncoderSpec {
    type Err = EncoderSpecError;

    fn from_str(word: &str) -> Result<Self, EncoderSpecError> {
        let (kind, file) = match word.split_once(':') {
            Some((kind, file)) => (kind, Some(file)),
            None => (word, None),
        };
        let without_file = |spec: Self| match file {
            None => Ok(spec),
            Some(file) => Err(EncoderSpecError::NeedlessFile { kind: spec.kind(), file: file.to_owned() }),
        };
        match (kind, file) {
            ("compact", _) => without_file(Self::Compact),
            ("vgg16", _) => without_file(Self::Vgg16),
            ("onnx", Some(file)) if !file.is_empty() => Ok(Self::Onnx(PathBuf::from(file))),
            ("onnx", _) => Err(EncoderSpecError::NoFile),
            _ => {
                let right = nearest(kind, FORMS.map(|(kind, _)| kind));
                let form = right.and_then(|right| FORMS.iter().find(|(kind, _)| *kind == right));
                Err(EncoderSpecError::Unknown { word: word.to_owned(), nearest: form.map(|&(_, form)| form) })
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
    fn words_and_encoders_are_inverse() {
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
    fn wrong_words_are_told_the_right_one() {
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
