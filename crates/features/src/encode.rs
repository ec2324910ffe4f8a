//! Encodes the screens of tasks into the cache.

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

/// What encoding needs besides screens.
#[derive(Clone, Copy)]
pub struct EncodeContext<'a> {
    pub encoder: &'a dyn Encoder,
    /// The cache folder; without one, features are only kept in memory.
    pub cache_dir: Option<&'a Path>,
    /// Receives the progress of encoding.
    pub progress: &'a dyn Progress,
}

/// Which features of a screen are required.
///
/// Spatial maps are stored only if required: with VGG-16 they are twelve times as large as scene vectors, even in half
/// precision. Requiring maps of screens that have only scene vectors in the cache encodes these screens again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wanted {
    /// Scene vectors only.
    #[default]
    Scene,
    /// Scene vectors and spatial maps.
    SceneAndMap,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoded {
    /// Number of different screens required.
    pub n_screens: usize,
    /// Number of screens encoded by this process.
    pub n_new: usize,
    /// Number of screens encoded by other processes while this one waited.
    pub n_from_others: usize,
    /// Growth of the cache in bytes.
    pub n_new_bytes: u64,
    pub encoder_hash: ContentHash,
    pub data_hash: ContentHash,
    /// Notes for the user, for instance that the cache is not writable.
    pub notes: Vec<String>,
}

/// Encodes every screen that the tasks can show and that is not cached. The tasks must be bound to the same images, and
/// to a placement pool if their templates move.
///
/// Each batch is stored at once, so a process that dies loses at most one batch. Processes that need the same screens
/// divide the work. It is an error if the cache is not writable, unless it is complete, because the work would be lost.
pub fn encode_tasks(
    context: EncodeContext<'_>,
    tasks: &[&BoundTask],
    wanted: Wanted,
) -> Result<Encoded, FeatureError> {
    let stimuli = shared_stimuli(tasks)?;
    let screens = screens_of(tasks)?;
    let items = Items::new(context, stimuli, &screens, wanted);
    let mut store = items.open_store(context, stimuli)?;
    let is_any_missing = store.write_failure().is_some() && is_any_missing(&mut store, &items.all);
    if let Some(WriteFailure { folder, error }) = store.write_failure() {
        if is_any_missing {
            return Err(FeatureError::Unwritable { folder: folder.clone(), reason: error.to_string() });
        }
        return Ok(items.encoded(Done::default(), Vec::new()));
    }
    items.encode(context, stimuli, &mut store)
}

/// The image source of all tasks; an error if they have different ones.
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

/// The screens that the tasks can show, sorted, without duplicates.
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

/// The screens to encode, with their keys.
pub(crate) struct Items {
    /// Sorted by recipe.
    all: Vec<Item>,
    encoder_hash: ContentHash,
    data_hash: ContentHash,
}

impl Items {
    /// `screens` must be sorted, without duplicates.
    pub fn new(
        context: EncodeContext<'_>,
        stimuli: &dyn Stimuli,
        screens: &[ScreenRecipe],
        wanted: Wanted,
    ) -> Self {
        let (encoder_hash, data_hash) = (context.encoder.content_hash(), stimuli.content_hash());
        let item = |&recipe: &ScreenRecipe| Item {
            recipe,
            key: RecordKey::new(&recipe, data_hash, encoder_hash),
            wanted,
        };
        Self { all: screens.iter().map(item).collect(), encoder_hash, data_hash }
    }

    /// Adds the screens that are not included yet.
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

    /// The id of a screen's record.
    pub fn id(&self, recipe: &ScreenRecipe, part: Part) -> RecordId {
        RecordId { key: RecordKey::new(recipe, self.data_hash, self.encoder_hash), part }
    }

    pub fn open_store(
        &self,
        context: EncodeContext<'_>,
        stimuli: &dyn Stimuli,
    ) -> Result<FeatureStore, FeatureError> {
        let head = SegmentHead {
            encoder_hash: self.encoder_hash,
            data_hash: self.data_hash,
            shape: context.encoder.shape(),
            encoder_name: context.encoder.name().into(),
            data_name: stimuli.name().into(),
        };
        FeatureStore::open(context.cache_dir, head)
    }

    /// Encodes missing screens; afterwards, the store is complete.
    pub fn encode(
        &self,
        context: EncodeContext<'_>,
        stimuli: &dyn Stimuli,
        store: &mut FeatureStore,
    ) -> Result<Encoded, FeatureError> {
        let done = encode_missing(context, stimuli, store, &self.all);
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
