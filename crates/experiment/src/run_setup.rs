//! From a configuration to a run: images opened, screens encoded, streams at their first step.

use crate::FeatureScenes;
use crate::config::{
    DataFacts, Preset, RawConfig, agent_settings, default_steps, needs_of, raw_from_settings, schedule_of,
    task_lengths, tasks_of_schedule, voting_settings, widest_agent,
};
use crate::error::{Context, Result, bail};
use crate::maps::snapshot_steps;
use crate::run::{Lesson, RunIdentity, RunPlan, World};
use crate::watch::{Event, Watch, WorkProgress};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;
use touchstream_agents::{AgentSettings, SceneShape, find_module};
use touchstream_encoder::{Encoder, EncoderSpec, FeatureShape};
use touchstream_env::schedule::Schedule;
use touchstream_env::seed::RunSeed;
use touchstream_env::stimuli::{Split, Stimuli};
use touchstream_env::stream::Stream;
use touchstream_env::task::Task;
use touchstream_env::trial::{BindError, PlacementChoice, PlacementPool};
use touchstream_features::{CalibrationSettings, Eyes, FeatureSet, FeatureSettings, Wanted};
use touchstream_modules::Instructions;
use touchstream_modules::composite::Voting;
use touchstream_modules::module::MapShape;
use touchstream_stimuli::{Needs, Opened, SourceSpec};

/// A checked configuration: nothing has been opened yet, and nothing about it is impossible.
pub struct RunSetup {
    /// Every setting filled in.
    pub words: RawConfig,
    /// What follows what.
    pub schedule: Schedule,
    /// The task of each lesson.
    pub tasks: Vec<Task>,
    pub plan: RunPlan,
    data: SourceSpec,
    encoder: EncoderSpec,
    calibration: CalibrationSettings,
    placements: PlacementChoice,
}

/// A run's images and features.
pub struct OpenedRun {
    pub train: Stream,
    /// One a lesson.
    pub validations: Vec<Stream>,
    pub scenes: FeatureScenes,
    pub identity: RunIdentity,
    pub data: DataFacts,
    pub encoder_name: String,
}

const DEFAULT_TRIALS: u64 = 200;
const DEFAULT_EXAMPLES: usize = 4;
const N_EVEN_SNAPSHOTS: u64 = 20;
const MIN_EVALUATE_EVERY: u64 = 500;

/// What is written down on the way, and when.
struct Records {
    evaluate_every: u64,
    evaluation_trials: u64,
    n_map_examples: usize,
    map_steps: Vec<u64>,
}

impl Records {
    fn new(words: &RawConfig, n_steps: u64, (shortest, longest): (u64, u64)) -> Result<Self> {
        let evaluate_every = words.evaluate_every.unwrap_or_else(|| {
            let of_all = n_steps.div_ceil(60);
            of_all.min(shortest.div_ceil(10)).max(MIN_EVALUATE_EVERY)
        });
        words.check_counts()?;
        let evaluation_trials = words.evaluation_trials.unwrap_or(DEFAULT_TRIALS);
        let n_map_examples = words.map_examples.unwrap_or(DEFAULT_EXAMPLES);
        let mut map_steps =
            words.map_steps.clone().unwrap_or_else(|| snapshot_steps(longest, N_EVEN_SNAPSHOTS));
        map_steps.sort_unstable();
        map_steps.dedup();
        if let Some(step) = map_steps.iter().find(|&&step| step > n_steps) {
            bail!(Settings, "map-steps: {step} is behind the last of {n_steps} steps");
        }
        Ok(Self { evaluate_every, evaluation_trials, n_map_examples, map_steps })
    }
}

impl RunSetup {
    /// Checks a configuration and fills in what it leaves out.
    pub fn new(words: RawConfig) -> Result<Self> {
        let (schedule, words) = schedule_of(words)?;
        let module = words.module.clone().unwrap_or_else(|| "ems".into());
        let preset = words.preset.unwrap_or_default();
        let data: SourceSpec = words.data.as_deref().unwrap_or("gallery").parse().context("data")?;
        let encoder: EncoderSpec =
            words.encoder.as_deref().unwrap_or("compact").parse().context("encoder")?;
        words.encoder_options.check(&encoder)?;
        let agent = widest_agent(&words, &module, &schedule, preset)?;
        let seed = words.seed.unwrap_or(0);
        let n_steps = words.steps.unwrap_or_else(|| default_steps(&schedule));
        if n_steps == 0 {
            bail!(Settings, "steps: a run of 0 steps learns nothing");
        }
        // Whole updates.
        let n_steps = n_steps.div_ceil(agent.batch_steps as u64).saturating_mul(agent.batch_steps as u64);
        let records = Records::new(&words, n_steps, task_lengths(&schedule, seed, n_steps)?)?;
        let calibration = match preset {
            Preset::Default => CalibrationSettings::DEFAULT,
            Preset::Paper => CalibrationSettings::PAPER,
        };
        let norm = words.feature_norm.unwrap_or(calibration.norm);
        let calibration = CalibrationSettings { norm, ..calibration };
        let placements_n = words.placements.unwrap_or(PlacementPool::DEFAULT_N.get());
        let Some(n) = NonZeroU32::new(placements_n).filter(|n| n.get() <= 100_000) else {
            bail!(Settings, "placements: {placements_n} is not in 1..=100000");
        };
        let placements_seed = words.placements_seed.unwrap_or(0);
        let tasks: Vec<Task> =
            tasks_of_schedule(&schedule, seed, n_steps)?.into_iter().map(|(task, _)| task).collect();
        let lesson = |task: &Task| {
            let own = agent_settings(&words, &module, task, preset)?;
            // Modules of one stream are alike; how they are learned depends on the task.
            let agent =
                AgentSettings { learning_rate: own.learning_rate, policy: own.policy, ..agent.clone() };
            let placements = format!("{placements_n} of seed {placements_seed}");
            Ok(Lesson { task: task.spec().to_toml(), placements, agent })
        };
        let lessons = tasks.iter().map(lesson).collect::<Result<Vec<Lesson>>>()?;
        let has_switches = tasks.len() > 1;
        if has_switches {
            agent.check_composable()?;
        }
        let transformations = words.transformations.unwrap_or(true);
        let voting = words.voting.unwrap_or(Voting::Layer);
        let plan = RunPlan {
            n_steps,
            seed,
            lessons,
            voting: has_switches.then(|| voting_settings(voting, preset, transformations)),
            evaluate_every: records.evaluate_every,
            evaluation_trials: records.evaluation_trials,
            n_map_examples: records.n_map_examples,
            map_steps: records.map_steps.clone(),
        };
        let words = RawConfig {
            voting: has_switches.then_some(voting),
            transformations: has_switches.then_some(transformations),
            data: Some(data.clone().absolute().to_string()),
            encoder: Some(encoder.clone().absolute().to_string()),
            steps: Some(n_steps),
            seed: Some(seed),
            preset: Some(preset),
            feature_norm: Some(norm),
            placements: Some(placements_n),
            placements_seed: Some(placements_seed),
            evaluate_every: Some(records.evaluate_every),
            evaluation_trials: Some(records.evaluation_trials),
            map_examples: Some(records.n_map_examples),
            map_steps: Some(records.map_steps),
            ..raw_from_settings(&agent, words.clone().with_absolute_paths(), has_switches)
        };
        let placements = PlacementChoice::Pool(PlacementPool { n, seed: placements_seed });
        Ok(Self { words, schedule, tasks, plan, data, encoder, calibration, placements })
    }

    /// The last lesson's stream on a split, at its first step.
    pub fn last_stream(
        &self,
        stimuli: &Arc<dyn Stimuli>,
        split: Split,
        seed: u64,
    ) -> Result<Stream, BindError> {
        self.stream_of(&self.tasks[self.tasks.len() - 1], stimuli, split, seed)
    }

    /// The stream of a task alone.
    pub fn stream_of(
        &self,
        task: &Task,
        stimuli: &Arc<dyn Stimuli>,
        split: Split,
        seed: u64,
    ) -> Result<Stream, BindError> {
        self.stream_along(Schedule::single(task.clone()), stimuli, split, seed)
    }

    fn stream_along(
        &self,
        schedule: Schedule,
        stimuli: &Arc<dyn Stimuli>,
        split: Split,
        seed: u64,
    ) -> Result<Stream, BindError> {
        let stimuli = Arc::clone(stimuli);
        let opened = Stream::open_with(schedule, stimuli, split, RunSeed(seed), self.placements);
        opened.map(|(stream, _)| stream)
    }

    /// What of the features is read, and how it is centred and scaled.
    pub fn feature_settings(&self) -> Result<FeatureSettings> {
        let wanted = match find_module(&self.plan.agent().module.id)?.is_convolutional() {
            true => Wanted::SceneAndMap,
            false => Wanted::Scene,
        };
        Ok(FeatureSettings { wanted, calibration: self.calibration })
    }

    /// How match screens of moving templates are drawn, as plans name it.
    pub fn placements_text(&self) -> String {
        self.plan.lessons[0].placements.clone()
    }

    /// Opens the encoder, if the agent can read what it gives; and where its cache is.
    pub fn open_encoder(&self, watch: &dyn Watch) -> Result<(Box<dyn Encoder>, Option<PathBuf>)> {
        let cache_dir = self.words.images.cache_dir();
        let encoder = self.words.encoder_options.open(&self.encoder, cache_dir.as_deref(), watch)?;
        self.plan.agent().check(scene_shape(encoder.shape()))?;
        Ok((encoder, cache_dir))
    }

    /// Opens the images.
    pub fn open_images(&self, needs: Needs, watch: &dyn Watch) -> Result<Opened> {
        self.words.images.open(&self.data, needs, watch)
    }

    /// Opens images and eyes, and encodes what is not in the cache yet.
    pub fn open(&self, watch: &dyn Watch) -> Result<OpenedRun> {
        let (encoder, cache_dir) = self.open_encoder(watch)?;
        let opened = self.open_images(needs_of(&self.tasks), watch)?;
        let (stimuli, seed) = (&opened.stimuli, self.plan.seed);
        let train = self.stream_along(self.schedule.clone(), stimuli, Split::Train, seed)?;
        let of_split = |split| self.tasks.iter().map(move |task| self.stream_of(task, stimuli, split, seed));
        let validations = of_split(Split::Validation).collect::<Result<Vec<_>, _>>()?;
        let trains = of_split(Split::Train).collect::<Result<Vec<_>, _>>()?;
        let progress = WorkProgress(watch);
        let eyes = Eyes { encoder: encoder.as_ref(), cache_dir: cache_dir.as_deref(), progress: &progress };
        let settings = self.feature_settings()?;
        let bound: Vec<_> = trains.iter().chain(&validations).map(Stream::bound_task).collect();
        let features = FeatureSet::of_tasks(eyes, &bound, settings)?;
        features.encoded().notes.iter().for_each(|note| watch.on(Event::Note(note)));
        let data = DataFacts::of(&opened.manifest);
        let identity = identity_of(
            self.plan.clone(),
            data.content_hash.clone(),
            encoder.content_hash().to_string(),
            features.calibration().content_hash().to_string(),
        );
        let encoder_name = encoder.name().to_owned();
        let scenes = FeatureScenes(features);
        Ok(OpenedRun { train, validations, scenes, identity, data, encoder_name })
    }
}

/// What decides the numbers of a run that starts from nothing, here and now.
pub fn identity_of(
    plan: RunPlan,
    data_hash: String,
    encoder_hash: String,
    calibration_hash: String,
) -> RunIdentity {
    RunIdentity {
        convolutions: plan.convolutions_version(),
        plan,
        origin: None,
        data_hash,
        encoder_hash,
        calibration_hash,
        rounding: Instructions::best().rounding().into(),
        program: env!("CARGO_PKG_VERSION").into(),
    }
}

/// What an agent can read of an encoder's features.
fn scene_shape(shape: FeatureShape) -> SceneShape {
    let map = (shape.map_channels > 0)
        .then(|| MapShape { n_places: shape.map_len() / shape.map_channels, n_channels: shape.map_channels });
    SceneShape { scene_len: shape.scene_len, map }
}

impl OpenedRun {
    /// What an agent is trained in.
    pub fn world(&self) -> World<'_, FeatureScenes> {
        World { train: self.train.clone(), validations: self.validations.clone(), scenes: &self.scenes }
    }
}
