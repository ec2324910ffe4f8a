//! Metrics of a run over several tasks: final rewards, gains over references, average performance, forgetting, backward
//! and forward transfer.

use crate::statistics::{end, gains};
use serde::{Deserialize, Serialize};

/// Validation rewards of one run on the tasks of its stream, in order.
#[derive(Clone, Copy, Debug)]
pub struct ContinualRewards<'a> {
    /// `after[i][j]`: reward on task `j <= i`, evaluated after learning task `i`.
    pub after: &'a [Vec<f64>],
    /// Reward on each task before its first step.
    pub before: &'a [f64],
    /// Mean reward of uniform touches on each task.
    pub chance: &'a [f64],
}

/// Means over tasks, in units of reward.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContinualMetrics {
    /// Mean over all tasks, evaluated after the last one.
    pub average_performance: f64,
    /// Best reward on a task, after its own training or a later one, minus the reward after the last task; mean over
    /// all tasks except the last (Chaudhry et al. 2018).
    pub forgetting: f64,
    /// Reward after the last task minus the reward after the task's own training; mean over all tasks except the last
    /// (Lopez-Paz and Ranzato 2017).
    pub backward_transfer: f64,
    /// Reward before a task's first step minus chance; mean over all tasks except the first (Lopez-Paz and Ranzato
    /// 2017, with chance in place of their untrained network).
    pub forward_transfer: f64,
}

/// Learning curves of one task of a stream: step of the task and validation reward.
#[derive(Clone, Copy, Debug)]
pub struct TaskCurves<'a> {
    pub task: &'a str,
    /// Mean reward of uniform touches.
    pub chance: f64,
    pub agent: &'a [(u64, f64)],
    /// Curve of a new module alone, if there was one.
    pub scratch: Option<&'a [(u64, f64)]>,
    /// Curve of one module that is fine-tuned from task to task.
    pub fine_tuning: Option<&'a [(u64, f64)]>,
}

/// Results on one task of a stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskResult {
    pub task: String,
    pub n_steps: u64,
    pub chance: f64,
    pub first_reward: f64,
    pub final_reward: f64,
    pub scratch_final_reward: Option<f64>,
    pub fine_tuning_final_reward: Option<f64>,
    /// RGain over the module from scratch.
    pub r_gain: Option<f64>,
    pub t_gain: Option<f64>,
}

impl TaskResult {
    pub fn new(curves: TaskCurves<'_>) -> Self {
        let TaskCurves { task, chance, agent, scratch, fine_tuning } = curves;
        let gains = scratch.and_then(|scratch| gains(agent, scratch));
        Self {
            task: task.to_owned(),
            n_steps: agent.last().map_or(0, |point| point.0),
            chance,
            first_reward: agent.first().map_or(0.0, |point| point.1),
            final_reward: end(agent),
            scratch_final_reward: scratch.map(end),
            fine_tuning_final_reward: fine_tuning.map(end),
            r_gain: gains.map(|gains| gains.relative),
            t_gain: gains.map(|gains| gains.transfer),
        }
    }
}

/// Results of a run over several tasks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StreamResults {
    pub tasks: Vec<TaskResult>,
    pub agent: Option<ContinualMetrics>,
    pub fine_tuning: Option<ContinualMetrics>,
}

/// `None` for fewer than two tasks, and where rewards are missing.
pub fn continual_metrics(rewards: ContinualRewards<'_>) -> Option<ContinualMetrics> {
    let ContinualRewards { after, before, chance } = rewards;
    let n_tasks = after.len();
    let is_complete = after.iter().zip(1..).all(|(row, n)| row.len() == n);
    if n_tasks < 2 || !is_complete || before.len() != n_tasks || chance.len() != n_tasks {
        return None;
    }
    let last = &after[n_tasks - 1];
    let n_pairs = (n_tasks - 1) as f64;
    let over_earlier = |of_task: &dyn Fn(usize) -> f64| (0..n_tasks - 1).map(of_task).sum::<f64>() / n_pairs;
    let best =
        |task: usize| after[task..n_tasks - 1].iter().map(|row| row[task]).fold(f64::NEG_INFINITY, f64::max);
    let leads = before.iter().zip(chance).skip(1).map(|(before, chance)| before - chance);
    Some(ContinualMetrics {
        average_performance: last.iter().sum::<f64>() / n_tasks as f64,
        forgetting: over_earlier(&|task| best(task) - last[task]),
        backward_transfer: over_earlier(&|task| last[task] - after[task][task]),
        forward_transfer: leads.sum::<f64>() / n_pairs,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three tasks; the second is better after the third than after its own training.
    #[test]
    fn metrics_are_those_of_the_definitions() {
        let after = [vec![0.9], vec![0.5, 0.6], vec![0.7, 0.8, 1.0]];
        let (before, chance) = ([0.5, 0.4, 0.1], [0.5, 0.2, 0.2]);
        let found =
            continual_metrics(ContinualRewards { after: &after, before: &before, chance: &chance }).unwrap();
        let check =
            |value: f64, wanted: f64| assert!((value - wanted).abs() < 1e-12, "{value}, not {wanted}");
        check(found.average_performance, (0.7 + 0.8 + 1.0) / 3.0);
        check(found.forgetting, ((0.9 - 0.7) + (0.6 - 0.8)) / 2.0);
        check(found.backward_transfer, ((0.7 - 0.9) + (0.8 - 0.6)) / 2.0);
        check(found.forward_transfer, ((0.4 - 0.2) + (0.1 - 0.2)) / 2.0);
    }

    /// The best reward may come from a later task.
    #[test]
    fn forgetting_starts_from_the_best_reward() {
        let after = [vec![0.5], vec![0.9, 0.6], vec![0.4, 0.6, 0.7]];
        let rewards = ContinualRewards { after: &after, before: &[0.0; 3], chance: &[0.0; 3] };
        let found = continual_metrics(rewards).unwrap();
        assert!((found.forgetting - 0.25).abs() < 1e-12, "{found:?}");
        assert!((found.backward_transfer + 0.05).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn results_of_a_task_are_taken_from_its_curves() {
        let agent: Vec<(u64, f64)> = (0..=20).map(|idx| (100 * idx, 0.5 + 0.02 * idx as f64)).collect();
        let scratch: Vec<(u64, f64)> = agent.iter().map(|&(step, _)| (step, 0.5)).collect();
        let curves =
            TaskCurves { task: "a", chance: 0.25, agent: &agent, scratch: Some(&scratch), fine_tuning: None };
        let found = TaskResult::new(curves);
        assert_eq!((found.n_steps, found.first_reward, found.scratch_final_reward), (2000, 0.5, Some(0.5)));
        // The final reward is the mean of the last three of 21 evaluations. Areas are 0.7 and 0.5; the largest lead is
        // 0.4, after 2,000 steps.
        let check =
            |value: f64, wanted: f64| assert!((value - wanted).abs() < 1e-12, "{value}, not {wanted}");
        check(found.final_reward, 0.88);
        check(found.r_gain.unwrap(), 0.4);
        check(found.t_gain.unwrap(), 0.2);
        assert_eq!(found.fine_tuning_final_reward, None);
    }

    #[test]
    fn one_task_and_missing_rewards_have_none() {
        let check = |after: &[Vec<f64>], n: usize| {
            let level = vec![0.5; n];
            continual_metrics(ContinualRewards { after, before: &level, chance: &level })
        };
        assert_eq!(check(&[vec![0.5]], 1), None);
        assert_eq!(check(&[vec![0.5], vec![0.5]], 2), None);
        assert_eq!(check(&[vec![0.5], vec![0.5, 0.5]], 1), None);
        assert!(check(&[vec![0.5], vec![0.5, 0.5]], 2).is_some());
    }
}
