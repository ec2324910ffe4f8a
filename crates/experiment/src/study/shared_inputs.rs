//! Images and features that runs share: each is opened once per process, before the first run.

use crate::FeatureScenes;
use crate::config::DataFacts;
use crate::config::RawConfig;
use crate::config::needs_of;
use crate::error::{Context, Error, Result};
use crate::run_setup::RunSetup;
use crate::study::cell::{Cell, CellPlan};
use crate::watch::{Event, Watch, WorkProgress};
use std::collections::BTreeMap;
use std::sync::Arc;
use touchstream_encoder::Encoder;
use touchstream_env::stimuli::{Split, Stimuli};
use touchstream_env::stream::Stream;
use touchstream_env::task::Task;
use touchstream_features::{Eyes, FeatureSet};

/// Images and features of several runs.
pub struct SharedInputs {
    pub scenes: FeatureScenes,
    pub stimuli: Arc<dyn Stimuli>,
    pub data: DataFacts,
    pub encoder_hash: String,
}

impl SharedInputs {
    /// Hash of centring and scaling.
    pub fn calibration_hash(&self) -> String {
        self.scenes.0.calibration().content_hash().to_string()
    }
}

/// Which inputs a run needs.
struct InputsPlan {
    setup: RunSetup,
    tasks: Vec<Task>,
}

/// All inputs of a process, by key.
#[derive(Default)]
pub struct SharedInputsPool {
    inputs: BTreeMap<String, Arc<SharedInputs>>,
}

impl SharedInputsPool {
    /// Opens what the runs need; encodes what is not in the cache yet.
    pub fn open<'a>(cells: impl Iterator<Item = &'a Cell>, watch: &dyn Watch) -> Result<Self> {
        let mut plans: BTreeMap<String, InputsPlan> = BTreeMap::new();
        for cell in cells {
            let plan = inputs_plan(cell).with_context(|| cell.name.clone())?;
            plans.entry(plan.key()?).or_insert(plan);
        }
        // Encoders are large and slow to open: each once, and dropped when the last inputs are open.
        let mut encoders: BTreeMap<String, Box<dyn Encoder>> = BTreeMap::new();
        let mut inputs = BTreeMap::new();
        for (key, plan) in plans {
            let word = format!("{:?} {:?}", plan.setup.words.encoder, plan.setup.words.encoder_options);
            let encoder = match encoders.entry(word) {
                std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
                std::collections::btree_map::Entry::Vacant(entry) => {
                    entry.insert(plan.setup.open_encoder(watch)?.0)
                }
            };
            let opened_inputs = plan.open(encoder.as_ref(), watch);
            let names: Vec<&str> = plan.tasks.iter().map(Task::id).collect();
            inputs.insert(key, Arc::new(opened_inputs.with_context(|| names.join(", "))?));
        }
        Ok(Self { inputs })
    }

    /// The inputs of a run.
    pub fn of(&self, cell: &Cell) -> Result<Arc<SharedInputs>> {
        let key = inputs_plan(cell)?.key()?;
        self.inputs
            .get(&key)
            .cloned()
            .ok_or_else(|| Error::Folder(format!("the features of {} are not open", cell.name)))
    }
}

fn inputs_plan(cell: &Cell) -> Result<InputsPlan> {
    match &cell.what {
        CellPlan::Alone(words) => {
            let setup = RunSetup::new(words.as_ref().clone())?;
            Ok(InputsPlan { tasks: setup.tasks.clone(), setup })
        }
        CellPlan::Base(plan) | CellPlan::Second(plan) => {
            Ok(InputsPlan { setup: plan.setup()?, tasks: plan.tasks_shown()? })
        }
    }
}

impl InputsPlan {
    /// SharedInputsPool of equal keys hold the same.
    fn key(&self) -> Result<String> {
        let RawConfig { data, encoder, images, encoder_options, placements, placements_seed, .. } =
            &self.setup.words;
        let settings = self.setup.feature_settings()?;
        let tasks: Vec<String> = self.tasks.iter().map(|task| task.spec().to_toml()).collect();
        Ok(format!(
            "{data:?} {encoder:?} {images:?} {encoder_options:?} {placements:?} {placements_seed:?} {settings:?} {tasks:?}"
        ))
    }

    fn open(&self, encoder: &dyn Encoder, watch: &dyn Watch) -> Result<SharedInputs> {
        let Self { setup, tasks } = self;
        let cache_dir = setup.words.images.cache_dir();
        let opened = setup.open_images(needs_of(tasks), watch)?;
        let mut streams = Vec::new();
        for task in tasks {
            for split in [Split::Train, Split::Validation] {
                streams.push(setup.stream_of(task, &opened.stimuli, split, 0)?);
            }
        }
        let bound: Vec<_> = streams.iter().map(Stream::bound_task).collect();
        let progress = WorkProgress(watch);
        let eyes = Eyes { encoder, cache_dir: cache_dir.as_deref(), progress: &progress };
        let features = FeatureSet::of_tasks(eyes, &bound, setup.feature_settings()?)?;
        features.encoded().notes.iter().for_each(|note| watch.on(Event::Note(note)));
        Ok(SharedInputs {
            scenes: FeatureScenes(features),
            stimuli: opened.stimuli,
            data: DataFacts::of(&opened.manifest),
            encoder_hash: encoder.content_hash().to_string(),
        })
    }
}
