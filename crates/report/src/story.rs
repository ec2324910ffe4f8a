//! Short paragraphs on a run: the agent, its rewards, the modules it reused, and the conclusion. All numbers are computed
//! from the run.

use touchstream_analysis::{StreamResults, TaskResult, thousands};

/// `[what the agent is, what happened, what to conclude]`.
pub fn story(results: &StreamResults) -> [String; 3] {
    let tasks = &results.tasks;
    let agent = if tasks.len() > 1 {
        "At each step, an agent sees a screen of 224 × 224 pixels, touches one pixel and receives a reward between 0 and \
         1. A cue tells it that the task has changed, but not to what. It then freezes its modules and adds a new one; at \
         each layer, learned weights, the votes, mix the outputs of all modules."
    } else {
        "At each step, an agent sees a screen of 224 × 224 pixels, touches one pixel and receives a reward between 0 and \
         1. It learns a reward map, the reward that it predicts for every possible touch, and chooses its touches by this \
         map."
    };
    [agent.to_owned(), what_happened(tasks), conclusion(results)]
}

fn what_happened(tasks: &[TaskResult]) -> String {
    let n_steps = thousands(tasks.iter().map(|task| task.n_steps).sum());
    let list = |value: fn(&TaskResult) -> f64| {
        listed(tasks.iter().map(|task| format!("{:.2}", value(task))).collect())
    };
    let (first, last, chance) = (list(|t| t.first_reward), list(|t| t.final_reward), list(|t| t.chance));
    if let [task] = tasks {
        return format!(
            "In {n_steps} steps of {} its reward per trial went from {first} to {last}, where touches at random earn \
             {chance}.",
            task.task
        );
    }
    let range = |value: fn(&TaskResult) -> f64| {
        let values = || tasks.iter().map(value);
        let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
        format!("{low:.2} to {high:.2}")
    };
    let n_tasks = tasks.len();
    let mut text = match n_tasks {
        0..=MAX_LISTED => format!(
            "In {n_steps} steps on {n_tasks} tasks, one after the other, it reached rewards per trial of {last}; \
             touches at random earn {chance}"
        ),
        _ => format!(
            "In {n_steps} steps on {n_tasks} tasks, one after the other, it reached rewards per trial of {}; touches \
             at random earn {}",
            range(|task| task.final_reward),
            range(|task| task.chance)
        ),
    };
    let returned = tasks.iter().enumerate().rev().find_map(|(idx, task)| {
        let before = tasks[..idx].iter().rposition(|earlier| earlier.task == task.task)?;
        Some((idx, before))
    });
    match returned {
        Some((idx, before)) => text.push_str(&format!(
            ". Task {} is task {} again, but starts at {:.2}: no module was overwritten, but votes are \
             learned again after every switch.",
            idx + 1,
            before + 1,
            tasks[idx].first_reward
        )),
        None => text.push('.'),
    }
    text
}

/// Which old modules had votes at the end of each task. `shares` are those of a task's modules, from 0, the new one last;
/// `None` where there was one module only.
pub fn reuse(shares: &[Option<Vec<f64>>]) -> Option<String> {
    let of_task = |(idx, shares): (usize, &Option<Vec<f64>>)| {
        let (_, old) = shares.as_ref()?.split_last()?;
        let used = old.iter().copied().enumerate().filter(|(_, share)| *share >= SMALL_SHARE);
        let mut used: Vec<(usize, f64)> = used.collect();
        used.sort_by(|a, b| b.1.total_cmp(&a.1));
        let used = used
            .iter()
            .map(|(module, share)| format!("{:.0}\u{a0}% to module {}", 100.0 * share, module + 1));
        let used: Vec<String> = used.collect();
        Some(format!("task {}, {}", idx + 1, if used.is_empty() { "none".into() } else { listed(used) }))
    };
    let tasks: Vec<String> = shares.iter().enumerate().filter_map(of_task).collect();
    let is_short = (1..=MAX_LISTED).contains(&tasks.len());
    is_short.then(|| {
        format!(
            "Module 1 was added for task 1, module 2 for task 2, and so on. Votes that went to old modules at the end of \
             a task: {}.",
            tasks.join("; ")
        )
    })
}

/// Vote shares below this are left out.
const SMALL_SHARE: f64 = 0.05;
/// More tasks are not listed one by one.
const MAX_LISTED: usize = 8;

fn conclusion(results: &StreamResults) -> String {
    let tasks = &results.tasks;
    let gains: Vec<(usize, f64)> =
        tasks.iter().enumerate().skip(1).filter_map(|(idx, task)| Some((idx + 1, task.r_gain?))).collect();
    if gains.is_empty() {
        return "This is one run with one seed: more seeds show how certain it is, and a comparison with a module from \
                scratch shows what old modules are worth (touchstream switch --controls)."
            .into();
    }
    let of = |is_meant: fn(f64) -> bool, with_value: bool| {
        let meant = gains.iter().filter(|(_, gain)| is_meant(*gain));
        let items: Vec<String> = meant
            .map(|(number, gain)| match with_value {
                true => format!("{number} ({:+.0}\u{a0}%)", 100.0 * gain),
                false => number.to_string(),
            })
            .collect();
        let tasks = if items.len() == 1 { "task" } else { "tasks" };
        (!items.is_empty()).then(|| format!("{tasks} {}", listed(items)))
    };
    let groups = [
        ("higher on", of(|gain| gain > SMALL_GAIN, true)),
        ("about the same on", of(|gain| gain.abs() <= SMALL_GAIN, false)),
        ("lower on", of(|gain| gain < -SMALL_GAIN, true)),
    ];
    let groups = groups.into_iter().filter_map(|(relation, tasks)| Some(format!("{relation} {}", tasks?)));
    let mut text = format!(
        "Compared with a module that learns the task from scratch, the mean reward during the task was {}",
        listed(groups.collect())
    );
    if let (Some(agent), Some(tuned)) = (results.agent, results.fine_tuning) {
        text.push_str(&format!(
            ". Tested after the last new task, it earned {:.3} less on earlier tasks than at its best; one module \
             that was fine-tuned from task to task {:.3} less",
            agent.forgetting, tuned.forgetting
        ));
    }
    text + ". This is one run with one seed: an illustration, not a result."
}

/// Gains up to this size are described as about the same.
const SMALL_GAIN: f64 = 0.02;

/// `a, b and c`
fn listed(mut items: Vec<String>) -> String {
    match items.pop() {
        None => String::new(),
        Some(last) if items.is_empty() => last,
        Some(last) => format!("{} and {last}", items.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstream_analysis::ContinualMetrics;

    fn task(name: &str, first_reward: f64, final_reward: f64, r_gain: Option<f64>) -> TaskResult {
        TaskResult {
            task: name.into(),
            n_steps: 1500,
            chance: 0.5,
            first_reward,
            final_reward,
            scratch_final_reward: None,
            fine_tuning_final_reward: None,
            r_gain,
            t_gain: None,
        }
    }

    #[test]
    fn sentences_quote_the_run() {
        let metrics = ContinualMetrics {
            average_performance: 0.5,
            forgetting: 0.31,
            backward_transfer: 0.0,
            forward_transfer: 0.0,
        };
        let tasks = vec![
            task("a", 0.5, 0.96, Some(0.0)),
            task("b", 0.4, 0.76, Some(-0.1)),
            task("a", 0.55, 0.98, Some(0.25)),
        ];
        let results = StreamResults { tasks, agent: Some(metrics), fine_tuning: Some(metrics) };
        let [_, happened, conclusion] = story(&results);
        assert!(happened.contains("4,500 steps on 3 tasks"), "{happened}");
        assert!(happened.contains("rewards per trial of 0.96, 0.76 and 0.98"), "{happened}");
        assert!(happened.contains("Task 3 is task 1 again, but starts at 0.55"), "{happened}");
        assert!(
            conclusion.contains("higher on task 3 (+25\u{a0}%) and lower on task 2 (-10\u{a0}%)"),
            "{conclusion}"
        );
        assert!(conclusion.contains("0.310 less on earlier tasks than at its best"), "{conclusion}");
    }

    #[test]
    fn reused_modules_are_named() {
        let text = reuse(&[
            None,
            Some(vec![0.69, 0.31]),
            Some(vec![0.01, 0.02, 0.97]),
            Some(vec![0.2, 0.0, 0.5, 0.3]),
        ]);
        let text = text.unwrap();
        for part in [
            "task 2, 69\u{a0}% to module 1;",
            "task 3, none;",
            "task 4, 50\u{a0}% to module 3 and 20\u{a0}% to module 1.",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert_eq!(reuse(&[None]), None);
        assert_eq!(reuse(&vec![Some(vec![0.5, 0.5]); 9]), None);
    }

    #[test]
    fn one_task_has_a_story_too() {
        let results =
            StreamResults { tasks: vec![task("a", 0.5, 0.9, None)], agent: None, fine_tuning: None };
        let [_, happened, conclusion] = story(&results);
        assert!(happened.contains("from 0.50 to 0.90"), "{happened}");
        assert!(conclusion.contains("one run with one seed"), "{conclusion}");
        let many =
            StreamResults { tasks: vec![task("a", 0.5, 0.9, None); 9], agent: None, fine_tuning: None };
        assert!(story(&many)[1].contains("0.90 to 0.90"));
    }
}
