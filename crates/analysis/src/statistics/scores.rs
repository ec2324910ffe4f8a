//! Scores of methods on tasks, one per seed. Seeds may be missing, so tasks may have different numbers of them.

use super::error::StatisticsError;
use super::size::SampleSize;
use std::collections::BTreeMap;

/// The score of one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run<'a> {
    /// A module, an agent or a method.
    pub method: &'a str,
    pub task: &'a str,
    pub seed: u64,
    /// Higher is better.
    pub score: f64,
}

/// The scores of all runs of a study: at least one, all finite.
#[derive(Clone, Debug, PartialEq)]
pub struct Scores {
    methods: BTreeMap<String, MethodScores>,
}

impl Scores {
    /// The result is bit-identical for any order of the runs.
    pub fn new<'a>(runs: impl IntoIterator<Item = Run<'a>>) -> Result<Self, StatisticsError> {
        let mut methods: BTreeMap<&str, BTreeMap<&str, BTreeMap<u64, f64>>> = BTreeMap::new();
        for Run { method, task, seed, score } in runs {
            if !score.is_finite() {
                let (method, task) = (method.to_owned(), task.to_owned());
                return Err(StatisticsError::NotFinite { method, task, seed, score });
            }
            let of_task = methods.entry(method).or_default().entry(task).or_default();
            if of_task.insert(seed, score).is_some() {
                return Err(StatisticsError::Twice {
                    method: method.to_owned(),
                    task: task.to_owned(),
                    seed,
                });
            }
        }
        if methods.is_empty() {
            return Err(StatisticsError::NoRuns);
        }
        let methods = methods.into_iter();
        Ok(Self {
            methods: methods.map(|(name, tasks)| (name.into(), MethodScores::new(name, tasks))).collect(),
        })
    }

    pub fn methods(&self) -> impl Iterator<Item = &MethodScores> {
        self.methods.values()
    }

    pub fn method(&self, name: &str) -> Result<&MethodScores, StatisticsError> {
        self.methods.get(name).ok_or_else(|| StatisticsError::UnknownMethod { method: name.to_owned() })
    }
}

/// The scores of one method: at least one task, and at least one score for each.
#[derive(Clone, Debug, PartialEq)]
pub struct MethodScores {
    name: String,
    tasks: Vec<String>,
    /// `[task][run]`, sorted from low to high, so that results are bit-identical for any order of the seeds.
    strata: Vec<Vec<f64>>,
}

impl MethodScores {
    fn new(name: &str, tasks: BTreeMap<&str, BTreeMap<u64, f64>>) -> Self {
        let sorted = |seeds: &BTreeMap<u64, f64>| {
            let mut scores: Vec<f64> = seeds.values().copied().collect();
            scores.sort_unstable_by(f64::total_cmp);
            scores
        };
        Self {
            name: name.to_owned(),
            strata: tasks.values().map(sorted).collect(),
            tasks: tasks.into_keys().map(String::from).collect(),
        }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// The tasks, sorted by name, each with its scores from low to high.
    pub fn tasks(&self) -> impl Iterator<Item = (&str, &[f64])> {
        self.tasks.iter().map(String::as_str).zip(self.strata.iter().map(Vec::as_slice))
    }

    /// Number of tasks, runs and seeds.
    pub fn size(&self) -> SampleSize {
        SampleSize::of(&self.strata)
    }

    /// `[task][run]`; no task is empty.
    pub(crate) fn strata(&self) -> &[Vec<f64>] {
        &self.strata
    }

    pub(crate) fn check_same_tasks(&self, other: &Self) -> Result<(), StatisticsError> {
        let lacks = |one: &Self, task: &String| StatisticsError::MissingTask {
            method: one.name.clone(),
            task: task.clone(),
        };
        let missing =
            |from: &Self, of: &Self| of.tasks.iter().find(|task| !from.tasks.contains(task)).cloned();
        match (missing(self, other), missing(other, self)) {
            (Some(task), _) => Err(lacks(self, &task)),
            (None, Some(task)) => Err(lacks(other, &task)),
            (None, None) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run<'a>(method: &'a str, task: &'a str, seed: u64, score: f64) -> Run<'a> {
        Run { method, task, seed, score }
    }

    #[test]
    fn runs_that_cannot_be_summed_up_are_refused() {
        #[track_caller]
        fn check(runs: &[Run], message: &str) {
            assert_eq!(Scores::new(runs.iter().copied()).unwrap_err().to_string(), message);
        }
        check(&[], "there are no runs");
        check(&[run("ems", "sr", 1, f64::NAN)], "the score of ems on sr with seed 1 is NaN");
        check(&[run("ems", "sr", 1, f64::INFINITY)], "the score of ems on sr with seed 1 is inf");
        let twice = [run("ems", "sr", 1, 0.5), run("ems", "sr", 2, 0.5), run("ems", "sr", 1, 0.5)];
        check(&twice, "ems on sr with seed 1 is there twice");
    }

    #[test]
    fn sizes_count_what_is_there() {
        let runs =
            [run("a", "t2", 7, 0.3), run("a", "t1", 7, 0.2), run("a", "t1", 9, 0.1), run("b", "t1", 1, 0.0)];
        let scores = Scores::new(runs).unwrap();
        let a = scores.method("a").unwrap();
        assert_eq!(a.size(), SampleSize { n_runs: 3, n_tasks: 2, fewest_seeds: 1, most_seeds: 2 });
        let tasks: Vec<_> = a.tasks().collect();
        assert_eq!(tasks, [("t1", &[0.1, 0.2][..]), ("t2", &[0.3][..])]);
        assert_eq!(scores.methods().map(MethodScores::name).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(scores.method("c").unwrap_err().to_string(), "there are no runs of c");
    }
}
