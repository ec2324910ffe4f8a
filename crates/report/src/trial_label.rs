//! A short description of a trial: what it shows and which touch is rewarded (`dog: touch left`).

use touchstream_env::reward_map::RewardMap;
use touchstream_env::stimuli::{ClassIdx, ImageId};
use touchstream_env::stream::Stream;
use touchstream_env::touch::{SCREEN_SIDE_PX, Touch};
use touchstream_env::trial::Trial;

/// The label of a stream's current trial; `truth` is the true map of its last step.
pub fn trial_label(stream: &Stream, truth: &RewardMap) -> String {
    let stimuli = stream.bound_task().stimuli();
    let name = |class: ClassIdx| stimuli.classes()[class.get()].as_str();
    let shown = |picture: &ImageId| match *picture {
        ImageId::Portrait { class, .. } => name(class),
        ImageId::Object { index } => name(stimuli.object(stream.split(), index).class),
        ImageId::Scene { .. } => "scene",
    };
    match stream.trial() {
        Trial::StimulusResponse { portrait, .. } => format!("{}: touch {}", shown(portrait), place_of(truth)),
        Trial::Templates { sample, placements, rewarded_slot } => {
            let target = placements.as_slice()[usize::from(*rewarded_slot)].class;
            format!("{}: touch {}", shown(sample), name(target))
        }
        Trial::Scene { sample, class, .. } => format!("{}: touch any {}", shown(sample), name(*class)),
        Trial::Localization { object, .. } => format!("{}: touch opposite corners", shown(object)),
    }
}

/// The position of the best touches: `left`, `bottom right`, `middle`.
fn place_of(truth: &RewardMap) -> String {
    let best = truth.best();
    let (mut n, mut rows, mut cols) = (0, 0, 0);
    for touch in Touch::all().filter(|&touch| truth.at(touch) == best) {
        (n, rows, cols) = (n + 1, rows + touch.row(), cols + touch.col());
    }
    let side =
        |sum: usize, low: &'static str, high: &'static str| match sum as f64 / (n * SCREEN_SIDE_PX) as f64 {
            share if share < 0.4 => Some(low),
            share if share > 0.6 => Some(high),
            _ => None,
        };
    let words: Vec<&str> =
        [side(rows, "top", "bottom"), side(cols, "left", "right")].into_iter().flatten().collect();
    if words.is_empty() { "middle".into() } else { words.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use touchstream_env::plain_stimuli::PlainStimuli;
    use touchstream_env::schedule::Schedule;
    use touchstream_env::seed::RunSeed;
    use touchstream_env::stimuli::Split;
    use touchstream_env::task::paper_tasks;

    #[test]
    fn places_are_halves_and_corners() {
        #[track_caller]
        fn check(is_best: impl Fn(Touch) -> bool, wanted: &str) {
            let mut truth = RewardMap::zeros();
            truth.fill_with(|touch| f32::from(u8::from(is_best(touch))));
            assert_eq!(place_of(&truth), wanted);
        }
        check(|touch| touch.col() < 112, "left");
        check(|touch| touch.row() >= 112, "bottom");
        check(|touch| touch.row() < 112 && touch.col() >= 112, "top right");
        check(|_| true, "middle");
    }

    #[test]
    fn every_task_has_labels() {
        for task in paper_tasks() {
            let stimuli = Arc::new(PlainStimuli::new(8));
            let (stream, _) =
                Stream::open(Schedule::single(task.clone()), stimuli, Split::Train, RunSeed(2)).unwrap();
            let label = trial_label(&stream, &RewardMap::zeros());
            assert!(label.contains(": touch "), "{}: {label}", task.id());
        }
    }
}
