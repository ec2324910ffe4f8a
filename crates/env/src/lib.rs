//! TouchStream: a continual-learning environment. At each step it shows a 224 x 224 screen, takes one touch (a pixel)
//! and returns a reward in [0, 1]. Tasks change over time, and the agent is given no task label.
//!
//! ```
//! use touchstream_env::{plain_stimuli::PlainStimuli, schedule::find_schedule, screen::Screen, stimuli::Split};
//! use touchstream_env::{seed::{RunSeed, StreamName}, stream::Stream, touch::Touch};
//!
//! let stimuli = std::sync::Arc::new(PlainStimuli::new(4)); // coloured squares
//! let schedule = find_schedule("switch-4", 1000)?; // 1,000 steps of `sr-2way`, then `mts-2way-stationary`
//! let (mut stream, cues) = Stream::open(schedule, stimuli, Split::Train, RunSeed(1))?;
//! let (mut screen, mut random) = (Screen::grey(), RunSeed(2).stream(StreamName::new("agent"), 0));
//! while cues.read(&stream).is_none() {
//!     stream.draw(&mut screen)?; // an agent would look at `screen.pixels()` ...
//!     let reward = stream.touch(Touch::uniform(&mut random)); // ... and choose its touch
//!     assert!((0.0..=1.0).contains(&reward));
//! }
//! assert_eq!(stream.bound_task().task().id(), "mts-2way-stationary");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where to go next
//!
//! - [`stream`]: playing, clones, snapshots, seeking, the switch cue, and true reward maps
//! - [`task`]: the paper's tasks, task files (TOML), chance levels; [`schedule`]: tasks in sequence, schedule files
//! - [`stimuli`]: the trait for image sources; the crate `touchstream-stimuli` implements it for photos, ImageNet and
//!   COCO
//! - [`conformance`]: one function that tests your own tasks and image sources
//! - [`seed`]: the named random streams; the same seed gives the same bits, on every platform
//! - the crates `touchstream-modules` and `touchstream-agents`: the paper's agent
//!
//! This crate does not use files, networks, clocks or global random generators.

#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod conformance;
pub mod mask;
mod nearest;
pub mod pixel_box;
pub mod plain_stimuli;
pub mod reward_map;
pub mod schedule;
pub mod screen;
pub mod seed;
pub mod shape;
pub mod stimuli;
pub mod stream;
pub mod task;
mod toml_errors;
pub mod touch;
pub mod trial;

pub use nearest::{did_you_mean, nearest};
pub use toml_errors::{FileError, line_of_field, parse as parse_toml};
