//! Touches on any object, on scenes with known masks.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use touchstream_env::mask::Mask;
use touchstream_env::plain_stimuli::PlainStimuli;
use touchstream_env::schedule::Schedule;
use touchstream_env::screen::{Screen, Template};
use touchstream_env::seed::RunSeed;
use touchstream_env::stimuli::{
    BoxedObject, ClassIdx, ContentHash, ImageId, Instance, Split, Stimuli, StimulusError,
};
use touchstream_env::stream::Stream;
use touchstream_env::task::find_task;
use touchstream_env::touch::Touch;

/// Two classes and two scenes: in the first, both overlap in bands of rows; in the second there is one band of class 0.
struct Bands {
    portraits: PlainStimuli,
    scenes: [Vec<Instance>; 2],
}

fn band(class: u16, first_row: usize, n_rows: usize) -> Instance {
    let mask = Mask::from_fn(|row, _| (first_row..first_row + n_rows).contains(&row));
    Instance { class: ClassIdx(class), mask }
}

impl Bands {
    fn new() -> Self {
        let scenes = [vec![band(0, 0, 56), band(1, 28, 56)], vec![band(0, 200, 14)]];
        Self { portraits: PlainStimuli::new(2), scenes }
    }
}

impl Stimuli for Bands {
    fn name(&self) -> &str {
        "bands"
    }
    fn content_hash(&self) -> ContentHash {
        ContentHash([7; 32])
    }
    fn classes(&self) -> &[String] {
        self.portraits.classes()
    }
    fn n_portraits(&self, split: Split, class: ClassIdx) -> usize {
        self.portraits.n_portraits(split, class)
    }
    fn n_objects(&self, _split: Split) -> usize {
        0
    }
    fn n_scenes(&self, _split: Split) -> usize {
        self.scenes.len()
    }
    fn object(&self, split: Split, index: u32) -> BoxedObject {
        self.portraits.object(split, index)
    }
    fn instances(&self, _split: Split, index: u32) -> &[Instance] {
        &self.scenes[index as usize]
    }
    fn draw(&self, split: Split, image: ImageId, screen: &mut Screen) -> Result<(), StimulusError> {
        self.portraits.draw(split, image, screen)
    }
    fn template(&self, split: Split, class: ClassIdx, side: usize) -> Result<Arc<Template>, StimulusError> {
        self.portraits.template(split, class, side)
    }
}

fn open(task: &str) -> Stream {
    let schedule = Schedule::single(find_task(task).unwrap());
    Stream::open(schedule, Arc::new(Bands::new()), Split::Train, RunSeed(1)).unwrap().0
}

fn is_on_object(stream: &Stream, row: usize, col: usize) -> Option<bool> {
    let touch = Touch::new(row, col).unwrap();
    stream.bound_task().is_on_object(stream.trial(), stream.trial_state(), touch)
}

#[test]
fn chance_is_the_mean_area_of_the_class_and_of_all_masks() {
    let exact = open("coco-mts").bound_task().exact_rewards(100);
    let rows = |n: f64| n / 224.0;
    // Class 0 is asked for in both scenes, class 1 in the first alone; classes weigh the same.
    let chance = (rows(56.0) + rows(14.0)) / 4.0 + rows(56.0) / 2.0;
    // Rows 0 to 83 in the first scene: what is shared counts once.
    let on_object = (rows(84.0) + rows(14.0)) / 4.0 + rows(84.0) / 2.0;
    assert!((exact.chance - chance).abs() < 1e-9, "{exact:?}");
    assert!((exact.chance_on_object.unwrap() - on_object).abs() < 1e-9, "{exact:?}");
    let plain = open("mts-2way-stationary").bound_task().exact_rewards(100);
    assert_eq!(plain.chance_on_object, None);
}

#[test]
fn touches_on_any_object_count() {
    let mut stream = open("coco-mts");
    for _ in 0..20 {
        assert_eq!(is_on_object(&stream, 0, 0), None, "the sample screen is not a scene");
        stream.touch(Touch::new(0, 0).unwrap());
        let n_instances = match stream.trial() {
            touchstream_env::trial::Trial::Scene { scene, .. } => Bands::new().scenes[*scene as usize].len(),
            other => panic!("{other:?} is not a scene"),
        };
        let is_first = n_instances == 2;
        for (row, expected) in
            [(0, is_first), (83, is_first), (84, false), (199, false), (200, !is_first), (213, !is_first)]
        {
            assert_eq!(is_on_object(&stream, row, 100), Some(expected), "row {row}");
        }
        for touch in Touch::all().step_by(211) {
            let task = stream.bound_task();
            let reward = task.reward(stream.trial(), stream.trial_state(), touch);
            assert!(reward == 0.0 || is_on_object(&stream, touch.row(), touch.col()) == Some(true));
        }
        stream.touch(Touch::new(0, 0).unwrap());
    }
}

#[test]
fn touches_are_transformed_as_for_rewards() {
    // Turned by a quarter, the left columns are read as the lower rows; no reward in the lower half changes nothing.
    let mut turned = open("coco-mts+rotation");
    let mut squeezed = open("coco-mts+squeezed-map");
    for stream in [&mut turned, &mut squeezed] {
        stream.touch(Touch::new(0, 0).unwrap());
    }
    let transform = turned.bound_task().task().touch_transform();
    for touch in Touch::all().step_by(307) {
        let read = transform.undo(touch);
        assert_eq!(
            is_on_object(&turned, touch.row(), touch.col()),
            is_on_object(&squeezed, read.row(), read.col())
        );
    }
}

#[test]
fn touches_on_any_button_count() {
    let mut stream = open("mts-2way-stationary");
    for _ in 0..10 {
        assert_eq!(is_on_object(&stream, 100, 50), None, "the sample screen has no buttons");
        stream.touch(Touch::new(0, 0).unwrap());
        // Two of 100 x 100 pixels, from row 62 and from columns 6 and 118.
        let cases = [
            (100, 50, true),
            (100, 150, true),
            (62, 6, true),
            (61, 6, false),
            (100, 106, false),
            (162, 6, false),
        ];
        for (row, col, expected) in cases {
            assert_eq!(is_on_object(&stream, row, col), Some(expected), "row {row}, column {col}");
        }
        stream.touch(Touch::new(0, 0).unwrap());
    }
    assert_eq!(is_on_object(&open("sr-2way"), 0, 0), None);
}
