//! The tasks of a run, their lengths, and the size of the modules that learn them all.

use super::task_args::{parse_schedule_arg, parse_task_arg};
use super::{Preset, RawConfig, agent_settings};
use crate::error::{Context, Result, bail};
use touchstream_agents::AgentSettings;
use touchstream_env::schedule::{Length, Schedule, Segment};
use touchstream_env::seed::RunSeed;
use touchstream_env::task::Task;

/// Steps of a task without a given length.
const DEFAULT_STEPS: u64 = 30_000;

/// The schedule of a configuration, and the configuration with its task filled in.
pub fn schedule_of(mut config: RawConfig) -> Result<(Schedule, RawConfig)> {
    match (&config.task, &config.schedule) {
        (Some(_), Some(_)) => bail!(Settings, "task and schedule: a run has one or the other"),
        (None, Some(word)) => {
            let schedule = parse_schedule_arg(word, DEFAULT_STEPS).context("schedule")?;
            Ok((schedule, config))
        }
        (_, None) if config.voting.is_some() || config.transformations.is_some() => {
            bail!(
                Settings,
                "voting and transformations: one task alone has nothing to vote on; say a schedule"
            )
        }
        (task, None) => {
            let word = task.clone().unwrap_or_else(|| "sr-2way".into());
            let schedule = Schedule::single(parse_task_arg(&word).context("task")?);
            config.task = Some(word);
            Ok((schedule, config))
        }
    }
}

/// An agent for the first task of a schedule, with the largest width and touch scale of all its tasks.
pub fn widest_agent(
    config: &RawConfig,
    module: &str,
    schedule: &Schedule,
    preset: Preset,
) -> Result<AgentSettings> {
    let mut agent = agent_settings(config, module, &schedule.segments()[0].task, preset)?;
    for segment in schedule.segments() {
        let other = agent_settings(config, module, &segment.task, preset)?;
        agent.touch_scale = agent.touch_scale.finer(other.touch_scale);
        let units = agent.module.units.iter_mut().zip(&other.module.units);
        units.for_each(|(units, &other)| *units = other.max(*units));
    }
    Ok(agent)
}

/// The sum of the lengths of all segments, with a default for a segment without one.
pub fn default_steps(schedule: &Schedule) -> u64 {
    let length = |segment: &Segment| match segment.length {
        Length::Steps(n) => n,
        Length::Between { max, .. } => max,
        Length::Unlimited => DEFAULT_STEPS,
    };
    schedule.segments().iter().map(length).sum()
}

/// Each task adds a module and slows training down; more tasks are probably a mistake.
const MAX_TASKS: usize = 64;

/// The tasks of the first `n_steps` steps, in order, each with its number of steps.
pub fn tasks_of_schedule(schedule: &Schedule, seed: u64, n_steps: u64) -> Result<Vec<(Task, u64)>> {
    let (mut tasks, mut first_step) = (Vec::new(), 0);
    while first_step < n_steps {
        let ordinal = tasks.len() as u64;
        if tasks.len() == MAX_TASKS {
            bail!(Settings, "schedule: more than {MAX_TASKS} tasks within {n_steps} steps");
        }
        let task = &schedule.segments()[schedule.segment_idx(ordinal)].task;
        let n_trials = schedule.n_trials(ordinal, RunSeed(seed));
        let left = n_steps - first_step;
        let length = n_trials.map_or(left, |n_trials| left.min(n_trials * task.steps_per_trial()));
        tasks.push((task.clone(), length));
        first_step += length;
    }
    Ok(tasks)
}
