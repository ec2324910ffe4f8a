//! Images and features that runs share: each is opened once a process, before the first run.

use crate::progress_bar::TerminalProgress;
use crate::run_setup::RunSetup;
use crate::say::warn_user;
use crate::source_args::DataFacts;
use crate::study::cell::{Cell, CellPlan};
use crate::train_words::TrainWords;
use crate::words::needs_of;
use anyhow::{Context, Result, anyhow};
use std::collections::BTreeMap;
use std::sync::Arc;
use touchstream_encoder::Encoder;
use touchstream_env::stimuli::{Split, Stimuli};
use touchstream_env::stream::Stream;
use touchstream_env::task::Task;
use touchstream_features::{Eyes, FeatureSet};
use touchstream_lab::FeatureScenes;

/// What some runs see.
pub struct Room {
    pub scenes: FeatureScenes,
    pub stimuli: Arc<dyn Stimuli>,
    pub data: DataFacts,
    pub encoder_hash: String,
}

impl Room {
    /// Hash of centring and scaling.
    pub fn calibration_hash(&self) -> String {
        self.scenes.0.calibration().content_hash().to_string()
    }
}

/// Which room a run needs.
struct RoomPlan {
    setup: RunSetup,
    tasks: Vec<Task>,
}

/// All rooms of a process, by key.
#[derive(Default)]
pub struct Rooms {
    rooms: BTreeMap<String, Arc<Room>>,
}

impl Rooms {
    /// Opens what the runs need; encodes what is not in the cache yet.
    pub fn open<'a>(cells: impl Iterator<Item = &'a Cell>) -> Result<Self> {
        let mut plans: BTreeMap<String, RoomPlan> = BTreeMap::new();
        for cell in cells {
            let plan = room_plan(cell).with_context(|| cell.name.clone())?;
            plans.entry(plan.key()?).or_insert(plan);
        }
        // Encoders are large and slow to open: each once, and gone when the last room is open.
        let mut encoders: BTreeMap<String, Box<dyn Encoder>> = BTreeMap::new();
        let mut rooms = BTreeMap::new();
        for (key, plan) in plans {
            let word = format!("{:?} {:?}", plan.setup.words.encoder, plan.setup.words.encoder_options);
            let encoder = match encoders.entry(word) {
                std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
                std::collections::btree_map::Entry::Vacant(entry) => {
                    entry.insert(plan.setup.open_encoder()?.0)
                }
            };
            let room = plan.open(encoder.as_ref());
            let names: Vec<&str> = plan.tasks.iter().map(Task::id).collect();
            rooms.insert(key, Arc::new(room.with_context(|| names.join(", "))?));
        }
        Ok(Self { rooms })
    }

    /// The room of a run.
    pub fn of(&self, cell: &Cell) -> Result<Arc<Room>> {
        let key = room_plan(cell)?.key()?;
        self.rooms.get(&key).cloned().ok_or_else(|| anyhow!("the features of {} are not open", cell.name))
    }
}

fn room_plan(cell: &Cell) -> Result<RoomPlan> {
    match &cell.what {
        CellPlan::Alone(words) => {
            let setup = RunSetup::new(words.as_ref().clone())?;
            Ok(RoomPlan { tasks: setup.tasks.clone(), setup })
        }
        CellPlan::Base(plan) | CellPlan::Second(plan) => {
            Ok(RoomPlan { setup: plan.setup()?, tasks: plan.tasks_shown()? })
        }
    }
}

impl RoomPlan {
    /// Rooms of equal keys hold the same.
    fn key(&self) -> Result<String> {
        let TrainWords { data, encoder, images, encoder_options, placements, placements_seed, .. } =
            &self.setup.words;
        let settings = self.setup.feature_settings()?;
        let tasks: Vec<String> = self.tasks.iter().map(|task| task.spec().to_toml()).collect();
        Ok(format!(
            "{data:?} {encoder:?} {images:?} {encoder_options:?} {placements:?} {placements_seed:?} {settings:?} {tasks:?}"
        ))
    }

    fn open(&self, encoder: &dyn Encoder) -> Result<Room> {
        let Self { setup, tasks } = self;
        let cache_dir = setup.words.images.cache_dir();
        let opened = setup.open_images(needs_of(tasks))?;
        let mut streams = Vec::new();
        for task in tasks {
            for split in [Split::Train, Split::Validation] {
                streams.push(setup.stream_of(task, &opened.stimuli, split, 0)?);
            }
        }
        let bound: Vec<_> = streams.iter().map(Stream::bound_task).collect();
        let progress = TerminalProgress::default();
        let eyes = Eyes { encoder, cache_dir: cache_dir.as_deref(), progress: &progress };
        let features = FeatureSet::of_tasks(eyes, &bound, setup.feature_settings()?)?;
        features.encoded().notes.iter().for_each(|note| warn_user!("note: {note}"));
        Ok(Room {
            scenes: FeatureScenes(features),
            stimuli: opened.stimuli,
            data: DataFacts::of(&opened.manifest),
            encoder_hash: encoder.content_hash().to_string(),
        })
    }
}
