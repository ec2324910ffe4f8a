//! Reads one split of COCO and checks its annotations against the images.

use super::json::{AnnotationEntry, CategoryEntry, ImageEntry, parse_document};
use super::layout::SplitFiles;
use super::portraits::Portrait;
use super::rle::n_pixels;
use super::scenes::{MIN_VISIBLE_PX, scene_crop, screen_mask};
use crate::error::SourceError;
use crate::file_index::{FileFacts, ImageFile};
use crate::listing::ListedFile;
use crate::manifest::Skipped;
use crate::options::SceneFit;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};
use touchstream_env::mask::Mask;
use touchstream_files::Progress;
use touchstream_files::read_annotation_file;

/// The contents of an annotation file, without contradictory entries.
pub struct AnnotatedSplit {
    pub annotations_file: String,
    pub annotations_hash: blake3::Hash,
    /// Names by id.
    pub categories: BTreeMap<u64, String>,
    /// Images with annotations, by id.
    pub images: Vec<AnnotatedImage>,
}

pub struct AnnotatedImage {
    pub file: ListedFile,
    width: u32,
    height: u32,
    /// Sorted by id.
    annotations: Vec<AnnotationEntry>,
}

/// An image that is intact and has the annotated size.
pub struct CheckedImage {
    pub file: ImageFile,
    /// Only those that are visible on the screen.
    pub instances: Vec<CheckedInstance>,
    /// Whether the annotations list exactly one object, not a group.
    pub has_one_object: bool,
}

/// An object or a group of objects on the screen.
pub struct CheckedInstance {
    pub category_id: u64,
    pub mask: Mask,
}

/// A split whose outlines have been rasterized.
#[derive(Default)]
pub struct CheckedSplit {
    pub images: Vec<CheckedImage>,
    /// Candidates by category id.
    pub portraits: BTreeMap<u64, Vec<Portrait>>,
    /// Number of instances with too few visible pixels.
    pub n_invisible: usize,
}

/// Reads an annotation file.
pub fn read_split(
    root: &Path,
    files: &SplitFiles,
    skipped: &mut Vec<Skipped>,
) -> Result<AnnotatedSplit, SourceError> {
    let path = root.join(&files.annotations);
    let bytes = read_annotation_file(&path).map_err(SourceError::io(&path))?;
    let document = parse_document(&bytes)
        .map_err(|error| SourceError::Annotations { file: path, reason: error.to_string() })?;
    let mut skip = |entry: String, reason: String| {
        skipped.push(Skipped::new(format!("{}#{entry}", files.annotations), reason));
    };
    for bad in document.bad_entries {
        skip(bad.entry, bad.reason);
    }
    let mut categories: BTreeMap<u64, String> = BTreeMap::new();
    let mut first_with_name: BTreeMap<String, u64> = BTreeMap::new();
    // Categories with the same name are merged into the first.
    let mut merged_into: BTreeMap<u64, u64> = BTreeMap::new();
    for CategoryEntry { id, name } in document.categories {
        if let Some(first) = merged_into.get(&id) {
            let reason = format!("category `{}` has the same id", categories[first]);
            skip(format!("category {id}"), reason);
            continue;
        }
        let first = *first_with_name.entry(name.clone()).or_insert(id);
        merged_into.insert(id, first);
        if first == id {
            categories.insert(id, name);
        } else {
            let reason = format!("category {first} has the same name `{name}`; the two are merged");
            skip(format!("category {id}"), reason);
        }
    }

    let mut images: BTreeMap<u64, AnnotatedImage> = BTreeMap::new();
    for entry in document.images {
        match check_image(root, files, &entry) {
            Ok(_) if images.contains_key(&entry.id) => {
                skip(format!("image {}", entry.id), "another image has the same id".to_owned());
            }
            Ok(image) => drop(images.insert(entry.id, image)),
            Err(reason) => skip(format!("image {}", entry.id), reason),
        }
    }
    let mut annotation_ids = BTreeSet::new();
    for mut annotation in document.annotations {
        let entry = format!("annotation {}", annotation.id);
        if !annotation_ids.insert(annotation.id) {
            skip(entry, "another annotation has the same id".to_owned());
            continue;
        }
        match (merged_into.get(&annotation.category_id), images.get_mut(&annotation.image_id)) {
            (None, _) => skip(entry, format!("there is no category {}", annotation.category_id)),
            (_, None) => skip(entry, format!("there is no image {}", annotation.image_id)),
            (Some(&category_id), Some(image)) => {
                annotation.category_id = category_id;
                image.annotations.push(annotation);
            }
        }
    }
    let mut images: Vec<AnnotatedImage> =
        images.into_values().filter(|image| !image.annotations.is_empty()).collect();
    images.iter_mut().for_each(|image| image.annotations.sort_by_key(|annotation| annotation.id));
    let (annotations_file, annotations_hash) = (files.annotations.clone(), blake3::hash(&bytes));
    Ok(AnnotatedSplit { annotations_file, annotations_hash, categories, images })
}

/// Checks that an image entry has a possible size and that its file is inside the split's folder.
fn check_image(root: &Path, files: &SplitFiles, entry: &ImageEntry) -> Result<AnnotatedImage, String> {
    n_pixels(entry.height, entry.width)
        .map_err(|_| format!("{}x{} pixels are not allowed", entry.width, entry.height))?;
    let is_inside = Path::new(&entry.file_name).components().all(|part| matches!(part, Component::Normal(_)));
    if entry.file_name.is_empty() || !is_inside {
        return Err(format!("file name `{}` is outside of {}/", entry.file_name, files.images));
    }
    let relative = format!("{}/{}", files.images, entry.file_name);
    let file = ListedFile::new(root.join(&relative), relative);
    Ok(AnnotatedImage { file, width: entry.width, height: entry.height, annotations: Vec::new() })
}

/// Rasterizes the outlines on images that are intact, have the annotated size and are not in `other_split`.
pub fn check_split(
    split: AnnotatedSplit,
    examined: &[FileFacts],
    other_split: &BTreeSet<[u8; 32]>,
    fit: SceneFit,
    skipped: &mut Vec<Skipped>,
    progress: &dyn Progress,
) -> CheckedSplit {
    let AnnotatedSplit { annotations_file, images, .. } = split;
    let mut usable = Vec::with_capacity(images.len());
    for (image, facts) in images.into_iter().zip(examined) {
        let reason = match &facts.verdict {
            Err(reason) => reason.clone(),
            Ok(size) if *size != (image.width, image.height) => format!(
                "the annotations give {}x{} pixels, the file has {}x{}",
                image.width, image.height, size.0, size.1
            ),
            Ok(_) if other_split.contains(facts.hash.as_bytes()) => {
                "the same image is in the training split, so it is not used for validation".to_owned()
            }
            Ok(_) => {
                usable.push((image, facts.hash));
                continue;
            }
        };
        skipped.push(Skipped::new(image.file.relative, reason));
    }

    progress.start("rasterizing outlines", usable.len() as u64);
    let outlined: Vec<OutlinedImage> = usable
        .into_par_iter()
        .enumerate()
        .map(|(image_idx, (image, hash))| {
            let outlined = outline_image(image_idx, image, hash, fit);
            progress.advance(1);
            outlined
        })
        .collect();
    progress.finish();

    let mut checked = CheckedSplit::default();
    for outlined in outlined {
        for (annotation_id, reason) in outlined.bad_outlines {
            skipped.push(Skipped::new(format!("{annotations_file}#annotation {annotation_id}"), reason));
        }
        for (category_id, portrait) in outlined.portraits {
            checked.portraits.entry(category_id).or_default().push(portrait);
        }
        checked.n_invisible += outlined.n_invisible;
        checked.images.push(outlined.image);
    }
    checked
}

struct OutlinedImage {
    image: CheckedImage,
    portraits: Vec<(u64, Portrait)>,
    bad_outlines: Vec<(u64, String)>,
    n_invisible: usize,
}

fn outline_image(
    image_idx: usize,
    image: AnnotatedImage,
    hash: blake3::Hash,
    fit: SceneFit,
) -> OutlinedImage {
    let crop = scene_crop(fit, image.width, image.height);
    let has_one_object = matches!(&image.annotations[..], [only] if only.iscrowd == 0);
    let (mut instances, mut portraits) = (Vec::new(), Vec::new());
    let (mut bad_outlines, mut n_invisible) = (Vec::new(), 0);
    for annotation in &image.annotations {
        let outline = match annotation.segmentation.to_rle(image.height, image.width) {
            Ok(outline) => outline,
            Err(error) => {
                bad_outlines.push((annotation.id, error.to_string()));
                continue;
            }
        };
        let category_id = annotation.category_id;
        let portrait = Portrait::of_instance(annotation, &outline, image_idx);
        portraits.extend(portrait.map(|portrait| (category_id, portrait)));
        let mask = screen_mask(&outline, crop);
        match mask.area_px() >= MIN_VISIBLE_PX {
            true => instances.push(CheckedInstance { category_id, mask }),
            false => n_invisible += 1,
        }
    }
    let file = ImageFile { file: image.file, hash };
    OutlinedImage {
        image: CheckedImage { file, instances, has_one_object },
        portraits,
        bad_outlines,
        n_invisible,
    }
}
