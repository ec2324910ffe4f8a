//! ReMaP: the agent that predicts reward maps over candidate touches, touches, and learns from what it is given.
//!
//! Here environment and modules meet. One step of the walk is one line of [`Remap::play`]: screen, features, reward maps,
//! touch, reward; after every so many steps, learning.
//!
//! This crate knows streams and modules; it knows no files, no encoders, no clocks and no terminals.

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
