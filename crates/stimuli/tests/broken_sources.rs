//! Invalid files and annotations are listed and skipped, and the rest is used.

#![allow(clippy::unwrap_used)]

use image::{ImageFormat, Rgb, RgbImage, Rgba, RgbaImage};
use std::fs;
use std::io::Cursor;
use std::path::Path;
use tempfile::TempDir;
use touchstream_env::screen::Screen;
use touchstream_env::stimuli::{ClassIdx, ImageId, Split};
use touchstream_files::NoProgress;
use touchstream_stimuli::{
    Needs, Opened, SceneFit, Sizes, SourceError, SourceOptions, SourceSpec, SplitCounts, TemplateRule, open,
};

fn picture_bytes(width: u32, height: u32, seed: u8, format: ImageFormat) -> Vec<u8> {
    let image = RgbImage::from_fn(width, height, |x, y| Rgb([seed, (x * 7) as u8, (y * 5) as u8]));
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

fn jpeg(seed: u8) -> Vec<u8> {
    picture_bytes(60, 40, seed, ImageFormat::Jpeg)
}

fn put(root: &Path, relative: &str, bytes: impl AsRef<[u8]>) {
    let path = root.join(relative);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

fn names(names: &[&str]) -> Option<Vec<String>> {
    Some(names.iter().map(|&name| name.to_owned()).collect())
}

#[track_caller]
fn check_skipped(opened: &Opened, file: &str, reason: &str) {
    let found =
        opened.manifest.skipped.iter().any(|skipped| skipped.file == file && skipped.reason.contains(reason));
    assert!(found, "{file}: {reason} in {:?}", opened.manifest.skipped);
}

fn open_plain(spec: &SourceSpec) -> Opened {
    open(spec, &SourceOptions::default(), &NoProgress).unwrap()
}

#[track_caller]
fn check_strict_refuses(spec: &SourceSpec) {
    let error = open(spec, &SourceOptions { strict: true, ..Default::default() }, &NoProgress).unwrap_err();
    assert!(matches!(error, SourceError::Strict { .. }), "{error}");
}

/// Two classes, two training images and one for validation each.
fn folder() -> (TempDir, SourceSpec) {
    let root = tempfile::tempdir().unwrap();
    for (idx, class) in (0..).zip(["church", "Giant Panda"]) {
        put(root.path(), &format!("train/{class}/a.jpg"), jpeg(idx * 10));
        put(
            root.path(),
            &format!("train/{class}/b.dat"),
            picture_bytes(30, 90, idx * 10 + 1, ImageFormat::Png),
        );
        put(
            root.path(),
            &format!("val/{class}/c.webp"),
            picture_bytes(50, 50, idx * 10 + 2, ImageFormat::WebP),
        );
    }
    let spec = SourceSpec::Folder(root.path().to_owned());
    (root, spec)
}

#[test]
fn a_folder_puts_the_papers_classes_first_and_selects_by_name() {
    let (_root, spec) = folder();
    let opened = open(&spec, &SourceOptions { strict: true, ..Default::default() }, &NoProgress).unwrap();
    assert_eq!(opened.stimuli.classes(), ["Giant Panda", "church"]);
    assert_eq!(opened.stimuli.n_portraits(Split::Train, ClassIdx(0)), 2);
    let select = |asked| open(&spec, &SourceOptions { classes: asked, ..Default::default() }, &NoProgress);
    assert_eq!(select(names(&["church", "panda"])).unwrap().stimuli.classes(), ["church", "Giant Panda"]);
    let error = select(names(&["curch"])).unwrap_err().to_string();
    assert_eq!(error, "no class `curch` (did you mean `church`?); classes: Giant Panda, church");
}

#[test]
fn invalid_images_are_listed_and_skipped() {
    let whole = jpeg(99);
    let mut bomb = picture_bytes(1, 1, 0, ImageFormat::Png);
    bomb[16..24].copy_from_slice(&[0, 1, 0, 0, 0, 1, 0, 0]);
    let crc = crc32(&bomb[12..29]);
    bomb[29..33].copy_from_slice(&crc.to_be_bytes());
    let cases: [(&str, &[u8], &str); 5] = [
        ("train/church/half.jpg", &whole[..whole.len() / 2], "ends before its image does"),
        ("train/church/bomb.png", &bomb, "65536x65536 pixels exceed the limit"),
        ("train/church/empty.jpg", b"", "the file is empty"),
        ("val/church/text.jpg", b"I am not a image", "not a JPEG, PNG or WebP image"),
        ("val/church/copy.jpg", &jpeg(0), "the same image is in the training split"),
    ];
    for (file, bytes, reason) in cases {
        let (root, spec) = folder();
        put(root.path(), file, bytes);
        let opened = open_plain(&spec);
        check_skipped(&opened, file, reason);
        assert_eq!(opened.manifest.skipped.len(), 1);
        assert_eq!(opened.manifest.classes[1].portraits, SplitCounts::new(2, 1));
        let mut screen = Screen::grey();
        let image = ImageId::Portrait { class: ClassIdx(1), index: 1 };
        opened.stimuli.draw(Split::Train, image, &mut screen).unwrap();
        check_strict_refuses(&spec);
    }
}

#[test]
fn classes_without_images_are_listed_and_skipped() {
    let cases: [(&str, Option<&[u8]>, &str, &str); 3] = [
        ("train/zebra/a.jpg", Some(b"x"), "val/zebra", "there is no such folder"),
        ("val/zebra/a.jpg", Some(b"x"), "train/zebra", "there is no such folder"),
        ("train/zebra", None, "train/zebra", "the folder contains no images"),
    ];
    for (file, bytes, skipped, reason) in cases {
        let (root, spec) = folder();
        match bytes {
            Some(bytes) => put(root.path(), file, bytes),
            None => fs::create_dir_all(root.path().join(file)).unwrap(),
        }
        let opened = open_plain(&spec);
        check_skipped(&opened, skipped, reason);
        assert_eq!(opened.stimuli.classes(), ["Giant Panda", "church"]);
        check_strict_refuses(&spec);
        let asked = SourceOptions { classes: names(&["zebra", "church"]), ..Default::default() };
        let error = open(&spec, &asked, &NoProgress).unwrap_err();
        assert!(error.to_string().starts_with("class `zebra` cannot be used"), "{error}");
    }
    let (root, spec) = folder();
    put(root.path(), "train/zebra/a.jpg", "broken");
    put(root.path(), "val/zebra/b.jpg", jpeg(77));
    let opened = open_plain(&spec);
    check_skipped(&opened, "zebra", "no usable image in the train split");
    check_skipped(&opened, "train/zebra/a.jpg", "not a JPEG");
}

#[test]
fn a_folder_of_another_kind_is_refused() {
    let root = tempfile::tempdir().unwrap();
    for spec in [
        SourceSpec::Folder(root.path().to_owned()),
        SourceSpec::Coco(root.path().to_owned()),
        SourceSpec::Cutouts(root.path().to_owned()),
        SourceSpec::Folder(root.path().join("none")),
    ] {
        let error = open(&spec, &SourceOptions::default(), &NoProgress).unwrap_err();
        assert!(matches!(error, SourceError::Layout { .. }), "{error}");
    }
}

#[test]
fn the_content_hash_depends_on_contents_and_not_on_location() {
    let (one, one_spec) = folder();
    let (two, two_spec) = folder();
    let cache = tempfile::tempdir().unwrap();
    let hash = |spec: &SourceSpec, options: &SourceOptions| {
        open(spec, options, &NoProgress).unwrap().stimuli.content_hash()
    };
    let plain = SourceOptions::default();
    let reference = hash(&one_spec, &plain);
    assert_eq!(hash(&two_spec, &plain), reference);
    let cached = SourceOptions { cache_dir: Some(cache.path().to_owned()), ..plain.clone() };
    assert_eq!([hash(&one_spec, &cached), hash(&one_spec, &cached)], [reference; 2]);
    assert_ne!(hash(&one_spec, &SourceOptions { classes: names(&["church"]), ..plain.clone() }), reference);
    assert_ne!(
        hash(&one_spec, &SourceOptions { template_rule: TemplateRule::PerSplit, ..plain.clone() }),
        reference
    );
    put(two.path(), "README", "not part of it");
    assert_eq!(hash(&two_spec, &plain), reference);
    let mut bytes = fs::read(one.path().join("val/church/c.webp")).unwrap();
    bytes.push(0);
    put(one.path(), "val/church/c.webp", bytes);
    assert_ne!(hash(&one_spec, &plain), reference);
}

#[test]
fn templates_follow_the_rule_and_the_choice() {
    let (root, spec) = folder();
    let side = 20;
    let template = |options: &SourceOptions, split| {
        open(&spec, options, &NoProgress).unwrap().stimuli.template(split, ClassIdx(1), side).unwrap()
    };
    let shared = SourceOptions::default();
    assert_eq!(template(&shared, Split::Train), template(&shared, Split::Validation));
    let own = SourceOptions { template_rule: TemplateRule::PerSplit, ..Default::default() };
    assert_eq!(template(&own, Split::Train), template(&shared, Split::Train));
    assert_ne!(template(&own, Split::Validation), template(&shared, Split::Validation));
    let mut chosen = SourceOptions::default();
    chosen.template_files.insert("Church".into(), root.path().join("val/church/c.webp"));
    assert_eq!(template(&chosen, Split::Train), template(&own, Split::Validation));
    chosen.template_files.insert("Church".into(), root.path().join("none.jpg"));
    assert!(open(&spec, &chosen, &NoProgress).is_err());
}

/// A COCO folder with one class, `cat`: a clear view in each split, and the given extra annotations for training.
fn coco(train_image: &str, train_annotations: &str) -> (TempDir, SourceSpec) {
    let root = tempfile::tempdir().unwrap();
    let photo = |seed| picture_bytes(160, 120, seed, ImageFormat::Jpeg);
    put(root.path(), "train2017/1.jpg", photo(1));
    put(root.path(), "train2017/2.jpg", photo(2));
    put(root.path(), "val2017/3.jpg", photo(3));
    let cat = |id: u32, image: u32| {
        format!(
            r#"{{"id": {id}, "image_id": {image}, "category_id": 7, "iscrowd": 0, "segmentation": [[30, 20, 130, 20, 130, 100, 30, 100]]}}"#
        )
    };
    let document = |images: &str, annotations: &str| {
        format!(
            r#"{{"images": [{images}], "categories": [{{"id": 7, "name": "cat"}}, {{"id": 9, "name": "dog"}}], "annotations": [{annotations}]}}"#
        )
    };
    let image = |id: u32| format!(r#"{{"id": {id}, "file_name": "{id}.jpg", "width": 160, "height": 120}}"#);
    let train =
        document(&format!("{}, {train_image}", image(1)), &format!("{}{train_annotations}", cat(1, 1)));
    put(root.path(), "annotations/instances_train2017.json", train);
    put(root.path(), "annotations/instances_val2017.json", document(&image(3), &cat(3, 3)));
    let spec = SourceSpec::Coco(root.path().to_owned());
    (root, spec)
}

const IMAGE_2: &str = r#"{"id": 2, "file_name": "2.jpg", "width": 160, "height": 120}"#;

fn annotation(category: i64, image: i64, segmentation: &str) -> String {
    format!(
        r#", {{"id": 50, "image_id": {image}, "category_id": {category}, "iscrowd": 1, "segmentation": {segmentation}}}"#
    )
}

#[test]
fn coco_serves_scenes_portraits_and_objects() {
    let crowd = annotation(7, 2, r#"{"size": [120, 160], "counts": [0, 9600, 9600]}"#);
    let (_root, spec) = coco(IMAGE_2, &crowd);
    let opened = open(&spec, &SourceOptions { strict: true, ..Default::default() }, &NoProgress).unwrap();
    let stimuli = &opened.stimuli;
    assert_eq!(stimuli.classes(), ["cat"]);
    assert_eq!((stimuli.n_scenes(Split::Train), stimuli.n_scenes(Split::Validation)), (2, 1));
    // The crowd is rewarded, but is neither a portrait nor an object for localization.
    assert_eq!(stimuli.n_portraits(Split::Train, ClassIdx(0)), 1);
    assert_eq!(stimuli.n_objects(Split::Train), 1);
    assert_eq!(stimuli.instances(Split::Train, 1)[0].mask.area_px(), 224 * 112);
    // The object spans columns 30 to 130 and rows 20 to 100 of 160 x 120.
    let cropped = SourceOptions { scene_fit: SceneFit::Crop, ..Default::default() };
    let cropped = open(&spec, &cropped, &NoProgress).unwrap().stimuli;
    assert_ne!(cropped.content_hash(), stimuli.content_hash());
    let (wide, high, square) = (224.0 / 160.0, 224.0 / 120.0, 224.0 / 105.0);
    let cases = [
        // All of the image fills the screen.
        (stimuli, [30.0 * wide, 20.0 * high, 130.0 * wide, 100.0 * high]),
        // Short side 120: its middle 105 x 105 do.
        (&cropped, [2.5 * square, 12.5 * square, 102.5 * square, 92.5 * square]),
    ];
    for (stimuli, expected) in cases {
        let bounds = stimuli.object(Split::Train, 0).bounds;
        let found = [bounds.left(), bounds.top(), bounds.right() + 1, bounds.bottom() + 1];
        let is_near = |(found, expected): (usize, f64)| (found as f64 - expected).abs() <= 1.5;
        assert!(found.into_iter().zip(expected).all(is_near), "{found:?} {expected:?}");
    }
    assert!(opened.manifest.notes.iter().any(|note| note.contains("`dog`")), "{:?}", opened.manifest.notes);
}

#[test]
fn invalid_annotations_are_listed_and_skipped() {
    let outline = "[[30, 20, 130, 20, 130, 100]]";
    let entry = "annotations/instances_train2017.json#annotation 50";
    let size = r#"{"id": 2, "file_name": "2.jpg", "width": 161, "height": 120}"#;
    let missing = r#"{"id": 2, "file_name": "none.jpg", "width": 160, "height": 120}"#;
    let outside = r#"{"id": 2, "file_name": "../val2017/3.jpg", "width": 160, "height": 120}"#;
    let absurd = r#"{"id": 2, "file_name": "2.jpg", "width": 4000000000, "height": 4000000000}"#;
    let negative = r#"{"id": 2, "file_name": "2.jpg", "width": -160, "height": 120}"#;
    let image_entry = "annotations/instances_train2017.json#image 2";
    let cases = [
        (IMAGE_2, annotation(7, 77, outline), entry, "there is no image 77"),
        (IMAGE_2, annotation(8, 2, outline), entry, "there is no category 8"),
        (IMAGE_2, annotation(7, 2, "[[1, 2, 3]]"), entry, "a polygon of 3 numbers"),
        (IMAGE_2, annotation(7, 2, "[]"), entry, "there are no polygons"),
        (IMAGE_2, annotation(7, 2, "[[1e12, 2, 3, 4, 5, 6]]"), entry, "far outside the image"),
        (
            IMAGE_2,
            annotation(7, 2, r#"{"size": [120, 160], "counts": [5, 5]}"#),
            entry,
            "add up to 10 pixels, not to 19200",
        ),
        (
            IMAGE_2,
            annotation(7, 2, r#"{"size": [120, 160], "counts": [4294967295, 4294967295]}"#),
            entry,
            "add up to",
        ),
        (
            IMAGE_2,
            annotation(7, 2, r#"{"size": [121, 160], "counts": [19360]}"#),
            entry,
            "the mask has 121x160 pixels",
        ),
        (IMAGE_2, annotation(7, 2, r#"{"size": [120, 160], "counts": "@@@"}"#), entry, "run length -16"),
        (
            IMAGE_2,
            annotation(7, 2, r#"{"size": [120, 160], "counts": [-5]}"#),
            "annotations/instances_train2017.json#annotations[1]",
            "neither",
        ),
        (
            IMAGE_2,
            annotation(7, -2, outline),
            "annotations/instances_train2017.json#annotations[1]",
            "invalid value",
        ),
        (
            size,
            annotation(7, 2, outline),
            "train2017/2.jpg",
            "the annotations give 161x120 pixels, the file has 160x120",
        ),
        (missing, annotation(7, 2, outline), "train2017/none.jpg", "cannot be read"),
        (outside, annotation(7, 2, outline), image_entry, "is outside of train2017/"),
        (absurd, annotation(7, 2, outline), image_entry, "not allowed"),
        (
            negative,
            annotation(7, 2, outline),
            "annotations/instances_train2017.json#images[1]",
            "invalid value",
        ),
    ];
    for (image, annotations, file, reason) in cases {
        let (_root, spec) = coco(image, &annotations);
        let opened = open_plain(&spec);
        check_skipped(&opened, file, reason);
        assert_eq!(
            (opened.stimuli.classes(), opened.stimuli.n_scenes(Split::Train)),
            (&["cat".to_owned()][..], 1)
        );
        let mut screen = Screen::grey();
        opened.stimuli.draw(Split::Train, ImageId::Scene { index: 0 }, &mut screen).unwrap();
        check_strict_refuses(&spec);
    }
}

#[test]
fn invalid_annotation_files_are_rejected() {
    for text in
        ["", "{", "[]", r#"{"images": []}"#, r#"{"images": [], "categories": [], "annotations": [{]}"#]
    {
        let (root, spec) = coco(IMAGE_2, "");
        put(root.path(), "annotations/instances_val2017.json", text);
        let error = open(&spec, &SourceOptions::default(), &NoProgress).unwrap_err();
        assert!(
            matches!(&error, SourceError::Annotations { file, .. } if file.ends_with("instances_val2017.json")),
            "{error}"
        );
    }
}

/// `coco` with other categories, and an annotation of category 3 on the second image.
fn coco_with_categories(train: &str, validation: &str) -> (TempDir, SourceSpec) {
    let (root, spec) = coco(IMAGE_2, &annotation(3, 2, "[[30, 20, 130, 20, 130, 100]]"));
    for (split, categories) in [("train", train), ("val", validation)] {
        let file = format!("annotations/instances_{split}2017.json");
        let text = fs::read_to_string(root.path().join(&file)).unwrap();
        let plain = r#"{"id": 7, "name": "cat"}, {"id": 9, "name": "dog"}"#;
        assert!(text.contains(plain));
        put(root.path(), &file, text.replace(plain, categories));
    }
    (root, spec)
}

#[test]
fn categories_with_the_same_id_or_name_use_the_first() {
    let plain = r#"{"id": 7, "name": "cat"}, {"id": 9, "name": "dog"}"#;
    let number_twice = format!(r#"{plain}, {{"id": 7, "name": "dup"}}"#);
    let name_twice = format!(r#"{plain}, {{"id": 3, "name": "cat"}}"#);
    let third_time = format!(r#"{name_twice}, {{"id": 3, "name": "fox"}}"#);
    let number = ("category 7", "category `cat` has the same id", 1);
    let name = ("category 3", "category 7 has the same name `cat`", 2);
    let both = ("category 3", "category `cat` has the same id", 2);
    for (train, validation, (entry, reason, n_scenes)) in [
        (&number_twice[..], plain, number),
        (&number_twice, &number_twice, number),
        (&name_twice, plain, name),
        (&name_twice, &name_twice, name),
        (&third_time, plain, both),
    ] {
        let (_root, spec) = coco_with_categories(train, validation);
        let opened = open_plain(&spec);
        assert_eq!(opened.stimuli.classes(), ["cat"]);
        assert_eq!(opened.stimuli.n_scenes(Split::Train), n_scenes);
        check_skipped(&opened, &format!("annotations/instances_train2017.json#{entry}"), reason);
        check_strict_refuses(&spec);
    }
}

#[test]
fn an_annotation_file_without_an_object_is_explained() {
    for text in ["[]", "[[], [], []]", " \n3", "null", ""] {
        let (root, spec) = coco(IMAGE_2, "");
        put(root.path(), "annotations/instances_val2017.json", text);
        let error = open(&spec, &SourceOptions::default(), &NoProgress).unwrap_err().to_string();
        assert!(
            error.ends_with("a COCO annotation file is an object with images, annotations and categories"),
            "{text}: {error}"
        );
    }
}

/// Two classes of cut-outs and ten backgrounds.
fn cutouts() -> (TempDir, SourceSpec) {
    let root = tempfile::tempdir().unwrap();
    for (idx, name) in (0..).zip(["00_cow", "01_owl"]) {
        put(root.path(), &format!("objects/{name}.png"), sprite(idx * 90 + 60, 0));
    }
    for idx in 0..10 {
        put(root.path(), &format!("backgrounds_sea/{idx}.jpg"), jpeg(idx));
    }
    let spec = SourceSpec::Cutouts(root.path().to_owned());
    (root, spec)
}

fn sprite(red: u8, outer_alpha: u8) -> Vec<u8> {
    let inside = |x: u32, y: u32| (5..35).contains(&x) && (5..25).contains(&y);
    let image =
        RgbaImage::from_fn(40, 30, |x, y| Rgba([red, 30, 30, if inside(x, y) { 255 } else { outer_alpha }]));
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, ImageFormat::Png).unwrap();
    bytes.into_inner()
}

#[test]
fn invalid_cut_outs_and_backgrounds_are_listed_and_skipped() {
    let cases: [(&str, Vec<u8>, &str); 5] = [
        ("objects/02_fox.png", sprite(9, 255), "it has no transparent pixel"),
        ("objects/02_fox.png", b"text".to_vec(), "not a JPEG, PNG or WebP image"),
        ("objects/fox/1.png", sprite(9, 0)[..60].to_vec(), "ends before its image does"),
        ("backgrounds_sea/x.jpg", b"".to_vec(), "the file is empty"),
        ("backgrounds_sea/x.jpg", jpeg(3), "the same image as backgrounds_sea/3.jpg"),
    ];
    for (file, bytes, reason) in cases {
        let (root, spec) = cutouts();
        put(root.path(), file, bytes);
        let few = SourceOptions { needs: Needs::PORTRAITS, ..Default::default() };
        let opened = open(&spec, &few, &NoProgress).unwrap();
        check_skipped(&opened, file, reason);
        assert_eq!(opened.stimuli.classes(), ["cow", "owl"]);
        check_strict_refuses(&spec);
    }
}

#[test]
fn generated_images_depend_only_on_the_seed() {
    let (_root, cutouts) = cutouts();
    for spec in [cutouts, SourceSpec::Gallery] {
        let cache = tempfile::tempdir().unwrap();
        let counts = Some(SplitCounts::new(3, 2));
        let sizes = Sizes { portraits: counts, objects: counts, scenes: counts };
        let all = SourceOptions { sizes, ..Default::default() };
        let few =
            SourceOptions { needs: Needs::PORTRAITS, cache_dir: Some(cache.path().into()), ..all.clone() };
        let other = SourceOptions { seed: touchstream_env::seed::RunSeed(1), ..all.clone() };
        let [all, few, other] =
            [all, few, other].map(|options| open(&spec, &options, &NoProgress).unwrap().stimuli);
        assert_eq!(all.content_hash(), few.content_hash());
        assert_ne!(all.content_hash(), other.content_hash());
        assert_eq!((all.n_objects(Split::Train), all.n_scenes(Split::Validation)), (3, 2));
        assert_eq!((few.n_objects(Split::Train), few.n_scenes(Split::Validation)), (0, 0));
        let drawn = |stimuli: &dyn touchstream_env::stimuli::Stimuli, split| {
            let mut screen = Screen::grey();
            stimuli.draw(split, ImageId::Portrait { class: ClassIdx(1), index: 1 }, &mut screen).unwrap();
            screen
        };
        assert!(drawn(&*all, Split::Train) == drawn(&*few, Split::Train));
        assert!(drawn(&*all, Split::Train) != drawn(&*all, Split::Validation));
        assert!(drawn(&*all, Split::Train) != drawn(&*other, Split::Train));
    }
}

#[test]
fn excessive_numbers_of_images_are_rejected() {
    let ((_folder, folder), (_coco, coco), (_cutouts, cutouts)) = (folder(), coco(IMAGE_2, ""), cutouts());
    let counts = [SplitCounts::new(u32::MAX, 1), SplitCounts::new(1, 1_000_001)].map(Some);
    for spec in [folder, coco, cutouts, SourceSpec::Gallery] {
        for counts in counts {
            for (sizes, what) in [
                (Sizes { portraits: counts, ..Sizes::default() }, "portraits of a class"),
                (Sizes { objects: counts, ..Sizes::default() }, "localization screens"),
                (Sizes { scenes: counts, ..Sizes::default() }, "scenes"),
            ] {
                let options = SourceOptions { sizes, ..Default::default() };
                let error = open(&spec, &options, &NoProgress).unwrap_err();
                assert!(matches!(error, SourceError::Size { .. }), "{error}");
                let start = format!("the number of {what} must be at most 1,000,000, not ");
                assert!(error.to_string().starts_with(&start), "{error}");
            }
        }
    }
}

#[test]
fn the_template_rule_is_part_of_the_hash_only_where_it_has_an_effect() {
    let few = Some(SplitCounts::new(1, 1));
    let sizes = Sizes { portraits: few, objects: few, scenes: few };
    let plain = SourceOptions { sizes, needs: Needs::PORTRAITS, ..Default::default() };
    let ((folder_root, folder), (_coco, coco), (_cutouts, cutouts)) =
        (folder(), coco(IMAGE_2, ""), cutouts());
    let hashes = |spec: &SourceSpec, plain: &SourceOptions| {
        [TemplateRule::Shared, TemplateRule::PerSplit].map(|template_rule| {
            let options = SourceOptions { template_rule, ..plain.clone() };
            open(spec, &options, &NoProgress).unwrap().stimuli.content_hash()
        })
    };
    for (spec, has_effect) in
        [(&folder, true), (&coco, true), (&cutouts, false), (&SourceSpec::Gallery, false)]
    {
        let [shared, per_split] = hashes(spec, &plain);
        assert_eq!(shared != per_split, has_effect, "{spec}");
    }
    let mut chosen = plain;
    for (class, has_effect) in [("church", true), ("panda", false)] {
        chosen.template_files.insert(class.into(), folder_root.path().join("val/church/c.webp"));
        let [shared, per_split] = hashes(&folder, &chosen);
        assert_eq!(shared != per_split, has_effect, "chosen for {class}");
    }
}

#[test]
fn an_unwritable_cache_is_only_a_note() {
    let (_roots, specs): (Vec<_>, Vec<_>) = [folder(), cutouts()].into_iter().unzip();
    let blocked = tempfile::NamedTempFile::new().unwrap();
    let counts = Some(SplitCounts::new(1, 1));
    let sizes = Sizes { portraits: counts, objects: counts, scenes: counts };
    for spec in specs.into_iter().chain([SourceSpec::Gallery]) {
        let options =
            SourceOptions { cache_dir: Some(blocked.path().into()), sizes, ..SourceOptions::default() };
        let opened = open(&spec, &options, &NoProgress).unwrap();
        let folder = blocked.path().display().to_string();
        let is_of_cache = |note: &&String| note.contains(&folder) && note.contains("is not writable (");
        let n_notes = opened.manifest.notes.iter().filter(is_of_cache).count();
        assert_eq!(n_notes, 1, "{spec}: {:?}", opened.manifest.notes);
        let image = ImageId::Portrait { class: ClassIdx(0), index: 0 };
        opened.stimuli.draw(Split::Train, image, &mut Screen::grey()).unwrap();
    }
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, &byte| {
        (0..8).fold(
            crc ^ u32::from(byte),
            |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 },
        )
    })
}
