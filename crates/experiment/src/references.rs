//! Reference methods on the tasks of a stream: a module from scratch for each task, and one that is fine-tuned from
//! task to task. They have the agent's module size, seed, touches per task, evaluation steps and validation trials.

use crate::error::Result;
use crate::feature_scenes::FeatureScenes;
use crate::inputs::Inputs;
use crate::run::{RunFolder, World};
use crate::setup::RunSetup;
use serde::{Deserialize, Serialize};
use touchstream_agents::{AgentSettings, Evaluator, FeatureSource, Remap};
use touchstream_env::seed::RunSeed;
use touchstream_env::stimuli::Split;
use touchstream_env::stream::Stream;
use touchstream_modules::Skill;

/// Step of the task, validation reward, standard error.
pub type Point = (u64, f64, f64);

#[derive(Debug, Serialize, Deserialize)]
pub struct References {
    /// Hash of the identity of the run that the references belong to.
    identity: String,
    /// `[task][evaluation]`
    pub scratch: Vec<Vec<Point>>,
    pub fine_tuning: Vec<Vec<Point>>,
    /// `[i][j <= i]`: reward on task `j` after fine-tuning on task `i`.
    pub fine_tuning_after: Vec<Vec<f64>>,
}

impl References {
    /// Reads the references of an earlier start of the same run.
    pub fn read(folder: &RunFolder, identity: &str) -> Option<Self> {
        let json = folder.read(&folder.references()).ok()?;
        let found: Self = serde_json::from_slice(&json).ok()?;
        (found.identity == identity).then_some(found)
    }

    /// Trains the references; `None` if stopped before the end.
    pub fn train(
        setup: &RunSetup,
        inputs: &Inputs,
        identity: &str,
        must_stop: &dyn Fn() -> bool,
    ) -> Result<Option<Self>> {
        let trainer = Trainer { setup, world: setup.world(inputs)?, must_stop };
        let lessons = &setup.plan.lessons;
        let (mut fine_tuning, mut fine_tuning_after) = (Vec::<Vec<Point>>::new(), Vec::new());
        let mut agent = trainer.new_agent(&lessons[0].agent)?;
        let mut stream = trainer.world.train.clone();
        let first_switch = stream.n_switches();
        let mut parts: Vec<LessonPart> = Vec::new();
        for (lesson, plan) in lessons.iter().enumerate() {
            if lesson > 0 {
                let module = agent.skill().module().clone();
                agent.set_skill(Skill::alone(module), plan.agent.clone());
            }
            let first_row = fine_tuning.iter().map(Vec::len).sum();
            let start = agent.n_steps();
            let part = LessonPart { lesson, first_row, start, end: setup.plan.n_steps };
            let is_last = lesson + 1 == lessons.len();
            let is_over = |stream: &Stream| !is_last && stream.n_switches() - first_switch > lesson as u64;
            let Some(curve) = trainer.learn(&mut agent, &mut stream, &part, &is_over)? else {
                return Ok(None);
            };
            let mut after = Vec::new();
            for task in 0..=lesson {
                let Some((reward, _)) = trainer.evaluate(&agent, task, 0)? else { return Ok(None) };
                after.push(reward);
            }
            fine_tuning_after.push(after);
            fine_tuning.push(curve);
            parts.push(LessonPart { end: agent.n_steps(), ..part });
        }
        // On the first task, fine-tuning is training from scratch.
        let mut scratch = vec![fine_tuning[0].clone()];
        for (part, task) in parts.iter().zip(&setup.tasks).skip(1) {
            let mut stream = setup.stream_of(task, &inputs.stimuli, Split::Train, setup.plan.seed)?;
            let mut agent = trainer.new_agent(&lessons[part.lesson].agent)?;
            let Some(curve) = trainer.learn(&mut agent, &mut stream, part, &|_| false)? else {
                return Ok(None);
            };
            scratch.push(curve);
        }
        Ok(Some(Self { identity: identity.to_owned(), scratch, fine_tuning, fine_tuning_after }))
    }
}

struct Trainer<'a> {
    setup: &'a RunSetup,
    world: World<'a, FeatureScenes>,
    must_stop: &'a dyn Fn() -> bool,
}

/// One task of the stream: its rows in the run's curve, and its first and last step in the run.
struct LessonPart {
    lesson: usize,
    first_row: usize,
    start: u64,
    end: u64,
}

impl Trainer<'_> {
    fn new_agent(&self, settings: &AgentSettings) -> Result<Remap> {
        let seed = RunSeed(self.setup.plan.seed);
        Ok(Remap::new(settings.clone(), self.world.scenes.shape(), seed)?)
    }

    /// Trains to the end of the task or until `is_over`, evaluating at the same steps and on the same trials as the
    /// run's agent.
    fn learn(
        &self,
        agent: &mut Remap,
        stream: &mut Stream,
        part: &LessonPart,
        is_over: &dyn Fn(&Stream) -> bool,
    ) -> Result<Option<Vec<Point>>> {
        let every = self.setup.plan.evaluate_every;
        let first_step = agent.n_steps();
        let point = |agent: &Remap, step: u64, idx: usize| {
            let found = self.evaluate(agent, part.lesson, (part.first_row + idx) as u64)?;
            Ok::<Option<Point>, crate::Error>(found.map(|(reward, reward_se)| (step, reward, reward_se)))
        };
        let Some(first) = point(agent, 0, 0)? else { return Ok(None) };
        let mut curve = vec![first];
        let mut now = part.start;
        while now < part.end {
            if (self.must_stop)() {
                return Ok(None);
            }
            let before = now;
            agent.play(stream, self.world.scenes)?;
            let step = agent.n_steps() - first_step;
            now = part.start + step;
            let is_over = is_over(stream);
            if before / every < now / every || now >= part.end || is_over {
                let Some(point) = point(agent, step, curve.len())? else { return Ok(None) };
                curve.push(point);
            }
            if is_over {
                break;
            }
        }
        Ok(Some(curve))
    }

    /// Mean reward per trial on a task's validation split, and its standard error; `None` if asked to stop.
    fn evaluate(&self, agent: &Remap, lesson: usize, number: u64) -> Result<Option<(f64, f64)>> {
        let plan = &self.setup.plan;
        let mut validation = self.world.validations[lesson].clone();
        let n_trials = plan.evaluation_trials;
        validation.seek(number * n_trials).expect("evaluations stay far from a stream's last possible trial");
        let mut evaluator = Evaluator::new(agent.skill(), agent.settings(), RunSeed(plan.seed));
        let policy = &plan.lessons[lesson].agent.policy;
        let scenes = self.world.scenes;
        let (skill, must_stop) = (agent.skill(), self.must_stop);
        let found = evaluator.evaluate_unless(must_stop, skill, policy, &mut validation, scenes, n_trials)?;
        Ok(found.map(|found| (found.reward, found.reward_se)))
    }
}
