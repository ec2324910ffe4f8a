//! Studies: many runs that answer one question, done by any number of processes, reported from their folders alone.

pub mod alone;
pub mod axes;
pub mod catalog;
pub mod cell;
pub mod census;
pub mod evidence;
pub mod kept_tasks;
pub mod live_view;
pub mod local;
pub mod packed;
pub mod pair;
pub mod provenance;
pub mod rates;
pub mod records;
pub mod report;
pub mod reproduction;
pub mod rooms;
mod run_name;
pub mod scale;
pub mod shown;
pub mod slurm;
pub mod spec;
pub mod switching;
pub mod touches;
mod variations;
pub mod votes;
pub mod way;
