//! The `touchstream` program: arguments in, one command run, errors printed once.

#![allow(clippy::disallowed_methods)]

mod cli;
mod commands;
mod memory;
mod progress_bar;
mod settings_args;
mod signals;
mod stdio;
mod study_view;
mod terminal;
mod text_table;
mod training_bar;

use cli::Command;
use std::panic;
use std::process::ExitCode;
use touchstream_encoder::{TRIAL_RUN, answer_trial_run, try_onnx_models_with};

fn main() -> ExitCode {
    hide_caught_panics();
    // Not a command for users: see `try_onnx_models_with`.
    if std::env::args_os().nth(1).is_some_and(|word| word == TRIAL_RUN) {
        return answer_trial_run();
    }
    if let Ok(program) = std::env::current_exe() {
        try_onnx_models_with(program);
    }
    let cli = cli::parse();
    let result = match cli.command {
        None => commands::demo::run(),
        Some(Command::Tour(args)) => commands::tour::run(&args),
        Some(Command::Tasks(args)) => commands::tasks::run(&args),
        Some(Command::Schedules(args)) => commands::schedules::run(&args),
        Some(Command::Preview(args)) => commands::preview::run(&args),
        Some(Command::Rollout(args)) => commands::rollout::run(&args),
        Some(Command::Data(args)) => commands::data::run(&args),
        Some(Command::Encoder(command)) => commands::encoder::run(&command),
        Some(Command::Encode(args)) => commands::encode::run(&args),
        Some(Command::Cache(args)) => commands::cache::run(&args),
        Some(Command::Modules(args)) => commands::modules::run(&args),
        Some(Command::Eval(args)) => commands::eval::run(&args),
        Some(Command::Maps(args)) => commands::maps::run(&args),
        Some(Command::Train(args)) => commands::train::run(&args),
        Some(Command::Run(args)) => commands::run::run(&args),
        Some(Command::Switch(args)) => commands::switch::run(&args),
        Some(Command::Study(args)) => commands::study::run(&args),
        Some(Command::Report(args)) => commands::report::run(&args),
        Some(Command::Verify(args)) => commands::verify::run(&args),
        Some(Command::Check(args)) => commands::check::run(&args),
        Some(Command::Baselines(args)) => commands::baselines::run(&args),
        Some(Command::Bench(args)) => commands::bench::run(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        // A closed pipe (`touchstream tasks | head`) is not an error.
        Err(error) if stdio::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            stdio::warn_user!("error: {}", touchstream_experiment::text_of(error.as_ref()));
            ExitCode::FAILURE
        }
    }
}

/// If the ONNX runtime panics on a model, the panic becomes an error, which is printed.
fn hide_caught_panics() {
    let print = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        if !touchstream_encoder::is_caught_panic(panic) {
            print(panic);
        }
    }));
}
