//! The paper's tasks, modules and switches, and its published values.

use touchstream_env::schedule::NAMED_SCHEDULES;
use touchstream_env::task::paper_tasks;

/// The seven modules of the main text, best first, each with the paper's TA-N-AUC.
pub const MAIN_MODULES: [(&str, f64); 7] = [
    ("ems", 0.997),
    ("no-symm", 0.944),
    ("no-mult-symm-crelu", 0.818),
    ("none-relu-large", 0.717),
    ("no-mult-symm-relu", 0.566),
    ("none-relu-medium", 0.522),
    ("none-relu-small", 0.403),
];

pub(crate) const EMS: &str = "ems";
pub(crate) const CONV_EMS: &str = "conv-ems";
pub(crate) const NONE_LARGE: &str = "none-relu-large";
pub(crate) const LOCALIZATION: &str = "localization";
pub(crate) const COCO: &str = "coco-mts";
pub(crate) const NO_SWITCH: &str = "no-switch";

/// Minimum number of seeds for a verdict: the paper has three for switches and five for modules.
pub(crate) const MIN_SEEDS: usize = 3;

/// The twelve tasks of TA-N-AUC.
pub fn twelve_tasks() -> impl Iterator<Item = &'static str> {
    paper_tasks().iter().map(|task| task.id()).filter(|&id| id != COCO)
}

/// `switch-1` to `switch-15`.
pub(crate) fn switches() -> impl Iterator<Item = &'static str> {
    NAMED_SCHEDULES.iter().map(|schedule| schedule.id).filter(|&id| id != NO_SWITCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_environment() {
        assert_eq!(twelve_tasks().count(), 12);
        assert!(twelve_tasks().any(|task| task == LOCALIZATION));
        assert_eq!((switches().count(), switches().next()), (15, Some("switch-1")));
        assert!(MAIN_MODULES.is_sorted_by(|a, b| a.1 > b.1));
    }
}
