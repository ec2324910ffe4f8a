//! All runs of a switching study, side by side: bases first, then what starts from them.

use crate::agent_words::agent_settings;
use crate::progress_bar::TerminalProgress;
use crate::run_setup::RunSetup;
use crate::say::warn_user;
use crate::source_args::DataFacts;
use crate::switch::pair::{Pair, default_base_steps, default_steps};
use crate::switch::progress::StudyProgress;
use crate::train_words::{PresetWord, TrainWords};
use crate::words::needs_of;
use anyhow::{Context, Result, anyhow};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use touchstream_agent::{AgentSettings, Evaluation, Evaluator, Remap, Scenes};
use touchstream_env::seed::RunSeed;
use touchstream_env::stimuli::{Split, Stimuli};
use touchstream_env::stream::Stream;
use touchstream_env::task::Task;
use touchstream_features::{Eyes, FeatureSet};
use touchstream_lab::FeatureScenes;
use touchstream_lab::curve::{CurveRow, LessonVotes, VoteRow};
use touchstream_lab::run::{Ending, Lesson, RunFolder, RunIdentity, RunPlan, Trained, Training, World};
use touchstream_lab::switching::{Start, Variant};
use touchstream_mind::Instructions;
use touchstream_mind::composite::StageVotes;
use touchstream_mind::module::Structure;

/// What a study is made of.
pub struct Study {
    pub words: TrainWords,
    pub pairs: Vec<Pair>,
    /// What features are centred on, besides the pairs' own tasks.
    pub centred_on: Vec<Task>,
    pub variants: Vec<(String, Variant)>,
    /// Whether the old module alone, without learning, is evaluated too.
    pub judges_old: bool,
    pub seeds: Vec<u64>,
    pub base_steps: Option<u64>,
    pub steps: Option<u64>,
    pub folder: PathBuf,
    pub n_jobs: usize,
}

/// Images, features and settings, ready to run.
pub struct OpenedStudy {
    pub scenes: FeatureScenes,
    pub data: DataFacts,
    pub encoder_name: String,
    stimuli: Arc<dyn Stimuli>,
    setup: RunSetup,
    encoder_hash: String,
}

/// One way of learning the second task, under one seed.
pub struct Outcome {
    /// Which of the study's pairs.
    pub pair: usize,
    /// Which of its variants; behind them, the old module alone.
    pub variant: usize,
    pub rows: Vec<CurveRow>,
    /// Votes of each stage, and over time.
    pub votes: Option<Votes>,
}

/// How was voted.
pub struct Votes {
    pub structure: Structure,
    pub stages: Vec<StageVotes>,
    pub rows: Vec<VoteRow>,
}

impl Votes {
    pub fn of_lesson(&self) -> LessonVotes<'_> {
        LessonVotes { structure: &self.structure, votes: &self.stages, rows: &self.rows }
    }
}

/// How long and how often.
#[derive(Clone, Copy)]
struct Length {
    n_steps: u64,
    evaluate_every: u64,
}

/// The last variant's name where the old module is judged.
const OLD_ALONE: &str = "old-alone";
/// Evaluations of a curve.
const N_EVALUATIONS: u64 = 40;
/// Trials that an old module is judged by when it does not learn.
const OLD_TRIALS: u64 = 2000;

impl Study {
    /// Opens images and eyes, and encodes what is not in the cache yet.
    pub fn open(&self) -> Result<OpenedStudy> {
        // Whatever does not depend on the task is that of any run; tasks are the pairs'.
        let setup = RunSetup::new(self.words.clone())?;
        for pair in &self.pairs {
            self.settings(pair)?;
        }
        let tasks: Vec<&Task> =
            self.pairs.iter().flat_map(|pair| [&pair.base, &pair.second]).chain(&self.centred_on).collect();
        let (encoder, cache_dir) = setup.open_encoder()?;
        let opened = setup.open_images(needs_of(tasks.iter().copied()))?;
        let mut streams = Vec::new();
        for task in tasks {
            for split in [Split::Train, Split::Validation] {
                streams.push(setup.stream_of(task, &opened.stimuli, split, 0)?);
            }
        }
        let bound: Vec<_> = streams.iter().map(Stream::bound_task).collect();
        let progress = TerminalProgress::default();
        let eyes = Eyes { encoder: encoder.as_ref(), cache_dir: cache_dir.as_deref(), progress: &progress };
        let features = FeatureSet::of_tasks(eyes, &bound, setup.feature_settings()?)?;
        features.encoded().notes.iter().for_each(|note| warn_user!("note: {note}"));
        Ok(OpenedStudy {
            data: DataFacts::of(&opened.manifest),
            encoder_name: encoder.name().to_owned(),
            encoder_hash: encoder.content_hash().to_string(),
            scenes: FeatureScenes(features),
            stimuli: opened.stimuli,
            setup,
        })
    }

    /// How an agent learns the base task of a pair, and how the second: modules are as wide as the wider one needs.
    fn settings(&self, pair: &Pair) -> Result<[AgentSettings; 2]> {
        let module = self.words.module.as_deref().unwrap_or("ems");
        let preset = self.words.preset.unwrap_or(PresetWord::Default);
        let of = |task: &Task| agent_settings(&self.words, module, task, preset);
        let mut both = [of(&pair.base)?, of(&pair.second)?];
        let [base, second] = &mut both;
        second.check_composable()?;
        // Updates go on as they were: what was seen before the switch is learned after it.
        second.batch_steps = base.batch_steps;
        for (one, other) in base.module.units.iter_mut().zip(&mut second.module.units) {
            let wider = *one.max(other);
            (*one, *other) = (wider, wider);
        }
        Ok(both)
    }

    fn lengths(&self, pair: &Pair, settings: &AgentSettings) -> [Length; 2] {
        let length = |n_steps: u64| {
            let batch = settings.batch_steps as u64;
            let n_steps = n_steps.div_ceil(batch).saturating_mul(batch);
            Length { n_steps, evaluate_every: n_steps.div_ceil(N_EVALUATIONS) }
        };
        [
            length(self.base_steps.unwrap_or_else(|| default_base_steps(&pair.base))),
            length(self.steps.unwrap_or_else(|| default_steps(&pair.second))),
        ]
    }

    /// The folder of a base. Bases of equal names are equal runs.
    fn base_folder(&self, pair: &Pair, settings: &AgentSettings, seed: u64) -> RunFolder {
        let width = settings.module.units.first().copied().unwrap_or(0);
        let name = format!("{}-{}-{width}-seed-{seed}", pair.base.id(), settings.module.id);
        RunFolder::at(self.folder.join("bases").join(name))
    }

    /// Ways of learning the second task, and the old module alone if it is judged.
    pub fn n_variants(&self) -> usize {
        self.variants.len() + usize::from(self.judges_old)
    }

    /// What one of them is called.
    pub fn variant_name(&self, variant: usize) -> &str {
        self.variants.get(variant).map_or(OLD_ALONE, |(name, _)| name)
    }

    /// Where everything of a pair is.
    pub fn pair_folder(&self, pair: &Pair) -> PathBuf {
        self.folder.join(&pair.name)
    }

    /// Runs everything that is not done yet; `None` if it was stopped.
    pub fn run(&self, opened: &OpenedStudy, must_stop: &AtomicBool) -> Result<Option<Vec<Outcome>>> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.n_jobs).build()?;
        let mut bases: BTreeMap<PathBuf, (usize, u64)> = BTreeMap::new();
        for (idx, pair) in self.pairs.iter().enumerate() {
            let [settings, _] = self.settings(pair)?;
            for &seed in &self.seeds {
                bases.entry(self.base_folder(pair, &settings, seed).path().to_owned()).or_insert((idx, seed));
            }
        }
        let bases: Vec<(usize, u64)> = bases.into_values().collect();
        let progress = StudyProgress::new("bases", bases.len());
        let endings: Vec<Ending> = pool.install(|| {
            let run = |&(pair, seed): &(usize, u64)| {
                let ending = self.run_base(opened, pair, seed, must_stop, &progress);
                ending.with_context(|| format!("{}, seed {seed}", self.pairs[pair].base.id()))
            };
            bases.par_iter().map(run).collect::<Result<_>>()
        })?;
        progress.finish();
        if endings.contains(&Ending::Interrupted) {
            return Ok(None);
        }
        let mut jobs = Vec::new();
        for pair in 0..self.pairs.len() {
            for variant in 0..self.n_variants() {
                jobs.extend(self.seeds.iter().map(|&seed| (pair, variant, seed)));
            }
        }
        let progress = StudyProgress::new("second tasks", jobs.len());
        let outcomes: Vec<Option<Outcome>> = pool.install(|| {
            let run = |&(pair, variant, seed): &(usize, usize, u64)| {
                let outcome = self.run_second(opened, pair, variant, seed, must_stop, &progress);
                outcome.with_context(|| {
                    format!("{}, {}, seed {seed}", self.pairs[pair].name, self.variant_name(variant))
                })
            };
            jobs.par_iter().map(run).collect::<Result<_>>()
        })?;
        progress.finish();
        Ok(outcomes.into_iter().collect())
    }

    fn run_base(
        &self,
        opened: &OpenedStudy,
        pair: usize,
        seed: u64,
        must_stop: &AtomicBool,
        progress: &StudyProgress,
    ) -> Result<Ending> {
        if must_stop.load(Ordering::Relaxed) {
            return Ok(Ending::Interrupted);
        }
        let pair = &self.pairs[pair];
        let [settings, _] = self.settings(pair)?;
        let folder = self.base_folder(pair, &settings, seed);
        let [length, _] = self.lengths(pair, &settings);
        let identity = self.identity(opened, &pair.base, settings, length, seed, None);
        let world = opened.world(&pair.base, seed)?;
        let mut training = Training::open(folder, identity, world)?;
        let ending = run_quietly(&mut training, must_stop)?;
        if ending == Ending::Finished {
            progress.done(&format!("{}, seed {seed}", pair.base.id()));
        }
        Ok(ending)
    }

    fn run_second(
        &self,
        opened: &OpenedStudy,
        pair_idx: usize,
        variant_idx: usize,
        seed: u64,
        must_stop: &AtomicBool,
        progress: &StudyProgress,
    ) -> Result<Option<Outcome>> {
        if must_stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let (pair, name) = (&self.pairs[pair_idx], self.variant_name(variant_idx));
        let done = || progress.done(&format!("{}, {name}, seed {seed}", pair.name));
        let [base, second] = self.settings(pair)?;
        let [_, length] = self.lengths(pair, &second);
        let base_folder = self.base_folder(pair, &base, seed);
        let trained = Trained::read(&base_folder)?
            .ok_or_else(|| anyhow!("{} has no checkpoint", base_folder.path().display()))?;
        let start = Start {
            trained: &trained,
            base: &base,
            second: &second,
            scenes: &opened.scenes,
            seed: RunSeed(seed),
        };
        let outcome = |rows, votes| Outcome { pair: pair_idx, variant: variant_idx, rows, votes };
        let Some((_, variant)) = self.variants.get(variant_idx) else {
            let agent = Variant::FineTuning.agent(&start)?;
            let rows = self.judge(opened, pair, &agent, length, seed)?;
            done();
            return Ok(Some(outcome(rows, None)));
        };
        let world = opened.world_after(pair, &trained, seed)?;
        let origin = format!("{name} after {}", trained.identity);
        let agent = variant.agent(&start)?;
        let mut identity = self.identity(opened, &pair.second, second, length, seed, Some(origin));
        identity.plan.voting = agent.skill().controller().map(|controller| *controller.settings());
        let folder = RunFolder::at(self.pair_folder(pair).join(format!("{name}-seed-{seed}")));
        let mut training = Training::open_with(folder, identity, world, agent)?;
        if run_quietly(&mut training, must_stop)? == Ending::Interrupted {
            return Ok(None);
        }
        done();
        let skill = training.agent().skill();
        let votes = skill.controller().map(|controller| Votes {
            structure: controller.structure().clone(),
            stages: controller.votes().to_vec(),
            rows: training.votes().to_vec(),
        });
        Ok(Some(outcome(training.rows().to_vec(), votes)))
    }

    /// What the old module earns on the second task without learning: the same at every step.
    fn judge(
        &self,
        opened: &OpenedStudy,
        pair: &Pair,
        agent: &Remap,
        length: Length,
        seed: u64,
    ) -> Result<Vec<CurveRow>> {
        let mut stream = opened.stream(&pair.second, Split::Validation, seed)?;
        let mut evaluator = Evaluator::new(agent.skill(), agent.settings().n_candidates, RunSeed(seed));
        let policy = &agent.settings().policy;
        let validation: Evaluation =
            evaluator.evaluate(agent.skill(), policy, &mut stream, &opened.scenes, OLD_TRIALS)?;
        let batch = agent.settings().batch_steps as u64;
        let steps = (0..=length.n_steps / batch).map(|update| update * batch);
        let every = length.evaluate_every;
        let is_time =
            |&step: &u64| step == 0 || step == length.n_steps || (step - batch) / every < step / every;
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
        opened: &OpenedStudy,
        task: &Task,
        agent: AgentSettings,
        length: Length,
        seed: u64,
        origin: Option<String>,
    ) -> RunIdentity {
        let lesson =
            Lesson { task: task.spec().to_toml(), placements: opened.setup.placements_word(), agent };
        RunIdentity {
            plan: RunPlan {
                n_steps: length.n_steps,
                seed,
                lessons: vec![lesson],
                voting: None,
                evaluate_every: length.evaluate_every,
                evaluation_trials: opened.setup.plan.evaluation_trials,
                n_map_examples: 0,
                map_steps: Vec::new(),
            },
            origin,
            data_hash: opened.data.content_hash.clone(),
            encoder_hash: opened.encoder_hash.clone(),
            calibration_hash: opened.scenes.0.calibration().content_hash().to_string(),
            instructions: Instructions::best().name().into(),
            program: env!("CARGO_PKG_VERSION").into(),
        }
    }

    /// Steps of a pair's second task.
    pub fn horizon(&self, pair: &Pair) -> Result<u64> {
        let [_, second] = self.settings(pair)?;
        Ok(self.lengths(pair, &second)[1].n_steps)
    }
}

impl OpenedStudy {
    pub fn stream(&self, task: &Task, split: Split, seed: u64) -> Result<Stream> {
        Ok(self.setup.stream_of(task, &self.stimuli, split, seed)?)
    }

    /// Where a second task is learned: the stream goes on from where the base left it, so that the screens after the
    /// switch are the same whoever learns from them.
    fn world_after(&self, pair: &Pair, trained: &Trained, seed: u64) -> Result<World<'_, FeatureScenes>> {
        let fresh = self.world(&pair.second, seed)?;
        let mut base = self.stream(&pair.base, Split::Train, seed)?;
        base.restore(&trained.stream).with_context(|| trained.checkpoint.display().to_string())?;
        Ok(World { train: base.continue_with(fresh.train.schedule().clone())?, ..fresh })
    }

    fn world(&self, task: &Task, seed: u64) -> Result<World<'_, FeatureScenes>> {
        Ok(World {
            train: self.stream(task, Split::Train, seed)?,
            validations: vec![self.stream(task, Split::Validation, seed)?],
            scenes: &self.scenes,
        })
    }
}

fn run_quietly<S: Scenes>(training: &mut Training<'_, S>, must_stop: &AtomicBool) -> Result<Ending> {
    Ok(training.run(&|| must_stop.load(Ordering::Relaxed), &mut |_| ())?)
}
