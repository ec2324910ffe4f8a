//! Trials, from their random draw to the reward of a touch.

mod bound;
mod corner;
mod draw;
mod drawn;
mod exact;
mod match_pool;
mod placement_choice;
mod recipe;
mod reward;
mod screens;

pub use bound::{BindError, BoundTask};
pub use corner::BestSecondTouch;
pub use drawn::{Placement, Placements, Trial, TrialState};
pub use exact::{N_EXACT_SCREENS, uniform_touches_iou};
pub use placement_choice::{PlacementChoice, PlacementPool};
pub use recipe::{SCREEN_DRAWING_VERSION, ScreenRecipe};
pub use screens::MAX_FREE_SCREENS;
