//! The thirteen tasks of the paper (supplement, "Task Variants") as a table.

use crate::nearest::{did_you_mean, nearest};
use crate::shape::{HALF_PX, Shape};
use crate::task::checked::{Task, TaskError};
use crate::task::definition::{
    ClassChoice, Extent, MatchScreen, Paradigm, Region, Slot, SlotOrder, TaskSpec, TemplateLayout,
};
use crate::task::transformation::Transformation;
use crate::touch::SCREEN_SIDE_PX;
use std::sync::LazyLock;

pub const N_PAPER_TASKS: usize = 13;

/// Templates are 100 x 100, 6 px from the screen's edge and 12 px from each other.
const TEMPLATE_PX: u32 = 100;
const NEAR: u32 = 6;
const FAR: u32 = NEAR + TEMPLATE_PX + 12;
/// Vertically centred: 62.
const MIDDLE: u32 = (SCREEN_SIDE_PX as u32 - TEMPLATE_PX) / 2;

const LEFT: Shape = Shape::block(0, 0, 2 * HALF_PX, HALF_PX);
const RIGHT: Shape = Shape::block(0, HALF_PX, 2 * HALF_PX, HALF_PX);

const TWO_HALVES: &[(usize, Shape)] = &[(0, LEFT), (1, RIGHT)];
// Classes 0 and 1 keep their sides of `sr-2way`. Completes the paper, which does not assign sides to the four classes.
const SHARED_HALVES: &[(usize, Shape)] = &[(0, LEFT), (1, RIGHT), (2, LEFT), (3, RIGHT)];
const QUADRANTS: &[(usize, Shape)] = &[
    (0, Shape::block(0, 0, HALF_PX, HALF_PX)),
    (1, Shape::block(0, HALF_PX, HALF_PX, HALF_PX)),
    (2, Shape::block(HALF_PX, 0, HALF_PX, HALF_PX)),
    (3, Shape::block(HALF_PX, HALF_PX, HALF_PX, HALF_PX)),
];

const fn slot(top: Extent, left: u32) -> Slot {
    Slot { top, left: Extent::fixed(left) }
}
const ANY_HEIGHT: Extent = Extent { min: NEAR, max: FAR };
const PAIR: &[Slot] = &[slot(Extent::fixed(MIDDLE), NEAR), slot(Extent::fixed(MIDDLE), FAR)];
const MOVING_PAIR: &[Slot] = &[slot(ANY_HEIGHT, NEAR), slot(ANY_HEIGHT, FAR)];
const GRID: &[Slot] = &[
    slot(Extent::fixed(NEAR), NEAR),
    slot(Extent::fixed(NEAR), FAR),
    slot(Extent::fixed(FAR), NEAR),
    slot(Extent::fixed(FAR), FAR),
];

struct Row {
    id: &'static str,
    title: &'static str,
    /// `None` for all classes of the source (59 in the paper's localization, 80 in COCO).
    n_classes: Option<usize>,
    rule: Rule,
}

enum Rule {
    Regions(&'static [(usize, Shape)]),
    Templates(&'static [Slot], SlotOrder),
    Scene,
    Corners,
}

use Rule::{Corners, Regions, Scene, Templates};
use SlotOrder::{Fixed, Shuffled};

#[rustfmt::skip]
const ROWS: [Row; N_PAPER_TASKS] = [
    Row { id: "sr-2way",                         title: "2-way stimulus-response: left half or right half",               n_classes: Some(2), rule: Regions(TWO_HALVES) },
    Row { id: "sr-4way-double-binary",           title: "4-way stimulus-response: two classes left, two right",           n_classes: Some(4), rule: Regions(SHARED_HALVES) },
    Row { id: "sr-4way-quadrant",                title: "4-way stimulus-response: a quadrant each",                       n_classes: Some(4), rule: Regions(QUADRANTS) },
    Row { id: "mts-2way-stationary",             title: "2-way match-to-sample: fixed match screen",                      n_classes: Some(2), rule: Templates(PAIR, Fixed) },
    Row { id: "mts-2way-horiz-flip",             title: "2-way match-to-sample: sides random",                            n_classes: Some(2), rule: Templates(PAIR, Shuffled) },
    Row { id: "mts-2way-vert-motion",            title: "2-way match-to-sample: heights random",                          n_classes: Some(2), rule: Templates(MOVING_PAIR, Fixed) },
    Row { id: "mts-2way-vert-motion-horiz-flip", title: "2-way match-to-sample: sides and heights random",                n_classes: Some(2), rule: Templates(MOVING_PAIR, Shuffled) },
    Row { id: "mts-4way-2shown",                 title: "4-way match-to-sample: two of four shown, sides random",         n_classes: Some(4), rule: Templates(PAIR, Shuffled) },
    Row { id: "mts-4way-2shown-vert-motion",     title: "4-way match-to-sample: two of four shown, sides and heights random", n_classes: Some(4), rule: Templates(MOVING_PAIR, Shuffled) },
    Row { id: "mts-4way-4shown-stationary",      title: "4-way match-to-sample: four shown, fixed",                       n_classes: Some(4), rule: Templates(GRID, Fixed) },
    Row { id: "mts-4way-4shown-permuted",        title: "4-way match-to-sample: four shown, permuted",                    n_classes: Some(4), rule: Templates(GRID, Shuffled) },
    Row { id: "localization",                    title: "localization: touch two opposite corners of the object",         n_classes: None,    rule: Corners },
    Row { id: "coco-mts",                        title: "match-to-sample on scenes: touch any instance of the class",     n_classes: None,    rule: Scene },
];

impl Row {
    fn spec(&self) -> TaskSpec {
        let region =
            |(class, shape): &(usize, Shape)| Region { class: *class, shape: shape.clone(), reward: 1.0 };
        let paradigm = match self.rule {
            Regions(regions) => Paradigm::StimulusResponse { regions: regions.iter().map(region).collect() },
            Templates(slots, order) => Paradigm::MatchToSample(MatchScreen::Templates(TemplateLayout {
                side_px: TEMPLATE_PX as usize,
                slots: slots.to_vec(),
                order,
                button: None,
            })),
            Scene => Paradigm::MatchToSample(MatchScreen::Scene),
            Corners => Paradigm::Localization,
        };
        TaskSpec {
            id: self.id.into(),
            title: self.title.into(),
            classes: self.n_classes.map_or(ClassChoice::All, ClassChoice::First),
            paradigm,
            transformations: Vec::new(),
        }
    }
}

static TASKS: LazyLock<Vec<Task>> = LazyLock::new(|| {
    let checked = |row: &Row| Task::check(row.spec()).unwrap_or_else(|error| panic!("{}: {error}", row.id));
    ROWS.iter().map(checked).collect()
});

/// The thirteen tasks, in the paper's order.
pub fn paper_tasks() -> &'static [Task] {
    &TASKS
}

/// Why there is no task for an id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnknownTask {
    /// The part before any `+` is unknown.
    #[error("there is no task `{id}`{}", did_you_mean(.nearest.as_deref()))]
    Task { id: String, nearest: Option<String> },
    /// A part after a `+` is unknown.
    #[error("there is no task transformation `{name}`{}", did_you_mean(.nearest.as_deref()))]
    Transformation { name: String, nearest: Option<String> },
    /// The transformation cannot be applied to this task.
    #[error("`{id}`: {reason}")]
    Impossible { id: String, reason: TaskError },
}

/// The task with an id, which may name transformations: `sr-2way`, `sr-2way+class-reversal`, ...
pub fn find_task(id: &str) -> Result<Task, UnknownTask> {
    let mut parts = id.split('+');
    let base_id = parts.next().unwrap_or_default();
    let base = paper_tasks().iter().find(|task| task.id() == base_id).ok_or_else(|| UnknownTask::Task {
        id: base_id.into(),
        nearest: nearest(base_id, paper_tasks().iter().map(Task::id)).map(Into::into),
    })?;
    parts.try_fold(base.clone(), |task, name| {
        let transformation = Transformation::named(name).ok_or_else(|| UnknownTask::Transformation {
            name: name.into(),
            nearest: nearest(name, Transformation::ALL.map(Transformation::name)).map(Into::into),
        })?;
        task.with(transformation).map_err(|reason| UnknownTask::Impossible { id: id.into(), reason })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_a_valid_task() {
        for row in &ROWS {
            Task::check(row.spec()).unwrap_or_else(|error| panic!("{}: {error}", row.id));
        }
        assert_eq!(paper_tasks().len(), N_PAPER_TASKS);
    }

    #[test]
    fn template_positions_match_the_paper() {
        assert_eq!((NEAR, FAR, MIDDLE), (6, 118, 62));
        // The far template ends 6 px before the edge.
        assert_eq!(FAR + TEMPLATE_PX + 6, SCREEN_SIDE_PX as u32);
    }

    #[test]
    fn ids_may_name_transformations() {
        let task = find_task("sr-2way+class-reversal+rotation").unwrap();
        assert_eq!(task.spec().transformations, [Transformation::ClassReversal, Transformation::Rotation]);
        assert_eq!(task.id(), "sr-2way+class-reversal+rotation");
    }

    #[test]
    fn wrong_ids_suggest_the_nearest_right_one() {
        let cases = [
            ("sr-2wya", "there is no task `sr-2wya`; did you mean `sr-2way`?"),
            ("sr-2way+rotate", "there is no task transformation `rotate`; did you mean `rotation`?"),
            (
                "localization+class-reversal",
                "`localization+class-reversal`: `transformations[0]`: `class-reversal` needs regions or templates, which belong to fixed classes",
            ),
        ];
        for (id, message) in cases {
            assert_eq!(find_task(id).unwrap_err().to_string(), message);
        }
    }
}
