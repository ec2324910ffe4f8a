//! `touchstream tasks`: lists tasks, prints one as a task file, checks task files.

use crate::settings_args::Typed;
use crate::stdio::{print_json, print_line, report_and_count, warn_user};
use crate::terminal::Terminal;
use crate::text_table::aligned;
use anyhow::{Result, anyhow, bail};
use clap::{Args, Subcommand};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use touchstream_env::conformance::{Effort, check_task};
use touchstream_env::line_of_field;
use touchstream_env::plain_stimuli::PlainStimuli;
use touchstream_env::seed::RunSeed;
use touchstream_env::stimuli::{Split, Stimuli};
use touchstream_env::task::{
    Basis, ClassChoice, ExactRewards, MatchScreen, Paradigm, Task, language::parse_task, paper_tasks,
};
use touchstream_env::trial::{BoundTask, N_EXACT_SCREENS};
use touchstream_experiment::config::{ImageOptions, needs_of, parse_task_arg, read_text};
use touchstream_experiment::{TaskList, TaskRewards, rewards_of_tasks};
use touchstream_stimuli::{Opened, SourceSpec};

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct TasksArgs {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    list: ListArgs,
}

#[derive(Subcommand)]
enum Action {
    /// Print a task as a task file
    Show {
        /// A task id such as sr-2way or sr-2way+rotation, or a task file
        #[arg(value_name = "TASK")]
        task: String,
    },
    /// Check task files: errors with line and field, warnings, exact chance and best reward, conformance
    Check(CheckArgs),
}

#[derive(Args)]
struct ListArgs {
    /// Also compute chance and best of tasks that depend on the images, on this source (gallery, folder:PATH, ...)
    #[arg(long, value_name = "SOURCE")]
    data: Option<SourceSpec>,
    #[command(flatten)]
    how: Typed<ImageOptions>,
    /// Screens for chance and best, where they depend on the images
    #[arg(long, value_name = "N", default_value_t = N_EXACT_SCREENS)]
    count: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct CheckArgs {
    /// Task files
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Test the tasks on this source (gallery, folder:PATH, ...) instead of plain coloured squares
    #[arg(long, value_name = "SOURCE")]
    data: Option<SourceSpec>,
    #[command(flatten)]
    how: Typed<ImageOptions>,
    /// Screens for chance and best, where they depend on the images
    #[arg(long, value_name = "N", default_value_t = N_EXACT_SCREENS)]
    count: usize,
}

pub fn run(args: &TasksArgs) -> Result<()> {
    match &args.action {
        None => list(&args.list),
        Some(Action::Show { task }) => {
            print_line!("{}", parse_task_arg(task)?.to_toml().trim_end());
            Ok(())
        }
        Some(Action::Check(check)) => run_check(check),
    }
}

fn list(args: &ListArgs) -> Result<()> {
    let opened = match &args.data {
        Some(spec) => Some(args.how.open(spec, needs_of(paper_tasks()), &Terminal::default())?),
        None => None,
    };
    let tasks = rewards_of_tasks(opened.as_ref(), args.count);
    if args.json {
        return print_json(&TaskList::new(opened.as_ref(), &tasks));
    }
    print_line!("{}", task_table(&tasks).trim_end());
    match opened {
        None => print_line!("\n- depends on the images: add --data gallery, --data coco:PATH, ..."),
        Some(opened) => {
            tasks
                .iter()
                .filter_map(|task| task.problem.as_ref())
                .for_each(|problem| warn_user!("- {problem}"));
            print_line!("\ntrain split of {} {}", opened.manifest.source, opened.manifest.content_hash);
        }
    }
    Ok(())
}

const HEADINGS: [&str; 9] = [
    "id",
    "paradigm",
    "classes",
    "steps per trial",
    "chance",
    "best",
    "chance on any object",
    "computed on",
    "rule",
];

pub fn task_table(tasks: &[TaskRewards<'_>]) -> String {
    let mut cells = vec![HEADINGS.map(String::from)];
    for TaskRewards { task, exact, .. } in tasks {
        let shown = |value: Option<f64>| value.map_or("-".into(), |value| format!("{value:.3}"));
        cells.push([
            task.id().into(),
            task.paradigm().short_name().into(),
            classes_text(task),
            task.steps_per_trial().to_string(),
            shown(exact.map(|exact| exact.chance)),
            shown(exact.map(|exact| exact.best)),
            match task.paradigm() {
                Paradigm::MatchToSample(MatchScreen::Scene) => {
                    shown(exact.and_then(|exact| exact.chance_on_object))
                }
                _ => String::new(),
            },
            computed_on(exact.as_ref()),
            task.spec().title.clone(),
        ]);
    }
    aligned(&cells)
}

fn computed_on(exact: Option<&ExactRewards>) -> String {
    match exact.map(|exact| exact.basis) {
        None => "-".into(),
        Some(Basis::Geometry) => "all trials".into(),
        Some(Basis::Screens { n_counted, n_all }) => format!("{n_counted} of {n_all} screens"),
    }
}

fn classes_text(task: &Task) -> String {
    match &task.spec().classes {
        ClassChoice::All => "all".into(),
        ClassChoice::First(n) => n.to_string(),
        ClassChoice::Named(names) => names.len().to_string(),
    }
}

/// For instance `chance 0.199, best 1.000`.
pub fn chance_and_best(exact: &ExactRewards) -> String {
    let counted = match exact.basis {
        Basis::Geometry => String::new(),
        Basis::Screens { n_counted, n_all } => format!(" (on {n_counted} of {n_all} screens)"),
    };
    let on_object =
        exact.chance_on_object.map_or_else(String::new, |share| format!(" (on any object {share:.3})"));
    format!("chance {:.3}{on_object}, best {:.3}{counted}", exact.chance, exact.best)
}

fn run_check(args: &CheckArgs) -> Result<()> {
    let mut n_failed = 0;
    for file in &args.files {
        report_and_count(check_file(file, args), &mut n_failed)?;
    }
    match n_failed {
        0 => Ok(()),
        n => bail!("{n} of {} task files cannot be used", args.files.len()),
    }
}

fn check_file(file: &Path, args: &CheckArgs) -> Result<()> {
    let text = read_text(file)?;
    let task = parse_task(&text).map_err(|error| anyhow!("{}: {error}", file.display()))?;
    print_line!("{}: task `{}`", file.display(), task.id());
    if paper_tasks().iter().any(|known| known.id() == task.id() && *known != task) {
        print_line!("  warning: line 1, field `id`: the paper's task of this name has other rules");
    }
    for warning in task.warnings() {
        let line = line_of_field(&text, &warning.field);
        print_line!("  warning: line {line}, field {warning}");
    }
    print_line!(
        "  {}, {} classes, {} steps per trial",
        task.paradigm().short_name(),
        classes_text(&task),
        task.steps_per_trial()
    );
    let opened: Option<Opened> = match &args.data {
        Some(spec) => Some(args.how.open(spec, needs_of([&task]), &Terminal::default())?),
        None => None,
    };
    let exact = match &opened {
        None => task.geometric_rewards(),
        Some(opened) => {
            let bound = BoundTask::new(task.clone(), opened.stimuli.clone(), Split::Train)?;
            Some(bound.exact_rewards(args.count))
        }
    };
    match &exact {
        Some(exact) => print_line!("  {}", chance_and_best(exact)),
        None => print_line!("  chance and best depend on the images: choose a source with --data"),
    }
    if exact.is_some_and(|exact| exact.best < 1.0) {
        print_line!("  warning: in some trials, no touch earns the full reward");
    }
    let (stimuli, name): (Arc<dyn Stimuli>, String) = match opened {
        Some(opened) => (opened.stimuli, opened.manifest.source),
        None => (Arc::new(plain_source(&task)), "plain coloured squares".into()),
    };
    let passed = check_task(&task, &stimuli, RunSeed(0), Effort::QUICK)?;
    print_line!(
        "  conforms on {name}: {} steps, {} screens, {} complete reward maps",
        passed.n_steps,
        passed.n_screens,
        passed.n_maps
    );
    Ok(())
}

/// Coloured squares with the classes that the task needs.
fn plain_source(task: &Task) -> PlainStimuli {
    match &task.spec().classes {
        ClassChoice::Named(names) => PlainStimuli::named(names.clone()),
        ClassChoice::First(n) => PlainStimuli::new(n + task.n_classes_skipped()),
        ClassChoice::All => PlainStimuli::new(16),
    }
}
