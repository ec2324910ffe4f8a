//! What users of the gallery rely on: one object per portrait, exact masks, and reproducible bytes.

use touchstream_env::mask::Mask;
use touchstream_env::screen::SCREEN_BYTES;
use touchstream_env::seed::RunSeed;
use touchstream_env::stimuli::Split;
use touchstream_env::touch::Touch;
use touchstream_gallery::{
    GENERATOR_VERSION, MIN_VISIBLE_PX, N_CLASSES, Rendered, class_names, object_screen, portrait, scene,
    template,
};

const SEED: RunSeed = RunSeed(11);

#[test]
fn names_are_many_and_different() {
    let mut names = class_names().to_vec();
    assert_eq!(names.len(), N_CLASSES);
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), N_CLASSES);
    assert!(names.iter().all(|name| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')));
}

#[test]
fn a_portrait_shows_one_large_object() {
    for (class, name) in class_names().iter().enumerate() {
        let image = portrait(SEED, Split::Train, class, 0);
        assert_eq!(image.pixels.len(), SCREEN_BYTES);
        let [object] = &image.objects[..] else { panic!("{name}: {} objects", image.objects.len()) };
        assert_eq!(object.class, class);
        let coverage = object.mask.coverage();
        assert!((0.03..0.6).contains(&coverage), "{name} covers {coverage:.3} of its portrait");
        let bounds = object.mask.bounds().unwrap();
        let longest = bounds.height_px().max(bounds.width_px());
        assert!((125..=206).contains(&longest), "{name} is {longest} pixels long");
    }
}

#[test]
fn templates_differ_and_leave_a_grey_rim() {
    let side_px = 40;
    let templates: Vec<_> = (0..N_CLASSES).map(|class| template(class, side_px)).collect();
    for (class, one) in templates.iter().enumerate() {
        assert_eq!(one.len(), side_px * side_px * 3);
        assert_eq!(one[..3], [128; 3], "{}", class_names()[class]);
        for (other_class, other) in templates.iter().enumerate().skip(class + 1) {
            let n_far = one.iter().zip(&other[..]).filter(|(a, b)| a.abs_diff(**b) > 40).count();
            let (name, other_name) = (class_names()[class], class_names()[other_class]);
            assert!(n_far > side_px * side_px / 10, "{name} and {other_name} differ in {n_far} bytes");
        }
    }
    assert_eq!(template(3, 0).len(), 0);
}

#[test]
fn images_are_a_function_of_their_arguments() {
    let draw = |seed, split, index| {
        [portrait(seed, split, 5, index), object_screen(seed, split, index), scene(seed, split, index)]
            .map(|image| image.pixels)
    };
    let reference = draw(SEED, Split::Train, 2);
    assert_eq!(draw(SEED, Split::Train, 2), reference);
    for other in
        [draw(RunSeed(12), Split::Train, 2), draw(SEED, Split::Validation, 2), draw(SEED, Split::Train, 3)]
    {
        assert!(other.iter().zip(&reference).all(|(a, b)| a != b));
    }
    assert_ne!(portrait(SEED, Split::Train, 6, 2).pixels, reference[0]);
}

#[test]
fn objects_are_completely_on_the_screen() {
    let mut longest_sides = Vec::new();
    for index in 0..24 {
        let image = object_screen(SEED, Split::Validation, index);
        assert_eq!(image.objects.len(), 1);
        let bounds = image.objects[0].mask.bounds().unwrap();
        // An object that extends beyond the screen would be cut off at its edge.
        assert!(bounds.top() >= 1 && bounds.left() >= 1, "{bounds:?}");
        assert!(bounds.bottom() <= 222 && bounds.right() <= 222, "{bounds:?}");
        longest_sides.push(bounds.height_px().max(bounds.width_px()));
    }
    assert!(longest_sides.iter().all(|side| (36..=172).contains(side)), "{longest_sides:?}");
    assert!(longest_sides.iter().any(|&side| side < 80) && longest_sides.iter().any(|&side| side > 120));
}

#[test]
fn scenes_contain_several_visible_objects() {
    for index in 0..60 {
        let objects = scene(SEED, Split::Train, index).objects;
        assert!((2..=5).contains(&objects.len()));
        let masks: Vec<&Mask> = objects.iter().map(|object| &object.mask).collect();
        assert!(masks.iter().all(|mask| mask.area_px() >= MIN_VISIBLE_PX));
        assert!(Touch::all().all(|touch| masks.iter().filter(|mask| mask.contains(touch)).count() <= 1));
        let mut classes: Vec<usize> = objects.iter().map(|object| object.class).collect();
        classes.sort_unstable();
        classes.dedup();
        assert_eq!(classes.len(), masks.len());
    }
}

fn hash_of(images: impl Iterator<Item = Rendered>) -> String {
    let mut hasher = blake3::Hasher::new();
    for image in images {
        hasher.update(&image.pixels);
        for object in &image.objects {
            hasher.update(&(object.class as u64).to_le_bytes());
            object.mask.runs().for_each(|(row, first, last)| _ = hasher.update(&[row, first, last]));
        }
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

/// Changing pixels or masks requires a new version; every platform must give the same bytes.
#[test]
fn pixels_and_masks_change_only_with_the_version() {
    let no_objects = |pixels| Rendered { pixels, objects: Vec::new() };
    let hashes = [
        hash_of((0..N_CLASSES).map(|class| portrait(SEED, Split::Train, class, 0))),
        hash_of((0..N_CLASSES).map(|class| no_objects(template(class, 40)))),
        hash_of((0..8).map(|index| object_screen(SEED, Split::Train, index))),
        hash_of((0..8).map(|index| scene(SEED, Split::Validation, index))),
    ];
    assert_eq!(GENERATOR_VERSION, 1);
    assert_eq!(hashes, ["82b711575f5ba83c", "82d8ed59be904533", "23d86586222696a2", "c672d6c8e09827e7"]);
}

#[test]
fn any_59_consecutive_scenes_contain_every_class() {
    for index in 30..30 + N_CLASSES as u32 {
        let expected = index as usize % N_CLASSES;
        let objects = scene(RunSeed(4), Split::Validation, index).objects;
        assert!(objects.iter().any(|object| object.class == expected), "scene {index}");
    }
}

/// The mean colour of an object's pixels must not depend on its class: it varies between classes no more than expected
/// by chance from its variation within classes.
#[test]
fn the_colour_of_rendered_objects_does_not_reveal_the_class() {
    const N_EACH: usize = 6;
    let mean_colour = |class: usize, index: usize| -> [f64; 3] {
        let image = portrait(SEED, Split::Train, class, index as u32);
        let mask = &image.objects[0].mask;
        let mut sums = [0.0; 3];
        mask.for_each_run(|run| {
            for pixel in image.pixels[run.start * 3..run.end * 3].chunks_exact(3) {
                sums.iter_mut().zip(pixel).for_each(|(sum, &byte)| *sum += f64::from(byte));
            }
        });
        sums.map(|sum| sum / mask.area_px() as f64)
    };
    let colours: Vec<Vec<[f64; 3]>> = (0..N_CLASSES)
        .step_by(3)
        .map(|class| (0..N_EACH).map(|index| mean_colour(class, index)).collect())
        .collect();
    for channel in 0..3 {
        let of_class: Vec<Vec<f64>> = colours
            .iter()
            .map(|portraits| portraits.iter().map(|colour| colour[channel]).collect())
            .collect();
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let variance = |values: &[f64]| {
            let centre = mean(values);
            values.iter().map(|value| (value - centre) * (value - centre)).sum::<f64>()
                / (values.len() - 1) as f64
        };
        let class_means: Vec<f64> = of_class.iter().map(|values| mean(values)).collect();
        let within = mean(&of_class.iter().map(|values| variance(values)).collect::<Vec<_>>());
        // The F ratio of 19 and 100 degrees of freedom exceeds 2.9 once in ten thousand.
        let ratio = variance(&class_means) * N_EACH as f64 / within;
        assert!(ratio < 2.9, "channel {channel}: {ratio}");
    }
}
