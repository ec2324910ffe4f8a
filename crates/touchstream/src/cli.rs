//! What a user can type.

use crate::commands::baselines::BaselinesArgs;
use crate::commands::bench::BenchArgs;
use crate::commands::cache::CacheArgs;
use crate::commands::data::DataArgs;
use crate::commands::encode::EncodeArgs;
use crate::commands::encoder::EncoderCommand;
use crate::commands::eval::EvalArgs;
use crate::commands::maps::MapsArgs;
use crate::commands::modules::ModulesArgs;
use crate::commands::preview::PreviewArgs;
use crate::commands::report::ReportArgs;
use crate::commands::rollout::RolloutArgs;
use crate::commands::run::RunArgs;
use crate::commands::schedules::SchedulesArgs;
use crate::commands::study::StudyArgs;
use crate::commands::switch::SwitchArgs;
use crate::commands::tasks::TasksArgs;
use crate::commands::tour::TourArgs;
use crate::commands::train::TrainArgs;
use crate::commands::verify::VerifyArgs;
use clap::{Parser, Subcommand};

/// Modular continual learning on a touch screen.
///
/// Without a command: an agent learns one task after the other on the built-in images, ending in a page for the
/// browser.
#[derive(Parser)]
#[command(name = "touchstream", version, about, max_term_width = 110)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
}

#[derive(Subcommand)]
pub enum Command {
    /// Show every task: a contact sheet (PNG) and a page (HTML) of screens above their true reward maps
    Tour(TourArgs),
    /// List the tasks, print one as a task file, or check task files of your own
    Tasks(TasksArgs),
    /// List the schedules, or check schedule files of your own
    Schedules(SchedulesArgs),
    /// Draw screens of tasks above their true reward maps into a PNG file
    Preview(PreviewArgs),
    /// Play a stream with uniform or perfect touches and report the rewards
    Rollout(RolloutArgs),
    /// Open a source of images and say what it holds, what was skipped and its content hash
    Data(DataArgs),
    /// List the encoders, describe one, install vgg16's weights, or look how good one's eyes are
    #[command(subcommand)]
    Encoder(EncoderCommand),
    /// Train a module on a task, or on one task after the other, into a folder with curve, reward maps and weights
    Train(Box<TrainArgs>),
    /// Do what a configuration file says: one task or a stream of several, as `train --config` does
    Run(RunArgs),
    /// Learn a task, then another one with what was learned and from scratch, and say what it was worth
    #[command(
        mut_arg("task", |arg| arg.hide(true)),
        mut_arg("map_examples", |arg| arg.hide(true)),
        mut_arg("map_steps", |arg| arg.hide(true)),
        mut_arg("evaluate_every", |arg| arg.hide(true)),
        mut_arg("seed", |arg| arg.help("The first seed [default: 1]")),
        mut_arg("steps", |arg| arg.help(
            "Steps of the second task [default: 6000, 20000 with four classes; match-to-sample 40000, 80000]"
        )),
    )]
    Switch(Box<SwitchArgs>),
    /// Run a study: a figure or table of the paper, or one of your own, side by side on all cores or on a Slurm cluster
    #[command(
        mut_arg("task", |arg| arg.hide(true)),
        mut_arg("module", |arg| arg.hide(true)),
        mut_arg("preset", |arg| arg.hide(true)),
        mut_arg("seed", |arg| arg.hide(true)),
        mut_arg("steps", |arg| arg.help("Steps of every task, or of every second one [default: the scale's]")),
    )]
    Study(Box<StudyArgs>),
    /// Make a study's report from its folders alone: a page, figures (SVG, PNG), tables (CSV, Parquet, Markdown, LaTeX)
    Report(ReportArgs),
    /// Test each claim of the paper on what studies found: reproduced, not reproduced, or not enough data
    Verify(VerifyArgs),
    /// Evaluate a run's weights on a split
    Eval(EvalArgs),
    /// Draw a run's reward maps for new screens
    Maps(MapsArgs),
    /// Say what localization comes to without reward maps: fixed boxes, and boxes regressed from the same features
    Baselines(Box<BaselinesArgs>),
    /// List the modules
    Modules(ModulesArgs),
    /// Encode the screens of tasks ahead of time, once for all runs
    Encode(EncodeArgs),
    /// Say what the cache holds, or empty it
    Cache(CacheArgs),
    /// Measure how fast things are here, beside what else there is
    Bench(BenchArgs),
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
