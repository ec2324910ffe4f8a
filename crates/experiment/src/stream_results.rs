//! Results of a run on each of its tasks, and metrics of continual learning.

use crate::curve::CurveRow;
use crate::references::{Point, References};
use crate::run::Training;
use touchstream_agents::FeatureSource;
use touchstream_analysis::{
    ContinualMetrics, ContinualRewards, StreamResults, TaskCurves, TaskResult, continual_metrics,
};
use touchstream_env::task::{ExactRewards, Task};

/// The rows of a task (`lesson` counts from 0), and the step at which it began.
pub fn lesson_rows(rows: &[CurveRow], lesson: usize) -> (u64, impl Iterator<Item = &CurveRow>) {
    let of_lesson = rows.iter().filter(move |row| row.lesson == lesson as u64 + 1);
    (of_lesson.clone().next().map_or(0, |row| row.step), of_lesson)
}

/// The number of tasks before the first that returns: metrics are defined for distinct tasks.
fn n_before_recurrence(tasks: &[Task]) -> usize {
    (0..tasks.len())
        .find(|&idx| tasks[..idx].iter().any(|task| task.id() == tasks[idx].id()))
        .unwrap_or(tasks.len())
}

/// Results of all tasks; `exact` has one entry per task.
pub fn stream_results<S: FeatureSource>(
    of_tasks: &[Task],
    training: &Training<'_, S>,
    exact: &[ExactRewards],
    references: Option<&References>,
) -> StreamResults {
    let without_errors = |curve: &Vec<Point>| -> Vec<(u64, f64)> {
        curve.iter().map(|&(step, reward, _)| (step, reward)).collect()
    };
    let mut tasks = Vec::new();
    for (idx, (task, exact)) in of_tasks.iter().zip(exact).enumerate() {
        let (first_step, rows) = lesson_rows(training.rows(), idx);
        let agent: Vec<(u64, f64)> = rows.map(|row| (row.step - first_step, row.validation.reward)).collect();
        let of_task = |curves: fn(&References) -> &Vec<Vec<Point>>| {
            references.and_then(|all| curves(all).get(idx)).map(without_errors)
        };
        let (scratch, fine_tuning) = (of_task(|all| &all.scratch), of_task(|all| &all.fine_tuning));
        let mut result = TaskResult::new(TaskCurves {
            task: task.id(),
            chance: exact.chance,
            agent: &agent,
            scratch: scratch.as_deref(),
            fine_tuning: fine_tuning.as_deref(),
        });
        if idx == 0 {
            // On the first task there are no old modules, and so no gains.
            (result.r_gain, result.t_gain) = (None, None);
        }
        tasks.push(result);
    }
    let chance: Vec<f64> = exact.iter().map(|exact| exact.chance).collect();
    let n_before_recurrence = n_before_recurrence(of_tasks);
    let metrics = |after: &[Vec<f64>], before: &[f64]| -> Option<ContinualMetrics> {
        let n = n_before_recurrence;
        let after = after.get(..n)?;
        continual_metrics(ContinualRewards { after, before: before.get(..n)?, chance: chance.get(..n)? })
    };
    let before: Vec<f64> = tasks.iter().map(|task| task.first_reward).collect();
    let tuned = references.and_then(|all| {
        let before: Vec<f64> =
            all.fine_tuning.iter().map(|curve| curve.first().map_or(0.0, |first| first.1)).collect();
        metrics(&all.fine_tuning_after, &before)
    });
    StreamResults { agent: metrics(training.rewards_after(), &before), fine_tuning: tuned, tasks }
}
