//! A checked configuration: the plan of a run, and the source of its images and features.

use crate::config::{
    Preset, RawConfig, agent_settings, default_steps, raw_from_settings, schedule_of, tasks_of_schedule,
    voting_settings, widest_agent,
};
use crate::error::{Context, Result, bail};
use crate::feature_scenes::FeatureScenes;
use crate::inputs::{Inputs, scene_shape};
use crate::maps::snapshot_steps;
use crate::run::{Lesson, RunPlan, World};
use crate::watch::Watch;
use std::num::NonZeroU32;
use std::sync::Arc;
use touchstream_agents::{AgentSettings, find_module};
use touchstream_encoder::{Encoder, EncoderSpec};
use touchstream_env::schedule::Schedule;
use touchstream_env::seed::RunSeed;
use touchstream_env::stimuli::{Split, Stimuli};
use touchstream_env::stream::Stream;
use touchstream_env::task::Task;
use touchstream_env::trial::{PlacementChoice, PlacementPool};
use touchstream_features::{CalibrationSettings, FeatureSettings, Wanted};
use touchstream_modules::composite::Voting;
use touchstream_stimuli::{Needs, Opened, SourceSpec};

/// A complete configuration without contradictions. No file has been opened yet.
pub struct RunSetup {
    /// The configuration with every setting filled in.
    pub config: RawConfig,
    pub schedule: Schedule,
    /// The task of each segment of the stream.
    pub tasks: Vec<Task>,
    pub plan: RunPlan,
    data: SourceSpec,
    encoder: EncoderSpec,
    calibration: CalibrationSettings,
    placements: PlacementChoice,
}

const DEFAULT_TRIALS: u64 = 200;
const DEFAULT_EXAMPLES: usize = 4;
const N_EVEN_SNAPSHOTS: u64 = 20;
const MIN_EVALUATE_EVERY: u64 = 500;
const MAX_PLACEMENTS: u32 = 100_000;

impl RunSetup {
    /// Checks a configuration and fills in missing settings.
    pub fn new(config: RawConfig) -> Result<Self> {
        let (schedule, config) = schedule_of(config)?;
        let module = config.module.clone().unwrap_or_else(|| "ems".into());
        let preset = config.preset.unwrap_or_default();
        let data: SourceSpec = config.data.as_deref().unwrap_or("gallery").parse().context("data")?;
        let encoder: EncoderSpec =
            config.encoder.as_deref().unwrap_or("compact").parse().context("encoder")?;
        config.encoder_options.check(&encoder)?;
        let agent = widest_agent(&config, &module, &schedule, preset)?;
        let seed = config.seed.unwrap_or(0);
        let n_steps = config.steps.unwrap_or_else(|| default_steps(&schedule));
        if n_steps == 0 {
            bail!(Settings, "steps: a run of 0 steps learns nothing");
        }
        let n_steps = n_steps.div_ceil(agent.batch_steps as u64).saturating_mul(agent.batch_steps as u64);
        let (tasks, lengths): (Vec<Task>, Vec<u64>) =
            tasks_of_schedule(&schedule, seed, n_steps)?.into_iter().unzip();
        config.check_counts()?;
        let calibration = match preset {
            Preset::Default | Preset::Normalized => CalibrationSettings::DEFAULT,
            Preset::Paper => CalibrationSettings::PAPER,
        };
        let norm = config.feature_norm.unwrap_or(calibration.norm);
        let n_placements = config.placements.unwrap_or(PlacementPool::DEFAULT_N.get());
        let Some(n) = NonZeroU32::new(n_placements).filter(|n| n.get() <= MAX_PLACEMENTS) else {
            bail!(Settings, "placements: {n_placements} is not in 1..={MAX_PLACEMENTS}");
        };
        let placements_seed = config.placements_seed.unwrap_or(0);
        let lesson = |task: &Task| {
            let own = agent_settings(&config, &module, task, preset)?;
            // All modules of a stream have the same shape; learning rate and policy depend on the task.
            let agent =
                AgentSettings { learning_rate: own.learning_rate, policy: own.policy, ..agent.clone() };
            let placements = format!("{n_placements} of seed {placements_seed}");
            Ok(Lesson { task: task.spec().to_toml(), placements, agent })
        };
        let has_switches = tasks.len() > 1;
        let transformations = config.transformations.unwrap_or(true);
        let voting = config.voting.unwrap_or(Voting::Layer);
        let shortest = lengths.iter().copied().min().unwrap_or(n_steps);
        let usual_pause = n_steps.div_ceil(60).min(shortest.div_ceil(10)).max(MIN_EVALUATE_EVERY);
        let plan = RunPlan {
            n_steps,
            seed,
            lessons: tasks.iter().map(lesson).collect::<Result<Vec<Lesson>>>()?,
            voting: has_switches.then(|| voting_settings(voting, preset, transformations)),
            evaluate_every: config.evaluate_every.unwrap_or(usual_pause),
            evaluation_trials: config.evaluation_trials.unwrap_or(DEFAULT_TRIALS),
            n_map_examples: config.map_examples.unwrap_or(DEFAULT_EXAMPLES),
            map_steps: map_steps(&config, n_steps, &lengths)?,
        };
        if has_switches {
            agent.check_composable()?;
        }
        let config = RawConfig {
            voting: has_switches.then_some(voting),
            transformations: has_switches.then_some(transformations),
            data: Some(data.clone().absolute().to_string()),
            encoder: Some(encoder.clone().absolute().to_string()),
            steps: Some(n_steps),
            seed: Some(seed),
            preset: Some(preset),
            feature_norm: Some(norm),
            placements: Some(n_placements),
            placements_seed: Some(placements_seed),
            evaluate_every: Some(plan.evaluate_every),
            evaluation_trials: Some(plan.evaluation_trials),
            map_examples: Some(plan.n_map_examples),
            map_steps: Some(plan.map_steps.clone()),
            ..raw_from_settings(&agent, config.clone().with_absolute_paths(), has_switches)
        };
        let calibration = CalibrationSettings { norm, ..calibration };
        let placements = PlacementChoice::Pool(PlacementPool { n, seed: placements_seed });
        Ok(Self { config, schedule, tasks, plan, data, encoder, calibration, placements })
    }

    /// Opens images and encoder, and encodes the screens that are not in the cache.
    pub fn open(&self, watch: &dyn Watch) -> Result<Inputs> {
        Inputs::open(self, self.open_encoder(watch)?.as_ref(), &self.tasks, watch)
    }

    /// Opens the encoder, if the agent can read its features.
    pub fn open_encoder(&self, watch: &dyn Watch) -> Result<Box<dyn Encoder>> {
        let cache_dir = self.config.images.cache_dir();
        let encoder = self.config.encoder_options.open(&self.encoder, cache_dir.as_deref(), watch)?;
        self.plan.agent().check(scene_shape(encoder.shape(), encoder.shape().map_channels > 0))?;
        Ok(encoder)
    }

    pub(crate) fn open_images(&self, needs: Needs, watch: &dyn Watch) -> Result<Opened> {
        self.config.images.open(&self.data, needs, watch)
    }

    /// The streams for training and evaluation, at their first steps.
    pub fn world<'a>(&self, inputs: &'a Inputs) -> Result<World<'a, FeatureScenes>> {
        let (stimuli, seed) = (&inputs.stimuli, self.plan.seed);
        let validation = |task: &Task| self.stream_of(task, stimuli, Split::Validation, seed);
        Ok(World {
            train: self.stream_along(self.schedule.clone(), stimuli, Split::Train, seed)?,
            validations: self.tasks.iter().map(validation).collect::<Result<_>>()?,
            scenes: &inputs.scenes,
        })
    }

    /// The stream of one task, at its first step.
    pub fn stream_of(
        &self,
        task: &Task,
        stimuli: &Arc<dyn Stimuli>,
        split: Split,
        seed: u64,
    ) -> Result<Stream> {
        self.stream_along(Schedule::single(task.clone()), stimuli, split, seed)
    }

    fn stream_along(
        &self,
        schedule: Schedule,
        stimuli: &Arc<dyn Stimuli>,
        split: Split,
        seed: u64,
    ) -> Result<Stream> {
        let stimuli = Arc::clone(stimuli);
        Ok(Stream::open_with(schedule, stimuli, split, RunSeed(seed), self.placements)?.0)
    }

    /// The features that the agent reads, and how they are centred and scaled.
    pub fn feature_settings(&self) -> Result<FeatureSettings> {
        let wanted = match find_module(&self.plan.agent().module.id)?.is_convolutional() {
            true => Wanted::SceneAndMap,
            false => Wanted::Scene,
        };
        Ok(FeatureSettings { wanted, calibration: self.calibration })
    }
}

/// The steps at which reward maps are recorded, in increasing order.
fn map_steps(config: &RawConfig, n_steps: u64, lengths: &[u64]) -> Result<Vec<u64>> {
    let longest = lengths.iter().copied().max().unwrap_or(n_steps);
    let mut steps = config.map_steps.clone().unwrap_or_else(|| snapshot_steps(longest, N_EVEN_SNAPSHOTS));
    steps.sort_unstable();
    steps.dedup();
    match steps.last() {
        Some(&step) if step > n_steps => {
            bail!(Settings, "map-steps: {step} is beyond the run's {n_steps} steps")
        }
        _ => Ok(steps),
    }
}
