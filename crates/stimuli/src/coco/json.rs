//! Parses COCO's annotation files. Unknown fields are ignored, invalid entries are listed, and all values are validated
//! later, against the images.

use super::polygon::{PolygonError, rasterize};
use super::rle::{Rle, RleError};
use rayon::prelude::*;
use serde::Deserialize;
use serde::de::{DeserializeOwned, Error};
use serde_json::value::RawValue;

/// The entries of an annotation file, in the order of the file.
#[derive(Debug, Default)]
pub struct Document {
    pub images: Vec<ImageEntry>,
    pub categories: Vec<CategoryEntry>,
    pub annotations: Vec<AnnotationEntry>,
    /// Entries that are invalid.
    pub bad_entries: Vec<BadEntry>,
}

/// An image that annotations refer to.
#[derive(Clone, Debug, Deserialize)]
pub struct ImageEntry {
    /// Referred to by [`AnnotationEntry::image_id`].
    pub id: u64,
    /// Relative to the split's folder.
    pub file_name: String,
    pub width: u32,
    pub height: u32,
}

#[derive(Clone, Debug, Deserialize)]
pub struct CategoryEntry {
    /// Referred to by [`AnnotationEntry::category_id`].
    pub id: u64,
    pub name: String,
}

/// One object on an image, or a group of objects ("crowd").
#[derive(Clone, Debug, Deserialize)]
pub struct AnnotationEntry {
    pub id: u64,
    pub image_id: u64,
    pub category_id: u64,
    /// 1 for a group of objects.
    #[serde(default)]
    pub iscrowd: u8,
    /// In pixels, as computed by COCO. Only used in tests.
    #[serde(default)]
    pub area: Option<f64>,
    pub segmentation: Segmentation,
}

/// A mask in one of COCO's three encodings.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "segmentation is neither polygons nor run lengths")]
pub enum Segmentation {
    /// Polygons, each as `x, y` of its corners.
    Polygons(Vec<Vec<f64>>),
    /// Run lengths down the columns; `size` is `[height, width]`.
    Runs { size: [u32; 2], counts: Counts },
}

/// Run lengths, as numbers or compressed.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "counts are neither a list of run lengths nor text")]
pub enum Counts {
    Plain(Vec<u32>),
    /// See [`Rle::from_compressed`].
    Compressed(String),
}

/// An invalid entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadEntry {
    /// Path of the entry in the file, such as `annotations[17]`.
    pub entry: String,
    pub reason: String,
}

/// Why a segmentation is not a mask.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OutlineError {
    #[error(transparent)]
    Polygon(#[from] PolygonError),
    #[error(transparent)]
    Rle(#[from] RleError),
    #[error("the mask has {mask_height}x{mask_width} pixels, the image {height}x{width}")]
    OtherSize { mask_height: u32, mask_width: u32, height: u32, width: u32 },
}

impl Segmentation {
    /// The mask on an image of `height` rows and `width` columns.
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

/// Parses an annotation file. It is an error if the file is not a JSON object with the three lists; invalid entries
/// are listed in `bad_entries`.
pub fn parse_document(bytes: &[u8]) -> Result<Document, serde_json::Error> {
    // serde would read a JSON array as an object whose fields have no names.
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
    fn all_three_encodings_are_read() {
        let document = parse_document(EXAMPLE.as_bytes()).unwrap();
        assert_eq!(document.bad_entries, []);
        assert_eq!((document.images.len(), document.categories.len()), (1, 1));
        let areas: Vec<u64> =
            document.annotations.iter().map(|a| a.segmentation.to_rle(4, 8).unwrap().area_px()).collect();
        assert_eq!(areas, [6, 12, 12]);
        let other = document.annotations[1].segmentation.to_rle(8, 4).unwrap_err();
        assert_eq!(other.to_string(), "the mask has 4x8 pixels, the image 8x4");
    }

    #[test]
    fn invalid_entries_are_listed_and_the_rest_is_read() {
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
