//! What a run is made of, as it is typed or written in a file; every field may be left out.

use crate::encoder_args::EncoderOptions;
use crate::source_args::OpenArgs;
use crate::words::word_beside;
use anyhow::{Context, Result, anyhow, bail};
use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use std::path::Path;
use touchstream_agent::TouchScale;
use touchstream_encoder::EncoderSpec;
use touchstream_mind::composite::{Voting, VotingSettings};
use touchstream_stimuli::SourceSpec;

/// More trials than anyone looks at.
const MAX_EXAMPLES: usize = 64;

/// The words of a run: flags of `touchstream train` and, under the same names, keys of its configuration file.
#[derive(Args, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct TrainWords {
    /// Task id or task file [default: sr-2way]
    #[arg(long, value_name = "ID")]
    pub task: Option<String>,
    /// Several tasks, one after the other: a schedule file, or the name of one. A flag of `train` alone.
    #[arg(skip)]
    pub schedule: Option<String>,
    /// Module id, one of those that `touchstream modules` lists [default: ems]
    #[arg(long, value_name = "ID")]
    pub module: Option<String>,
    /// Where images come from: gallery, folder:PATH, coco:PATH or cutouts:PATH [default: gallery]
    #[arg(long, value_name = "SOURCE")]
    pub data: Option<String>,
    /// What turns screens into features: compact, vgg16 or onnx:FILE [default: compact]
    #[arg(long, value_name = "ENCODER")]
    pub encoder: Option<String>,
    /// Steps to learn, rounded up to whole updates [default: 30000]
    #[arg(long, value_name = "N")]
    pub steps: Option<u64>,
    /// Seed of weights, trials, candidates, choices and dropout [default: 0]
    #[arg(long, value_name = "SEED")]
    pub seed: Option<u64>,
    /// Where the paper's printed values are not ours, take them [default: default]
    #[arg(long, value_enum)]
    pub preset: Option<PresetWord>,

    /// Units of each stage but the readout, or one number for all [default: the paper's table]
    #[arg(long, value_name = "N,...", value_delimiter = ',', help_heading = "Agent")]
    pub units: Option<Vec<usize>>,
    /// Layers behind the bottleneck [default: 2; 3 for late modules]
    #[arg(long, value_name = "N", help_heading = "Agent")]
    pub depth: Option<usize>,
    /// Screens and touches before the present ones that the module reads [default: 1]
    #[arg(long, value_name = "N", help_heading = "Agent")]
    pub k_b: Option<usize>,
    /// Rewards ahead that it predicts [default: 2]
    #[arg(long, value_name = "N", help_heading = "Agent")]
    pub k_f: Option<usize>,
    /// What coordinates of touches count at the screen's edge [default: 1 for stimulus-response, else 24; pixels from the middle, 111.5, with --preset paper]
    #[arg(long, value_name = "N", help_heading = "Agent")]
    pub touch_scale: Option<f32>,
    /// Candidate touches a step [default: 256]
    #[arg(long, value_name = "N", help_heading = "Agent")]
    pub candidates: Option<usize>,
    /// Touches that a step teaches: the chosen one, and others that the environment judges [default: 1, as the paper]
    #[arg(long, value_name = "N", help_heading = "Agent")]
    pub targets: Option<usize>,
    /// Share of features that are left out at every step while learning, others each time [default: 0, as the paper]
    #[arg(long, value_name = "SHARE", help_heading = "Agent", allow_negative_numbers = true)]
    pub dropout: Option<f64>,
    /// Steps between two updates [default: 8; 16 as the paper, and where localization or scenes come first]
    #[arg(long, value_name = "N", help_heading = "Agent")]
    pub batch: Option<usize>,
    /// Adam's learning rate [default: the paper's table; 3e-4 for localization and scenes]
    #[arg(long, value_name = "RATE", help_heading = "Agent", allow_negative_numbers = true)]
    pub learning_rate: Option<f64>,
    /// What an update takes off weights and biases: this share, times the learning rate [default: 0, as the paper]
    #[arg(long, value_name = "SHARE", help_heading = "Agent", allow_negative_numbers = true)]
    pub weight_decay: Option<f64>,
    /// How weights start [default: fan-in; N(0, 0.01) as the paper]
    #[arg(long, value_enum, value_name = "HOW", help_heading = "Agent")]
    pub initial_weights: Option<InitialWord>,
    /// What each flattened number of conv-ems counts [default: place; one where weights start as printed]
    #[arg(long, value_enum, value_name = "HOW", help_heading = "Agent")]
    pub flattened_scale: Option<FlattenedWord>,
    /// What turns a reward map into a distribution [default: identity; boltzmann for localization and scenes]
    #[arg(long, value_enum, value_name = "F", help_heading = "Agent")]
    pub dist: Option<DistWord>,
    /// The temperature of boltzmann [default: 0.01]
    #[arg(long, value_name = "T", help_heading = "Agent")]
    pub temperature: Option<f32>,
    /// Of what the variance is taken to choose a map [default: maps; distributions as the paper]
    #[arg(long, value_enum, value_name = "WHAT", help_heading = "Agent")]
    pub variance_of: Option<VarianceWord>,
    /// How a touch is taken from the chosen map [default: sample]
    #[arg(long, value_enum, value_name = "HOW", help_heading = "Agent")]
    pub explore: Option<ExploreWord>,
    /// The probability of any touch under epsilon-greedy [default: 0.1]
    #[arg(long, value_name = "P", help_heading = "Agent")]
    pub epsilon: Option<f32>,

    /// Who is voted on when a task follows another. A flag of `train` alone.
    #[arg(skip)]
    pub voting: Option<VotingWord>,
    /// Whether old modules are voted on with transformed touches and maps too. A flag of `train` alone.
    #[arg(skip)]
    pub transformations: Option<bool>,

    /// The norm that scene vectors are scaled to [default: 2; 8 as the paper]
    #[arg(long, value_name = "NORM", help_heading = "Features")]
    pub feature_norm: Option<f32>,
    /// Match screens of tasks whose templates move, for each split [default: 500]
    #[arg(long, value_name = "N", help_heading = "Features")]
    pub placements: Option<u32>,
    /// Seed of these match screens [default: 0]
    #[arg(long, value_name = "SEED", help_heading = "Features")]
    pub placements_seed: Option<u64>,

    /// Steps between two evaluations [default: a sixtieth of all, at least 500]
    #[arg(long, value_name = "N", help_heading = "Records")]
    pub evaluate_every: Option<u64>,
    /// Validation trials of an evaluation [default: 200]
    #[arg(long, value_name = "N", help_heading = "Records")]
    pub evaluation_trials: Option<u64>,
    /// Validation trials whose reward maps are kept [default: 4]
    #[arg(long, value_name = "N", help_heading = "Records")]
    pub map_examples: Option<usize>,
    /// Steps at which reward maps are kept [default: at twenty equal distances, and doubling to the end]
    #[arg(long, value_name = "N,...", value_delimiter = ',', help_heading = "Records")]
    pub map_steps: Option<Vec<u64>>,

    #[command(flatten)]
    pub images: OpenArgs,
    #[command(flatten)]
    pub encoder_options: EncoderOptions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PresetWord {
    /// Our settings
    Default,
    /// The values that the paper prints
    Paper,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VotingWord {
    /// Whole layers of modules
    Layer,
    /// Every unit for itself
    Unit,
}

impl PresetWord {
    /// As it is typed.
    pub fn word(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Paper => "paper",
        }
    }
}

impl VotingWord {
    /// How a controller votes.
    pub fn settings(self, preset: PresetWord, transformations: bool) -> VotingSettings {
        let mut settings = VotingSettings::of(match self {
            Self::Layer => Voting::Layer,
            Self::Unit => Voting::Unit,
        });
        if preset == PresetWord::Paper {
            settings = settings.as_printed();
        }
        if transformations { settings } else { settings.without_transformations() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlattenedWord {
    /// As it is
    One,
    /// Divided by the root of the number of places
    Root,
    /// Divided by the number of places
    Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InitialWord {
    /// N(0, 1 / inputs)
    FanIn,
    /// N(0, 0.01)
    Paper,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DistWord {
    /// In proportion to the map above its minimum
    Identity,
    /// e to the map over a temperature
    Boltzmann,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VarianceWord {
    /// Of predicted rewards
    Maps,
    /// Of the distributions
    Distributions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExploreWord {
    /// Drawn from the distribution
    Sample,
    /// The best, or now and then any
    EpsilonGreedy,
    /// The best
    Greedy,
}

impl TrainWords {
    /// Reads a configuration file.
    pub fn read(path: &Path) -> Result<Self> {
        let text = crate::words::read_text(path)?;
        let words: Self =
            touchstream_env::parse_toml(&text).map_err(|error| anyhow!("{}: {error}", path.display()))?;
        Ok(words.beside(path.parent().unwrap_or(Path::new("."))))
    }

    /// Reads what a run's folder says of it, which is everything. Runs of before touches were counted on a scale do not say
    /// it: their edge is at 1.
    pub fn read_of_run(path: &Path) -> Result<Self> {
        let mut words = Self::read(path)?;
        words.touch_scale.get_or_insert(TouchScale::ONE.0);
        Ok(words)
    }

    /// As a configuration file.
    pub fn to_toml(&self) -> Result<String> {
        toml::to_string(self).context("the configuration cannot be written as TOML")
    }

    /// These words, and those of `below` where nothing is said here.
    pub fn over(self, below: Self) -> Self {
        let below = below.without_what_goes_with_others(&self);
        macro_rules! over {
            ($($field:ident),*) => { Self { $($field: self.$field.or(below.$field),)*
                images: over_images(self.images, below.images),
                encoder_options: over_options(self.encoder_options, below.encoder_options) } };
        }
        over!(
            task,
            schedule,
            module,
            data,
            encoder,
            steps,
            seed,
            preset,
            units,
            depth,
            k_b,
            k_f,
            touch_scale,
            candidates,
            targets,
            dropout,
            batch,
            learning_rate,
            weight_decay,
            initial_weights,
            flattened_scale,
            dist,
            temperature,
            variance_of,
            explore,
            epsilon,
            voting,
            transformations,
            feature_norm,
            placements,
            placements_seed,
            evaluate_every,
            evaluation_trials,
            map_examples,
            map_steps
        )
    }

    /// Task and schedule files that a configuration names are looked for beside it.
    fn beside(mut self, folder: &Path) -> Self {
        for word in [&mut self.task, &mut self.schedule].into_iter().flatten() {
            *word = word_beside(word, folder);
        }
        self
    }

    /// Files are found from whatever folder one stands in.
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

    /// The same for where images and features come from.
    pub fn with_absolute_sources(self) -> Result<Self> {
        let absolute = |word: &str| word.parse::<SourceSpec>().map(|spec| spec.absolute().to_string());
        let data = self.data.as_deref().map(absolute).transpose().context("data")?;
        let absolute = |word: &str| word.parse::<EncoderSpec>().map(|spec| spec.absolute().to_string());
        let encoder = self.encoder.as_deref().map(absolute).transpose().context("encoder")?;
        Ok(Self { data, encoder, ..self }.with_absolute_paths())
    }

    /// The same for words of a file: what they name is looked for beside it.
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

    /// That what is counted can be.
    pub fn check_counts(&self) -> Result<()> {
        if self.evaluate_every == Some(0) || self.evaluation_trials == Some(0) {
            bail!("evaluate-every and evaluation-trials must be at least 1");
        }
        match self.map_examples {
            Some(n) if n > MAX_EXAMPLES => bail!("map-examples: {n} is more than {MAX_EXAMPLES}"),
            _ => Ok(()),
        }
    }

    /// Words of a file that were only ever right beside what is typed now: another task, module or preset brings its own
    /// widths and rates, another policy its own numbers.
    fn without_what_goes_with_others(mut self, typed: &Self) -> Self {
        let differs = |typed: &Option<String>, own: &Option<String>| typed.is_some() && typed != own;
        let is_other_preset = typed.preset.is_some() && typed.preset != self.preset;
        // One task or several: the one that is typed.
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

fn over_images(above: OpenArgs, below: OpenArgs) -> OpenArgs {
    OpenArgs {
        classes: above.classes.or(below.classes),
        strict: above.strict || below.strict,
        templates: if above.templates.is_empty() { below.templates } else { above.templates },
        template_rule: above.template_rule.or(below.template_rule),
        scene_fit: above.scene_fit.or(below.scene_fit),
        portraits: above.portraits.or(below.portraits),
        objects: above.objects.or(below.objects),
        scenes: above.scenes.or(below.scenes),
        validation_part: above.validation_part.or(below.validation_part),
        data_seed: above.data_seed.or(below.data_seed),
        cache: above.cache.or(below.cache),
    }
}

fn over_options(above: EncoderOptions, below: EncoderOptions) -> EncoderOptions {
    EncoderOptions {
        weights: above.weights.or(below.weights),
        scene: above.scene.or(below.scene),
        map: above.map.or(below.map),
        onnx_mean: above.onnx_mean.or(below.onnx_mean),
        onnx_std: above.onnx_std.or(below.onnx_std),
        onnx_layout: above.onnx_layout.or(below.onnx_layout),
    }
}
