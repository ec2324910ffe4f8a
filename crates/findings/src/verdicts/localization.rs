//! Localization: EMS above 0.4, above supervised regression, and below its convolutional variant.

use super::judgement::{Found, Judgement};
use super::missing::Missing;
use super::study::Study;
use crate::figure::{Bounds, Figure, count};
use crate::localization::ModuleIou;
use crate::paper::{CONV_EMS, EMS, LOCALIZATION, MIN_SEEDS};

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

/// The interval of the final IoU over seeds must lie above 0.4.
pub(crate) fn ems_above_level(study: &Study) -> Judgement {
    let ems = module(study, EMS);
    let found = ems.map_or_else(Found::nothing, |ems| Found {
        found: format!("{} after {} steps", ems.iou, ems.n_steps),
        n: count(ems.iou.n, "seed"),
    });
    match (ems, missing(study, &[EMS])) {
        (Some(ems), missing) if missing.is_none() => found.above(ems.iou.beside(LEVEL), LEVEL),
        (_, missing) => found.missing(&missing),
    }
}

/// The interval of the difference must lie above 0; halves of the two intervals (over seeds, and over the baseline's screens)
/// are added as independent errors are.
pub(crate) fn ems_above_svr(study: &Study) -> Judgement {
    let ems = module(study, EMS);
    let svr = study.localization.baselines.iter().find(|baseline| baseline.name == SVR);
    let (Some(ems), Some(svr)) = (ems, svr) else {
        let missing = missing(study, &[EMS]);
        let found = match (ems, svr) {
            (Some(ems), _) => Found { found: format!("EMS {}", ems.iou), n: count(ems.iou.n, "seed") },
            (None, Some(svr)) => {
                Found { found: format!("SVR {:.3}", svr.score), n: format!("0 seeds; {} screens", svr.n) }
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
    let difference = Figure {
        value: ems.iou.value - svr.score,
        interval: ems.iou.interval.map(|Bounds { low, high }| {
            let half = ((high - low) / 2.0).hypot(half_of_svr);
            Bounds { low: ems.iou.value - svr.score - half, high: ems.iou.value - svr.score + half }
        }),
        n: ems.iou.n,
    };
    let found = Found {
        found: format!("{difference:+}: EMS {:.3}, SVR {:.3}", ems.iou.value, svr.score),
        n: format!("{}; SVR on {}", count(ems.iou.n, "seed"), count(svr.n, "screen")),
    };
    match missing(study, &[EMS]) {
        missing if missing.is_none() => found.above(difference.beside(0.0), 0.0),
        missing => found.missing(&missing),
    }
}

/// The interval of the difference over the seeds that both have must lie above 0.
pub(crate) fn conv_above_ems(study: &Study) -> Judgement {
    let missing = missing(study, &[EMS, CONV_EMS]);
    let (Some(ems), Some(conv)) = (module(study, EMS), module(study, CONV_EMS)) else {
        let one = module(study, EMS).or(module(study, CONV_EMS));
        let found = one.map_or_else(Found::nothing, |one| Found {
            found: format!("{} {}", one.module, one.iou),
            n: count(one.iou.n, "seed"),
        });
        return found.missing(&missing);
    };
    let pairs = conv.seeds.iter().filter_map(|(seed, conv)| Some(conv - ems.seeds.get(seed)?));
    let difference = Figure::of(&pairs.collect::<Vec<f64>>());
    let text =
        difference.map_or_else(|| "no seed has both".to_owned(), |difference| format!("{difference:+}"));
    let found = Found {
        found: format!("{text}: conv-EMS {:.3}, EMS {:.3}", conv.iou.value, ems.iou.value),
        n: count(difference.map_or(0, |difference| difference.n), "seed"),
    };
    match difference {
        _ if !missing.is_none() => found.missing(&missing),
        Some(difference) if difference.n >= MIN_SEEDS => found.above(difference.beside(0.0), 0.0),
        _ => found.not_enough(format!("fewer than {MIN_SEEDS} seeds have both")),
    }
}
