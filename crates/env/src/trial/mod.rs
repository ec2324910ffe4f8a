//! Trials: one question of a task, from its random draw to the reward of a touch.

mod bound;
mod corner;
mod draw;
mod drawn;
mod exact;
mod recipe;
mod reward;

pub use bound::{BindError, BoundTask};
pub use corner::BestSecondTouch;
pub use drawn::{Placement, Placements, Trial, TrialState};
pub use exact::N_EXACT_SCREENS;
pub use recipe::ScreenRecipe;
