//! The command line: one variant per command.

use crate::commands::baselines::BaselinesArgs;
use crate::commands::bench::BenchArgs;
use crate::commands::cache::CacheArgs;
use crate::commands::check::CheckArgs;
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
use clap::{Arg, ArgAction, CommandFactory, FromArgMatches, Parser, Subcommand};

/// Modular continual learning on a touch screen.
///
/// Without a command: one agent learns a stream of five tasks on built-in images and writes a page for the browser.
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
    /// List the tasks, print one as a task file, or check your task files
    Tasks(TasksArgs),
    /// List the schedules, or check your schedule files
    Schedules(SchedulesArgs),
    /// Draw screens of tasks above their true reward maps into a PNG file
    Preview(PreviewArgs),
    /// Play a stream with uniform or perfect touches and report the rewards
    Rollout(RolloutArgs),
    /// Open an image source; print its contents, skipped files and content hash
    Data(DataArgs),
    /// List the encoders, describe one, install vgg16's weights, or check the quality of one
    #[command(subcommand)]
    Encoder(EncoderCommand),
    /// Train a module on one task or a schedule; writes a folder with learning curve, reward maps and weights
    Train(Box<TrainArgs>),
    /// Run a configuration file: one task, or a stream of several
    Run(RunArgs),
    /// Learn a second task after a first one, and from scratch; print the gains
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
    /// Run a study: a figure or table of the paper, or your own, on all cores or on a Slurm cluster
    #[command(
        mut_arg("task", |arg| arg.hide(true)),
        mut_arg("module", |arg| arg.hide(true)),
        mut_arg("preset", |arg| arg.hide(true)),
        mut_arg("seed", |arg| arg.hide(true)),
        mut_arg("steps", |arg| arg.help("Steps of every task; with switches, of each second task [default: the scale's]")),
    )]
    Study(Box<StudyArgs>),
    /// Write a study's report: a page, figures (SVG, PNG), tables (CSV, Parquet, Markdown, LaTeX)
    Report(ReportArgs),
    /// Test each claim of the paper on studies: reproduced, not reproduced, or not enough data
    Verify(VerifyArgs),
    /// Evaluate a run's weights on a split
    Eval(EvalArgs),
    /// Draw a run's reward maps for new screens
    Maps(MapsArgs),
    /// Check whether runs, studies, reports and packed studies are what they were when they were written
    ///
    /// The exit code is 1 if one is damaged. Results of older programs have no manifest to be compared with.
    Check(CheckArgs),
    /// Compute baselines of localization: fixed boxes, and boxes regressed from the same features
    Baselines(Box<BaselinesArgs>),
    /// List the modules
    Modules(ModulesArgs),
    /// Encode the screens of tasks ahead of time, once for all runs
    Encode(EncodeArgs),
    /// Show the contents of the cache, or delete them
    Cache(CacheArgs),
    /// Measure speed, also of other software or of an older binary
    Bench(BenchArgs),
}

/// Commands with many options, and those that `--help` shows; `--help-all` shows all.
const FIRST_OPTIONS: [(&str, &[&str]); 3] = [
    (
        "train",
        &[
            "task",
            "schedule",
            "module",
            "steps",
            "seed",
            "preset",
            "data",
            "encoder",
            "units",
            "touch-scale",
            "evaluate-every",
            "config",
            "out",
            "resume",
            "json",
        ],
    ),
    (
        "switch",
        &[
            "id",
            "from",
            "to",
            "voting",
            "controls",
            "seeds",
            "module",
            "base-steps",
            "steps",
            "data",
            "encoder",
            "jobs",
            "out",
            "json",
        ],
    ),
    (
        "study",
        &[
            "scale", "modules", "tasks", "seeds", "presets", "switches", "methods", "data", "encoder",
            "steps", "jobs", "engine", "out",
        ],
    ),
];

pub fn parse() -> Cli {
    Cli::from_arg_matches(&command().get_matches()).unwrap_or_else(|error| error.exit())
}

fn command() -> clap::Command {
    FIRST_OPTIONS.iter().fold(Cli::command(), |cli, (name, first)| {
        cli.mut_subcommand(name, |command| with_help_all(command, first))
    })
}

fn with_help_all(command: clap::Command, first: &[&str]) -> clap::Command {
    let is_first =
        |arg: &Arg| arg.is_positional() || arg.get_long().is_some_and(|name| first.contains(&name));
    let help =
        |name: &'static str, action| Arg::new(name).long(name).action(action).help_heading(None::<&str>);
    // Disabling the built-in flag disables it for subcommands, too.
    let names: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    let command = names.iter().fold(command, |command, name| {
        command
            .mut_subcommand(name, |sub| sub.arg(help("help", ArgAction::Help).short('h').help("Print help")))
    });
    command
        .mut_args(|arg| {
            let hides = !is_first(&arg);
            arg.hide_short_help(hides)
        })
        .disable_help_flag(true)
        .arg(help("help", ArgAction::HelpShort).short('h').help("Print the most used options"))
        .arg(help("help-all", ArgAction::HelpLong).help("Print all options"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        command().debug_assert();
        // A renamed option would disappear from `--help`.
        for (name, first) in FIRST_OPTIONS {
            let command = command();
            let options = command.find_subcommand(name).unwrap().get_arguments().filter_map(Arg::get_long);
            assert_eq!(options.filter(|option| first.contains(option)).count(), first.len(), "{name}");
        }
    }
}
