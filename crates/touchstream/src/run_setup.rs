//! From words to a run: images opened, screens encoded, streams at their first step.

use crate::agent_words::{agent_settings, agent_words};
use crate::progress_bar::TerminalProgress;
use crate::say::warn_user;
use crate::source_args::DataFacts;
use crate::train_words::{PresetWord, TrainWords};
use crate::words::{needs_of, task_from_word};
use anyhow::{Context, Result, bail};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;
use touchstream_agent::Scenes;
use touchstream_encoder::{Encoder, EncoderSpec};
use touchstream_env::schedule::Schedule;
use touchstream_env::seed::RunSeed;
use touchstream_env::stimuli::{Split, Stimuli};
use touchstream_env::stream::Stream;
use touchstream_env::task::Task;
use touchstream_env::trial::{BindError, PlacementChoice, PlacementPool};
use touchstream_features::{CalibrationSettings, Eyes, FeatureSet, FeatureSettings, Wanted};
use touchstream_lab::FeatureScenes;
use touchstream_lab::maps::snapshot_steps;
use touchstream_lab::run::{Lesson, RunIdentity, RunPlan, World};
use touchstream_mind::Instructions;
use touchstream_stimuli::{Needs, Opened, SourceSpec};

/// Words that have been understood: nothing was opened yet, and nothing about them is impossible.
pub struct RunSetup {
    /// Every word filled in.
    pub words: TrainWords,
    pub task: Task,
    pub plan: RunPlan,
    data: SourceSpec,
    encoder: EncoderSpec,
    calibration: CalibrationSettings,
    placements: PlacementChoice,
}

/// A run's images and features.
pub struct OpenedRun {
    pub train: Stream,
    pub validation: Stream,
    pub scenes: FeatureScenes,
    pub identity: RunIdentity,
    pub data: DataFacts,
    pub encoder_name: String,
}

const DEFAULT_STEPS: u64 = 30_000;
const DEFAULT_TRIALS: u64 = 200;
const DEFAULT_EXAMPLES: usize = 4;
const N_SNAPSHOTS: usize = 7;

impl RunSetup {
    /// Understands words and fills in what they leave out.
    pub fn new(words: TrainWords) -> Result<Self> {
        let task_word = words.task.clone().unwrap_or_else(|| "sr-2way".into());
        let task = task_from_word(&task_word).context("task")?;
        let module = words.module.clone().unwrap_or_else(|| "ems".into());
        let preset = words.preset.unwrap_or(PresetWord::Default);
        let data: SourceSpec = words.data.as_deref().unwrap_or("gallery").parse().context("data")?;
        let encoder: EncoderSpec =
            words.encoder.as_deref().unwrap_or("compact").parse().context("encoder")?;
        words.encoder_options.check(&encoder)?;
        let agent = agent_settings(&words, &module, &task, preset)?;
        let n_steps = words.steps.unwrap_or(DEFAULT_STEPS);
        if n_steps == 0 {
            bail!("steps: a run of 0 steps learns nothing");
        }
        // Whole updates.
        let n_steps = n_steps.div_ceil(agent.batch_steps as u64).saturating_mul(agent.batch_steps as u64);
        let evaluate_every = words.evaluate_every.unwrap_or(n_steps.div_ceil(60).max(500));
        let evaluation_trials = words.evaluation_trials.unwrap_or(DEFAULT_TRIALS);
        if evaluate_every == 0 || evaluation_trials == 0 {
            bail!("evaluate-every and evaluation-trials must be at least 1");
        }
        let n_map_examples = words.map_examples.unwrap_or(DEFAULT_EXAMPLES);
        if n_map_examples > 64 {
            bail!("map-examples: {n_map_examples} is more than 64");
        }
        let mut map_steps = words.map_steps.clone().unwrap_or_else(|| snapshot_steps(n_steps, N_SNAPSHOTS));
        map_steps.sort_unstable();
        map_steps.dedup();
        if let Some(step) = map_steps.iter().find(|&&step| step > n_steps) {
            bail!("map-steps: {step} is behind the last of {n_steps} steps");
        }
        let calibration = match preset {
            PresetWord::Default => CalibrationSettings::DEFAULT,
            PresetWord::Paper => CalibrationSettings::PAPER,
        };
        let norm = words.feature_norm.unwrap_or(calibration.norm);
        let calibration = CalibrationSettings { norm, ..calibration };
        let placements_n = words.placements.unwrap_or(PlacementPool::DEFAULT_N.get());
        let Some(n) = NonZeroU32::new(placements_n).filter(|n| n.get() <= 100_000) else {
            bail!("placements: {placements_n} is not in 1..=100000");
        };
        let placements_seed = words.placements_seed.unwrap_or(0);
        let seed = words.seed.unwrap_or(0);
        let lesson = Lesson {
            task: task.spec().to_toml(),
            placements: format!("{placements_n} of seed {placements_seed}"),
            agent: agent.clone(),
        };
        let plan = RunPlan {
            n_steps,
            seed,
            lessons: vec![lesson],
            voting: None,
            evaluate_every,
            evaluation_trials,
            n_map_examples,
            map_steps: map_steps.clone(),
        };
        let words = TrainWords {
            task: Some(task_word),
            data: Some(data.clone().absolute().to_string()),
            encoder: Some(encoder.clone().absolute().to_string()),
            steps: Some(n_steps),
            seed: Some(seed),
            preset: Some(preset),
            feature_norm: Some(norm),
            placements: Some(placements_n),
            placements_seed: Some(placements_seed),
            evaluate_every: Some(evaluate_every),
            evaluation_trials: Some(evaluation_trials),
            map_examples: Some(n_map_examples),
            map_steps: Some(map_steps),
            ..agent_words(&agent, words.with_absolute_paths())
        };
        let placements = PlacementChoice::Pool(PlacementPool { n, seed: placements_seed });
        Ok(Self { words, task, plan, data, encoder, calibration, placements })
    }

    /// The task's stream on a split, at its first step.
    pub fn stream(&self, stimuli: &Arc<dyn Stimuli>, split: Split, seed: u64) -> Result<Stream, BindError> {
        self.stream_of(&self.task, stimuli, split, seed)
    }

    /// The stream of another task.
    pub fn stream_of(
        &self,
        task: &Task,
        stimuli: &Arc<dyn Stimuli>,
        split: Split,
        seed: u64,
    ) -> Result<Stream, BindError> {
        let (schedule, stimuli) = (Schedule::single(task.clone()), Arc::clone(stimuli));
        let opened = Stream::open_with(schedule, stimuli, split, RunSeed(seed), self.placements);
        opened.map(|(stream, _)| stream)
    }

    /// How features are centred and scaled.
    pub fn calibration(&self) -> CalibrationSettings {
        self.calibration
    }

    /// How match screens of moving templates are drawn, in words.
    pub fn placements_word(&self) -> String {
        self.plan.lessons[0].placements.clone()
    }

    /// Opens the encoder, if the agent can read what it gives; and where its cache is.
    pub fn open_encoder(&self) -> Result<(Box<dyn Encoder>, Option<PathBuf>)> {
        let cache_dir = self.words.images.cache_dir();
        let encoder = self.words.encoder_options.open(&self.encoder, cache_dir.as_deref())?;
        self.plan.agent().check(encoder.shape().scene_len)?;
        Ok((encoder, cache_dir))
    }

    /// Opens the images.
    pub fn open_images(&self, needs: Needs) -> Result<Opened> {
        self.words.images.open(&self.data, needs)
    }

    /// Opens images and eyes, and encodes what is not in the cache yet.
    pub fn open(&self) -> Result<OpenedRun> {
        let (encoder, cache_dir) = self.open_encoder()?;
        let scene_len = encoder.shape().scene_len;
        let opened = self.open_images(needs_of([&self.task]))?;
        let open = |split| self.stream(&opened.stimuli, split, self.plan.seed);
        let (train, validation) = (open(Split::Train)?, open(Split::Validation)?);
        let progress = TerminalProgress::default();
        let eyes = Eyes { encoder: encoder.as_ref(), cache_dir: cache_dir.as_deref(), progress: &progress };
        let settings = FeatureSettings { wanted: Wanted::Scene, calibration: self.calibration };
        let features = FeatureSet::of_tasks(eyes, &[train.bound_task(), validation.bound_task()], settings)?;
        features.encoded().notes.iter().for_each(|note| warn_user!("note: {note}"));
        let data = DataFacts::of(&opened.manifest);
        let identity = RunIdentity {
            plan: self.plan.clone(),
            origin: None,
            data_hash: data.content_hash.clone(),
            encoder_hash: encoder.content_hash().to_string(),
            calibration_hash: features.calibration().content_hash().to_string(),
            instructions: Instructions::best().name().into(),
            program: env!("CARGO_PKG_VERSION").into(),
        };
        let encoder_name = encoder.name().to_owned();
        let scenes = FeatureScenes(features);
        debug_assert_eq!(scenes.scene_len(), scene_len);
        Ok(OpenedRun { train, validation, scenes, identity, data, encoder_name })
    }
}

impl OpenedRun {
    /// What an agent is trained in.
    pub fn world(&self) -> World<'_, FeatureScenes> {
        World { train: self.train.clone(), validations: vec![self.validation.clone()], scenes: &self.scenes }
    }
}
