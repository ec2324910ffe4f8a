//! Studies on a Slurm cluster: submits, lists and cancels job arrays. Tasks of an array divide runs by claims, as all
//! processes do.

mod array;
mod queue;
mod record;
mod settings;
mod submit;
mod task;
mod time_limit;

pub use array::WANTS_ANOTHER_TURN;
pub use queue::{QueueState, cancel, queue_of};
pub use record::{Submission, read_submissions};
pub use settings::SlurmOptions;
pub use submit::submit;
pub use task::{ArrayTask, read_names};
