//! Scores of methods on tasks, one per seed. Seeds may be missing, so tasks may have different numbers of them.

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
    /// `None` without runs, and if a score is not finite or a run occurs twice. The result is bit-identical for any
    /// order of the runs.
    pub fn new<'a>(runs: impl IntoIterator<Item = Run<'a>>) -> Option<Self> {
        let mut methods: BTreeMap<&str, BTreeMap<&str, BTreeMap<u64, f64>>> = BTreeMap::new();
        for Run { method, task, seed, score } in runs {
            let of_task = methods.entry(method).or_default().entry(task).or_default();
            if !score.is_finite() || of_task.insert(seed, score).is_some() {
                return None;
            }
        }
        let of_method = |(name, tasks): (&str, _)| (name.to_owned(), MethodScores::new(name, tasks));
        (!methods.is_empty()).then(|| Self { methods: methods.into_iter().map(of_method).collect() })
    }

    pub fn methods(&self) -> impl Iterator<Item = &MethodScores> {
        self.methods.values()
    }

    pub fn method(&self, name: &str) -> Option<&MethodScores> {
        self.methods.get(name)
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

    pub(crate) fn has_tasks_of(&self, other: &Self) -> bool {
        self.tasks == other.tasks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run<'a>(method: &'a str, task: &'a str, seed: u64, score: f64) -> Run<'a> {
        Run { method, task, seed, score }
    }

    #[test]
    fn runs_that_cannot_be_summed_up_have_no_scores() {
        let twice = [run("ems", "sr", 1, 0.5), run("ems", "sr", 2, 0.5), run("ems", "sr", 1, 0.5)];
        assert!(Scores::new(twice[..2].iter().copied()).is_some());
        let infinite = [f64::NAN, f64::INFINITY].map(|score| run("ems", "sr", 1, score));
        for runs in [&[][..], &infinite[..1], &infinite[1..], &twice] {
            assert_eq!(Scores::new(runs.iter().copied()), None);
        }
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
        assert_eq!(scores.method("c"), None);
    }
}
