//! The paper's tasks with the rewards that uniform and perfect touches earn.

use crate::config::DataFacts;
use serde::Serialize;
use touchstream_env::stimuli::Split;
use touchstream_env::task::{ExactRewards, Task, paper_tasks};
use touchstream_env::trial::BoundTask;
use touchstream_stimuli::Opened;

/// A task and its exact rewards.
pub struct TaskRewards<'a> {
    pub task: &'a Task,
    /// `None` if they depend on images, and there is no source or `problem` with it.
    pub exact: Option<ExactRewards>,
    /// Why the task cannot be played on the source.
    pub problem: Option<String>,
}

/// The paper's tasks on the training split of a source. Where rewards depend on the images, `n_screens` are counted.
pub fn rewards_of_tasks(opened: Option<&Opened>, n_screens: usize) -> Vec<TaskRewards<'static>> {
    let of_task = |task: &'static Task| {
        let Some(opened) = opened else {
            return TaskRewards { task, exact: task.geometric_rewards(), problem: None };
        };
        match BoundTask::new(task.clone(), opened.stimuli.clone(), Split::Train) {
            Ok(bound) => TaskRewards { task, exact: Some(bound.exact_rewards(n_screens)), problem: None },
            Err(problem) => TaskRewards { task, exact: None, problem: Some(problem.to_string()) },
        }
    };
    paper_tasks().iter().map(of_task).collect()
}

/// The tasks as JSON.
#[derive(Serialize)]
pub struct TaskList<'a> {
    /// Absent without a source; then values that depend on the images are, too.
    data: Option<DataFacts>,
    tasks: Vec<TaskLine<'a>>,
}

#[derive(Serialize)]
struct TaskLine<'a> {
    id: &'a str,
    title: &'a str,
    paradigm: &'static str,
    /// Absent if all classes of the source.
    n_classes: Option<usize>,
    steps_per_trial: u64,
    chance: Option<f64>,
    best: Option<f64>,
    /// The share of uniform touches on any object; only for scene tasks.
    chance_on_object: Option<f64>,
    /// Training screens used for chance and best; absent if they do not depend on the images.
    n_screens_counted: Option<usize>,
    n_screens: Option<usize>,
}

impl<'a> TaskList<'a> {
    pub fn new(opened: Option<&Opened>, tasks: &'a [TaskRewards<'_>]) -> Self {
        let line = |TaskRewards { task, exact, .. }: &'a TaskRewards<'_>| {
            let counted = exact.and_then(|exact| exact.basis.screens());
            TaskLine {
                id: task.id(),
                title: &task.spec().title,
                paradigm: task.paradigm().short_name(),
                n_classes: task.n_classes(),
                steps_per_trial: task.steps_per_trial(),
                chance: exact.map(|exact| exact.chance),
                best: exact.map(|exact| exact.best),
                chance_on_object: exact.and_then(|exact| exact.chance_on_object),
                n_screens_counted: counted.map(|(n_counted, _)| n_counted),
                n_screens: counted.map(|(_, n_all)| n_all),
            }
        };
        let data = opened.map(|opened| DataFacts::of(&opened.manifest));
        Self { data, tasks: tasks.iter().map(line).collect() }
    }
}
