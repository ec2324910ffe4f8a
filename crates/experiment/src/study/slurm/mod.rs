//! Studies on a Slurm cluster: job arrays are submitted, followed, cancelled and submitted again; whatever Slurm does with their
//! tasks, runs are shared through claims, as between any other processes.

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
