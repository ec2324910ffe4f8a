//! Tasks: what is shown and which touches are rewarded.

mod checked;
mod definition;
mod exact;
pub mod language;
mod table;
mod transformation;
mod warnings;

pub(crate) use checked::check_id;
pub use checked::{MAX_CLASSES, MAX_REGIONS, MAX_SLOTS, MAX_TRANSFORMATIONS, Task, TaskError};
pub use definition::{
    ClassChoice, Extent, MatchScreen, Paradigm, Region, Slot, SlotOrder, TaskSpec, TemplateLayout,
};
pub use exact::{Basis, ExactRewards};
pub use table::{N_PAPER_TASKS, UnknownTask, find_task, paper_tasks};
pub use transformation::{TouchTransform, Transformation};
pub use warnings::TaskWarning;
