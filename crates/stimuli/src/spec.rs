//! The word by which a user names a source: `gallery`, `folder:PATH`, `coco:PATH` or `cutouts:PATH`.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use touchstream_env::nearest;

/// Which source, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceSpec {
    /// The built-in pictures.
    Gallery,
    /// A folder with `train/<class>/` and `val/<class>/`.
    Folder(PathBuf),
    /// A folder with COCO's `annotations/`, `train2017/` and `val2017/`.
    Coco(PathBuf),
    /// A folder with `objects/` and `backgrounds/`.
    Cutouts(PathBuf),
}

/// A word that names no source.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// The kind is unknown.
    #[error("`{word}` is not a source of images{}; there are: gallery, folder:PATH, coco:PATH, cutouts:PATH",
        .nearest.map(|right| format!(" (did you mean `{right}`?)")).unwrap_or_default())]
    UnknownKind {
        /// As given.
        word: String,
        /// The likeliest right word.
        nearest: Option<&'static str>,
    },
    /// A kind that needs a path stands without one.
    #[error("`{kind}` needs a path: {kind}:PATH")]
    NoPath {
        /// `folder`, `coco` or `cutouts`.
        kind: &'static str,
    },
    /// The gallery was given a path.
    #[error("`gallery` takes no path, but `{path}` was given")]
    GalleryPath {
        /// As given.
        path: String,
    },
}

const FORMS: [(&str, &str); 4] =
    [("gallery", "gallery"), ("folder", "folder:PATH"), ("coco", "coco:PATH"), ("cutouts", "cutouts:PATH")];

impl SourceSpec {
    /// The kind alone: `gallery`, `folder`, `coco` or `cutouts`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Gallery => "gallery",
            Self::Folder(_) => "folder",
            Self::Coco(_) => "coco",
            Self::Cutouts(_) => "cutouts",
        }
    }
}

impl SourceSpec {
    /// The same source, found from whatever folder one stands in.
    pub fn absolute(self) -> Self {
        let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
        match self {
            Self::Gallery => Self::Gallery,
            Self::Folder(path) => Self::Folder(absolute(path)),
            Self::Coco(path) => Self::Coco(absolute(path)),
            Self::Cutouts(path) => Self::Cutouts(absolute(path)),
        }
    }
}

impl FromStr for SourceSpec {
    type Err = SpecError;

    fn from_str(word: &str) -> Result<Self, SpecError> {
        let (kind, path) = match word.split_once(':') {
            Some((kind, path)) => (kind, Some(path)),
            None => (word, None),
        };
        let with_path = |kind, make: fn(PathBuf) -> Self| match path {
            Some(path) if !path.is_empty() => Ok(make(PathBuf::from(path))),
            _ => Err(SpecError::NoPath { kind }),
        };
        match kind {
            "gallery" => match path {
                None => Ok(Self::Gallery),
                Some(path) => Err(SpecError::GalleryPath { path: path.to_owned() }),
            },
            "folder" => with_path("folder", Self::Folder),
            "coco" => with_path("coco", Self::Coco),
            "cutouts" => with_path("cutouts", Self::Cutouts),
            _ => {
                let right = nearest(kind, FORMS.map(|(kind, _)| kind));
                let form = right.and_then(|right| FORMS.iter().find(|(kind, _)| *kind == right));
                Err(SpecError::UnknownKind { word: word.to_owned(), nearest: form.map(|&(_, form)| form) })
            }
        }
    }
}

impl fmt::Display for SourceSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gallery => f.write_str("gallery"),
            Self::Folder(path) | Self::Coco(path) | Self::Cutouts(path) => {
                write!(f, "{}:{}", self.kind(), path.display())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_sources_are_inverse() {
        let cases = [
            ("gallery", SourceSpec::Gallery),
            ("folder:photos", SourceSpec::Folder("photos".into())),
            ("coco:/data/coco", SourceSpec::Coco("/data/coco".into())),
            ("cutouts:a:b", SourceSpec::Cutouts("a:b".into())),
        ];
        for (word, spec) in cases {
            assert_eq!(word.parse(), Ok(spec.clone()));
            assert_eq!(spec.to_string(), word);
        }
    }

    #[test]
    fn wrong_words_are_told_the_right_one() {
        let cases = [
            (
                "galery",
                "`galery` is not a source of images (did you mean `gallery`?); there are: gallery, folder:PATH, coco:PATH, cutouts:PATH",
            ),
            (
                "foldr:x",
                "`foldr:x` is not a source of images (did you mean `folder:PATH`?); there are: gallery, folder:PATH, coco:PATH, cutouts:PATH",
            ),
            (
                "imagenet",
                "`imagenet` is not a source of images; there are: gallery, folder:PATH, coco:PATH, cutouts:PATH",
            ),
            ("coco", "`coco` needs a path: coco:PATH"),
            ("folder:", "`folder` needs a path: folder:PATH"),
            ("gallery:x", "`gallery` takes no path, but `x` was given"),
        ];
        for (word, message) in cases {
            assert_eq!(word.parse::<SourceSpec>().unwrap_err().to_string(), message);
        }
    }
}
