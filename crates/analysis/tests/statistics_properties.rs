//! What must hold for all scores, and how often an interval holds the truth.

#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use touchstream_analysis::statistics::{
    Estimate, Interval, Resampling, Run, Scores, interquartile_mean, mean, performance_profile,
    probability_of_improvement,
};
use touchstream_env::seed::{RandomStream, RunSeed, StreamName};

const TASKS: [&str; 4] = ["t1", "t2", "t3", "t4"];

fn resampling(n_resamples: u32) -> Resampling {
    Resampling { n_resamples, ..Resampling::new(RunSeed(5)) }
}

/// Every result of two methods, as text: equal texts are equal bits.
fn everything(runs: &[Run]) -> String {
    let (scores, resampling) = (Scores::new(runs.iter().copied()).unwrap(), resampling(50));
    let (x, y) = (scores.method("x").unwrap(), scores.method("y").unwrap());
    let profile = performance_profile(x, &[0.1, 0.5, 0.9], &resampling);
    let improvement = probability_of_improvement(x, y, &resampling).unwrap();
    format!("{:?} {:?} {profile:?} {improvement:?}", mean(x, &resampling), interquartile_mean(y, &resampling))
}

/// Scores of one to four tasks with one to six seeds each.
fn strata() -> impl Strategy<Value = Vec<Vec<f64>>> {
    prop::collection::vec(prop::collection::vec(0.0..1.0_f64, 1..=6), 1..=TASKS.len())
}

fn runs<'a>(method: &'a str, strata: &[Vec<f64>]) -> Vec<Run<'a>> {
    let of_task = |(task, scores): (&'a str, &Vec<f64>)| {
        scores.iter().zip(0..).map(|(&score, seed)| Run { method, task, seed, score }).collect::<Vec<_>>()
    };
    TASKS.into_iter().zip(strata).flat_map(of_task).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    /// The order of runs, and which seed had which score.
    #[test]
    fn permuted_seeds_change_nothing(strata in strata(), by in any::<u64>()) {
        let given = [runs("x", &strata), runs("y", &strata)].concat();
        let mut random = RunSeed(by).stream(StreamName::new("test"), 0);
        let mut shuffled_strata = strata.clone();
        shuffled_strata.iter_mut().for_each(|scores| random.shuffle(scores));
        let mut shuffled = [runs("x", &shuffled_strata), runs("y", &shuffled_strata)].concat();
        random.shuffle(&mut shuffled);
        prop_assert_eq!(everything(&given), everything(&shuffled));
    }

    #[test]
    fn intervals_of_symmetric_numbers_hold_their_centre(
        centre in -5.0..5.0_f64,
        offsets in prop::collection::vec(0.0..1.0_f64, 2..10),
    ) {
        let numbers: Vec<f64> = offsets.iter().flat_map(|offset| [centre - offset, centre + offset]).collect();
        let found = Estimate::bootstrapped(&numbers, &resampling(500)).unwrap();
        let Interval { low, high } = found.interval.unwrap();
        prop_assert!(low <= found.value && found.value <= high, "{found:?}");
        let scores = Scores::new(runs("x", &[numbers.clone(), numbers])).unwrap();
        let scores = scores.method("x").unwrap();
        for found in [mean(scores, &resampling(500)), interquartile_mean(scores, &resampling(500))] {
            let Interval { low, high } = found.interval.unwrap();
            prop_assert!(low <= found.value && found.value <= high, "{found:?}");
        }
    }

    #[test]
    fn what_one_method_gains_the_other_loses(xs in strata(), ys in strata()) {
        let n_tasks = xs.len().min(ys.len());
        let scores = Scores::new([runs("x", &xs[..n_tasks]), runs("y", &ys[..n_tasks])].concat()).unwrap();
        let (x, y) = (scores.method("x").unwrap(), scores.method("y").unwrap());
        let one = probability_of_improvement(x, y, &resampling(0)).unwrap().probability;
        let other = probability_of_improvement(y, x, &resampling(0)).unwrap().probability;
        prop_assert!((0.0..=1.0).contains(&one) && (one + other - 1.0).abs() < 1e-12);
    }
}

fn normal(random: &mut RandomStream) -> f64 {
    f64::from(random.normal_pair().0)
}

/// The share of 600 simulated studies whose interval holds the truth. Three standard errors of such a share are 0.027.
#[track_caller]
fn check_coverage(what: &str, low: f64, high: f64, covers: impl Fn(&mut RandomStream) -> bool) {
    let stream = |study| RunSeed(11).stream(StreamName::new("test/coverage"), study);
    let share = (0..600).filter(|&study| covers(&mut stream(study))).count() as f64 / 600.0;
    assert!((low..high).contains(&share), "{what} covers {share}");
}

#[test]
fn intervals_hold_the_truth_about_as_often_as_they_say() {
    let holds = |interval: Option<Interval>, truth: f64| {
        interval.is_some_and(|Interval { low, high }| low <= truth && truth <= high)
    };
    check_coverage("Student's", 0.92, 0.98, |random| {
        let numbers: Vec<f64> = (0..5).map(|_| normal(random)).collect();
        holds(Estimate::of(&numbers).unwrap().interval, 0.0)
    });
    check_coverage("a bootstrapped mean", 0.92, 0.98, |random| {
        let numbers: Vec<f64> = (0..30).map(|_| normal(random)).collect();
        holds(Estimate::bootstrapped(&numbers, &resampling(400)).unwrap().interval, 0.0)
    });
    // Tasks of different difficulty: their spread must not widen the interval.
    let study = |random: &mut RandomStream, method: &'static str| {
        let strata: Vec<Vec<f64>> = [0.0, 10.0, 20.0, 30.0]
            .map(|difficulty| (0..10).map(|_| difficulty + normal(random)).collect())
            .to_vec();
        runs(method, &strata)
    };
    check_coverage("the mean over tasks", 0.92, 0.98, |random| {
        let scores = Scores::new(study(random, "x")).unwrap();
        holds(mean(scores.method("x").unwrap(), &resampling(400)).interval, 15.0)
    });
    check_coverage("the interquartile mean", 0.87, 0.99, |random| {
        let scores = Scores::new(study(random, "x")).unwrap();
        holds(interquartile_mean(scores.method("x").unwrap(), &resampling(400)).interval, 15.0)
    });
    check_coverage("the probability of improvement", 0.87, 0.98, |random| {
        let scores = Scores::new([study(random, "x"), study(random, "y")].concat()).unwrap();
        let (x, y) = (scores.method("x").unwrap(), scores.method("y").unwrap());
        holds(probability_of_improvement(x, y, &resampling(400)).unwrap().interval, 0.5)
    });
}

/// With three seeds, as studies have them: what is widened is right, and what comes out of resamples is not.
#[test]
fn intervals_of_three_seeds_are_wide_enough() {
    let holds =
        |n_tasks: usize, spreads: fn(usize) -> f64, resampling: Resampling, random: &mut RandomStream| {
            let names: Vec<String> = (0..n_tasks).map(|task| format!("t{task}")).collect();
            let mut runs = Vec::new();
            for (task, name) in names.iter().enumerate() {
                runs.extend((0..3).map(|seed| {
                    let score = task as f64 + spreads(task) * normal(random);
                    Run { method: "x", task: name, seed, score }
                }));
            }
            let scores = Scores::new(runs).unwrap();
            let Interval { low, high } = mean(scores.method("x").unwrap(), &resampling).interval.unwrap();
            let truth = (n_tasks - 1) as f64 / 2.0;
            low <= truth && truth <= high
        };
    let (widened, plain) = (resampling(400), resampling(400).as_rliable());
    let even: fn(usize) -> f64 = |_| 1.0;
    // One task varies ten times as much as the others.
    let uneven: fn(usize) -> f64 = |task| if task == 0 { 10.0 } else { 1.0 };
    check_coverage("one task", 0.88, 0.97, |random| holds(1, even, widened, random));
    check_coverage("one task, as rliable", 0.65, 0.82, |random| holds(1, even, plain, random));
    check_coverage("twelve tasks", 0.93, 0.99, |random| holds(12, even, widened, random));
    check_coverage("twelve tasks, as rliable", 0.80, 0.92, |random| holds(12, even, plain, random));
    check_coverage("twelve uneven tasks", 0.88, 0.98, |random| holds(12, uneven, widened, random));
    check_coverage("twelve uneven tasks, as rliable", 0.65, 0.86, |random| holds(12, uneven, plain, random));
}
