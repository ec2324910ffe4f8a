//! Runs of a study that come in pairs: a base task, then another with what was learned.

use crate::FeatureScenes;
use crate::config::RawConfig;
use crate::config::agent_settings;
use crate::config::settings_of_method;
use crate::curve::{CurveRow, csv_text};
use crate::error::{Context, Error, Result, bail};
use crate::run::{Lesson, RunFolder, RunIdentity, RunPlan, RunStatus, Stage, Trained, Training, World};
use crate::run_setup::{RunSetup, identity_of};
use crate::study::Ended;
use crate::study::alone::{Watched, run_to_its_end};
use crate::study::pair::{Pair, tasks_of_all};
use crate::study::scale::Scale;
use crate::study::shared_inputs::SharedInputs;
use crate::study::spec::StudySpec;
use crate::switching::Start;
use touchstream_agents::{AgentSettings, Evaluator, Remap};
use touchstream_analysis::SwitchMethod;
use touchstream_env::seed::RunSeed;
use touchstream_env::stimuli::Split;
use touchstream_env::stream::Stream;
use touchstream_env::task::Task;

/// Two tasks, and how they are learned.
#[derive(Clone, Debug)]
pub struct PairPlan {
    pub pair: Pair,
    words: RawConfig,
    settings: [AgentSettings; 2],
    lengths: [Length; 2],
}

/// How long and how often.
#[derive(Clone, Copy, Debug)]
pub struct Length {
    pub n_steps: u64,
    pub evaluate_every: u64,
}

/// Evaluations of a curve.
const N_EVALUATIONS: u64 = 40;
/// Trials that an old module is judged by when it does not learn.
const OLD_TRIALS: u64 = 2000;

impl PairPlan {
    /// `words` say module and preset; tasks are the pair's.
    pub fn new(words: RawConfig, pair: Pair, spec: &StudySpec) -> Result<Self> {
        let settings = settings_of(&words, &pair)?;
        let batch = settings[0].batch_steps as u64;
        let n_evaluations =
            if spec.scale == Scale::Smoke { spec.scale.n_evaluations() } else { N_EVALUATIONS };
        let length = |n_steps: u64| {
            let n_steps = n_steps.div_ceil(batch).saturating_mul(batch);
            let evaluate_every = words.evaluate_every.unwrap_or_else(|| n_steps.div_ceil(n_evaluations));
            Length { n_steps, evaluate_every }
        };
        let lengths = [
            length(spec.base_steps.unwrap_or_else(|| spec.scale.base_steps(&pair.base))),
            length(spec.steps.unwrap_or_else(|| spec.scale.second_steps(&pair.second))),
        ];
        Ok(Self { pair, words, settings, lengths })
    }

    /// How an agent learns the base task, and how the second.
    pub fn settings(&self) -> &[AgentSettings; 2] {
        &self.settings
    }

    /// How long each is learned.
    pub fn lengths(&self) -> [Length; 2] {
        self.lengths
    }

    /// What features are centred on: all tasks of the paper's switches, so that a base serves every one of them.
    pub fn tasks_shown(&self) -> Result<Vec<Task>> {
        let mut tasks = vec![self.pair.base.clone(), self.pair.second.clone()];
        if self.pair.is_named {
            tasks = tasks_of_all()?;
        }
        Ok(tasks)
    }

    /// Whatever does not depend on the task is that of any run.
    pub fn setup(&self) -> Result<RunSetup> {
        RunSetup::new(self.words.clone())
    }

    /// Learns the base task.
    pub fn run_base(
        &self,
        inputs: &SharedInputs,
        seed: u64,
        folder: &RunFolder,
        watched: &Watched<'_>,
    ) -> Result<Ended> {
        let setup = self.setup()?;
        let [base, _] = &self.settings;
        let identity = self.identity(&setup, inputs, &self.pair.base, base, self.lengths[0], seed);
        let world = world_of(&setup, inputs, &self.pair.base, seed)?;
        run_to_its_end(Training::open(folder.clone(), identity, world)?, watched)
    }

    /// Learns the second one from where a base has ended.
    pub fn run_second(
        &self,
        inputs: &SharedInputs,
        seed: u64,
        method: SwitchMethod,
        base: &RunFolder,
        folder: &RunFolder,
        watched: &Watched<'_>,
    ) -> Result<Ended> {
        let setup = self.setup()?;
        let seen = base.read_identity()?.map(|identity| identity.calibration_hash);
        if seen.is_some_and(|hash| hash != inputs.calibration_hash()) {
            bail!(Folder, "{} has learned from features that were centred otherwise", base.path().display());
        }
        let trained = Trained::read(base)?
            .ok_or_else(|| Error::Folder(format!("{} has no checkpoint", base.path().display())))?;
        let [base_settings, second_settings] = &self.settings;
        let start = Start {
            trained: &trained,
            base: base_settings,
            second: second_settings,
            scenes: &inputs.scenes,
            seed: RunSeed(seed),
        };
        let length = self.lengths[1];
        let mut identity = self.identity(&setup, inputs, &self.pair.second, second_settings, length, seed);
        identity.origin = Some(format!("{method} after {}", trained.identity));
        let preset = self.words.preset.unwrap_or_default();
        let agent = start.agent(method, |voting| settings_of_method(voting, preset))?;
        if method == SwitchMethod::OldAlone {
            let rows = self.judge(&setup, inputs, &agent, seed)?;
            write_judgement(folder, &identity, &rows)?;
            return Ok(Ended::Complete);
        }
        identity.plan.voting = agent.skill().controller().map(|controller| *controller.settings());
        let world = self.world_after(&setup, inputs, &trained, seed)?;
        run_to_its_end(Training::open_with(folder.clone(), identity, world, agent)?, watched)
    }

    /// Where a second task is learned: the stream goes on from where the base left it, so that the screens after the
    /// switch are the same whoever learns from them.
    fn world_after<'a>(
        &self,
        setup: &RunSetup,
        inputs: &'a SharedInputs,
        trained: &Trained,
        seed: u64,
    ) -> Result<World<'a, FeatureScenes>> {
        let fresh = world_of(setup, inputs, &self.pair.second, seed)?;
        let mut base = setup.stream_of(&self.pair.base, &inputs.stimuli, Split::Train, seed)?;
        base.restore(&trained.stream).at(&trained.checkpoint)?;
        Ok(World { train: base.continue_with(fresh.train.schedule().clone())?, ..fresh })
    }

    /// What the old module earns on the second task without learning: the same at every step.
    fn judge(
        &self,
        setup: &RunSetup,
        inputs: &SharedInputs,
        agent: &Remap,
        seed: u64,
    ) -> Result<Vec<CurveRow>> {
        let mut stream: Stream =
            setup.stream_of(&self.pair.second, &inputs.stimuli, Split::Validation, seed)?;
        let mut evaluator = Evaluator::new(agent.skill(), agent.settings(), RunSeed(seed));
        let policy = &agent.settings().policy;
        let validation =
            evaluator.evaluate(agent.skill(), policy, &mut stream, &inputs.scenes, OLD_TRIALS)?;
        let Length { n_steps, evaluate_every: every } = self.lengths[1];
        let batch = agent.settings().batch_steps as u64;
        let steps = (0..=n_steps / batch).map(|update| update * batch);
        let is_time = |&step: &u64| step == 0 || step == n_steps || (step - batch) / every < step / every;
        let row = |step| CurveRow {
            step,
            lesson: 1,
            train_reward: None,
            train_trials: 0,
            train_loss: None,
            reuse: None,
            validation,
        };
        Ok(steps.filter(is_time).map(row).collect())
    }

    fn identity(
        &self,
        setup: &RunSetup,
        inputs: &SharedInputs,
        task: &Task,
        agent: &AgentSettings,
        length: Length,
        seed: u64,
    ) -> RunIdentity {
        let lesson =
            Lesson { task: task.spec().to_toml(), placements: setup.placements_text(), agent: agent.clone() };
        let plan = RunPlan {
            n_steps: length.n_steps,
            seed,
            lessons: vec![lesson],
            voting: None,
            evaluate_every: length.evaluate_every,
            evaluation_trials: setup.plan.evaluation_trials,
            n_map_examples: 0,
            map_steps: Vec::new(),
        };
        let (data_hash, encoder_hash) = (inputs.data.content_hash.clone(), inputs.encoder_hash.clone());
        identity_of(plan, data_hash, encoder_hash, inputs.calibration_hash())
    }
}

/// Modules are as wide as the wider of the two tasks needs, and read touches as the finer does.
fn settings_of(words: &RawConfig, pair: &Pair) -> Result<[AgentSettings; 2]> {
    let module = words.module.as_deref().unwrap_or("ems");
    let preset = words.preset.unwrap_or_default();
    let of = |task: &Task| agent_settings(words, module, task, preset);
    let mut both = [of(&pair.base)?, of(&pair.second)?];
    let [base, second] = &mut both;
    second.check_composable()?;
    // Updates go on as they were: what was seen before the switch is learned after it.
    second.batch_steps = base.batch_steps;
    let scale = base.touch_scale.finer(second.touch_scale);
    (base.touch_scale, second.touch_scale) = (scale, scale);
    for (one, other) in base.module.units.iter_mut().zip(&mut second.module.units) {
        let wider = *one.max(other);
        (*one, *other) = (wider, wider);
    }
    Ok(both)
}

fn world_of<'a>(
    setup: &RunSetup,
    inputs: &'a SharedInputs,
    task: &Task,
    seed: u64,
) -> Result<World<'a, FeatureScenes>> {
    let stream = |split| setup.stream_of(task, &inputs.stimuli, split, seed);
    Ok(World {
        train: stream(Split::Train)?,
        validations: vec![stream(Split::Validation)?],
        scenes: &inputs.scenes,
    })
}

/// A curve without training, as a run's folder holds one.
fn write_judgement(folder: &RunFolder, identity: &RunIdentity, rows: &[CurveRow]) -> Result<()> {
    let json = serde_json::to_vec_pretty(identity)?;
    folder.write(&folder.identity(), &json)?;
    folder.write(&folder.curve_csv(), csv_text(rows).as_bytes())?;
    let n_steps = identity.plan.n_steps;
    let status = RunStatus {
        stage: Stage::Finished,
        reason: None,
        n_steps,
        of_steps: n_steps,
        validation_reward: rows.last().map(|row| row.validation.reward),
        identity: identity.hash(),
    };
    folder.write_status(&status)
}
