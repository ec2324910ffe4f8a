//! ReMaP: an agent that predicts the rewards of candidate touches, chooses one of them, and learns from its reward.
//!
//! This crate connects environment and modules. [`Remap::play`] is the training loop: features, reward maps, touch,
//! reward, and one update after every batch of steps.
//!
//! This crate does not use files, encoders, clocks or terminals.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod candidate_touches;
mod counterfactual;
mod dropout;
mod evaluation;
mod feature_source;
pub mod paper;
pub mod policy;
mod remap;
mod settings;
mod touch_scale;
mod window;

pub use candidate_touches::CandidateTouches;
pub use counterfactual::CounterfactualTouch;
pub use evaluation::{Evaluation, Evaluator};
pub use feature_source::{FeatureSource, MissingFeatures, SceneShape, skill_on};
pub use remap::{ControllerState, ParameterState, PlayError, Played, Remap, RemapState, SkillState};
pub use settings::{AgentSettings, ModuleChoice, SettingsError, find_module};
pub use touch_scale::TouchScale;
