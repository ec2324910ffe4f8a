//! What an evaluation says, for an agent whose predictions are known.

#![allow(clippy::unwrap_used)]

mod pixel_scenes;

use pixel_scenes::world;
use touchstream_agents::policy::{Explore, PolicySettings};
use touchstream_agents::{AgentSettings, Evaluation, Evaluator, FeatureSource};
use touchstream_env::seed::RunSeed;
use touchstream_env::task::find_task;
use touchstream_modules::Skill;
use touchstream_modules::module::Module;

/// An agent that expects the same reward of every touch.
fn evaluation_of(task: &str, expected: f32, explore: Explore) -> Evaluation {
    let (_, mut validation, scenes) = world(task, 1);
    let settings = AgentSettings::for_task("ems", &find_task(task).unwrap()).unwrap();
    let structure = settings.check(scenes.shape()).unwrap();
    let mut parameters = vec![0.0; structure.n_parameters()];
    let readout = structure.stages().last().unwrap();
    parameters[readout.biases()].fill((expected / (1.0 - expected)).ln());
    let skill = Skill::alone(Module::new(structure, parameters));
    let policy = PolicySettings { explore, ..settings.policy };
    let mut evaluator = Evaluator::new(&skill, &settings, RunSeed(5));
    evaluator.evaluate(&skill, &policy, &mut validation, &scenes, 4000).unwrap()
}

#[test]
fn a_constant_guess_is_judged_as_one_computes_by_hand() {
    // Half of the screen is rewarded, so that half of the touches earn 1 and the best of many candidates always does.
    for guess in [0.25_f32, 0.5, 0.9] {
        let found = evaluation_of("sr-2way", guess, Explore::Sample);
        let p = f64::from(guess);
        let entropy = -0.5 * p.ln() - 0.5 * (1.0 - p).ln();
        // Four standard errors of a half in 4000 trials.
        let about = |what: &str, found: f64, wanted: f64, tolerance: f64| {
            assert!((found - wanted).abs() < tolerance, "{what} of {guess}: {found} instead of {wanted}");
        };
        assert_eq!(found.n_trials, 4000);
        about("reward", found.reward, 0.5, 0.032);
        about("standard error", found.reward_se, (0.25_f64 / 3999.0).sqrt(), 2e-4);
        about("regret", found.regret, 1.0 - found.reward, 1e-12);
        let slope = (p / (1.0 - p)).ln().abs();
        about("cross-entropy", found.cross_entropy, entropy, 0.032 * slope + 1e-6);
        // |p - 1| on one half, |p - 0| on the other.
        about("map error", found.map_error, 0.5, 0.005);
        about("calibration error", found.calibration_error, (p - 0.5).abs(), 0.005);
    }
}

#[test]
fn one_trial_says_nothing_about_its_error() {
    let (_, mut validation, scenes) = world("sr-2way", 1);
    let settings = AgentSettings::for_task("ems", &find_task("sr-2way").unwrap()).unwrap();
    let structure = settings.check(scenes.shape()).unwrap();
    let n = structure.n_parameters();
    let skill = Skill::alone(Module::new(structure, vec![0.0; n]));
    let mut evaluator = Evaluator::new(&skill, &settings, RunSeed(5));
    let found = evaluator.evaluate(&skill, &settings.policy, &mut validation, &scenes, 1).unwrap();
    assert_eq!((found.n_trials, found.reward_se), (1, 0.0));
}

#[test]
fn uniform_touches_land_on_objects_as_often_as_counted() {
    let found = evaluation_of("coco-mts", 0.5, Explore::Sample);
    let (_, validation, _) = world("coco-mts", 1);
    let exact = validation.bound_task().exact_rewards(1000);
    // Four standard errors of a half in 4000 trials.
    let share = found.on_object.unwrap();
    assert!((share - exact.chance_on_object.unwrap()).abs() < 0.032, "{share}, expected {exact:?}");
    assert!((found.reward - exact.chance).abs() < 0.032 && found.reward < share);
    // Two buttons of 100 x 100 pixels.
    let on_button = evaluation_of("mts-2way-stationary", 0.5, Explore::Sample).on_object.unwrap();
    assert!((on_button - 2.0 * 10_000.0 / 50_176.0).abs() < 0.032, "{on_button}");
    assert_eq!(evaluation_of("sr-2way", 0.5, Explore::Sample).on_object, None);
}
