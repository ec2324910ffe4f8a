//! Settings: declared once, read from files and command lines, shown on pages, and turned into the settings of a run.

mod agent_args;
mod choice;
mod encoder_options;
mod image_options;
mod raw_config;
pub(crate) mod setting;
mod stream_tasks;
mod task_args;
mod voting;

pub use agent_args::{agent_settings, raw_from_settings};
pub use choice::{Choice, Preset};
pub use encoder_options::EncoderOptions;
pub use image_options::{DataFacts, ImageOptions, default_cache_dir};
pub use raw_config::{MAX_STEPS, MAX_TRIALS, RawConfig, STREAM};
pub use setting::{Field, Setting, Settings, Value, Values};
pub use stream_tasks::{default_steps, schedule_of, tasks_of_schedule, widest_agent};
pub use task_args::{
    is_path, names_a_file, needs_of, parse_schedule_arg, parse_task_arg, read_text, resolve_relative_to,
    schedule_from_file, task_from_text,
};
pub use voting::{initial_values, settings_of_method, voting_settings};
