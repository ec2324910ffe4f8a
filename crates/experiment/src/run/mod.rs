//! One run: a folder that an agent is trained into.

mod checkpoint;
#[cfg(test)]
mod damage;
mod folder;
mod plan;
mod status;
mod trained;
mod training;
mod weights_file;

pub use folder::{FilesInMemory, RunFolder};
pub use plan::{Lesson, RunIdentity, RunPlan};
pub use status::{RunStatus, Stage};
pub use trained::Trained;
pub use training::{CHECKPOINT_EVERY, Ending, Moment, Training, World};
pub use weights_file::{StoredWeights, WeightsFacts, read_weights, write_weights};
