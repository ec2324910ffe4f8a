//! Reference methods on the tasks of a stream: a module from scratch for each task, and one that is fine-tuned from task to
//! task. They have the agent's module size, seed, touches per task and evaluation steps, and are kept in memory.

use crate::error::Result;
use crate::feature_scenes::FeatureScenes;
use crate::inputs::Inputs;
use crate::run::World;
use crate::setup::RunSetup;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, Ordering};
use touchstream_agents::{AgentSettings, Evaluator, FeatureSource, Remap};
use touchstream_env::seed::RunSeed;
use touchstream_env::stimuli::Split;
use touchstream_env::stream::Stream;
use touchstream_modules::Skill;

/// Step of the task, validation reward, standard error.
pub type Point = (u64, f64, f64);

#[derive(Debug, Serialize, Deserialize)]
pub struct References {
    /// A curve per task.
    pub scratch: Vec<Vec<Point>>,
    pub fine_tuning: Vec<Vec<Point>>,
    /// `[i][j <= i]`: rewards on task `j` after fine-tuning on task `i`.
    pub fine_tuning_after: Vec<Vec<f64>>,
}

impl References {
    /// Trains them; `None` if asked to stop before the end.
    pub fn train(setup: &RunSetup, inputs: &Inputs, must_stop: &AtomicBool) -> Result<Option<Self>> {
        let trainer = Trainer { setup, world: setup.world(inputs)?, must_stop };
        let lessons = &setup.plan.lessons;
        let (mut fine_tuning, mut fine_tuning_after) = (Vec::new(), Vec::new());
        let mut agent = trainer.new_agent(&lessons[0].agent)?;
        let mut stream = trainer.world.train.clone();
        let mut starts = vec![0];
        for (idx, lesson) in lessons.iter().enumerate() {
            if idx > 0 {
                let module = agent.skill().module().clone();
                agent.set_skill(Skill::alone(module), lesson.agent.clone());
            }
            let steps = (agent.n_steps(), setup.plan.n_steps);
            let Some(curve) = trainer.learn(&mut agent, &mut stream, idx, steps)? else { return Ok(None) };
            let earlier = (0..idx).map(|earlier| Ok(trainer.evaluate(&agent, earlier, 0)?.0));
            let own = curve.last().map(|point| Ok(point.1));
            fine_tuning_after.push(earlier.chain(own).collect::<Result<Vec<f64>>>()?);
            fine_tuning.push(curve);
            starts.push(agent.n_steps());
        }
        let mut scratch = Vec::new();
        for (idx, (lesson, task)) in lessons.iter().zip(&setup.tasks).enumerate() {
            let mut stream = setup.stream_of(task, &inputs.stimuli, Split::Train, setup.plan.seed)?;
            let mut agent = trainer.new_agent(&lesson.agent)?;
            let steps = (starts[idx], starts[idx + 1]);
            let Some(curve) = trainer.learn(&mut agent, &mut stream, idx, steps)? else { return Ok(None) };
            scratch.push(curve);
        }
        Ok(Some(Self { scratch, fine_tuning, fine_tuning_after }))
    }
}

struct Trainer<'a> {
    setup: &'a RunSetup,
    world: World<'a, FeatureScenes>,
    must_stop: &'a AtomicBool,
}

impl Trainer<'_> {
    fn new_agent(&self, settings: &AgentSettings) -> Result<Remap> {
        let seed = RunSeed(self.setup.plan.seed);
        Ok(Remap::new(settings.clone(), self.world.scenes.shape(), seed)?)
    }

    /// Learns from step `start` of the run up to a switch or to step `end`, and is evaluated when the run's agent is.
    fn learn(
        &self,
        agent: &mut Remap,
        stream: &mut Stream,
        lesson: usize,
        (start, end): (u64, u64),
    ) -> Result<Option<Vec<Point>>> {
        let every = self.setup.plan.evaluate_every;
        let (first_step, first_switch) = (agent.n_steps(), stream.n_switches());
        let point = |agent: &Remap, step: u64, number: u64| {
            let (reward, reward_se) = self.evaluate(agent, lesson, number)?;
            Ok::<Point, crate::Error>((step, reward, reward_se))
        };
        let mut curve = vec![point(agent, 0, 0)?];
        let mut step = 0;
        while start + step < end && stream.n_switches() == first_switch {
            if self.must_stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let before = start + step;
            agent.play(stream, self.world.scenes)?;
            step = agent.n_steps() - first_step;
            let now = start + step;
            if before / every < now / every || now >= end || stream.n_switches() > first_switch {
                curve.push(point(agent, step, curve.len() as u64)?);
            }
        }
        Ok(Some(curve))
    }

    /// Mean reward per trial on a task's validation split, and its standard error.
    fn evaluate(&self, agent: &Remap, lesson: usize, number: u64) -> Result<(f64, f64)> {
        let plan = &self.setup.plan;
        let mut validation = self.world.validations[lesson].clone();
        let n_trials = plan.evaluation_trials;
        validation.seek(number * n_trials).expect("evaluations stay far from a stream's last possible trial");
        let mut evaluator = Evaluator::new(agent.skill(), agent.settings(), RunSeed(plan.seed));
        let policy = &plan.lessons[lesson].agent.policy;
        let scenes = self.world.scenes;
        let found = evaluator.evaluate(agent.skill(), policy, &mut validation, scenes, n_trials)?;
        Ok((found.reward, found.reward_se))
    }
}
