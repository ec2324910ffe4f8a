//! Encodes the screens that a store does not have, sharing the work with other processes.

use crate::claims::Claim;
use crate::encode::{Eyes, Wanted};
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

/// A screen that must be in the store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item {
    pub recipe: ScreenRecipe,
    pub key: RecordKey,
    pub wanted: Wanted,
}

impl Item {
    /// The records that must be there.
    fn ids(&self) -> impl Iterator<Item = RecordId> + use<> {
        let parts: &[Part] = match self.wanted {
            Wanted::Scene => &[Part::Scene],
            Wanted::SceneAndMap => &[Part::Scene, Part::Map],
        };
        let key = self.key;
        parts.iter().map(move |&part| RecordId { key, part })
    }
}

/// What was done.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Done {
    pub n_new: usize,
    pub n_from_others: usize,
    pub n_new_bytes: u64,
}

/// Batches that are claimed at once: enough that looking for claims costs nothing, few enough that the last process
/// to finish does not keep the others waiting long.
const BATCHES_A_CLAIM: usize = 4;

/// How long to wait before looking again what another process has encoded.
const PATIENCE: Duration = Duration::from_millis(50);

/// Encodes what is missing; afterwards the store has every record of the items, checked.
pub(crate) fn encode_missing(
    eyes: Eyes<'_>,
    stimuli: &dyn Stimuli,
    store: &mut FeatureStore,
    items: &[Item],
) -> Result<Done, FeatureError> {
    let batch_size = eyes.encoder.batch_size().max(1);
    let mut work = Work {
        eyes,
        stimuli,
        store,
        screens: vec![Screen::grey(); batch_size],
        features: vec![Features::zeros(eyes.encoder.shape()); batch_size],
        done: Done::default(),
    };
    let mut missing = work.missing(items.to_vec())?;
    // By bucket, since that is how they are claimed.
    missing.sort_unstable_by_key(|item| item.key);
    let mut bar = Bar::new(eyes.progress, missing.len());
    while !missing.is_empty() {
        let n_missing = missing.len();
        match work.claim(&mut missing, BATCHES_A_CLAIM * batch_size)? {
            Some(haul) => {
                bar.show("encoding screens");
                let n_claimed = haul.items.len();
                let still_missing = work.missing(haul.items)?;
                bar.advance(n_claimed - still_missing.len());
                work.done.n_from_others += n_claimed - still_missing.len();
                for batch in still_missing.chunks(batch_size) {
                    work.encode(batch)?;
                    bar.advance(batch.len());
                }
            }
            None => {
                bar.show("another process is encoding");
                sleep(PATIENCE);
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

/// Whether the store lacks any record of the items, which are checked.
pub(crate) fn is_any_missing(store: &mut FeatureStore, items: &[Item]) -> bool {
    store.check(items.iter().flat_map(Item::ids));
    items.iter().flat_map(Item::ids).any(|id| !store.has(id))
}

struct Work<'a> {
    eyes: Eyes<'a>,
    stimuli: &'a dyn Stimuli,
    store: &'a mut FeatureStore,
    /// As many as a batch has.
    screens: Vec<Screen>,
    features: Vec<Features>,
    done: Done,
}

/// Screens that no other process encodes now.
struct Haul {
    items: Vec<Item>,
    /// Held until the screens are stored.
    _claims: Vec<Claim>,
}

impl Work<'_> {
    /// Those of the items that the store does not have, after looking again.
    fn missing(&mut self, mut items: Vec<Item>) -> Result<Vec<Item>, FeatureError> {
        self.store.refresh()?;
        self.store.check(items.iter().flat_map(Item::ids));
        items.retain(|item| item.ids().any(|id| !self.store.has(id)));
        Ok(items)
    }

    /// Takes some screens out of `missing`, which is in the order of keys; `None` if others encode all of them.
    fn claim(&self, missing: &mut Vec<Item>, n_wanted: usize) -> Result<Option<Haul>, FeatureError> {
        let Some(claims) = self.store.claims() else {
            return Ok(Some(Haul { items: std::mem::take(missing), _claims: Vec::new() }));
        };
        let failed = |error| match self.store.folder() {
            Some(folder) => FeatureError::of_file(folder, error),
            None => unreachable!("claims are in a folder"),
        };
        let mut haul = Haul { items: Vec::new(), _claims: Vec::new() };
        let mut left = Vec::with_capacity(missing.len());
        for bucket in missing.chunk_by(|a, b| a.key.bucket() == b.key.bucket()) {
            let is_enough = haul.items.len() >= n_wanted;
            match if is_enough {
                Claim::Taken
            } else {
                claims.claim(bucket[0].key.bucket()).map_err(failed)?
            } {
                Claim::Taken => left.extend_from_slice(bucket),
                claim => {
                    haul.items.extend_from_slice(bucket);
                    haul._claims.push(claim);
                }
            }
        }
        *missing = left;
        Ok(Some(haul).filter(|haul| !haul.items.is_empty()))
    }

    /// Draws, encodes and stores one batch.
    fn encode(&mut self, batch: &[Item]) -> Result<(), FeatureError> {
        let (screens, features) = (&mut self.screens[..batch.len()], &mut self.features[..batch.len()]);
        let drawn = screens.par_iter_mut().zip(batch);
        drawn.try_for_each(|(screen, item)| item.recipe.draw(self.stimuli, screen))?;
        self.eyes.encoder.encode(screens, features)?;
        let mut records = Vec::new();
        for (item, features) in batch.iter().zip(features.iter()) {
            for id in item.ids().filter(|id| !self.store.has(*id)) {
                records.push((id, payload(features, id.part, self.eyes.encoder.name())?));
            }
        }
        self.done.n_new_bytes += self.store.append(&records)?;
        self.done.n_new += batch.len();
        Ok(())
    }
}

/// The bytes of a screen's scene vector or spatial map.
fn payload(features: &Features, part: Part, encoder: &str) -> Result<Vec<u8>, FeatureError> {
    let (numbers, name) = match part {
        Part::Scene => (&features.scene, "scene vector"),
        Part::Map => (&features.map, "spatial map"),
    };
    if let Some(&value) = numbers.iter().find(|value| !value.is_finite()) {
        return Err(FeatureError::NotFinite { encoder: encoder.into(), part: name, value });
    }
    if part == Part::Scene {
        return Ok(bytemuck::cast_slice(numbers).to_vec());
    }
    let mut halves = vec![f16::ZERO; numbers.len()];
    halves.convert_from_f32_slice(numbers);
    match halves.iter().position(|value| !value.is_finite()) {
        Some(at) => Err(FeatureError::TooLarge { encoder: encoder.into(), value: numbers[at] }),
        None => Ok(bytemuck::cast_slice(&halves).to_vec()),
    }
}

/// Progress under changing headings; over when dropped.
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
    fn numbers_that_cannot_be_kept_are_refused_by_name() {
        let scene = payload(&features(1e-40), Part::Scene, "x").unwrap();
        assert_eq!(Stored::in_memory(&scene).scene(), [1.0, 1e-40]);
        let map = payload(&features(0.1), Part::Map, "x").unwrap();
        assert_eq!(Stored::in_memory(&map).map(), [f16::from_f32(0.1), f16::from_f32(0.5)]);
        let error = |number, part| payload(&features(number), part, "my-eyes").unwrap_err().to_string();
        assert!(error(f32::NAN, Part::Scene).starts_with("encoder `my-eyes` made NaN in a scene vector"));
        assert!(error(f32::INFINITY, Part::Map).starts_with("encoder `my-eyes` made inf in a spatial map"));
        assert!(
            error(1e6, Part::Map).starts_with("encoder `my-eyes` made 1000000 in a spatial map, and half")
        );
        assert!(payload(&features(65504.0), Part::Map, "x").is_ok());
        assert!(payload(&features(1e6), Part::Scene, "x").is_ok());
    }
}
