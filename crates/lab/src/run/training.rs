//! Training: play, learn, evaluate, write down, from the first step or from a checkpoint.

use crate::curve::{CurveRow, EventFile, csv_text, parquet_bytes};
use crate::maps::{Example, MapSnapshot, choose_examples, map_strip};
use crate::run::checkpoint::{Checkpoint, Rest, Tally};
use crate::run::error::RunError;
use crate::run::folder::RunFolder;
use crate::run::plan::{RunIdentity, RunPlan};
use crate::run::status::{RunStatus, Stage};
use crate::run::weights_file::{WeightsFacts, write_weights};
use std::fs::File;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use touchstream_agent::{Evaluator, PlayError, Remap, Scenes};
use touchstream_env::seed::RunSeed;
use touchstream_env::stream::Stream;

/// What an agent is trained in.
pub struct World<'a, S> {
    /// What it learns from, at its first step.
    pub train: Stream,
    /// What it is evaluated on.
    pub validation: Stream,
    /// Features of all screens of both.
    pub scenes: &'a S,
}

/// How far a run is, for a progress bar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// Steps learned.
    pub n_steps: u64,
    /// Mean reward of trials lately.
    pub recent_reward: Option<f64>,
    /// Reward of the last evaluation.
    pub validation_reward: Option<f64>,
}

/// How training ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// At the last step.
    Finished,
    /// Before it, because somebody asked to stop; a checkpoint was written.
    Interrupted,
}

/// A run under way.
pub struct Training<'a, S> {
    folder: RunFolder,
    /// Keeps others out of the folder.
    _claim: File,
    identity: RunIdentity,
    world: World<'a, S>,
    agent: Remap,
    evaluator: Evaluator,
    examples: Vec<Example>,
    rows: Vec<CurveRow>,
    maps: Vec<MapSnapshot>,
    tally: Tally,
    recent: Recent,
    events: Option<EventFile>,
    last_checkpoint: Instant,
    checkpoint_every: Duration,
}

/// Checkpoints are written when a row of the curve is, but not more often than this, unless one says otherwise.
pub const CHECKPOINT_EVERY: Duration = Duration::from_secs(10);

impl<'a, S: Scenes> Training<'a, S> {
    /// Takes a folder and starts the run in it, or goes on from its last checkpoint.
    pub fn open(folder: RunFolder, identity: RunIdentity, world: World<'a, S>) -> Result<Self, RunError> {
        let RunPlan { agent, seed, n_map_examples, .. } = identity.plan.clone();
        let seed = RunSeed(seed);
        let n_candidates = agent.n_candidates;
        let agent = Remap::new(agent, world.scenes.scene_len(), seed)?;
        let claim = folder.claim()?;
        folder.adopt(&identity)?;
        let mut training = Self {
            evaluator: Evaluator::new(agent.module(), n_candidates, seed),
            examples: choose_examples(&world.validation, world.scenes, n_map_examples)?,
            _claim: claim,
            folder,
            identity,
            world,
            agent,
            rows: Vec::new(),
            maps: Vec::new(),
            tally: Tally::default(),
            recent: Recent::default(),
            events: None,
            last_checkpoint: Instant::now(),
            checkpoint_every: CHECKPOINT_EVERY,
        };
        if let Some(checkpoint) = Checkpoint::read(&training.folder.checkpoint())? {
            training.restore(checkpoint)?;
        }
        Ok(training)
    }

    /// Writes checkpoints no more often than this. What a run ends in does not depend on it.
    pub fn checkpoint_every(mut self, time: Duration) -> Self {
        self.checkpoint_every = time;
        self
    }

    /// Steps learned.
    pub fn n_steps(&self) -> u64 {
        self.agent.n_steps()
    }

    /// The curve so far.
    pub fn rows(&self) -> &[CurveRow] {
        &self.rows
    }

    /// The agent.
    pub fn agent(&self) -> &Remap {
        &self.agent
    }

    /// The trials whose maps are kept.
    pub fn examples(&self) -> &[Example] {
        &self.examples
    }

    /// The maps that were kept.
    pub fn maps(&self) -> &[MapSnapshot] {
        &self.maps
    }

    /// Trains to the last step, or until `must_stop` says so.
    pub fn run(
        &mut self,
        must_stop: &dyn Fn() -> bool,
        watch: &mut dyn FnMut(Moment),
    ) -> Result<Ending, RunError> {
        if self.agent.n_steps() >= self.plan().n_steps && self.is_finished()? {
            return Ok(Ending::Finished);
        }
        match self.train(must_stop, watch) {
            Ok(Ending::Finished) => {
                self.finish()?;
                Ok(Ending::Finished)
            }
            Ok(Ending::Interrupted) => {
                self.write_checkpoint()?;
                self.write_status(Stage::Interrupted, None)?;
                Ok(Ending::Interrupted)
            }
            Err(error) => {
                // The run's own failure matters more than a status that cannot be written.
                let _ = self.write_status(Stage::Failed, Some(error.to_string()));
                Err(error)
            }
        }
    }

    fn train(
        &mut self,
        must_stop: &dyn Fn() -> bool,
        watch: &mut dyn FnMut(Moment),
    ) -> Result<Ending, RunError> {
        self.write_status(Stage::Running, None)?;
        if self.rows.is_empty() {
            self.look_at_maps(None);
            self.evaluate()?;
        }
        while self.agent.n_steps() < self.plan().n_steps {
            let before = self.agent.n_steps();
            let played = self.agent.play(&mut self.world.train, self.world.scenes)?;
            self.tally.reward_sum += played.reward_sum;
            self.tally.n_trials += played.n_trials;
            self.tally.loss_sum += f64::from(played.loss);
            self.tally.n_updates += 1;
            self.recent.add(played.reward_sum, played.n_trials);
            self.look_at_maps(Some(before));
            let now = self.agent.n_steps();
            let every = self.plan().evaluate_every;
            let is_time = before / every < now / every || now >= self.plan().n_steps;
            if is_time {
                self.evaluate()?;
                if self.last_checkpoint.elapsed() >= self.checkpoint_every {
                    self.write_checkpoint()?;
                    self.write_status(Stage::Running, None)?;
                }
            }
            if is_time || before / WATCH_EVERY < now / WATCH_EVERY {
                watch(self.moment());
            }
            if must_stop() && now < self.plan().n_steps {
                return Ok(Ending::Interrupted);
            }
        }
        Ok(Ending::Finished)
    }

    /// Whether everything was written down already.
    fn is_finished(&self) -> Result<bool, RunError> {
        Ok(self.folder.read_status()?.is_some_and(|status| status.stage == Stage::Finished))
    }

    fn plan(&self) -> &RunPlan {
        &self.identity.plan
    }

    fn moment(&self) -> Moment {
        Moment {
            n_steps: self.agent.n_steps(),
            recent_reward: self.recent.mean(),
            validation_reward: self.rows.last().map(|row| row.validation.reward),
        }
    }

    /// Keeps maps if one of the planned steps has just been passed, or at the start.
    fn look_at_maps(&mut self, before: Option<u64>) {
        let now = self.agent.n_steps();
        let passed = |step: &u64| before.map_or(*step == 0, |before| before < *step && *step <= now);
        if !self.examples.is_empty() && self.plan().map_steps.iter().any(passed) {
            let snapshot = MapSnapshot::take(now, self.agent.module(), &self.examples, self.world.scenes);
            self.maps.push(snapshot);
        }
    }

    /// Adds a row to the curve.
    fn evaluate(&mut self) -> Result<(), RunError> {
        let plan = &self.identity.plan;
        let first_trial = self.rows.len() as u64 * plan.evaluation_trials;
        let validation = &mut self.world.validation;
        validation.seek(first_trial).expect("evaluations stay far from a stream's last possible trial");
        let evaluation = self.evaluator.evaluate(
            self.agent.module(),
            &plan.agent.policy,
            validation,
            self.world.scenes,
            plan.evaluation_trials,
        )?;
        // Nothing of a module that predicts no numbers is written down: what is there stays good.
        if !evaluation.cross_entropy.is_finite() {
            let (loss, n_steps) = (evaluation.cross_entropy as f32, self.agent.n_steps());
            return Err(PlayError::Diverged { loss, n_steps }.into());
        }
        let Tally { reward_sum, n_trials, loss_sum, n_updates } = std::mem::take(&mut self.tally);
        let mean = |sum: f64, n: u64| (n > 0).then(|| sum / n as f64);
        let row = CurveRow {
            step: self.agent.n_steps(),
            train_reward: mean(reward_sum, n_trials),
            train_trials: n_trials,
            train_loss: mean(loss_sum, n_updates),
            validation: evaluation,
        };
        self.rows.push(row);
        self.add_event(&row)?;
        self.folder.write(&self.folder.curve_csv(), csv_text(&self.rows).as_bytes())
    }

    fn add_event(&mut self, row: &CurveRow) -> Result<(), RunError> {
        let now = unix_secs();
        let in_folder = RunError::of_file(self.folder.path());
        if self.events.is_none() {
            self.events = Some(EventFile::begin(self.folder.path(), now, row.step).map_err(&in_folder)?);
        }
        self.events.as_mut().map_or(Ok(()), |events| events.add(now, row)).map_err(in_folder)
    }

    fn write_checkpoint(&mut self) -> Result<(), RunError> {
        let checkpoint = Checkpoint {
            agent: self.agent.state(),
            rest: Rest {
                identity: self.identity.hash(),
                stream: self.world.train.snapshot(),
                rows: self.rows.clone(),
                tally: self.tally,
            },
            maps: self.maps.clone(),
        };
        checkpoint.write(&self.folder.checkpoint())?;
        self.last_checkpoint = Instant::now();
        Ok(())
    }

    fn restore(&mut self, checkpoint: Checkpoint) -> Result<(), RunError> {
        let path = self.folder.checkpoint();
        let Checkpoint { agent, rest, maps } = checkpoint;
        let foreign = || RunError::damaged(&path, "it is of another run; remove it to start anew");
        let map_len = crate::maps::MAP_SIDE.pow(2) * self.examples.len();
        if rest.identity != self.identity.hash()
            || maps.iter().any(|snapshot| snapshot.levels.len() != map_len)
            || !self.agent.restore(&agent, self.world.scenes.n_screens())
        {
            return Err(foreign());
        }
        self.world
            .train
            .restore(&rest.stream)
            .map_err(|error| RunError::damaged(&path, error.to_string()))?;
        (self.rows, self.maps, self.tally) = (rest.rows, maps, rest.tally);
        Ok(())
    }

    fn write_status(&self, stage: Stage, reason: Option<String>) -> Result<(), RunError> {
        self.folder.write_status(&RunStatus {
            stage,
            reason,
            n_steps: self.agent.n_steps(),
            of_steps: self.plan().n_steps,
            validation_reward: self.rows.last().map(|row| row.validation.reward),
            identity: self.identity.hash(),
        })
    }

    /// Writes everything that a finished run has; the checkpoint stays, so that nothing is ever done twice.
    fn finish(&mut self) -> Result<(), RunError> {
        let folder = self.folder.clone();
        let facts = WeightsFacts {
            agent: self.plan().agent.clone(),
            scene_len: self.world.scenes.scene_len(),
            task_id: self.world.train.bound_task().task().id().to_owned(),
            n_steps: self.agent.n_steps(),
            data_hash: self.identity.data_hash.clone(),
            encoder_hash: self.identity.encoder_hash.clone(),
            calibration_hash: self.identity.calibration_hash.clone(),
            program: self.identity.program.clone(),
        };
        write_weights(&folder.weights(), self.agent.module(), &facts)?;
        folder.write(&folder.curve_csv(), csv_text(&self.rows).as_bytes())?;
        let table = parquet_bytes(&self.rows)
            .map_err(|error| RunError::damaged(&folder.curve_parquet(), error.to_string()))?;
        folder.write(&folder.curve_parquet(), &table)?;
        if !self.examples.is_empty() {
            let strip = map_strip(&self.examples, &self.maps).to_png();
            let strip = strip.map_err(|error| RunError::Picture(error.to_string()))?;
            folder.write(&folder.maps_png(), &strip)?;
        }
        self.write_checkpoint()?;
        self.write_status(Stage::Finished, None)
    }
}

/// Steps between two looks of a progress bar.
const WATCH_EVERY: u64 = 512;

/// The mean reward of about the last 200 trials.
#[derive(Default)]
struct Recent {
    mean: f64,
    weight: f64,
}

impl Recent {
    fn add(&mut self, reward_sum: f64, n_trials: u64) {
        let keep = (-(n_trials as f64) / 200.0).exp();
        self.mean = keep * self.mean + reward_sum;
        self.weight = keep * self.weight + n_trials as f64;
    }

    fn mean(&self) -> Option<f64> {
        (self.weight > 0.0).then(|| self.mean / self.weight)
    }
}

fn unix_secs() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}
