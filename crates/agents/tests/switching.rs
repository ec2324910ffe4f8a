//! Agents that go on to another task with what they know.

#![allow(clippy::unwrap_used)]

mod pixel_scenes;

use pixel_scenes::{PixelScenes, world};
use touchstream_agents::{AgentSettings, CandidateTouches, Evaluator, FeatureSource, Remap, TouchScale};
use touchstream_env::seed::RunSeed;
use touchstream_env::stream::Stream;
use touchstream_env::task::find_task;
use touchstream_modules::Skill;
use touchstream_modules::composite::{Voting, VotingSettings, voter_shares};
use touchstream_modules::module::{SceneHistory, ScreenHistory};

const TASK: &str = "sr-2way";

fn settings() -> AgentSettings {
    AgentSettings::for_task("ems", &find_task(TASK).unwrap()).unwrap()
}

/// An agent that has learned the task.
fn trained(train: &mut Stream, scenes: &PixelScenes) -> Remap {
    let mut agent = Remap::new(settings(), scenes.shape(), RunSeed(1)).unwrap();
    play(&mut agent, train, scenes, 8000);
    agent
}

fn play(agent: &mut Remap, train: &mut Stream, scenes: &PixelScenes, n_steps: u64) {
    let end = agent.n_steps() + n_steps;
    while agent.n_steps() < end {
        agent.play(train, scenes).unwrap();
    }
}

fn reward(agent: &Remap, validation: &Stream, scenes: &PixelScenes) -> f64 {
    let settings = agent.settings();
    let mut evaluator = Evaluator::new(agent.skill(), settings, RunSeed(1));
    let mut validation = validation.clone();
    evaluator.evaluate(agent.skill(), &settings.policy, &mut validation, scenes, 300).unwrap().reward
}

/// One screen, nothing before it.
#[derive(Clone, Copy)]
struct One<'a> {
    scenes: &'a PixelScenes,
    zeros: &'a [f32],
    screen: u32,
}

impl SceneHistory for One<'_> {
    fn scene(&self, step: usize, lag: usize) -> &[f32] {
        self.screen(step, lag).map_or(self.zeros, |screen| self.scenes.scene(screen as u32))
    }
    fn copy_map(&self, _step: usize, out: &mut [f32]) {
        self.scenes.copy_map(self.screen, out);
    }
}

impl ScreenHistory for One<'_> {
    fn screen(&self, _step: usize, lag: usize) -> Option<usize> {
        (lag == 0).then_some(self.screen as usize)
    }
}

/// The first map's logits of a screen, on many touches.
fn logits(skill: &Skill, scenes: &PixelScenes, screen: u32) -> Vec<f32> {
    let mut candidates = CandidateTouches::new(400, TouchScale::ONE);
    candidates.draw(RunSeed(3), touchstream_env::seed::StreamName::new("test"), 0);
    let zeros = vec![0.0; scenes.shape().scene_len];
    let mut memory = skill.memory(400, 1);
    skill.precompute_visual(&One { scenes, zeros: &zeros, screen }, &mut memory);
    skill.predict(0, &[0.0; 2], candidates.centred(), &mut memory);
    memory.logits(0).to_vec()
}

fn correlation(a: &[f32], b: &[f32]) -> f64 {
    let mean = |x: &[f32]| x.iter().map(|&x| f64::from(x)).sum::<f64>() / x.len() as f64;
    let (mean_a, mean_b) = (mean(a), mean(b));
    let sum = |x: &[f32], mx: f64, y: &[f32], my: f64| {
        x.iter().zip(y).map(|(&x, &y)| (f64::from(x) - mx) * (f64::from(y) - my)).sum::<f64>()
    };
    sum(a, mean_a, b, mean_b) / (sum(a, mean_a, a, mean_a) * sum(b, mean_b, b, mean_b)).sqrt()
}

/// A fresh controller ranks touches as the old module does.
#[test]
fn a_fresh_composite_ranks_touches_as_the_old_module_does() {
    let (mut train, _, scenes) = world(TASK, 1);
    let agent = trained(&mut train, &scenes);
    for voting in [Voting::Layer, Voting::Unit] {
        let mut composed = agent.clone();
        composed.compose(settings(), VotingSettings::of(voting), &scenes);
        let correlations: Vec<f64> = (0..20)
            .map(|screen| {
                let (new, old) =
                    (logits(composed.skill(), &scenes, screen), logits(agent.skill(), &scenes, screen));
                correlation(&new, &old)
            })
            .collect();
        let mean = correlations.iter().sum::<f64>() / 20.0;
        assert!(mean > 0.9, "{voting:?}: {correlations:?}");
    }
}

/// The same task again after a cue: reward is back at once, and the old module is what is used.
#[test]
fn after_no_switch_the_old_module_takes_over() {
    for voting in [Voting::Layer, Voting::Unit] {
        let (mut train, validation, scenes) = world(TASK, 1);
        let mut agent = trained(&mut train, &scenes);
        let before = reward(&agent, &validation, &scenes);
        let old = agent.skill().module().parameters().to_vec();
        agent.compose(settings(), VotingSettings::of(voting), &scenes);
        play(&mut agent, &mut train, &scenes, 400);
        let reuse = |agent: &mut Remap| {
            let shares = agent.take_shares().unwrap();
            let shares = voter_shares(&shares, agent.skill().controller().unwrap().votes());
            let of_stage = shares.iter().map(|shares| 1.0 - shares.last().unwrap());
            of_stage.sum::<f64>() / shares.len() as f64
        };
        let at_first = reuse(&mut agent);
        let soon = reward(&agent, &validation, &scenes);
        assert!(soon > before - 0.12, "{voting:?}: {before}, and {soon} after 400 steps");
        play(&mut agent, &mut train, &scenes, 4000);
        let later = reuse(&mut agent);
        assert!(later > at_first, "{voting:?}: reuse {at_first}, later {later}");
        assert_eq!(agent.skill().controller().unwrap().old()[0].parameters(), old, "it was frozen");
    }
}

/// After any number of switches, old modules are unchanged and a saved state restores everything.
#[test]
fn a_restored_composite_continues_with_the_same_bits() {
    for voting in [Voting::Layer, Voting::Unit] {
        let (mut train, _, scenes) = world(TASK, 7);
        let mut whole = Remap::new(settings(), scenes.shape(), RunSeed(1)).unwrap();
        let mut frozen = Vec::new();
        for _ in 0..3 {
            play(&mut whole, &mut train, &scenes, 200);
            frozen.push(whole.skill().module().parameters().to_vec());
            whole.compose(settings(), VotingSettings::of(voting), &scenes);
        }
        play(&mut whole, &mut train, &scenes, 200);
        let (state, snapshot) = (whole.state(), train.snapshot());
        play(&mut whole, &mut train, &scenes, 200);
        assert_eq!(whole.state().skill.old, frozen);

        let (mut again, _, _) = world(TASK, 7);
        again.restore(&snapshot).unwrap();
        let mut second = Remap::new(settings(), scenes.shape(), RunSeed(1)).unwrap();
        assert!(second.restore(&state, &scenes));
        assert_eq!(second.state(), state);
        play(&mut second, &mut again, &scenes, 200);
        assert_eq!(second.state(), whole.state());

        let mut damaged = state.clone();
        damaged.skill.controller.as_mut().unwrap().votes.parameters.pop();
        assert!(!second.restore(&damaged, &scenes));
        damaged = state.clone();
        damaged.skill.old[1].pop();
        assert!(!second.restore(&damaged, &scenes));
        damaged = state;
        damaged.skill.controller = None;
        assert!(!second.restore(&damaged, &scenes));
    }
}
