//! Training: play, learn, evaluate and record, from the first step or from a checkpoint.

mod finish;

use crate::curve::{CurveRow, EventFile, VoteRow, csv_line, csv_text, reuse};
use crate::error::{Context, Error, Result};
use crate::manifest::Manifest;
use crate::maps::{Example, MapSnapshot, Outlook, choose_examples};
use crate::run::checkpoint::{Checkpoint, Rest, Tally};
use crate::run::folder::RunFolder;
use crate::run::plan::{RunIdentity, RunPlan};
use crate::run::status::{RunStatus, Stage};
use crate::run::taken_folder::{MovedRun, TakenFolder};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use touchstream_agents::{Evaluator, FeatureSource, PlayError, Remap};
use touchstream_env::seed::RunSeed;
use touchstream_env::stream::Stream;

pub struct World<'a, S> {
    /// The stream to learn from, at its first step.
    pub train: Stream,
    /// The streams for evaluation, one per task.
    pub validations: Vec<Stream>,
    /// Features of all screens of all streams.
    pub scenes: &'a S,
}

/// The progress of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    pub n_steps: u64,
    /// Index of the current task, from 0.
    pub lesson: usize,
    /// Mean reward of recent trials.
    pub recent_reward: Option<f64>,
    /// Reward of the last evaluation.
    pub validation_reward: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Finished,
    /// A stop was requested; a checkpoint was written.
    Interrupted,
}

pub struct Training<'a, S> {
    folder: RunFolder,
    taken: TakenFolder,
    identity: RunIdentity,
    world: World<'a, S>,
    agent: Remap,
    /// Steps of the agent and switches of the stream before the run began.
    first_step: u64,
    first_switch: u64,
    /// Index of the current task, from 0, and the step at which it began.
    lesson: usize,
    lesson_start: u64,
    evaluator: Evaluator,
    examples: Vec<Vec<Example>>,
    rows: Vec<CurveRow>,
    votes: Vec<VoteRow>,
    maps: Vec<MapSnapshot>,
    /// `[i][j <= i]`: rewards on task `j` after learning task `i`.
    after: Vec<Vec<f64>>,
    tally: Tally,
    recent: Recent,
    events: Option<EventFile>,
    /// `curve.csv`, open for appending.
    curve: Option<File>,
    is_evaluating: bool,
    /// Whether the evaluation after the last step was interrupted.
    is_evaluation_due: bool,
    last_checkpoint: Instant,
    checkpoint_took: Duration,
    checkpoint_every: Duration,
}

/// Checkpoints are written after evaluations, by default not more often than this.
pub const CHECKPOINT_EVERY: Duration = Duration::from_secs(10);

impl<'a, S: FeatureSource> Training<'a, S> {
    /// Takes a folder and begins the run in it, or resumes from its last checkpoint.
    pub fn open(folder: RunFolder, identity: RunIdentity, world: World<'a, S>) -> Result<Self> {
        let agent = identity.plan.agent().clone();
        let agent = Remap::new(agent, world.scenes.shape(), RunSeed(identity.plan.seed))?;
        Self::open_with(folder, identity, world, agent)
    }

    /// The same with an agent that has already learned; the identity's `origin` names what.
    pub fn open_with(
        folder: RunFolder,
        identity: RunIdentity,
        world: World<'a, S>,
        agent: Remap,
    ) -> Result<Self> {
        let RunPlan { seed, n_map_examples, .. } = identity.plan;
        let outlook = Outlook { scale: agent.settings().touch_scale, k_f: agent.settings().k_f };
        let examples_of = |validation| choose_examples(validation, world.scenes, outlook, n_map_examples);
        let examples = world.validations.iter().map(examples_of).collect::<Result<Vec<_>, _>>()?;
        let taken = TakenFolder::take(&folder, &identity)?;
        let mut training = Self {
            evaluator: Evaluator::new(agent.skill(), agent.settings(), RunSeed(seed)),
            examples,
            first_step: agent.n_steps(),
            first_switch: world.train.n_switches(),
            lesson: 0,
            lesson_start: 0,
            taken,
            folder,
            identity,
            world,
            agent,
            rows: Vec::new(),
            votes: Vec::new(),
            maps: Vec::new(),
            after: Vec::new(),
            tally: Tally::default(),
            recent: Recent::default(),
            events: None,
            curve: None,
            is_evaluating: false,
            is_evaluation_due: false,
            last_checkpoint: Instant::now(),
            checkpoint_took: Duration::ZERO,
            checkpoint_every: CHECKPOINT_EVERY,
        };
        if let Some(checkpoint) = Checkpoint::read(&training.folder.checkpoint())? {
            training.restore(checkpoint)?;
        }
        Ok(training)
    }

    /// Writing checkpoints, which are large for large modules, takes at most a thirtieth of the time.
    fn pause_between_checkpoints(&self) -> Duration {
        match self.checkpoint_every.is_zero() {
            true => Duration::ZERO,
            false => self.checkpoint_every.max(30 * self.checkpoint_took),
        }
    }

    /// Sets the minimum pause between checkpoints; it does not affect the result.
    pub fn checkpoint_every(mut self, time: Duration) -> Self {
        self.checkpoint_every = time;
        self
    }

    pub fn n_steps(&self) -> u64 {
        self.agent.n_steps() - self.first_step
    }

    /// Whether the run was finished before, and every file of it is intact.
    pub fn is_finished(&self) -> bool {
        self.taken.is_finished
    }

    /// The run that was in the folder, if it was damaged.
    pub fn moved(&self) -> Option<&MovedRun> {
        self.taken.moved.as_ref()
    }

    pub fn rows(&self) -> &[CurveRow] {
        &self.rows
    }

    pub fn votes(&self) -> &[VoteRow] {
        &self.votes
    }

    /// The stream that a lesson is evaluated on; lessons count from 0.
    pub fn validation(&self, lesson: usize) -> &Stream {
        &self.world.validations[lesson]
    }

    /// `[i][j <= i]`: validation rewards on task `j` after learning task `i`.
    pub fn rewards_after(&self) -> &[Vec<f64>] {
        &self.after
    }

    pub fn agent(&self) -> &Remap {
        &self.agent
    }

    /// The trials of a task whose maps are kept, and these maps; tasks count from 1.
    pub fn maps(&self, lesson: u64) -> (&[Example], Vec<MapSnapshot>) {
        let snapshots = self.maps.iter().filter(|snapshot| snapshot.lesson == lesson).cloned();
        (&self.examples[lesson as usize - 1], snapshots.collect())
    }

    /// Trains to the last step, or until `must_stop` returns true.
    pub fn run(&mut self, must_stop: &dyn Fn() -> bool, watch: &mut dyn FnMut(Moment)) -> Result<Ending> {
        if self.is_finished() {
            return Ok(Ending::Finished);
        }
        Manifest::remove(self.folder.path())?;
        self.train_and_write(must_stop, watch).inspect_err(|error| {
            // The run's failure matters more than a status that cannot be written.
            let _ = self.write_status(Stage::Failed, Some(error.text()));
        })
    }

    fn train_and_write(
        &mut self,
        must_stop: &dyn Fn() -> bool,
        watch: &mut dyn FnMut(Moment),
    ) -> Result<Ending> {
        if self.train(must_stop, watch)? == Ending::Finished && self.finish(must_stop)? == Ending::Finished {
            return Ok(Ending::Finished);
        }
        // In the middle of an evaluation, the last checkpoint is the state to resume from.
        if !self.is_evaluating {
            self.write_checkpoint()?;
        }
        self.write_status(Stage::Interrupted, None)?;
        Ok(Ending::Interrupted)
    }

    fn train(&mut self, must_stop: &dyn Fn() -> bool, watch: &mut dyn FnMut(Moment)) -> Result<Ending> {
        self.write_status(Stage::Running, None)?;
        if self.rows.is_empty() {
            self.look_at_maps(None);
            if self.evaluate(must_stop)? == Ending::Interrupted {
                return Ok(Ending::Interrupted);
            }
        }
        while self.is_evaluation_due || self.n_steps() < self.plan().n_steps {
            let before = self.n_steps();
            let was_due = std::mem::take(&mut self.is_evaluation_due);
            if !was_due {
                self.play()?;
                self.look_at_maps(Some(before));
            }
            let now = self.n_steps();
            let every = self.plan().evaluate_every;
            let is_switching = self.is_cued();
            let is_time =
                was_due || before / every < now / every || now >= self.plan().n_steps || is_switching;
            if is_time && self.evaluate(must_stop)? == Ending::Interrupted {
                // Nothing has changed since the steps before it.
                (self.is_evaluation_due, self.is_evaluating) = (true, false);
                return Ok(Ending::Interrupted);
            }
            if is_switching || now >= self.plan().n_steps {
                self.keep_final_maps();
            }
            if is_switching && self.switch(must_stop)? == Ending::Interrupted {
                return Ok(Ending::Interrupted);
            }
            if is_time && self.last_checkpoint.elapsed() >= self.pause_between_checkpoints() {
                self.write_checkpoint()?;
                self.write_status(Stage::Running, None)?;
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

    /// Plays and learns until the next update.
    fn play(&mut self) -> Result<()> {
        let played = self.agent.play(&mut self.world.train, self.world.scenes)?;
        self.tally.reward_sum += played.reward_sum;
        self.tally.n_trials += played.n_trials;
        self.tally.loss_sum += f64::from(played.loss);
        self.tally.n_updates += 1;
        self.recent.add(played.reward_sum, played.n_trials);
        Ok(())
    }

    /// Whether the stream has switched to the next task.
    fn is_cued(&self) -> bool {
        let lesson = self.world.train.n_switches() - self.first_switch;
        lesson > self.lesson as u64 && self.lesson + 1 < self.plan().lessons.len()
    }

    /// Evaluates the agent on all tasks so far, freezes the module, allocates a new one and evaluates it on the new task.
    fn switch(&mut self, must_stop: &dyn Fn() -> bool) -> Result<Ending> {
        if self.evaluate_all_tasks(must_stop)? == Ending::Interrupted {
            return Ok(Ending::Interrupted);
        }
        self.lesson += 1;
        self.lesson_start = self.n_steps();
        let settings = self.plan().lessons[self.lesson].agent.clone();
        let voting = self.plan().voting.unwrap_or_default();
        self.agent.compose(settings, voting, self.world.scenes);
        self.begin_evaluating();
        self.recent = Recent::default();
        self.look_at_maps(None);
        self.evaluate(must_stop)
    }

    fn begin_evaluating(&mut self) {
        let seed = RunSeed(self.plan().seed);
        self.evaluator = Evaluator::new(self.agent.skill(), self.agent.settings(), seed);
    }

    fn number(&self) -> u64 {
        self.lesson as u64 + 1
    }

    fn plan(&self) -> &RunPlan {
        &self.identity.plan
    }

    fn moment(&self) -> Moment {
        Moment {
            n_steps: self.n_steps(),
            lesson: self.lesson,
            recent_reward: self.recent.mean(),
            validation_reward: self.rows.last().map(|row| row.validation.reward),
        }
    }

    /// Keeps maps if one of the planned steps has just been passed, or at the start of a task.
    fn look_at_maps(&mut self, before: Option<u64>) {
        let now = self.n_steps() - self.lesson_start;
        let before = before.map(|before| before - self.lesson_start);
        let passed = |step: &u64| before.map_or(*step == 0, |before| before < *step && *step <= now);
        if self.plan().map_steps.iter().any(passed) {
            self.keep_maps();
        }
    }

    /// Keeps maps at the end of a task, if its maps are kept at all.
    fn keep_final_maps(&mut self) {
        let end = (self.n_steps() - self.lesson_start, self.number());
        let last = self.maps.last().map(|last| (last.step, last.lesson));
        if last != Some(end) && !self.plan().map_steps.is_empty() {
            self.keep_maps();
        }
    }

    fn keep_maps(&mut self) {
        let (step, examples) = (self.n_steps() - self.lesson_start, &self.examples[self.lesson]);
        if !examples.is_empty() {
            let (skill, scenes) = (self.agent.skill(), self.world.scenes);
            self.maps.push(MapSnapshot::take(step, self.number(), skill, examples, scenes));
        }
    }

    /// Adds a row to the curve, and to the votes if there are any, unless it is interrupted.
    fn evaluate(&mut self, must_stop: &dyn Fn() -> bool) -> Result<Ending> {
        let n_trials = self.plan().evaluation_trials;
        let first_trial = self.rows.len() as u64 * n_trials;
        let policy = self.plan().lessons[self.lesson].agent.policy;
        let validation = &mut self.world.validations[self.lesson];
        validation.seek(first_trial).expect("evaluations stay far from a stream's last possible trial");
        let (skill, scenes) = (self.agent.skill(), self.world.scenes);
        self.is_evaluating = true;
        let found =
            self.evaluator.evaluate_unless(must_stop, skill, &policy, validation, scenes, n_trials)?;
        let Some(evaluation) = found else { return Ok(Ending::Interrupted) };
        self.is_evaluating = false;
        let (step, lesson) = (self.n_steps(), self.number());
        // Nothing is written for a module that predicts NaN, so earlier files stay valid.
        if !evaluation.cross_entropy.is_finite() {
            let loss = evaluation.cross_entropy as f32;
            return Err(PlayError::Diverged { loss, n_steps: step }.into());
        }
        let Tally { reward_sum, n_trials, loss_sum, n_updates } = std::mem::take(&mut self.tally);
        let mean = |sum: f64, n: u64| (n > 0).then(|| sum / n as f64);
        let shares = self.agent.take_shares();
        let controller = self.agent.skill().controller();
        let row = CurveRow {
            step,
            lesson,
            train_reward: mean(reward_sum, n_trials),
            train_trials: n_trials,
            train_loss: mean(loss_sum, n_updates),
            reuse: shares
                .as_ref()
                .zip(controller)
                .map(|(shares, controller)| reuse(shares, controller.votes())),
            validation: evaluation,
        };
        self.rows.push(row);
        if let Some(shares) = shares {
            self.votes.push(VoteRow { step, lesson, shares });
        }
        self.add_event(&row)?;
        self.add_to_curve()?;
        Ok(Ending::Finished)
    }

    /// Appends the last row to `curve.csv`. The first time, the file is rewritten: one of an earlier process may have
    /// rows beyond the checkpoint.
    fn add_to_curve(&mut self) -> Result<()> {
        let path = self.folder.curve_csv();
        let Some(mut file) = self.curve.take() else {
            self.folder.write(&path, csv_text(&self.rows).as_bytes())?;
            self.curve = Some(OpenOptions::new().append(true).open(&path).at(&path)?);
            return Ok(());
        };
        let line = self.rows.last().map_or_else(String::new, csv_line);
        file.write_all(line.as_bytes()).at(&path)?;
        self.curve = Some(file);
        Ok(())
    }

    /// Evaluates the agent, as it acts now, on all tasks so far, each always on its first validation trials. The rest of
    /// the run does not depend on this.
    fn evaluate_all_tasks(&mut self, must_stop: &dyn Fn() -> bool) -> Result<Ending> {
        self.is_evaluating = true;
        let (skill, scenes, seed) = (self.agent.skill(), self.world.scenes, RunSeed(self.plan().seed));
        let n_trials = self.plan().evaluation_trials;
        let mut rewards = Vec::new();
        let lessons = self.plan().lessons.iter().zip(&self.world.validations);
        for (lesson, validation) in lessons.take(self.lesson + 1) {
            let mut validation = validation.clone();
            validation.seek(0).expect("a stream has a first trial");
            let mut evaluator = Evaluator::new(skill, self.agent.settings(), seed);
            let policy = &lesson.agent.policy;
            let found =
                evaluator.evaluate_unless(must_stop, skill, policy, &mut validation, scenes, n_trials)?;
            let Some(found) = found else { return Ok(Ending::Interrupted) };
            rewards.push(found.reward);
        }
        self.is_evaluating = false;
        self.after.truncate(self.lesson);
        self.after.push(rewards);
        Ok(Ending::Finished)
    }

    fn add_event(&mut self, row: &CurveRow) -> Result<()> {
        let now = unix_secs();
        let folder = self.folder.path();
        if self.events.is_none() {
            self.events = Some(EventFile::begin(folder, now, row.step).at(folder)?);
        }
        self.events.as_mut().map_or(Ok(()), |events| events.add(now, row)).at(folder)
    }

    fn write_checkpoint(&mut self) -> Result<()> {
        if !self.agent.is_finite() {
            return Err(PlayError::Diverged { loss: f32::NAN, n_steps: self.n_steps() }.into());
        }
        let checkpoint = Checkpoint {
            agent: self.agent.state(),
            rest: Rest {
                identity: self.identity.hash(),
                stream: self.world.train.snapshot(),
                lesson: self.lesson,
                lesson_start: self.lesson_start,
                rows: self.rows.clone(),
                votes: self.votes.clone(),
                after: self.after.clone(),
                tally: self.tally,
                is_evaluation_due: self.is_evaluation_due,
            },
            maps: self.maps.clone(),
        };
        let start = Instant::now();
        checkpoint.write(&self.folder.checkpoint())?;
        self.last_checkpoint = Instant::now();
        self.checkpoint_took = self.last_checkpoint - start;
        Ok(())
    }

    fn restore(&mut self, checkpoint: Checkpoint) -> Result<()> {
        let path = self.folder.checkpoint();
        let Checkpoint { agent, rest, maps } = checkpoint;
        let foreign = || {
            Error::damaged(
                &path,
                "it belongs to another run or to another version of the program; remove it to restart the run",
            )
        };
        let is_of_examples = |snapshot: &MapSnapshot| {
            let lesson = (snapshot.lesson as usize).checked_sub(1);
            let examples = lesson.and_then(|lesson| self.examples.get(lesson));
            examples.is_some_and(|examples| snapshot.levels.len() == MapSnapshot::len_of(examples))
        };
        if rest.identity != self.identity.hash()
            || rest.lesson >= self.plan().lessons.len()
            || agent.n_steps.checked_sub(self.first_step).is_none_or(|n_steps| rest.lesson_start > n_steps)
            || !maps.iter().all(is_of_examples)
            || !self.agent.restore(&agent, self.world.scenes)
        {
            return Err(foreign());
        }
        self.world.train.restore(&rest.stream).map_err(|error| Error::damaged(&path, error.to_string()))?;
        (self.lesson, self.lesson_start) = (rest.lesson, rest.lesson_start);
        (self.rows, self.votes, self.maps, self.tally) = (rest.rows, rest.votes, maps, rest.tally);
        self.after = rest.after;
        self.is_evaluation_due = rest.is_evaluation_due;
        self.begin_evaluating();
        Ok(())
    }

    fn write_status(&self, stage: Stage, reason: Option<String>) -> Result<()> {
        self.folder.write_status(&RunStatus {
            stage,
            reason,
            n_steps: self.n_steps(),
            of_steps: self.plan().n_steps,
            validation_reward: self.rows.last().map(|row| row.validation.reward),
            identity: self.identity.hash(),
        })
    }
}

/// Steps between two reports of progress.
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
