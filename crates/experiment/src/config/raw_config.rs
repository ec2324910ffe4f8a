//! The settings of a run as typed or read from a file; each may be missing.

use super::choice::{Preset, by_name_if_any};
use super::setting::settings;
use super::task_args::{read_text, resolve_relative_to};
use super::{EncoderOptions, ImageOptions, Settings};
use crate::error::{Context, Error, Result, bail};
use serde::{Deserialize, Serialize};
use std::path::Path;
use touchstream_agents::policy::{Dist, Explore, VarianceOf};
use touchstream_encoder::EncoderSpec;
use touchstream_modules::composite::Voting;
use touchstream_modules::module::{FlattenedScale, InitialWeights};
use touchstream_stimuli::SourceSpec;

const MAX_EXAMPLES: usize = 64;
/// Years of training.
pub const MAX_STEPS: u64 = 1_000_000_000_000;
/// Hours of one evaluation.
pub const MAX_TRIALS: u64 = 10_000_000;

/// The heading of settings for streams of several tasks.
pub const STREAM: &str = "Controller";

settings! {
    /// The settings of a run: options of `touchstream train` and, under the same names, keys of its configuration
    /// file.
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
    pub struct RawConfig {
        [""]
        task: Option<String> = "ID", "Task id or task file [default: sr-2way]";
        [STREAM]
        schedule: Option<String> = "SCHEDULE", "Several tasks, one after the other: a schedule file, a name (`touchstream schedules` lists them), or a list such as sr-2way:8000,sr-4way-quadrant";
        [""]
        module: Option<String> = "ID", "Module id (`touchstream modules` lists them) [default: ems]";
        data: Option<String> = "SOURCE", "Where images come from: gallery, folder:PATH, coco:PATH or cutouts:PATH [default: gallery]";
        encoder: Option<String> = "ENCODER", "What turns screens into features: compact, vgg16 or onnx:FILE [default: compact]";
        steps: Option<u64> = "N", "Steps to learn, rounded up to whole updates [default: 30000]";
        seed: Option<u64> = "SEED", "Seed of weights, trials, candidates, choices and dropout [default: 0]";
        preset: Option<Preset> = "PRESET", "Our values, or those that the paper prints [default: default]";
        ["Agent"]
        units: Option<Vec<usize>> = "N,...", "Units of each stage except the readout, or one number for all [default: as in the paper's table]";
        depth: Option<usize> = "N", "Layers after the bottleneck [default: 2; 3 for late modules]";
        k_b: Option<usize> = "N", "Number of past steps in the module's input [default: 1]";
        k_f: Option<usize> = "N", "Number of rewards ahead that the module predicts [default: 2]";
        touch_scale: Option<f32> = "N", "Touch coordinate at the screen edge [default: 1 for stimulus-response, else 24; 111.5, pixels from the middle, with --preset paper]";
        candidates: Option<usize> = "N", "Candidate touches per step [default: 256]";
        targets: Option<usize> = "N", "Touches per step to train on: the executed one, and others whose rewards the environment supplies [default: 1, as in the paper]";
        dropout: Option<f64> = "SHARE", "Share of features that are dropped at each step of training [default: 0, as in the paper]";
        batch: Option<usize> = "N", "Steps between two updates [default: 8; 16 as in the paper if the first task is localization or scenes, or with --preset paper]";
        learning_rate: Option<f64> = "RATE", "Learning rate of Adam [default: as in the paper's table; 3e-4 for localization and scenes]";
        weight_decay: Option<f64> = "SHARE", "Decoupled weight decay: each update subtracts this share of weights and biases times the learning rate [default: 0, as in the paper]";
        #[serde(with = "by_name_if_any")]
        initial_weights: Option<InitialWeights> = "HOW", "Initial weights [default: fan-in; paper, N(0, 0.01), with --preset paper]";
        #[serde(with = "by_name_if_any")]
        flattened_scale: Option<FlattenedScale> = "HOW", "Scale of the flattened features of conv-ems [default: place; one with --initial-weights paper]";
        #[serde(with = "by_name_if_any")]
        dist: Option<Dist> = "F", "Distribution over candidates, given a reward map [default: identity; boltzmann for localization and scenes]";
        temperature: Option<f32> = "T", "Temperature of boltzmann [default: 0.01]";
        #[serde(with = "by_name_if_any")]
        variance_of: Option<VarianceOf> = "WHAT", "Variance by which a map is chosen [default: maps; distributions with --preset paper]";
        #[serde(with = "by_name_if_any")]
        explore: Option<Explore> = "HOW", "How a touch is chosen from the map [default: sample]";
        epsilon: Option<f32> = "P", "Probability of a uniform touch under epsilon-greedy [default: 0.1]";
        [STREAM]
        #[serde(with = "by_name_if_any")]
        voting: Option<Voting> = "HOW", "Voters after a task switch [default: layer]";
        transformations: Option<bool> = "BOOL", "Whether transformed copies of old modules vote, too [default: true]";
        ["Features"]
        feature_norm: Option<f32> = "NORM", "Norm to which scene vectors are scaled [default: 2; 8 with --preset paper]";
        placements: Option<u32> = "N", "Match screens per split, for tasks whose templates move [default: 500]";
        placements_seed: Option<u64> = "SEED", "Seed of these match screens [default: 0]";
        ["Records"]
        evaluate_every: Option<u64> = "N", "Steps between two evaluations [default: a sixtieth of the run, at least 500]";
        evaluation_trials: Option<u64> = "N", "Validation trials per evaluation [default: 200]";
        map_examples: Option<usize> = "N", "Validation trials whose reward maps are kept [default: 4]";
        map_steps: Option<Vec<u64>> = "N,...", "Steps at which reward maps are kept [default: twenty equally spaced steps, and steps that double up to the end]";
    }
    with {
        images: ImageOptions,
        encoder_options: EncoderOptions,
    }
}

impl RawConfig {
    pub fn read(path: &Path) -> Result<Self> {
        Self::from_text(&read_text(path)?, path)
    }

    /// From the text of a file.
    pub fn from_text(text: &str, path: &Path) -> Result<Self> {
        let config: Self = touchstream_env::parse_toml(text)
            .map_err(|error| Error::Settings(format!("{}: {error}", path.display())))?;
        Ok(config.beside(path.parent().unwrap_or(Path::new("."))))
    }

    pub fn to_toml(&self) -> Result<String> {
        toml::to_string(self).context("the configuration cannot be written as TOML")
    }

    /// These settings; where one is missing, that of `below`, unless it depends on another setting that differs.
    #[must_use]
    pub fn over(self, below: Self) -> Self {
        let below = below.without_what_goes_with_others(&self);
        Settings::over(self, below)
    }

    /// Resolves the paths of tasks and schedules relative to the configuration file.
    fn beside(mut self, folder: &Path) -> Self {
        for word in [&mut self.task, &mut self.schedule].into_iter().flatten() {
            *word = resolve_relative_to(word, folder);
        }
        self
    }

    pub fn with_absolute_paths(mut self) -> Self {
        let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        self.encoder_options.weights = self.encoder_options.weights.as_deref().map(absolute);
        for template in &mut self.images.templates {
            if let Some((class, file)) = template.split_once('=') {
                *template = format!("{class}={}", absolute(Path::new(file)).display());
            }
        }
        self
    }

    pub fn with_absolute_sources(self) -> Result<Self> {
        let absolute = |word: &str| word.parse::<SourceSpec>().map(|spec| spec.absolute().to_string());
        let data = self.data.as_deref().map(absolute).transpose().context("data")?;
        let absolute = |word: &str| word.parse::<EncoderSpec>().map(|spec| spec.absolute().to_string());
        let encoder = self.encoder.as_deref().map(absolute).transpose().context("encoder")?;
        Ok(Self { data, encoder, ..self }.with_absolute_paths())
    }

    /// Resolves the paths of images and weights relative to a folder.
    pub fn with_sources_beside(mut self, folder: &Path) -> Result<Self> {
        for word in [&mut self.data, &mut self.encoder].into_iter().flatten() {
            if let Some((kind, path)) = word.split_once(':') {
                *word = format!("{kind}:{}", folder.join(path).display());
            }
        }
        if let Some(weights) = &mut self.encoder_options.weights {
            *weights = folder.join(&*weights);
        }
        for template in &mut self.images.templates {
            if let Some((class, file)) = template.split_once('=') {
                *template = format!("{class}={}", folder.join(file).display());
            }
        }
        self.with_absolute_sources()
    }

    pub fn check_counts(&self) -> Result<()> {
        for (name, n, max) in
            [("steps", self.steps, MAX_STEPS), ("evaluation-trials", self.evaluation_trials, MAX_TRIALS)]
        {
            if let Some(n) = n.filter(|&n| n > max) {
                bail!(Settings, "{name}: {n} is more than {max}");
            }
        }
        if self.evaluate_every == Some(0) || self.evaluation_trials == Some(0) {
            bail!(Settings, "evaluate-every and evaluation-trials must be at least 1");
        }
        match self.map_examples {
            Some(n) if n > MAX_EXAMPLES => bail!(Settings, "map-examples: {n} is more than {MAX_EXAMPLES}"),
            _ => Ok(()),
        }
    }

    /// Removes the settings of a file that depend on a setting that the command line overrides: another task, module or
    /// preset has its own widths and rates, another policy its own parameters.
    fn without_what_goes_with_others(mut self, typed: &Self) -> Self {
        let differs = |typed: &Option<String>, own: &Option<String>| typed.is_some() && typed != own;
        let is_other_preset = typed.preset.is_some() && typed.preset != self.preset;
        // Task and schedule exclude each other; the command line decides.
        if typed.task.is_some() {
            (self.schedule, self.voting, self.transformations) = (None, None, None);
        }
        if typed.schedule.is_some() {
            self.task = None;
        }
        let is_other_task = differs(&typed.task, &self.task) || differs(&typed.schedule, &self.schedule);
        if is_other_task || is_other_preset || differs(&typed.module, &self.module) {
            (self.units, self.depth, self.learning_rate) = (None, None, None);
            (self.dist, self.temperature, self.batch) = (None, None, None);
        }
        if is_other_task || is_other_preset {
            self.touch_scale = None;
        }
        if differs(&typed.module, &self.module) {
            self.flattened_scale = None;
        }
        if is_other_preset {
            (self.initial_weights, self.variance_of, self.feature_norm) = (None, None, None);
            self.flattened_scale = None;
            (self.targets, self.dropout, self.weight_decay) = (None, None, None);
        }
        if typed.dist.is_some() {
            self.temperature = None;
        }
        if typed.explore.is_some() {
            self.epsilon = None;
        }
        if typed.depth.is_some() {
            self.units = None;
        }
        if typed.steps.is_some() {
            (self.map_steps, self.evaluate_every) = (None, None);
        }
        self
    }
}
