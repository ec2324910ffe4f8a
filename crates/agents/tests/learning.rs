//! Agents on plain screens: they learn, repeat with the same seed, and continue from a saved state.

#![allow(clippy::unwrap_used)]

mod pixel_scenes;

use pixel_scenes::{PixelScenes, world};
use touchstream_agents::{AgentSettings, Evaluator, FeatureSource, PlayError, Remap, TouchScale};
use touchstream_env::seed::RunSeed;
use touchstream_env::stream::Stream;
use touchstream_env::task::find_task;

fn agent(task: &str, module: &str, scenes: &PixelScenes, change: impl Fn(&mut AgentSettings)) -> Remap {
    let mut settings = AgentSettings::for_task(module, &find_task(task).unwrap()).unwrap();
    change(&mut settings);
    Remap::new(settings, scenes.shape(), RunSeed(1)).unwrap()
}

fn play(agent: &mut Remap, stream: &mut Stream, scenes: &PixelScenes, n_steps: u64) {
    while agent.n_steps() < n_steps {
        agent.play(stream, scenes).unwrap();
    }
}

fn reward_on(agent: &Remap, stream: &Stream, scenes: &PixelScenes) -> f64 {
    let settings = agent.settings();
    let mut evaluator = Evaluator::new(agent.skill(), settings, RunSeed(1));
    let mut stream = stream.clone();
    let evaluation = evaluator.evaluate(agent.skill(), &settings.policy, &mut stream, scenes, 300).unwrap();
    assert_eq!(evaluation.n_trials, 300);
    evaluation.reward
}

#[test]
fn ems_learns_to_respond_and_to_match() {
    // Plain colours, seen as means of pixels, are poor features: far above chance is all that is asked.
    for (task, n_steps, chance, goal) in [
        ("sr-2way", 8000, 0.5, 0.7),
        ("sr-4way-quadrant", 30_000, 0.25, 0.55),
        ("mts-2way-stationary", 40_000, 0.2, 0.4),
    ] {
        let (mut train, validation, scenes) = world(task, 1);
        let mut agent = agent(task, "ems", &scenes, |_| {});
        let before = reward_on(&agent, &validation, &scenes);
        assert!((before - chance).abs() < 0.15, "{task} starts at {before}");
        play(&mut agent, &mut train, &scenes, n_steps);
        let after = reward_on(&agent, &validation, &scenes);
        assert!(after > goal, "{task} ends at {after}");
    }
}

/// Two corners of rectangles, of which there are few to learn from: they are found again, and others better than by chance.
#[test]
fn modules_of_both_kinds_learn_to_localize() {
    for module in ["ems", "conv-ems"] {
        let (mut train, validation, scenes) = world("localization", 1);
        let mut agent = agent("localization", module, &scenes, |settings| {
            settings.n_targets = 16;
            settings.learning_rate = 1e-3;
            settings.module.units.fill(16);
        });
        let before = reward_on(&agent, &validation, &scenes);
        assert!(before < 0.12, "{module} starts at {before}");
        play(&mut agent, &mut train, &scenes, 20_000);
        let iou = [&train, &validation].map(|stream| reward_on(&agent, stream, &scenes));
        assert!(iou[0] > 0.35 && iou[1] > 0.2, "{module} ends at {iou:?}");
    }
}

/// Initial weights of touches are divided by the touch scale.
#[test]
fn an_agent_starts_as_the_same_function_on_any_scale() {
    let (mut stream, _, scenes) = world("mts-2way-stationary", 1);
    let first_loss = |scale: f32, stream: &mut Stream| {
        let mut agent = agent("mts-2way-stationary", "ems", &scenes, |settings| {
            settings.touch_scale = TouchScale(scale);
        });
        agent.play(stream, &scenes).unwrap().loss
    };
    let (one, fine) = (first_loss(1.0, &mut stream.clone()), first_loss(24.0, &mut stream));
    assert!((one - fine).abs() < 1e-5, "{one} and {fine}");
}

/// An agent learns from counterfactual targets as from rewards.
#[test]
fn agents_learn_from_counterfactual_targets() {
    let task = "sr-4way-quadrant";
    let reward_with = |n_targets| {
        let (mut train, validation, scenes) = world(task, 1);
        let mut agent = agent(task, "ems", &scenes, |settings| settings.n_targets = n_targets);
        play(&mut agent, &mut train, &scenes, 8000);
        reward_on(&agent, &validation, &scenes)
    };
    let (one, many) = (reward_with(1), reward_with(16));
    assert!(many > one + 0.1, "{one} with one, {many} with sixteen");
}

/// It is learned with less, and judged with everything.
#[test]
fn dropout_is_for_learning_alone() {
    let task = "localization";
    for module in ["ems", "conv-ems"] {
        let (train, validation, scenes) = world(task, 1);
        let with = |dropout| {
            let mut agent = agent(task, module, &scenes, |settings| {
                settings.module.units.fill(6);
                settings.dropout = dropout;
            });
            let before = reward_on(&agent, &validation, &scenes);
            play(&mut agent, &mut train.clone(), &scenes, 64);
            (before, agent.state().skill.module.parameters)
        };
        let ((of_all, all), (of_some, some)) = (with(0.0), with(0.5));
        assert_eq!(of_all, of_some, "{module} is evaluated on all features");
        assert_ne!(all, some, "{module} learns from the features that dropout keeps");
    }
}

#[test]
fn a_restored_agent_goes_on_with_the_same_bits() {
    for (task, module, k_b, k_f, n_targets, dropout) in [
        ("mts-2way-stationary", "partial-symm", 0, 1, 1, 0.0),
        ("mts-2way-stationary", "partial-symm", 1, 2, 1, 0.0),
        ("mts-2way-stationary", "partial-symm", 3, 3, 4, 0.3),
        ("localization", "partial-symm", 1, 2, 6, 0.5),
        ("localization", "conv-ems", 1, 3, 2, 0.5),
    ] {
        let (mut train, _, scenes) = world(task, 7);
        let make = || {
            agent(task, module, &scenes, |settings| {
                if module == "conv-ems" {
                    settings.module.units.fill(6);
                }
                (settings.k_b, settings.k_f, settings.n_targets) = (k_b, k_f, n_targets);
                settings.dropout = dropout;
            })
        };
        let mut whole = make();
        play(&mut whole, &mut train, &scenes, 400);
        let (state, snapshot) = (whole.state(), train.snapshot());
        play(&mut whole, &mut train, &scenes, 800);

        let (mut again, _, _) = world(task, 7);
        again.restore(&snapshot).unwrap();
        let mut second = make();
        assert!(second.restore(&state, &scenes));
        assert_eq!(second.state(), state);
        play(&mut second, &mut again, &scenes, 800);
        assert_eq!(second.state(), whole.state(), "{module} on {task}, k_b {k_b}, k_f {k_f}");
        assert_eq!(again.snapshot(), train.snapshot());
    }
}

#[test]
fn foreign_states_are_refused() {
    let (_, _, scenes) = world("sr-2way", 1);
    let mut ems = agent("sr-2way", "ems", &scenes, |_| {});
    let wide = agent("sr-2way", "ems", &scenes, |settings| settings.module.units = vec![9, 8, 8]);
    assert!(!ems.restore(&wide.state(), &scenes));
    let longer = agent("sr-2way", "ems", &scenes, |settings| settings.k_f = 3);
    assert!(!ems.restore(&longer.state(), &scenes));
    let taught_more = agent("sr-2way", "ems", &scenes, |settings| settings.n_targets = 2);
    assert!(!ems.restore(&taught_more.state(), &scenes));
    let mut of_other_screens = ems.state();
    of_other_screens.screens[0] = Some(scenes.n_screens() as u32);
    assert!(!ems.restore(&of_other_screens, &scenes));
}

#[test]
fn an_agent_of_no_numbers_is_not_sound() {
    let (_, _, scenes) = world("sr-2way", 1);
    let mut agent = agent("sr-2way", "ems", &scenes, |_| {});
    assert!(agent.is_finite());
    let mut state = agent.state();
    // The bias of the second map: nothing that is judged depends on it.
    *state.skill.module.parameters.last_mut().unwrap() = f32::NAN;
    assert!(agent.restore(&state, &scenes) && !agent.is_finite());
}

#[test]
fn a_diverging_agent_says_so() {
    let (mut train, _, scenes) = world("sr-2way", 1);
    let mut agent = agent("sr-2way", "ems", &scenes, |settings| settings.learning_rate = 1e30);
    let error = loop {
        if let Err(error) = agent.play(&mut train, &scenes) {
            break error;
        }
        assert!(agent.n_steps() < 10_000, "it never diverges");
    };
    assert!(matches!(error, PlayError::Diverged { .. }));
    assert!(error.to_string().contains("learning diverged"), "{error}");
}
