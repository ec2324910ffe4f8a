//! What is to be encoded: the screens of tasks, with or without spatial maps.

use crate::error::FeatureError;
use crate::missing::{Done, Item, encode_missing, is_any_missing};
use crate::record_key::RecordKey;
use crate::segment::{Part, RecordId, SegmentHead};
use crate::store::{FeatureStore, WriteFailure};
use std::path::Path;
use touchstream_encoder::Encoder;
use touchstream_env::stimuli::{ContentHash, Stimuli};
use touchstream_env::trial::{BoundTask, ScreenRecipe};
use touchstream_files::Progress;

/// Who looks at screens, and where it keeps what it saw.
#[derive(Clone, Copy)]
pub struct Eyes<'a> {
    /// The encoder.
    pub encoder: &'a dyn Encoder,
    /// The cache folder; without one, features live as long as whoever holds them.
    pub cache_dir: Option<&'a Path>,
    /// Hears how far encoding has come.
    pub progress: &'a dyn Progress,
}

/// Which features of a screen are wanted.
///
/// Spatial maps are stored only where they are wanted: with VGG-16 they are twelve times as large as scene vectors,
/// even in half precision. Wanting maps of screens that have only scene vectors so far encodes those once more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wanted {
    /// Scene vectors.
    #[default]
    Scene,
    /// Scene vectors and spatial maps.
    SceneAndMap,
}

/// What encoding came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoded {
    /// Different screens that were wanted.
    pub n_screens: usize,
    /// How many of them this process encoded now.
    pub n_new: usize,
    /// How many of them other processes encoded while this one waited.
    pub n_from_others: usize,
    /// Bytes that the cache grew by.
    pub n_new_bytes: u64,
    /// The encoder's content hash.
    pub encoder_hash: ContentHash,
    /// The images' content hash.
    pub data_hash: ContentHash,
    /// Things to tell a person, such as a cache that cannot be written.
    pub notes: Vec<String>,
}

/// Encodes every screen that the tasks can show and that is not in the cache yet. The tasks must be bound to the same
/// images, and to a pool of placements where templates move.
///
/// Batches are stored as they come, so a process that dies loses one batch at most. Processes that want the same
/// screens share the work. A cache that cannot be written is an error, unless it holds everything: nothing would be
/// left of the work.
pub fn encode_tasks(eyes: Eyes<'_>, tasks: &[&BoundTask], wanted: Wanted) -> Result<Encoded, FeatureError> {
    let stimuli = shared_stimuli(tasks)?;
    let screens = screens_of(tasks)?;
    let items = Items::new(eyes, stimuli, &screens, wanted);
    let mut store = items.open_store(eyes, stimuli)?;
    let is_any_missing = store.write_failure().is_some() && is_any_missing(&mut store, &items.all);
    if let Some(WriteFailure { folder, error }) = store.write_failure() {
        if is_any_missing {
            return Err(FeatureError::Unwritable { folder: folder.clone(), reason: error.to_string() });
        }
        return Ok(items.encoded(Done::default(), Vec::new()));
    }
    items.encode(eyes, stimuli, &mut store)
}

/// The images that tasks have in common.
pub(crate) fn shared_stimuli<'a>(tasks: &[&'a BoundTask]) -> Result<&'a dyn Stimuli, FeatureError> {
    let (first, rest) = tasks.split_first().ok_or(FeatureError::NoScreens)?;
    let data_hash = first.stimuli().content_hash();
    match rest.iter().find(|task| task.stimuli().content_hash() != data_hash) {
        Some(other) => Err(FeatureError::DifferentImages {
            first: first.task().id().into(),
            second: other.task().id().into(),
        }),
        None => Ok(first.stimuli().as_ref()),
    }
}

/// The screens that tasks can show, in order, each once.
pub(crate) fn screens_of(tasks: &[&BoundTask]) -> Result<Vec<ScreenRecipe>, FeatureError> {
    let mut screens = Vec::new();
    for task in tasks {
        let of_task = task.screens();
        screens
            .extend(of_task.ok_or_else(|| FeatureError::TooManyScreens { task: task.task().id().into() })?);
    }
    screens.sort_unstable();
    screens.dedup();
    Ok(screens)
}

/// Screens with their keys.
pub(crate) struct Items {
    /// In the order of their recipes.
    all: Vec<Item>,
    encoder_hash: ContentHash,
    data_hash: ContentHash,
}

impl Items {
    /// Of screens in order, each once.
    pub fn new(eyes: Eyes<'_>, stimuli: &dyn Stimuli, screens: &[ScreenRecipe], wanted: Wanted) -> Self {
        let (encoder_hash, data_hash) = (eyes.encoder.content_hash(), stimuli.content_hash());
        let item = |&recipe: &ScreenRecipe| Item {
            recipe,
            key: RecordKey::new(&recipe, data_hash, encoder_hash),
            wanted,
        };
        Self { all: screens.iter().map(item).collect(), encoder_hash, data_hash }
    }

    /// Adds screens, if they are not there.
    pub fn add(&mut self, screens: &[ScreenRecipe], wanted: Wanted) {
        let n_before = self.all.len();
        for recipe in screens {
            if self.all[..n_before].binary_search_by_key(recipe, |item| item.recipe).is_err() {
                let key = RecordKey::new(recipe, self.data_hash, self.encoder_hash);
                self.all.push(Item { recipe: *recipe, key, wanted });
            }
        }
        self.all.sort_unstable_by_key(|item| item.recipe);
        self.all.dedup_by_key(|item| item.recipe);
    }

    /// What a record of one of these screens is looked up by.
    pub fn id(&self, recipe: &ScreenRecipe, part: Part) -> RecordId {
        RecordId { key: RecordKey::new(recipe, self.data_hash, self.encoder_hash), part }
    }

    /// The store of the eyes and the images.
    pub fn open_store(&self, eyes: Eyes<'_>, stimuli: &dyn Stimuli) -> Result<FeatureStore, FeatureError> {
        let head = SegmentHead {
            encoder_hash: self.encoder_hash,
            data_hash: self.data_hash,
            shape: eyes.encoder.shape(),
            encoder_name: eyes.encoder.name().into(),
            data_name: stimuli.name().into(),
        };
        FeatureStore::open(eyes.cache_dir, head)
    }

    /// Encodes what is missing; afterwards the store has everything.
    pub fn encode(
        &self,
        eyes: Eyes<'_>,
        stimuli: &dyn Stimuli,
        store: &mut FeatureStore,
    ) -> Result<Encoded, FeatureError> {
        let done = encode_missing(eyes, stimuli, store, &self.all);
        store.stop_writing();
        Ok(self.encoded(done?, store.note().into_iter().collect()))
    }

    fn encoded(&self, done: Done, notes: Vec<String>) -> Encoded {
        Encoded {
            n_screens: self.all.len(),
            n_new: done.n_new,
            n_from_others: done.n_from_others,
            n_new_bytes: done.n_new_bytes,
            encoder_hash: self.encoder_hash,
            data_hash: self.data_hash,
            notes,
        }
    }
}
