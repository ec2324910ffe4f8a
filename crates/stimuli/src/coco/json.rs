//! COCO's annotation files into typed entries. Unknown fields are passed over, bad entries are named, and none
//! of it is believed before it is checked against the images.

use super::polygon::{PolygonError, rasterize};
use super::rle::{Rle, RleError};
use rayon::prelude::*;
use serde::Deserialize;
use serde::de::{DeserializeOwned, Error};
use serde_json::value::RawValue;

/// All entries of an annotation file that could be read.
#[derive(Debug, Default)]
pub struct Document {
    /// In the order of the file.
    pub images: Vec<ImageEntry>,
    /// In the order of the file.
    pub categories: Vec<CategoryEntry>,
    /// In the order of the file.
    pub annotations: Vec<AnnotationEntry>,
    /// Those that could not be read.
    pub bad_entries: Vec<BadEntry>,
}

/// An image that annotations refer to.
#[derive(Clone, Debug, Deserialize)]
pub struct ImageEntry {
    /// What annotations call it.
    pub id: u64,
    /// Within the split's folder.
    pub file_name: String,
    /// Columns, as claimed.
    pub width: u32,
    /// Rows, as claimed.
    pub height: u32,
}

/// A class.
#[derive(Clone, Debug, Deserialize)]
pub struct CategoryEntry {
    /// What annotations call it.
    pub id: u64,
    /// What people call it.
    pub name: String,
}

/// One object on one image, or a crowd of them.
#[derive(Clone, Debug, Deserialize)]
pub struct AnnotationEntry {
    /// Its own number.
    pub id: u64,
    /// On which image.
    pub image_id: u64,
    /// What it is.
    pub category_id: u64,
    /// 1 for a crowd.
    #[serde(default)]
    pub iscrowd: u8,
    /// Pixels as counted by COCO, if said. Not used but to compare with.
    #[serde(default)]
    pub area: Option<f64>,
    /// Its outline.
    pub segmentation: Segmentation,
}

/// An outline in one of COCO's three codings.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "segmentation is neither polygons nor run lengths")]
pub enum Segmentation {
    /// Parts, each as `x, y` of its corners in turn.
    Polygons(Vec<Vec<f64>>),
    /// Run lengths down the columns.
    Runs {
        /// Rows and columns.
        size: [u32; 2],
        /// The lengths.
        counts: Counts,
    },
}

/// Run lengths, plain or compressed.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "counts are neither a list of run lengths nor text")]
pub enum Counts {
    /// One number a run.
    Plain(Vec<u32>),
    /// As text; see [`Rle::from_compressed`].
    Compressed(String),
}

/// An entry that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadEntry {
    /// For instance `annotations[17]`.
    pub entry: String,
    /// What is wrong.
    pub reason: String,
}

/// Why an outline is no mask.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OutlineError {
    /// Bad corners.
    #[error(transparent)]
    Polygon(#[from] PolygonError),
    /// Bad run lengths.
    #[error(transparent)]
    Rle(#[from] RleError),
    /// The mask was made for another image.
    #[error("a mask of {mask_height}x{mask_width} pixels for an image of {height}x{width}")]
    OtherSize {
        /// Rows of the mask.
        mask_height: u32,
        /// Columns of the mask.
        mask_width: u32,
        /// Rows of the image.
        height: u32,
        /// Columns of the image.
        width: u32,
    },
}

impl Segmentation {
    /// The mask on an image of so many rows and columns.
    pub fn to_rle(&self, height: u32, width: u32) -> Result<Rle, OutlineError> {
        match self {
            Self::Polygons(polygons) => Ok(rasterize(height, width, polygons)?),
            &Self::Runs { size: [mask_height, mask_width], .. }
                if (mask_height, mask_width) != (height, width) =>
            {
                Err(OutlineError::OtherSize { mask_height, mask_width, height, width })
            }
            Self::Runs { counts: Counts::Plain(counts), .. } => {
                Ok(Rle::from_counts(height, width, counts.clone())?)
            }
            Self::Runs { counts: Counts::Compressed(text), .. } => {
                Ok(Rle::from_compressed(height, width, text.as_bytes())?)
            }
        }
    }
}

#[derive(Deserialize)]
struct RawDocument<'a> {
    #[serde(borrow)]
    images: Vec<&'a RawValue>,
    #[serde(borrow)]
    categories: Vec<&'a RawValue>,
    #[serde(borrow)]
    annotations: Vec<&'a RawValue>,
}

/// Reads an annotation file. Only a file that is no JSON object with the three lists is an error; entries that
/// make no sense are named in `bad_entries`.
pub fn parse_document(bytes: &[u8]) -> Result<Document, serde_json::Error> {
    // Lists would be taken for objects without names.
    if bytes.trim_ascii_start().first() != Some(&b'{') {
        let expected = "a COCO annotation file is an object with images, annotations and categories";
        return Err(serde_json::Error::custom(expected));
    }
    let raw: RawDocument<'_> = serde_json::from_slice(bytes)?;
    let mut bad_entries = Vec::new();
    Ok(Document {
        images: parse_list("images", &raw.images, &mut bad_entries),
        categories: parse_list("categories", &raw.categories, &mut bad_entries),
        annotations: parse_list("annotations", &raw.annotations, &mut bad_entries),
        bad_entries,
    })
}

fn parse_list<T: DeserializeOwned + Send>(
    name: &str,
    raw: &[&RawValue],
    bad_entries: &mut Vec<BadEntry>,
) -> Vec<T> {
    let parsed: Vec<Result<T, serde_json::Error>> =
        raw.par_iter().map(|entry| serde_json::from_str(entry.get())).collect();
    let mut good = Vec::with_capacity(parsed.len());
    for (position, entry) in parsed.into_iter().enumerate() {
        match entry {
            Ok(entry) => good.push(entry),
            Err(error) => {
                bad_entries
                    .push(BadEntry { entry: format!("{name}[{position}]"), reason: error.to_string() });
            }
        }
    }
    good
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const EXAMPLE: &str = r#"{"info": {"year": 2017}, "licenses": [1, null],
        "images": [{"id": 1, "file_name": "1.jpg", "width": 8, "height": 4, "license": 3}],
        "categories": [{"id": 7, "name": "cat", "supercategory": "animal"}],
        "annotations": [
            {"id": 1, "image_id": 1, "category_id": 7, "iscrowd": 0, "area": 6.0, "bbox": [0, 0, 3, 2],
             "segmentation": [[0, 0, 3, 0, 3, 2, 0, 2]]},
            {"id": 2, "image_id": 1, "category_id": 7, "iscrowd": 1, "segmentation": {"size": [4, 8], "counts": [0, 12, 20]}},
            {"id": 3, "image_id": 1, "category_id": 7, "segmentation": {"size": [4, 8], "counts": "0<d0"}}]}"#;

    #[test]
    fn the_three_codings_are_read() {
        let document = parse_document(EXAMPLE.as_bytes()).unwrap();
        assert_eq!(document.bad_entries, []);
        assert_eq!((document.images.len(), document.categories.len()), (1, 1));
        let areas: Vec<u64> =
            document.annotations.iter().map(|a| a.segmentation.to_rle(4, 8).unwrap().area_px()).collect();
        assert_eq!(areas, [6, 12, 12]);
        let other = document.annotations[1].segmentation.to_rle(8, 4).unwrap_err();
        assert_eq!(other.to_string(), "a mask of 4x8 pixels for an image of 8x4");
    }

    #[test]
    fn bad_entries_are_named_and_the_rest_is_read() {
        let cases = [
            (
                r#""image_id": 1, "category_id": 7, "iscrowd": 1"#,
                r#""image_id": -1, "category_id": 7, "iscrowd": 1"#,
                "annotations[1]",
                "invalid value",
            ),
            (r#""counts": [0, 12, 20]"#, r#""counts": [0, -12, 20]"#, "annotations[1]", "neither"),
            (r#""counts": "0<d0""#, r#""counts": null"#, "annotations[2]", "neither"),
            (r#""width": 8"#, r#""width": 1e99"#, "images[0]", "invalid type"),
            (r#""width": 8"#, r#""width": -8"#, "images[0]", "invalid value"),
            (r#""name": "cat""#, r#""name": 3"#, "categories[0]", "invalid type"),
        ];
        for (from, to, entry, reason) in cases {
            let document = parse_document(EXAMPLE.replacen(from, to, 1).as_bytes()).unwrap();
            assert_eq!(document.bad_entries.len(), 1, "{to}");
            assert_eq!(document.bad_entries[0].entry, entry, "{to}");
            assert!(document.bad_entries[0].reason.contains(reason), "{to}: {:?}", document.bad_entries[0]);
        }
    }

    proptest! {
        #[test]
        fn a_damaged_file_never_panics(at in 0..EXAMPLE.len(), byte in any::<u8>(), keep in 0..=EXAMPLE.len()) {
            let mut bytes = EXAMPLE.as_bytes().to_vec();
            bytes[at] = byte;
            let _ = parse_document(&bytes);
            prop_assert!(parse_document(&bytes[..keep.min(EXAMPLE.len() - 1)]).is_err());
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = parse_document(&bytes);
        }
    }
}
