//! Claims on the order of learning: touching any object first, then the rewarded one.

use super::judgement::{Found, Judgement};
use super::missing::Missing;
use super::study::Study;
use crate::counted::count;
use crate::paper::{COCO, EMS, MIN_SEEDS, twelve_tasks};
use crate::scenes::SceneFindings;
use crate::statistics::{Estimate, PooledEstimate, Resampling, Run, Scores, mean};
use touchstream_env::seed::RunSeed;

/// Minimum number of tasks for a claim about match-to-sample in general.
const MIN_TASKS: usize = 3;

/// How much later a run reaches half of its rise in reward than half of its rise in touches on any object, as a share
/// of its steps; for each seed in which both rise.
fn delays(scene: &SceneFindings) -> Vec<(u64, f64)> {
    let delay = |(meaning, on_object): (u64, u64), n_steps: u64| {
        let delay = (meaning as f64 - on_object as f64) / n_steps as f64;
        delay.is_finite().then_some(delay)
    };
    let seeds = scene
        .seeds
        .iter()
        .filter_map(|seed| Some((seed.seed, delay(seed.meaning.zip(seed.on_object)?, seed.n_steps)?)));
    seeds.collect()
}

fn scenes<'a>(study: &Study<'a>) -> impl Iterator<Item = &'a SceneFindings> {
    study.scenes.iter().filter(|scene| scene.module == EMS)
}

/// The interval over match-to-sample tasks and seeds must lie above 0. At least three tasks are needed, with at least
/// three seeds in which both curves rise.
pub(crate) fn buttons_first(study: &Study) -> Judgement {
    let tasks: Vec<&str> = twelve_tasks().filter(|task| task.starts_with("mts-")).collect();
    let recorded: Vec<&SceneFindings> =
        scenes(study).filter(|scene| tasks.contains(&scene.task.as_str())).collect();
    let all: Vec<(&str, Vec<(u64, f64)>)> =
        recorded.iter().map(|scene| (scene.task.as_str(), delays(scene))).collect();
    let enough: Vec<_> = all.iter().filter(|(_, delays)| delays.len() >= MIN_SEEDS).cloned().collect();
    let n_recorded: usize = recorded.iter().map(|scene| scene.seeds.len()).sum();
    let not_counted = |n_counted: usize| match n_recorded - n_counted {
        0 => String::new(),
        n => format!(
            "; {} excluded (a curve that does not rise, or a task with fewer than {MIN_SEEDS} usable seeds)",
            count(n, "further run")
        ),
    };
    let is_enough = enough.len() >= MIN_TASKS;
    let why = || {
        format!(
            "{MIN_TASKS} match-to-sample tasks are needed with {MIN_SEEDS} runs of {EMS} each in which touches on templates \
             and reward both rise, {} there; {} recorded such touches",
            are(enough.len()),
            count(n_recorded, "run")
        )
    };
    match averaged(if is_enough { &enough } else { &all }) {
        Some(delay) => {
            let n = format!("{}{}", delay.size, not_counted(delay.size.n_runs));
            let found = Found::new(format!("{delay:+} of a run's steps later"), n);
            if is_enough { found.above(delay.compare_to(0.0), 0.0) } else { found.not_enough(why()) }
        }
        None => {
            let found = if n_recorded > 0 {
                Found::new("nothing", count(n_recorded, "run"))
            } else {
                Found::nothing()
            };
            found.not_enough(why())
        }
    }
}

/// `1 is`, `2 are`.
fn are(n: usize) -> String {
    format!("{n} {}", if n == 1 { "is" } else { "are" })
}

fn averaged(tasks: &[(&str, Vec<(u64, f64)>)]) -> Option<PooledEstimate> {
    let runs = tasks.iter().flat_map(|(task, delays)| {
        delays.iter().map(|&(seed, score)| Run { method: EMS, task, seed, score })
    });
    let scores = Scores::new(runs)?;
    Some(mean(scores.method(EMS)?, &Resampling::new(RunSeed(1))))
}

/// The interval over seeds must lie above 0.
pub(crate) fn outlines_first(study: &Study) -> Judgement {
    let delays = scenes(study).find(|scene| scene.task == COCO).map_or_else(Vec::new, delays);
    let delays: Vec<f64> = delays.into_iter().map(|(_, delay)| delay).collect();
    let mut missing = Missing::default();
    missing
        .need(delays.len(), format_args!("{EMS} on {COCO} in which touches on objects and reward both rise"));
    let Some(figure) = Estimate::of(&delays) else { return Found::nothing().missing(&missing) };
    let found = Found::new(format!("{figure:+} of a run's steps later"), count(figure.n, "seed"));
    if missing.is_none() { found.above(figure.compare_to(0.0), 0.0) } else { found.missing(&missing) }
}
