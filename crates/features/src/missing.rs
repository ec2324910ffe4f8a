//! Encodes the screens that a store lacks, dividing the work among processes.

use crate::bucket_locks::BucketLock;
use crate::encode::{EncodeContext, Wanted};
use crate::error::FeatureError;
use crate::record_key::RecordKey;
use crate::segment::{Part, RecordId};
use crate::store::FeatureStore;
use half::f16;
use half::slice::HalfFloatSliceExt;
use rayon::prelude::*;
use std::thread::sleep;
use std::time::Duration;
use touchstream_encoder::Features;
use touchstream_env::screen::Screen;
use touchstream_env::stimuli::Stimuli;
use touchstream_env::trial::ScreenRecipe;
use touchstream_files::Progress;

/// A screen that the store must contain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item {
    pub recipe: ScreenRecipe,
    pub key: RecordKey,
    pub wanted: Wanted,
}

impl Item {
    /// The ids of the screen's required records.
    fn ids(&self) -> impl Iterator<Item = RecordId> + use<> {
        let parts: &[Part] = match self.wanted {
            Wanted::Scene => &[Part::Scene],
            Wanted::SceneAndMap => &[Part::Scene, Part::Map],
        };
        let key = self.key;
        parts.iter().map(move |&part| RecordId { key, part })
    }
}

/// Numbers of screens that this process and others have encoded, and the growth of the cache.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Done {
    pub n_new: usize,
    pub n_from_others: usize,
    pub n_new_bytes: u64,
}

/// Number of batches to lock at a time: enough that locking costs nothing, few enough that the last process to finish
/// does not keep others waiting for long.
const BATCHES_PER_LOCK: usize = 4;

/// Interval between checks for screens that another process has encoded.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Encodes missing screens; afterwards, the store contains every record of the items, verified.
pub(crate) fn encode_missing(
    context: EncodeContext<'_>,
    stimuli: &dyn Stimuli,
    store: &mut FeatureStore,
    items: &[Item],
) -> Result<Done, FeatureError> {
    let batch_size = context.encoder.batch_size().max(1);
    let mut work = Work {
        context,
        stimuli,
        store,
        screens: vec![Screen::grey(); batch_size],
        features: vec![Features::zeros(context.encoder.shape()); batch_size],
        done: Done::default(),
    };
    let mut missing = work.missing(items.to_vec())?;
    // Sorted by bucket, which are locked one by one.
    missing.sort_unstable_by_key(|item| item.key);
    let mut bar = Bar::new(context.progress, missing.len());
    while !missing.is_empty() {
        let n_missing = missing.len();
        match work.lock_some(&mut missing, BATCHES_PER_LOCK * batch_size)? {
            Some(locked) => {
                bar.show("encoding screens");
                let n_locked = locked.items.len();
                let still_missing = work.missing(locked.items)?;
                bar.advance(n_locked - still_missing.len());
                work.done.n_from_others += n_locked - still_missing.len();
                for batch in still_missing.chunks(batch_size) {
                    work.encode(batch)?;
                    bar.advance(batch.len());
                }
            }
            None => {
                bar.show("another process is encoding");
                sleep(POLL_INTERVAL);
                missing = work.missing(missing)?;
                bar.advance(n_missing - missing.len());
                work.done.n_from_others += n_missing - missing.len();
            }
        }
    }
    let done = work.done;
    store.refresh()?;
    store.check(items.iter().flat_map(Item::ids));
    Ok(done)
}

/// Whether the store lacks any record of the items; verifies those it has.
pub(crate) fn is_any_missing(store: &mut FeatureStore, items: &[Item]) -> bool {
    store.check(items.iter().flat_map(Item::ids));
    items.iter().flat_map(Item::ids).any(|id| !store.has(id))
}

struct Work<'a> {
    context: EncodeContext<'a>,
    stimuli: &'a dyn Stimuli,
    store: &'a mut FeatureStore,
    /// One per screen of a batch, as are `features`.
    screens: Vec<Screen>,
    features: Vec<Features>,
    done: Done,
}

/// Screens whose buckets this process has locked.
struct LockedItems {
    items: Vec<Item>,
    /// Held until the screens are stored.
    _locks: Vec<BucketLock>,
}

impl Work<'_> {
    /// The items that the store lacks, after refreshing it.
    fn missing(&mut self, mut items: Vec<Item>) -> Result<Vec<Item>, FeatureError> {
        self.store.refresh()?;
        self.store.check(items.iter().flat_map(Item::ids));
        items.retain(|item| item.ids().any(|id| !self.store.has(id)));
        Ok(items)
    }

    /// Moves items out of `missing`, which is sorted by key, and locks their buckets; `None` if other processes hold
    /// all locks.
    fn lock_some(
        &self,
        missing: &mut Vec<Item>,
        n_wanted: usize,
    ) -> Result<Option<LockedItems>, FeatureError> {
        let Some(locks) = self.store.bucket_locks() else {
            return Ok(Some(LockedItems { items: std::mem::take(missing), _locks: Vec::new() }));
        };
        let failed = |error| match self.store.folder() {
            Some(folder) => FeatureError::of_file(folder, error),
            None => unreachable!("locks are files in a folder"),
        };
        let mut locked = LockedItems { items: Vec::new(), _locks: Vec::new() };
        let mut left = Vec::with_capacity(missing.len());
        for bucket in missing.chunk_by(|a, b| a.key.bucket() == b.key.bucket()) {
            let is_enough = locked.items.len() >= n_wanted;
            match if is_enough {
                BucketLock::HeldElsewhere
            } else {
                locks.try_lock(bucket[0].key.bucket()).map_err(failed)?
            } {
                BucketLock::HeldElsewhere => left.extend_from_slice(bucket),
                lock => {
                    locked.items.extend_from_slice(bucket);
                    locked._locks.push(lock);
                }
            }
        }
        *missing = left;
        Ok(Some(locked).filter(|locked| !locked.items.is_empty()))
    }

    /// Draws, encodes and stores one batch.
    fn encode(&mut self, batch: &[Item]) -> Result<(), FeatureError> {
        let (screens, features) = (&mut self.screens[..batch.len()], &mut self.features[..batch.len()]);
        let drawn = screens.par_iter_mut().zip(batch);
        drawn.try_for_each(|(screen, item)| item.recipe.draw(self.stimuli, screen))?;
        self.context.encoder.encode(screens, features)?;
        let mut records = Vec::new();
        for (item, features) in batch.iter().zip(features.iter()) {
            for id in item.ids().filter(|id| !self.store.has(*id)) {
                records.push((id, payload(features, id.part, self.context.encoder.name())?));
            }
        }
        self.done.n_new_bytes += self.store.append(&records)?;
        self.done.n_new += batch.len();
        Ok(())
    }
}

/// The bytes of a scene vector or a spatial map.
fn payload(features: &Features, part: Part, encoder: &str) -> Result<Vec<u8>, FeatureError> {
    let (values, name) = match part {
        Part::Scene => (&features.scene, "scene vector"),
        Part::Map => (&features.map, "spatial map"),
    };
    if let Some(&value) = values.iter().find(|value| !value.is_finite()) {
        return Err(FeatureError::NotFinite { encoder: encoder.into(), part: name, value });
    }
    if part == Part::Scene {
        return Ok(bytemuck::cast_slice(values).to_vec());
    }
    let mut halves = vec![f16::ZERO; values.len()];
    halves.convert_from_f32_slice(values);
    match halves.iter().position(|value| !value.is_finite()) {
        Some(at) => Err(FeatureError::TooLarge { encoder: encoder.into(), value: values[at] }),
        None => Ok(bytemuck::cast_slice(&halves).to_vec()),
    }
}

/// Reports progress under changing headings; finishes when dropped.
struct Bar<'a> {
    progress: &'a dyn Progress,
    heading: Option<&'static str>,
    n_left: usize,
}

impl<'a> Bar<'a> {
    fn new(progress: &'a dyn Progress, n_left: usize) -> Self {
        Self { progress, heading: None, n_left }
    }

    fn show(&mut self, heading: &'static str) {
        if self.heading != Some(heading) {
            self.finish();
            self.heading = Some(heading);
            self.progress.start(heading, self.n_left as u64);
        }
    }

    fn advance(&mut self, n_done: usize) {
        self.n_left -= n_done;
        self.progress.advance(n_done as u64);
    }

    fn finish(&mut self) {
        if self.heading.take().is_some() {
            self.progress.finish();
        }
    }
}

impl Drop for Bar<'_> {
    fn drop(&mut self) {
        self.finish();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stored::Stored;

    fn features(number: f32) -> Features {
        Features { scene: vec![1.0, number].into(), map: vec![number, 0.5].into() }
    }

    #[test]
    fn values_that_cannot_be_stored_are_rejected() {
        let scene = payload(&features(1e-40), Part::Scene, "x").unwrap();
        assert_eq!(Stored::in_memory(&scene).scene(), [1.0, 1e-40]);
        let map = payload(&features(0.1), Part::Map, "x").unwrap();
        assert_eq!(Stored::in_memory(&map).map(), [f16::from_f32(0.1), f16::from_f32(0.5)]);
        let error = |number, part| payload(&features(number), part, "my-encoder").unwrap_err().to_string();
        assert!(
            error(f32::NAN, Part::Scene).starts_with("encoder `my-encoder` computed NaN in a scene vector")
        );
        assert!(
            error(f32::INFINITY, Part::Map).starts_with("encoder `my-encoder` computed inf in a spatial map")
        );
        assert!(
            error(1e6, Part::Map)
                .starts_with("encoder `my-encoder` computed 1000000 in a spatial map, but half")
        );
        assert!(payload(&features(65504.0), Part::Map, "x").is_ok());
        assert!(payload(&features(1e6), Part::Scene, "x").is_ok());
    }
}
