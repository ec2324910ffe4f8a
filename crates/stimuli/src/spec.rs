//! How a source is written on the command line: `gallery`, `folder:PATH`, `coco:PATH` or `cutouts:PATH`.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use touchstream_env::nearest;

/// The kind of a source and its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceSpec {
    /// The built-in images.
    Gallery,
    /// A folder with `train/<class>/` and `val/<class>/`.
    Folder(PathBuf),
    /// A folder with `annotations/`, `train2017/` and `val2017/`.
    Coco(PathBuf),
    /// A folder with `objects/` and `backgrounds/`.
    Cutouts(PathBuf),
}

/// Why a text is not a source.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    #[error("`{text}` is not a source of images{}; sources: gallery, folder:PATH, coco:PATH, cutouts:PATH",
        .nearest.as_ref().map(|right| format!(" (did you mean `{right}`?)")).unwrap_or_default())]
    UnknownKind { text: String, nearest: Option<String> },
    #[error("`{kind}` needs a path: {kind}:PATH")]
    NoPath { kind: String },
    #[error("`gallery` takes no path, but `{path}` was given")]
    GalleryPath { path: String },
}

impl SourceSpec {
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Gallery => "gallery",
            Self::Folder(_) => "folder",
            Self::Coco(_) => "coco",
            Self::Cutouts(_) => "cutouts",
        }
    }
    /// The same source with an absolute path.
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

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let (kind, path) = text.split_once(':').map_or((text, None), |(kind, path)| (kind, Some(path)));
        match (kind, path) {
            ("gallery", None) => Ok(Self::Gallery),
            ("gallery", Some(path)) => Err(SpecError::GalleryPath { path: path.to_owned() }),
            ("folder" | "coco" | "cutouts", None | Some("")) => {
                Err(SpecError::NoPath { kind: kind.to_owned() })
            }
            ("folder", Some(path)) => Ok(Self::Folder(path.into())),
            ("coco", Some(path)) => Ok(Self::Coco(path.into())),
            ("cutouts", Some(path)) => Ok(Self::Cutouts(path.into())),
            _ => {
                let nearest = nearest(kind, ["gallery", "folder", "coco", "cutouts"]);
                let with_path =
                    |kind: &str| if kind == "gallery" { kind.into() } else { format!("{kind}:PATH") };
                Err(SpecError::UnknownKind { text: text.to_owned(), nearest: nearest.map(with_path) })
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
    fn specs_survive_a_round_trip() {
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
    fn misspelt_specs_get_a_suggestion() {
        let cases = [
            (
                "galery",
                "`galery` is not a source of images (did you mean `gallery`?); sources: gallery, folder:PATH, coco:PATH, cutouts:PATH",
            ),
            (
                "foldr:x",
                "`foldr:x` is not a source of images (did you mean `folder:PATH`?); sources: gallery, folder:PATH, coco:PATH, cutouts:PATH",
            ),
            (
                "imagenet",
                "`imagenet` is not a source of images; sources: gallery, folder:PATH, coco:PATH, cutouts:PATH",
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
