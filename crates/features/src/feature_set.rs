//! The features of all screens of some tasks, ready for modules to read.

use crate::calibrated::{calibration_screens_of, compute_and_store, stored_calibration};
use crate::calibration::{Calibration, CalibrationSettings};
use crate::encode::{Encoded, Eyes, Items, Wanted, screens_of, shared_stimuli};
use crate::error::FeatureError;
use crate::map_scale::MapScale;
use crate::segment::Part;
use crate::store::FeatureStore;
use crate::stored::Stored;
use half::f16;
use rayon::prelude::*;
use std::collections::HashMap;
use touchstream_encoder::FeatureShape;
use touchstream_env::stimuli::Stimuli;
use touchstream_env::trial::{BoundTask, ScreenRecipe};

/// What a feature set holds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FeatureSettings {
    /// Which features.
    pub wanted: Wanted,
    /// How scene vectors are centred and scaled.
    pub calibration: CalibrationSettings,
}

/// The features of a number of screens, read-only. Which process encoded them, with how many threads and in which
/// order, leaves no trace in their bits.
pub struct FeatureSet {
    /// In order; their positions are the indices.
    screens: Vec<ScreenRecipe>,
    index: HashMap<ScreenRecipe, u32>,
    shape: FeatureShape,
    /// Centred and scaled, `[n_screens, scene_len]`.
    scenes: Vec<f32>,
    /// One a screen, or none at all.
    maps: Vec<Stored>,
    map_scale: Option<MapScale>,
    calibration: Calibration,
    encoded: Encoded,
    /// Keeps the store from being deleted meanwhile.
    _store: FeatureStore,
}

impl FeatureSet {
    /// Features of every screen that the tasks can show, encoded first where they are missing.
    ///
    /// The mean is over the training split's screens of the tasks, also of tasks that are bound to the validation
    /// split alone: both splits of a task are centred alike.
    pub fn of_tasks(
        eyes: Eyes<'_>,
        tasks: &[&BoundTask],
        settings: FeatureSettings,
    ) -> Result<Self, FeatureError> {
        let stimuli = shared_stimuli(tasks)?;
        let calibration_screens = calibration_screens_of(tasks)?;
        Self::of_screens(eyes, stimuli, &screens_of(tasks)?, &calibration_screens, settings)
    }

    /// Features of these screens, centred by the mean over those; in any order.
    pub fn of_screens(
        eyes: Eyes<'_>,
        stimuli: &dyn Stimuli,
        screens: &[ScreenRecipe],
        calibration_screens: &[ScreenRecipe],
        settings: FeatureSettings,
    ) -> Result<Self, FeatureError> {
        let calibration_settings = settings.calibration.check()?;
        let [screens, calibration_screens] = [screens, calibration_screens].map(in_order);
        if screens.is_empty() || calibration_screens.is_empty() {
            return Err(FeatureError::NoScreens);
        }
        let chosen = calibration_settings.choose(&calibration_screens);
        let mut items = Items::new(eyes, stimuli, &screens, settings.wanted);
        let mut store = items.open_store(eyes, stimuli)?;
        let known = stored_calibration(&store, &chosen, calibration_settings);
        let scaled_by = MapScale::choose(calibration_settings, &calibration_screens);
        if settings.wanted == Wanted::SceneAndMap {
            items.add(&scaled_by, Wanted::SceneAndMap);
        }
        if known.is_none() {
            items.add(&chosen, Wanted::Scene);
        }
        let mut encoded = items.encode(eyes, stimuli, &mut store)?;
        let calibration = match known {
            Some(calibration) => calibration,
            None => {
                let (computed, note) = compute_and_store(&store, &items, &chosen, calibration_settings)?;
                encoded.notes.extend(note);
                computed
            }
        };
        let shape = eyes.encoder.shape();
        let find = |part| {
            let stored = screens.iter().map(|recipe| store.get(items.id(recipe, part)));
            stored.collect::<Option<Vec<Stored>>>().ok_or_else(|| store.lost())
        };
        let mut scenes = vec![0.0; screens.len() * shape.scene_len];
        scenes.par_chunks_exact_mut(shape.scene_len.max(1)).zip(find(Part::Scene)?).for_each(
            |(out, stored)| {
                calibration.apply(stored.scene(), out);
                stored.forget();
            },
        );
        let (maps, map_scale) = match settings.wanted {
            Wanted::Scene => (Vec::new(), None),
            Wanted::SceneAndMap => {
                let scale = MapScale::compute(&store, &items, &scaled_by, calibration_settings);
                (find(Part::Map)?, Some(scale.ok_or_else(|| store.lost())?))
            }
        };
        let index = screens.iter().copied().zip(0..).collect();
        Ok(Self { screens, index, shape, scenes, maps, map_scale, calibration, encoded, _store: store })
    }

    /// How many screens.
    pub fn n_screens(&self) -> usize {
        self.screens.len()
    }

    /// The screens, in order; a screen's position is its index.
    pub fn screens(&self) -> &[ScreenRecipe] {
        &self.screens
    }

    /// How many numbers a screen has.
    pub fn shape(&self) -> FeatureShape {
        self.shape
    }

    /// A screen's index, if it is one of these.
    pub fn index_of(&self, recipe: &ScreenRecipe) -> Option<u32> {
        self.index.get(recipe).copied()
    }

    /// The centred and scaled scene vector of a screen, `[scene_len]`. The index must be one of these.
    pub fn scene(&self, index: u32) -> &[f32] {
        let start = index as usize * self.shape.scene_len;
        &self.scenes[start..start + self.shape.scene_len]
    }

    /// All scene vectors, `[n_screens, scene_len]`.
    pub fn scenes(&self) -> &[f32] {
        &self.scenes
    }

    /// The spatial map of a screen, `[14, 14, map_channels]`, neither centred nor scaled; `None` if maps were not
    /// wanted. The index must be one of these.
    pub fn map(&self, index: u32) -> Option<&[f16]> {
        (!self.maps.is_empty()).then(|| self.maps[index as usize].map())
    }

    /// Whether spatial maps were wanted.
    pub fn has_maps(&self) -> bool {
        self.map_scale.is_some()
    }

    /// Copies the spatial map of a screen, centred and scaled, `[14 * 14, map_channels]`; zeros if maps were not wanted.
    /// The index must be one of these.
    pub fn copy_map(&self, index: u32, out: &mut [f32]) {
        match (&self.map_scale, self.map(index)) {
            (Some(scale), Some(map)) => {
                scale.apply(map, out);
                // Maps are the large thing: what was copied need not stay in memory.
                self.maps[index as usize].forget();
            }
            _ => out.fill(0.0),
        }
    }

    /// How scene vectors were centred and scaled.
    pub fn calibration(&self) -> &Calibration {
        &self.calibration
    }

    /// What had to be encoded, and what to tell a person.
    pub fn encoded(&self) -> &Encoded {
        &self.encoded
    }
}

fn in_order(screens: &[ScreenRecipe]) -> Vec<ScreenRecipe> {
    let mut screens = screens.to_vec();
    screens.sort_unstable();
    screens.dedup();
    screens
}
