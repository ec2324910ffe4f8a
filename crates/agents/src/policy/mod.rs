//! From predicted reward maps to one touch (section "Reward Map Prediction").

mod distribution;
mod settings;

pub use distribution::PolicyMemory;
pub use settings::{Dist, Explore, PolicySettings, VarianceOf};
