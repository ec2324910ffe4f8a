//! The paper's tables: units per layer, learning rates.

use touchstream_env::task::{MatchScreen, Paradigm, Task};
use touchstream_modules::module::{ModuleKind, Size};

/// Units of each layer (the supplement's table "Number of units per layer"); 128 for the convolutional EMS.
pub fn units(paradigm: &Paradigm, kind: &ModuleKind) -> usize {
    match (paradigm, kind.size) {
        _ if kind.is_convolutional() => 128,
        (Paradigm::StimulusResponse { .. }, Size::Small) => 8,
        (Paradigm::MatchToSample(_), Size::Small) => 32,
        (Paradigm::Localization, Size::Small) => 128,
        (Paradigm::StimulusResponse { .. } | Paradigm::MatchToSample(_), Size::Medium) => 128,
        (Paradigm::StimulusResponse { .. } | Paradigm::MatchToSample(_), Size::Large) => 512,
        (Paradigm::Localization, Size::Medium) => 512,
        (Paradigm::Localization, Size::Large) => 1024,
    }
}

pub fn shows_scenes(paradigm: &Paradigm) -> bool {
    matches!(paradigm, Paradigm::MatchToSample(MatchScreen::Scene))
}

/// The columns of the table of learning rates.
const TASKS: [&str; 12] = [
    "sr-2way",
    "sr-4way-double-binary",
    "sr-4way-quadrant",
    "mts-2way-stationary",
    "mts-2way-vert-motion",
    "mts-2way-horiz-flip",
    "mts-2way-vert-motion-horiz-flip",
    "mts-4way-2shown",
    "mts-4way-2shown-vert-motion",
    "mts-4way-4shown-stationary",
    "mts-4way-4shown-permuted",
    "localization",
];

/// The supplement's table "Module learning rates", in units of 1e-4.
#[rustfmt::skip]
const LEARNING_RATES: [(&str, [u8; 12]); 25] = [
    ("ems",                  [10, 10, 10,  5,  5,  5,  5,  5,  5,  5,  5, 1]),
    ("partial-symm",         [10, 10, 10,  5,  5,  5,  5,  5,  5,  5,  5, 1]),
    ("no-symm",              [10, 10, 10, 10, 10, 10, 10, 10, 10, 10,  2, 1]),
    ("no-symm-partial-mult", [10, 10, 10, 10, 10, 10, 10, 10, 10, 10,  2, 1]),
    ("no-mult-symm-relu",    [10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 1]),
    ("no-mult-symm-tanh",    [10, 10, 10, 10,  1, 10, 10, 10, 10,  1,  1, 1]),
    ("no-mult-symm-sigmoid", [10, 10, 10, 10,  1, 10, 10, 10, 10,  1,  1, 1]),
    ("no-mult-symm-elu",     [10, 10,  1, 10, 10, 10, 10, 10, 10, 10, 10, 1]),
    ("no-mult-symm-crelu",   [10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 1]),
    ("none-relu-small",      [10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 1]),
    ("none-relu-medium",     [10, 10, 10,  1,  1,  1,  1,  1,  1,  1,  1, 1]),
    ("none-relu-large",      [10, 10,  1,  1,  1,  1,  1,  1,  1,  1,  1, 1]),
    ("none-tanh-small",      [ 1,  1,  1, 10, 10, 10, 10, 10, 10,  1,  1, 1]),
    ("none-tanh-medium",     [ 1,  1,  1, 10, 10, 10, 10, 10, 10,  1,  1, 1]),
    ("none-tanh-large",      [ 1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  1, 1]),
    ("none-sigmoid-small",   [ 1,  1,  1, 10, 10, 10, 10, 10, 10,  1, 10, 1]),
    ("none-sigmoid-medium",  [ 1,  1,  1, 10, 10, 10, 10, 10, 10,  1,  1, 1]),
    ("none-sigmoid-large",   [ 1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  1, 1]),
    ("none-elu-small",       [10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 1]),
    ("none-elu-medium",      [10, 10, 10,  1,  1,  1,  1,  1,  1, 10,  1, 1]),
    ("none-elu-large",       [ 1,  1, 10,  1,  1,  1,  1,  1,  1,  1,  1, 1]),
    ("none-crelu-small",     [10, 10, 10, 10, 10,  1, 10, 10, 10, 10, 10, 1]),
    ("none-crelu-medium",    [10, 10, 10,  1,  1,  1,  1,  1,  1, 10,  1, 1]),
    ("none-crelu-large",     [ 1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  1, 1]),
    // Not in the paper's table.
    ("conv-ems",             [ 1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  1, 1]),
];

/// The learning rate of a module on a task. Tasks that are not in the table take the rate of a similar one: scenes need
/// precise touches, as localization does.
pub fn learning_rate(kind: &ModuleKind, task: &Task) -> f64 {
    let similar = match task.paradigm() {
        Paradigm::StimulusResponse { .. } => "sr-4way-quadrant",
        paradigm if shows_scenes(paradigm) => "localization",
        Paradigm::MatchToSample(_) => "mts-2way-stationary",
        Paradigm::Localization => "localization",
    };
    let column_of = |id: &str| TASKS.iter().position(|&task| task == id);
    // `sr-2way+rotation` takes the rate of `sr-2way`.
    let plain_id = task.id().split('+').next().unwrap_or_default();
    let column = column_of(plain_id).or_else(|| column_of(similar)).expect("similar tasks are in the table");
    let row = LEARNING_RATES.iter().find(|(id, _)| *id == kind.id).expect("every module has its row");
    f64::from(row.1[column]) * 1e-4
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstream_env::task::find_task;
    use touchstream_modules::module::MODULES;

    #[test]
    fn every_module_has_a_rate_for_every_task() {
        for (kind, (id, _)) in MODULES.iter().zip(&LEARNING_RATES) {
            assert_eq!(kind.id, *id);
            for task in touchstream_env::task::paper_tasks() {
                assert!((1e-4..=1e-3).contains(&learning_rate(kind, task)), "{id} on {}", task.id());
            }
        }
        let rate = |module: &str, task: &str| {
            learning_rate(ModuleKind::find(module).unwrap(), &find_task(task).unwrap())
        };
        assert_eq!(rate("ems", "mts-2way-stationary"), 5e-4);
        assert_eq!(rate("no-symm", "mts-4way-4shown-permuted"), 2e-4);
        assert_eq!(rate("no-mult-symm-tanh", "mts-2way-vert-motion"), 1e-4);
        assert_eq!(rate("no-mult-symm-tanh", "mts-2way-horiz-flip"), 1e-3);
        assert_eq!(rate("none-crelu-small", "mts-2way-horiz-flip"), 1e-4);
        assert_eq!(rate("none-elu-large", "sr-4way-quadrant"), 1e-3);
        assert_eq!(rate("ems", "coco-mts"), 1e-4);
        assert_eq!(rate("none-relu-large", "sr-2way+class-reversal"), rate("none-relu-large", "sr-2way"));
    }
}
