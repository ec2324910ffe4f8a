//! Usable runs, without duplicates, each with a valid curve.

use crate::left_out::LeftOut;
use crate::record::{Point, RunKind, RunRecord};
use crate::statistics::{area, end};
use crate::switch_method::SwitchMethod;
use std::collections::BTreeMap;

/// (step, reward or share) of each evaluation.
pub(crate) type Points = Vec<(u64, f64)>;

/// A run whose curve has at least one evaluation, non-decreasing steps and rewards in 0..=1.
#[derive(Debug)]
pub(crate) struct Run<'a> {
    pub record: &'a RunRecord,
    /// Validation rewards.
    pub curve: Points,
}

impl Run<'_> {
    /// Mean over the last tenth of the evaluations.
    pub fn final_reward(&self) -> f64 {
        end(&self.curve)
    }

    pub fn last_step(&self) -> u64 {
        self.curve.last().map_or(0, |point| point.0)
    }

    /// The mean reward along the curve.
    pub fn area(&self) -> Option<f64> {
        area(&self.curve).ok().map(|area| area.mean_reward)
    }

    /// The evaluations that recorded this share, such as `reuse`.
    pub fn shares(&self, share: fn(&Point) -> Option<f64>) -> Points {
        let points = self.record.points.iter().filter_map(|point| Some((point.step, share(point)?)));
        points.filter(|point| (0.0..=1.0).contains(&point.1)).collect()
    }
}

/// The runs of a preset.
#[derive(Default)]
pub(crate) struct PresetRuns<'a> {
    pub runs: Vec<Run<'a>>,
    /// Runs that stopped early, for instance because they diverged.
    pub failed: Vec<&'a RunRecord>,
    /// Runs that cannot be used, including failed ones.
    pub left_out: Vec<LeftOut>,
}

/// The usable and the excluded runs of each preset, in an order that does not depend on the order of the records.
pub(crate) fn read(records: &[RunRecord]) -> BTreeMap<&str, PresetRuns<'_>> {
    let mut places: BTreeMap<_, Vec<&RunRecord>> = BTreeMap::new();
    for record in records {
        places.entry(Place::of(record)).or_default().push(record);
    }
    let mut presets: BTreeMap<&str, PresetRuns> = BTreeMap::new();
    for (place, mut records) in places {
        let PresetRuns { runs, failed, left_out } = presets.entry(place.preset).or_default();
        if records.len() > 1 {
            let text = format!("{} of its kind; the one with the most steps counts", records.len());
            left_out.push(LeftOut::new(name_of(records[0]), text));
            // The choice between two equally long runs must not depend on the order of the records.
            let last_step = |record: &RunRecord| record.points.last().map(|point| point.step);
            records.sort_by_cached_key(|record| {
                (record.failure.is_none(), last_step(record), record.points.len(), format!("{record:?}"))
            });
        }
        let Some(&record) = records.last() else { continue };
        if let Some(failure) = &record.failure {
            left_out.push(LeftOut::new(name_of(record), failure.clone()));
            failed.push(record);
            continue;
        }
        match curve_of(record) {
            Ok(curve) => runs.push(Run { record, curve }),
            Err(why) => left_out.push(LeftOut::new(name_of(record), why)),
        }
    }
    presets
}

/// What distinguishes runs: at most one run is used for each value.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Place<'a> {
    preset: &'a str,
    module: &'a str,
    task: &'a str,
    /// Switch, base and method of a second task.
    second: Option<(&'a str, &'a str, SwitchMethod)>,
    /// The learning rate's bits; for positive numbers they are in the same order as the numbers.
    rate: Option<u64>,
    seed: u64,
}

impl<'a> Place<'a> {
    fn of(record: &'a RunRecord) -> Self {
        let RunRecord { preset, module, task, seed, kind, learning_rate, .. } = record;
        let second = match kind {
            RunKind::SingleTask | RunKind::Base => None,
            RunKind::Second { switch, base_task, way, .. } => {
                Some((switch.as_str(), base_task.as_str(), *way))
            }
        };
        Self { preset, module, task, second, rate: learning_rate.map(f64::to_bits), seed: *seed }
    }
}

fn curve_of(record: &RunRecord) -> Result<Points, String> {
    if let Some(rate) = record.learning_rate
        && !(rate.is_finite() && rate > 0.0)
    {
        return Err(format!("its learning rate is {rate}"));
    }
    let curve: Points = record.points.iter().map(|point| (point.step, point.reward)).collect();
    area(&curve).map_err(|error| error.to_string())?;
    match curve.iter().find(|point| !(0.0..=1.0).contains(&point.1)) {
        Some((step, reward)) => Err(format!("the reward at step {step} is {reward}")),
        None => Ok(curve),
    }
}

/// Human-readable name: `ems on sr-2way, seed 3`.
pub fn name_of(record: &RunRecord) -> String {
    let RunRecord { module, task, seed, learning_rate, .. } = record;
    match (&record.kind, learning_rate) {
        (RunKind::SingleTask | RunKind::Base, None) => format!("{module} on {task}, seed {seed}"),
        (RunKind::SingleTask | RunKind::Base, Some(rate)) => {
            format!("{module} on {task} at rate {rate}, seed {seed}")
        }
        (RunKind::Second { switch, way, .. }, _) => {
            format!("{module} on {switch} ({task}), {way}, seed {seed}")
        }
    }
}

/// Keeps the runs with the most common evaluation steps (if there is a tie, the longest), and lists the others in
/// `left_out`.
pub(crate) fn keep_same_steps<'r, 'a>(runs: &mut Vec<&'r Run<'a>>, left_out: &mut Vec<LeftOut>) {
    let steps = |run: &Run| run.curve.iter().map(|point| point.0).collect::<Vec<u64>>();
    let mut grids: BTreeMap<Vec<u64>, usize> = BTreeMap::new();
    runs.iter().for_each(|run| *grids.entry(steps(run)).or_default() += 1);
    if grids.len() < 2 {
        return;
    }
    let Some((kept, _)) = grids.into_iter().max_by_key(|(grid, n)| (*n, grid.last().copied(), grid.len()))
    else {
        return;
    };
    let why = format!(
        "its evaluations are at other steps than the {} up to step {} that most have",
        kept.len(),
        kept.last().copied().unwrap_or(0)
    );
    runs.retain(|run| {
        let is_kept = run.curve.iter().map(|point| point.0).eq(kept.iter().copied());
        if !is_kept {
            left_out.push(LeftOut::new(name_of(run.record), why.clone()));
        }
        is_kept
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(seed: u64, rewards: &[f64]) -> RunRecord {
        let point =
            |(step, &reward)| Point { step, reward, train_reward: None, on_object: None, reuse: None };
        RunRecord {
            preset: "default".into(),
            module: "ems".into(),
            task: "sr-2way".into(),
            seed,
            kind: RunKind::SingleTask,
            learning_rate: None,
            base_curve: Vec::new(),
            points: (0..).zip(rewards).map(point).collect(),
            failure: None,
        }
    }

    #[test]
    fn what_is_no_run_is_told() {
        let mut fast = record(7, &[0.5]);
        fast.learning_rate = Some(f64::INFINITY);
        let mut lost = record(8, &[0.5]);
        lost.failure = Some("the loss is NaN at step 3".to_owned());
        let records = [
            record(1, &[0.5, 0.75]),
            record(2, &[]),
            record(3, &[0.5, f64::NAN]),
            record(4, &[0.5, 1.5]),
            record(5, &[0.5]),
            record(5, &[0.5, 0.5]),
            fast,
            lost,
        ];
        let presets = read(&records);
        let PresetRuns { runs, failed, left_out } = &presets["default"];
        assert_eq!(failed.len(), 1);
        assert_eq!(runs.iter().map(|run| run.record.seed).collect::<Vec<_>>(), [1, 5]);
        assert_eq!(runs[1].curve.len(), 2);
        let told: Vec<String> = left_out.iter().map(|one| format!("{}: {}", one.what, one.why)).collect();
        assert_eq!(
            told,
            [
                "ems on sr-2way, seed 2: there is no evaluation",
                "ems on sr-2way, seed 3: the reward at step 1 is NaN",
                "ems on sr-2way, seed 4: the reward at step 1 is 1.5",
                "ems on sr-2way, seed 5: 2 of its kind; the one with the most steps counts",
                "ems on sr-2way, seed 8: the loss is NaN at step 3",
                "ems on sr-2way at rate inf, seed 7: its learning rate is inf",
            ]
        );
    }

    #[test]
    fn of_two_of_a_kind_the_one_that_went_further_counts() {
        #[track_caller]
        fn check(one: &[u64], other: &[u64], n_evaluations: usize) {
            let run = |steps: &[u64]| {
                let mut run = record(1, &vec![0.5; steps.len()]);
                run.points.iter_mut().zip(steps).for_each(|(point, &step)| point.step = step);
                run
            };
            for records in [[run(one), run(other)], [run(other), run(one)]] {
                let PresetRuns { runs, left_out, .. } = &read(&records)["default"];
                assert_eq!((runs.len(), runs[0].curve.len(), left_out.len()), (1, n_evaluations, 1));
            }
        }
        check(&[0, 1000], &[0, 100, 200, 300], 2);
        // The last step is the same, but there are more evaluations.
        check(&[0, 1000], &[0, 500, 1000], 3);
        check(&[], &[0], 1);
    }

    #[test]
    fn runs_of_other_lengths_are_left_out() {
        let records = [record(1, &[0.5; 3]), record(2, &[0.5; 2]), record(3, &[0.5; 3])];
        let all = &read(&records)["default"].runs;
        let (mut runs, mut left_out) = (all.iter().collect(), Vec::new());
        keep_same_steps(&mut runs, &mut left_out);
        assert_eq!(runs.iter().map(|run| run.record.seed).collect::<Vec<_>>(), [1, 3]);
        assert_eq!(left_out.len(), 1);
        // If there is a tie, the longer ones.
        let (mut runs, mut left_out) = (all[..2].iter().collect(), Vec::new());
        keep_same_steps(&mut runs, &mut left_out);
        assert_eq!((runs[0].record.seed, runs.len()), (1, 1));
    }
}
