//! EMS reaches the highest final reward on every task.

use super::judgement::{Found, Judgement};
use super::missing::Missing;
use super::study::Study;
use crate::counted::{count, seeds};
use crate::paper::{EMS, MAIN_MODULES, twelve_tasks};
use crate::statistics::{Estimate, Relation};

/// By point estimates over the seeds that both have. Modules that are ahead of EMS are named, with whether their lead
/// is significant.
pub(crate) fn ems_ends_highest(study: &Study) -> Judgement {
    let mut missing = Missing::default();
    let (mut n_tasks, mut n_seeds, mut ahead, mut n_significant) = (0, Vec::new(), Vec::new(), 0);
    for task in twelve_tasks() {
        for (module, _) in MAIN_MODULES {
            missing.need(study.n_seeds(module, task), format_args!("{module} on {task}"));
        }
        let others =
            MAIN_MODULES[1..].iter().filter_map(|&(module, _)| Some((module, lead(study, module, task)?)));
        // Of equal rewards, the first module.
        let best = others.reduce(|best, other| if other.1.value > best.1.value { other } else { best });
        let Some((module, lead)) = best else { continue };
        n_tasks += 1;
        n_seeds.push(lead.n);
        if lead.value > 0.0 {
            let is_clear = lead.compare_to(0.0) == Relation::Above;
            n_significant += usize::from(is_clear);
            ahead.push(format!(
                "{module} on {task} {lead:+}{}",
                if is_clear { ", significantly" } else { "" }
            ));
        }
    }
    let (Some(&fewest), Some(&most)) = (n_seeds.iter().min(), n_seeds.iter().max()) else {
        return Found::nothing().missing(&missing);
    };
    let mut text = format!(
        "EMS has the highest final reward on {} of {}",
        n_tasks - ahead.len(),
        count(n_tasks, "task")
    );
    if !ahead.is_empty() {
        text += &format!("; ahead of it: {}", ahead.join("; "));
    }
    let found = Found::new(text, format!("{}, {} each", count(n_tasks, "task"), seeds(fewest, most)));
    if !missing.is_none() {
        return found.missing(&missing);
    }
    match ahead.len() {
        0 => found.judged(true, "no module has a higher final reward on any task"),
        n => found.judged(
            false,
            format!(
                "another module has a higher final reward on {}, significantly on {n_significant}",
                count(n, "task")
            ),
        ),
    }
}

/// The final reward of a module minus that of EMS.
fn lead(study: &Study, module: &str, task: &str) -> Option<Estimate> {
    let (ems, other) = (study.on_task(EMS, task)?, study.on_task(module, task)?);
    let of_seed = |seed: u64| ems.seeds.iter().find(|found| found.seed == seed);
    let pairs = other.seeds.iter().filter_map(|found| Some((found, of_seed(found.seed)?)));
    Estimate::of(&pairs.map(|(other, ems)| other.final_reward - ems.final_reward).collect::<Vec<f64>>())
}
