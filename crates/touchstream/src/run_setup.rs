//! From words to a run: images opened, screens encoded, streams at their first step.

use crate::progress_bar::TerminalProgress;
use crate::say::warn_user;
use crate::source_args::DataFacts;
use crate::train_words::{DistWord, ExploreWord, InitialWord, PresetWord, TrainWords, VarianceWord};
use crate::words::{needs_of, task_from_word};
use anyhow::{Context, Result, bail};
use std::num::NonZeroU32;
use std::sync::Arc;
use touchstream_agent::policy::{Dist, Explore, VarianceOf};
use touchstream_agent::{AgentSettings, Scenes};
use touchstream_encoder::EncoderSpec;
use touchstream_env::schedule::Schedule;
use touchstream_env::seed::RunSeed;
use touchstream_env::stimuli::{Split, Stimuli};
use touchstream_env::stream::Stream;
use touchstream_env::task::Task;
use touchstream_env::trial::{BindError, PlacementChoice, PlacementPool};
use touchstream_features::{CalibrationSettings, Eyes, FeatureSet, FeatureSettings, Wanted};
use touchstream_lab::FeatureScenes;
use touchstream_lab::maps::snapshot_steps;
use touchstream_lab::run::{RunIdentity, RunPlan, World};
use touchstream_mind::Instructions;
use touchstream_mind::module::InitialWeights;
use touchstream_stimuli::SourceSpec;

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
const DEFAULT_EPSILON: f32 = 0.1;
const DEFAULT_TEMPERATURE: f32 = 0.01;
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
        let plan = RunPlan {
            seed,
            n_steps,
            evaluate_every,
            evaluation_trials,
            n_map_examples,
            map_steps: map_steps.clone(),
            agent: agent.clone(),
        };
        let words = TrainWords {
            task: Some(task_word),
            data: Some(data.to_string()),
            encoder: Some(encoder.to_string()),
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
            ..agent_words(&agent, words)
        };
        let placements = PlacementChoice::Pool(PlacementPool { n, seed: placements_seed });
        Ok(Self { words, task, plan, data, encoder, calibration, placements })
    }

    /// The task's stream on a split, at its first step.
    pub fn stream(&self, stimuli: &Arc<dyn Stimuli>, split: Split, seed: u64) -> Result<Stream, BindError> {
        let (schedule, stimuli) = (Schedule::single(self.task.clone()), Arc::clone(stimuli));
        let opened = Stream::open_with(schedule, stimuli, split, RunSeed(seed), self.placements);
        opened.map(|(stream, _)| stream)
    }

    /// Opens images and eyes, and encodes what is not in the cache yet.
    pub fn open(&self) -> Result<OpenedRun> {
        let cache_dir = self.words.images.cache_dir();
        let encoder = self.words.encoder_options.open(&self.encoder, cache_dir.as_deref())?;
        let scene_len = encoder.shape().scene_len;
        self.plan.agent.check(scene_len)?;
        let opened = self.words.images.open(&self.data, needs_of([&self.task]))?;
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
            task: self.task.spec().to_toml(),
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
        World { train: self.train.clone(), validation: self.validation.clone(), scenes: &self.scenes }
    }
}

fn agent_settings(
    words: &TrainWords,
    module: &str,
    task: &Task,
    preset: PresetWord,
) -> Result<AgentSettings> {
    let mut agent = AgentSettings::for_task(module, task)?;
    if preset == PresetWord::Paper {
        agent = agent.as_printed();
    }
    let n_first = usize::from(touchstream_agent::find_module(module)?.bottleneck.is_some());
    if let Some(depth) = words.depth {
        if depth == 0 || depth > 64 {
            bail!("depth: {depth} is not in 1..=64");
        }
        let width = agent.module.units[0];
        agent.module.units = vec![width; n_first + depth];
    }
    match words.units.as_deref() {
        Some(&[width]) => agent.module.units.fill(width),
        Some(units) => {
            if let Some(depth) = words.depth
                && units.len() != n_first + depth
            {
                bail!("units: {} numbers do not fit a depth of {depth}", units.len());
            }
            agent.module.units = units.to_vec();
        }
        None => {}
    }
    macro_rules! take {
        ($($word:ident => $field:ident),*) => { $(if let Some(value) = words.$word { agent.$field = value; })* };
    }
    take!(k_b => k_b, k_f => k_f, candidates => n_candidates, batch => batch_steps, learning_rate => learning_rate);
    if let Some(word) = words.initial_weights {
        agent.initial_weights = match word {
            InitialWord::FanIn => InitialWeights::FanIn,
            InitialWord::Paper => InitialWeights::Paper,
        };
    }
    let dist = words.dist.unwrap_or(match agent.policy.dist {
        Dist::Identity => DistWord::Identity,
        Dist::Boltzmann { .. } => DistWord::Boltzmann,
    });
    agent.policy.dist = match dist {
        DistWord::Identity if words.temperature.is_some() => bail!("temperature is for --dist boltzmann"),
        DistWord::Identity => Dist::Identity,
        DistWord::Boltzmann => {
            Dist::Boltzmann { temperature: words.temperature.unwrap_or(DEFAULT_TEMPERATURE) }
        }
    };
    if let Some(word) = words.variance_of {
        agent.policy.variance_of = match word {
            VarianceWord::Maps => VarianceOf::Maps,
            VarianceWord::Distributions => VarianceOf::Distributions,
        };
    }
    if words.epsilon.is_some() && words.explore != Some(ExploreWord::EpsilonGreedy) {
        bail!("epsilon is for --explore epsilon-greedy");
    }
    if let Some(word) = words.explore {
        agent.policy.explore = match word {
            ExploreWord::Sample => Explore::Sample,
            ExploreWord::Greedy => Explore::Greedy,
            ExploreWord::EpsilonGreedy => {
                Explore::EpsilonGreedy { epsilon: words.epsilon.unwrap_or(DEFAULT_EPSILON) }
            }
        };
    }
    // Everything but the length of scene vectors can be refused before anything is opened.
    agent.check(1)?;
    Ok(agent)
}

/// Words that say all about an agent.
fn agent_words(agent: &AgentSettings, words: TrainWords) -> TrainWords {
    let (dist, temperature) = match agent.policy.dist {
        Dist::Identity => (DistWord::Identity, None),
        Dist::Boltzmann { temperature } => (DistWord::Boltzmann, Some(temperature)),
    };
    let (explore, epsilon) = match agent.policy.explore {
        Explore::Sample => (ExploreWord::Sample, None),
        Explore::Greedy => (ExploreWord::Greedy, None),
        Explore::EpsilonGreedy { epsilon } => (ExploreWord::EpsilonGreedy, Some(epsilon)),
    };
    TrainWords {
        module: Some(agent.module.id.clone()),
        units: Some(agent.module.units.clone()),
        depth: None,
        k_b: Some(agent.k_b),
        k_f: Some(agent.k_f),
        candidates: Some(agent.n_candidates),
        batch: Some(agent.batch_steps),
        learning_rate: Some(agent.learning_rate),
        initial_weights: Some(match agent.initial_weights {
            InitialWeights::FanIn => InitialWord::FanIn,
            InitialWeights::Paper => InitialWord::Paper,
        }),
        dist: Some(dist),
        temperature,
        variance_of: Some(match agent.policy.variance_of {
            VarianceOf::Maps => VarianceWord::Maps,
            VarianceOf::Distributions => VarianceWord::Distributions,
        }),
        explore: Some(explore),
        epsilon,
        ..words
    }
}
