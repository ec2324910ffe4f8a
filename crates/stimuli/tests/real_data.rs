//! The sources on real images, where they are at hand.

#![allow(clippy::unwrap_used)]

mod real_images;

use real_images::real_data;
use touchstream_env::screen::Screen;
use touchstream_env::stimuli::{ClassIdx, ImageId, Split, Stimuli};
use touchstream_files::NoProgress;
use touchstream_stimuli::coco::json::parse_document;
use touchstream_stimuli::{Opened, SourceOptions, SourceSpec, open};

fn opened(spec: SourceSpec) -> Opened {
    let opened = open(&spec, &SourceOptions::default(), &NoProgress).unwrap();
    println!("{}", opened.manifest);
    opened
}

/// Every kind of image of every class can be drawn, and is not one flat colour.
fn check_draws(stimuli: &dyn Stimuli) {
    let mut screen = Screen::grey();
    let mut check = |split, image| {
        screen.clear();
        stimuli.draw(split, image, &mut screen).unwrap();
        let first = &screen.pixels()[..3];
        assert!(screen.pixels().chunks_exact(3).any(|pixel| pixel != first), "{split} {image:?} is flat");
    };
    for split in Split::ALL {
        for class in (0..stimuli.classes().len()).map(|class| ClassIdx(class as u16)) {
            assert!(stimuli.n_portraits(split, class) > 0);
            check(split, ImageId::Portrait { class, index: 0 });
            assert_eq!(stimuli.template(split, class, 100).unwrap().side_px(), 100);
        }
        for index in 0..stimuli.n_objects(split).min(5) as u32 {
            check(split, ImageId::Object { index });
            assert!(stimuli.object(split, index).bounds.area_px() > 1);
        }
        for index in 0..stimuli.n_scenes(split).min(5) as u32 {
            check(split, ImageId::Scene { index });
            assert!(stimuli.instances(split, index).iter().all(|instance| instance.mask.area_px() >= 20));
        }
    }
}

#[test]
fn the_photos_have_the_papers_classes_first() {
    let Some(root) = real_data("photos") else { return };
    let opened = opened(SourceSpec::Folder(root));
    let classes = opened.stimuli.classes();
    assert_eq!(classes[..4], ["boston_terrier", "monarch", "race_car", "giant_panda"]);
    assert_eq!(classes.len(), 10);
    assert_eq!(opened.stimuli.n_portraits(Split::Train, ClassIdx(0)), 157);
    assert_eq!(opened.stimuli.n_portraits(Split::Validation, ClassIdx(1)), 25);
    assert_eq!(opened.manifest.skipped, []);
    check_draws(&*opened.stimuli);
}

#[test]
fn coco_serves_most_of_its_classes() {
    let Some(root) = real_data("coco-mini") else { return };
    let opened = opened(SourceSpec::Coco(root));
    assert!(opened.stimuli.classes().len() >= 65, "{}", opened.stimuli.classes().len());
    assert!(Split::ALL.into_iter().all(|split| opened.stimuli.n_scenes(split) > 150));
    assert!(Split::ALL.into_iter().all(|split| opened.stimuli.n_objects(split) > 5));
    assert_eq!(opened.manifest.skipped, []);
    check_draws(&*opened.stimuli);
}

/// COCO's own areas come from the same rasterisation at another precision of the corners.
#[test]
fn areas_agree_with_cocos_own() {
    let Some(root) = real_data("coco-mini") else { return };
    let (mut n_close, mut n_all) = (0, 0);
    for split in ["train", "val"] {
        let bytes = std::fs::read(root.join(format!("annotations/instances_{split}2017.json"))).unwrap();
        let document = parse_document(&bytes).unwrap();
        assert_eq!(document.bad_entries, []);
        for annotation in &document.annotations {
            let image = document.images.iter().find(|image| image.id == annotation.image_id).unwrap();
            let area = annotation.segmentation.to_rle(image.height, image.width).unwrap().area_px() as f64;
            let said = annotation.area.unwrap();
            n_close += usize::from((area - said).abs() <= 0.05 * said + 8.0);
            n_all += 1;
        }
    }
    println!("{n_close} of {n_all} areas are close");
    assert!(n_close * 100 >= n_all * 98);
}

#[test]
fn the_cut_outs_make_59_classes() {
    let Some(root) = real_data("cutouts59") else { return };
    let opened = opened(SourceSpec::Cutouts(root));
    assert_eq!(opened.stimuli.classes().len(), 59);
    assert_eq!(opened.stimuli.classes()[0], "frog");
    assert_eq!(opened.manifest.skipped, []);
    assert_eq!(
        (opened.stimuli.n_objects(Split::Train), opened.stimuli.n_scenes(Split::Validation)),
        (900, 60)
    );
    check_draws(&*opened.stimuli);
}

/// A sample must not be matched in the very image that it was cut out of, where its class has another.
#[test]
fn coco_samples_are_not_matched_in_their_own_image() {
    let Some(root) = real_data("coco-mini") else { return };
    let stimuli = opened(SourceSpec::Coco(root)).stimuli;
    let task = touchstream_env::task::find_task("coco-mts").unwrap();
    let schedule = touchstream_env::schedule::Schedule::single(task);
    let seed = touchstream_env::seed::RunSeed(2);
    let (mut stream, _) =
        touchstream_env::stream::Stream::open(schedule, stimuli.clone(), Split::Train, seed).unwrap();
    let n_scenes_of = |class: ClassIdx| {
        let holds = |&scene: &u32| stimuli.instances(Split::Train, scene).iter().any(|i| i.class == class);
        (0..stimuli.n_scenes(Split::Train) as u32).filter(holds).count()
    };
    let (mut n_checked, mut n_with_origin) = (0, 0);
    for trial in 0..3000 {
        stream.seek(trial).unwrap();
        let touchstream_env::trial::Trial::Scene { sample, class, scene } = *stream.trial() else {
            panic!("not a scene")
        };
        let ImageId::Portrait { index, .. } = sample else { panic!("not a portrait") };
        let origin = stimuli.portrait_scene(Split::Train, class, index);
        n_with_origin += usize::from(origin.is_some());
        if n_scenes_of(class) > 1 {
            assert_ne!(origin, Some(scene), "trial {trial}");
            n_checked += 1;
        }
    }
    assert!(n_checked > 1500 && n_with_origin > 2500, "{n_checked} {n_with_origin}");
}
