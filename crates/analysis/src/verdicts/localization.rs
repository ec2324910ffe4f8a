//! Claims on localization: EMS above 0.4, EMS and conv-EMS above supervised regression, conv-EMS above EMS.
//!
//! There is no verdict on a result that is below the level and still rising ([`ModuleIou::late_rise`]): more steps may
//! reach it.

use super::judgement::{Found, Judgement};
use super::missing::Missing;
use super::study::Study;
use crate::counted::{count, thousands};
use crate::localization::ModuleIou;
use crate::paper::{CONV_EMS, EMS, LOCALIZATION, MIN_SEEDS};
use crate::statistics::{Estimate, Interval, Relation};

const LEVEL: f64 = 0.4;
const SVR: &str = "svr";

fn module<'a>(study: &Study<'a>, name: &str) -> Option<&'a ModuleIou> {
    study.localization.modules.iter().find(|found| found.module == name)
}

fn missing(study: &Study, modules: &[&str]) -> Missing {
    let mut missing = Missing::default();
    for &name in modules {
        let n_there = module(study, name).map_or(0, |found| found.iou.n);
        missing.need(n_there, format_args!("{name} on {LOCALIZATION}"));
    }
    missing
}

/// Compares a module's result with a level, unless it is below and still rising.
fn above(found: Found, module: &ModuleIou, figure: Estimate, level: f64) -> Judgement {
    match (figure.compare_to(level), module.late_rise) {
        (Relation::Below | Relation::Unclear, Some(rise)) if module.is_still_rising() => {
            found.not_enough(format!(
                "still rising after {} steps: by {rise:+} from the third quarter to the last",
                thousands(module.n_steps)
            ))
        }
        (relation, _) => found.above(relation, level),
    }
}

/// `0.412 (0.398 to 0.426) after 24000 steps`.
fn after_steps(module: &ModuleIou) -> String {
    format!("{} after {} steps", module.iou, thousands(module.n_steps))
}

/// The interval of the final IoU over seeds must lie above 0.4.
pub(crate) fn ems_above_level(study: &Study) -> Judgement {
    let ems = module(study, EMS);
    let found = ems.map_or_else(Found::nothing, |ems| Found::new(after_steps(ems), count(ems.iou.n, "seed")));
    match (ems, missing(study, &[EMS])) {
        (Some(ems), missing) if missing.is_none() => above(found, ems, ems.iou, LEVEL),
        (_, missing) => found.missing(&missing),
    }
}

/// The interval of the difference must lie above 0. Its half width is the root of the sum of squares of both half
/// widths (over seeds, and over the baseline's screens), as for independent errors.
pub(crate) fn above_svr(study: &Study, name: &str) -> Judgement {
    let there = module(study, name);
    let svr = study.localization.baselines.iter().find(|baseline| baseline.name == SVR);
    let missing = missing(study, &[name]);
    let (Some(there), Some(svr)) = (there, svr) else {
        let found = match (there, svr) {
            (Some(there), _) => {
                Found::new(format!("{name} {}", after_steps(there)), count(there.iou.n, "seed"))
            }
            (None, Some(svr)) => {
                Found::without_runs(format!("SVR {:.3}", svr.score), format!("0 seeds; {} screens", svr.n))
            }
            (None, None) => Found::nothing(),
        };
        return match (svr, missing.is_none()) {
            (None, true) => found.not_enough("the supervised baseline is missing"),
            (None, false) => found.not_enough(format!("the supervised baseline is missing, and {missing}")),
            (Some(_), _) => found.missing(&missing),
        };
    };
    let half_of_svr = svr.interval.map_or(0.0, |(low, high)| (high - low).abs() / 2.0);
    let value = there.iou.value - svr.score;
    let difference = Estimate {
        value,
        interval: there.iou.interval.map(|Interval { low, high }| {
            let half = ((high - low) / 2.0).hypot(half_of_svr);
            Interval { low: value - half, high: value + half }
        }),
        n: there.iou.n,
    };
    let found = Found::new(
        format!(
            "{difference:+}: {name} {:.3} after {} steps, SVR {:.3}",
            there.iou.value,
            thousands(there.n_steps),
            svr.score
        ),
        format!("{}; SVR on {}", count(there.iou.n, "seed"), count(svr.n, "screen")),
    );
    if missing.is_none() { above(found, there, difference, 0.0) } else { found.missing(&missing) }
}

/// The difference after the same number of steps, over the seeds that both have: its interval must lie above 0.
pub(crate) fn conv_above_ems(study: &Study) -> Judgement {
    let missing = missing(study, &[EMS, CONV_EMS]);
    let (Some(ems), Some(conv)) = (module(study, EMS), module(study, CONV_EMS)) else {
        let one = module(study, EMS).or(module(study, CONV_EMS));
        let found = one.map_or_else(Found::nothing, |one| {
            Found::new(format!("{} {}", one.module, after_steps(one)), count(one.iou.n, "seed"))
        });
        return found.missing(&missing);
    };
    if conv.n_steps != ems.n_steps {
        let text = format!("{CONV_EMS} {}, {EMS} {}", after_steps(conv), after_steps(ems));
        let found = Found::new(text, format!("{} and {}", count(conv.iou.n, "seed"), ems.iou.n));
        return found.not_enough("they learned for different numbers of steps");
    }
    let pairs = conv.seeds.iter().filter_map(|(seed, conv)| Some(conv - ems.seeds.get(seed)?));
    let difference = Estimate::of(&pairs.collect::<Vec<f64>>());
    let text =
        difference.map_or_else(|| "no seed has both".to_owned(), |difference| format!("{difference:+}"));
    let found = Found::new(
        format!(
            "{text}: {CONV_EMS} {:.3}, {EMS} {:.3}, both after {} steps",
            conv.iou.value,
            ems.iou.value,
            thousands(ems.n_steps)
        ),
        count(difference.map_or(0, |difference| difference.n), "seed"),
    );
    match difference {
        _ if !missing.is_none() => found.missing(&missing),
        Some(difference) if difference.n >= MIN_SEEDS => found.above(difference.compare_to(0.0), 0.0),
        _ => found.not_enough(format!("fewer than {MIN_SEEDS} seeds have both")),
    }
}
