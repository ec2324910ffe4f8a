//! The two runs of a switch: a base task, then a second task that starts from the trained base.

use crate::config::{RawConfig, agent_settings, settings_of_method};
use crate::curve::{CurveRow, csv_text};
use crate::error::{Context, Error, Result, bail};
use crate::feature_scenes::FeatureScenes;
use crate::run::{
    Lesson, RunFolder, RunIdentity, RunPlan, RunStatus, Stage, Trained, Training, VerifiedRun, World,
};
use crate::setup::RunSetup;
use crate::study::Ended;
use crate::study::pair::{Pair, tasks_of_all};
use crate::study::scale::Scale;
use crate::study::spec::StudySpec;
use crate::study::study_run::StudyRun;
use crate::switching::Start;
use touchstream_agents::{AgentSettings, Evaluator, Remap};
use touchstream_analysis::SwitchMethod;
use touchstream_env::seed::RunSeed;
use touchstream_env::stimuli::Split;
use touchstream_env::task::Task;

/// The two tasks of a switch, and how each is learned.
#[derive(Clone, Debug)]
pub struct PairPlan {
    pub pair: Pair,
    config: RawConfig,
    /// Settings of the agent on the base task and on the second task.
    pub settings: [AgentSettings; 2],
    pub lengths: [Length; 2],
}

/// Steps and evaluations of a task.
#[derive(Clone, Copy, Debug)]
pub struct Length {
    pub n_steps: u64,
    pub evaluate_every: u64,
}

/// Number of evaluations per curve.
const N_EVALUATIONS: u64 = 40;
/// Trials on which an old module that does not learn is evaluated.
const OLD_TRIALS: u64 = 2000;
const BASE: usize = 0;
const SECOND: usize = 1;

impl PairPlan {
    /// `config` contains module and preset; the tasks are taken from the pair.
    pub fn new(config: RawConfig, pair: Pair, spec: &StudySpec) -> Result<Self> {
        let settings = settings_of(&config, &pair)?;
        let batch = settings[BASE].batch_steps as u64;
        let n_evaluations =
            if spec.scale == Scale::Smoke { spec.scale.n_evaluations() } else { N_EVALUATIONS };
        let length = |n_steps: u64| {
            let n_steps = n_steps.div_ceil(batch).saturating_mul(batch);
            let evaluate_every = config.evaluate_every.unwrap_or_else(|| n_steps.div_ceil(n_evaluations));
            Length { n_steps, evaluate_every }
        };
        let lengths = [
            length(spec.base_steps.unwrap_or_else(|| spec.scale.base_steps(&pair.base))),
            length(spec.steps.unwrap_or_else(|| spec.scale.second_steps(&pair.second))),
        ];
        Ok(Self { pair, config, settings, lengths })
    }

    /// The tasks over whose screens features are centred: those of all of the paper's switches, so that several
    /// switches can share a base.
    pub fn tasks_shown(&self) -> Result<Vec<Task>> {
        match self.pair.is_named {
            true => tasks_of_all(),
            false => Ok(vec![self.pair.base.clone(), self.pair.second.clone()]),
        }
    }

    /// The part of the setup that does not depend on the task.
    pub fn setup(&self) -> Result<RunSetup> {
        RunSetup::new(self.config.clone())
    }

    /// Learns the base task.
    pub fn run_base(&self, run: &StudyRun<'_>) -> Result<Ended> {
        let setup = self.setup()?;
        let identity = self.identity(&setup, run, BASE);
        let world = world_of(&setup, run, &self.pair.base)?;
        run.take_up_damaged(&identity)?;
        run.run_to_its_end(Training::open(run.folder.clone(), identity, world)?)
    }

    /// Learns the second task, starting from the end of a base.
    pub fn run_second(&self, run: &StudyRun<'_>, method: SwitchMethod, base: &RunFolder) -> Result<Ended> {
        let setup = self.setup()?;
        let path = base.path();
        let base = VerifiedRun::open(base.clone())?;
        let seen = base.read_identity()?.map(|identity| identity.calibration_hash);
        if seen.is_some_and(|hash| hash != run.inputs.calibration_hash) {
            bail!(Folder, "{} has learned from features that were centred otherwise", path.display());
        }
        let trained = Trained::read(&base)?
            .ok_or_else(|| Error::Folder(format!("{} has no checkpoint", path.display())))?;
        let start = Start {
            trained: &trained,
            base: &self.settings[BASE],
            second: &self.settings[SECOND],
            scenes: &run.inputs.scenes,
            seed: RunSeed(run.cell.facts.seed),
        };
        let mut identity = self.identity(&setup, run, SECOND);
        identity.origin = Some(format!("{method} after {}", trained.identity));
        let preset = self.config.preset.unwrap_or_default();
        let agent = start.agent(method, |voting| settings_of_method(voting, preset))?;
        if method == SwitchMethod::OldAlone {
            let Some(rows) = self.evaluate(&setup, run, &agent)? else { return Ok(Ended::Interrupted) };
            write_evaluation(run.folder, &identity, &rows)?;
            return Ok(Ended::Complete);
        }
        identity.plan.voting = agent.skill().controller().map(|controller| *controller.settings());
        let world = self.world_after(&setup, run, &trained)?;
        run.take_up_damaged(&identity)?;
        run.run_to_its_end(Training::open_with(run.folder.clone(), identity, world, agent)?)
    }

    /// The streams of the second task. The training stream continues that of the base, so that all methods see the same
    /// screens after the switch.
    fn world_after<'a>(
        &self,
        setup: &RunSetup,
        run: &StudyRun<'a>,
        trained: &Trained,
    ) -> Result<World<'a, FeatureScenes>> {
        let fresh = world_of(setup, run, &self.pair.second)?;
        let mut base = world_of(setup, run, &self.pair.base)?.train;
        base.restore(&trained.stream).at(&trained.checkpoint)?;
        Ok(World { train: base.continue_with(fresh.train.schedule().clone())?, ..fresh })
    }

    /// The reward of the old module on the second task without learning: the same at every step. `None` if interrupted.
    fn evaluate(&self, setup: &RunSetup, run: &StudyRun<'_>, agent: &Remap) -> Result<Option<Vec<CurveRow>>> {
        let mut stream = world_of(setup, run, &self.pair.second)?.validations.remove(0);
        let seed = RunSeed(run.cell.facts.seed);
        let mut evaluator = Evaluator::new(agent.skill(), agent.settings(), seed);
        let (policy, scenes) = (&agent.settings().policy, &run.inputs.scenes);
        let (must_stop, skill) = (run.must_stop, agent.skill());
        let found = evaluator.evaluate_unless(must_stop, skill, policy, &mut stream, scenes, OLD_TRIALS)?;
        let Some(validation) = found else { return Ok(None) };
        let Length { n_steps, evaluate_every: every } = self.lengths[SECOND];
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
        Ok(Some(steps.filter(is_time).map(row).collect()))
    }

    fn identity(&self, setup: &RunSetup, run: &StudyRun<'_>, which: usize) -> RunIdentity {
        let lesson = Lesson {
            task: [&self.pair.base, &self.pair.second][which].spec().to_toml(),
            agent: self.settings[which].clone(),
            ..setup.plan.lessons[0].clone()
        };
        let Length { n_steps, evaluate_every } = self.lengths[which];
        run.inputs.identity(RunPlan {
            n_steps,
            seed: run.cell.facts.seed,
            lessons: vec![lesson],
            voting: None,
            evaluate_every,
            evaluation_trials: setup.plan.evaluation_trials,
            n_map_examples: 0,
            map_steps: Vec::new(),
        })
    }
}

/// Settings with the larger width and touch scale of the two tasks.
fn settings_of(config: &RawConfig, pair: &Pair) -> Result<[AgentSettings; 2]> {
    let module = config.module.as_deref().unwrap_or("ems");
    let preset = config.preset.unwrap_or_default();
    let of = |task: &Task| agent_settings(config, module, task, preset);
    let mut both = [of(&pair.base)?, of(&pair.second)?];
    let [base, second] = &mut both;
    second.check_composable()?;
    // The update interval must not change: the first update after the switch includes steps before it.
    second.batch_steps = base.batch_steps;
    let scale = base.touch_scale.finer(second.touch_scale);
    (base.touch_scale, second.touch_scale) = (scale, scale);
    for (one, other) in base.module.units.iter_mut().zip(&mut second.module.units) {
        let wider = *one.max(other);
        (*one, *other) = (wider, wider);
    }
    Ok(both)
}

/// The streams of one task, at their first steps.
fn world_of<'a>(setup: &RunSetup, run: &StudyRun<'a>, task: &Task) -> Result<World<'a, FeatureScenes>> {
    let stream = |split| setup.stream_of(task, &run.inputs.stimuli, split, run.cell.facts.seed);
    Ok(World {
        train: stream(Split::Train)?,
        validations: vec![stream(Split::Validation)?],
        scenes: &run.inputs.scenes,
    })
}

/// Writes a curve without training, in the format of a run's folder.
fn write_evaluation(folder: &RunFolder, identity: &RunIdentity, rows: &[CurveRow]) -> Result<()> {
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
