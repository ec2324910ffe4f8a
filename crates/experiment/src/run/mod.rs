//! One run: a folder that an agent is trained into.

mod checkpoint;
#[cfg(test)]
mod damage;
mod folder;
mod plan;
mod status;
mod taken_folder;
mod trained;
mod training;
mod verified;
mod weights_file;

pub(crate) use folder::difference;
pub use folder::{FilesInMemory, RunFolder, is_of_a_run};
pub use plan::{Lesson, RunIdentity, RunPlan};
pub use status::{RunStatus, Stage};
pub use taken_folder::MovedRun;
pub(crate) use taken_folder::inherit_checkpoint;
pub use trained::Trained;
pub use training::{CHECKPOINT_EVERY, Ending, Moment, Training, World};
pub use verified::VerifiedRun;
pub use weights_file::{StoredWeights, WeightsFacts, read_weights, write_weights};
