//! The features of all screens of a set of tasks, ready to be read by modules.

use crate::calibrated::{calibration_screens_of, compute_and_store, stored_calibration};
use crate::calibration::{Calibration, CalibrationSettings};
use crate::encode::{EncodeContext, Encoded, Items, Wanted, screens_of, shared_stimuli};
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

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FeatureSettings {
    pub wanted: Wanted,
    pub calibration: CalibrationSettings,
}

/// The features of a set of screens, read-only. Their bits do not depend on which process encoded them, on the number
/// of threads, or on the order.
pub struct FeatureSet {
    /// Sorted; a screen's position is its index.
    screens: Vec<ScreenRecipe>,
    index: HashMap<ScreenRecipe, u32>,
    shape: FeatureShape,
    /// Centred and scaled, `[n_screens, scene_len]`.
    scenes: Vec<f32>,
    /// One per screen; empty without maps.
    maps: Vec<Stored>,
    map_scale: Option<MapScale>,
    calibration: Calibration,
    encoded: Encoded,
    /// Protects the store from deletion.
    _store: FeatureStore,
}

impl FeatureSet {
    /// The features of every screen that the tasks can show; missing ones are encoded.
    ///
    /// The mean is over the training screens of the tasks, including tasks that are bound to the validation split: both
    /// splits are centred by the same mean.
    pub fn of_tasks(
        context: EncodeContext<'_>,
        tasks: &[&BoundTask],
        settings: FeatureSettings,
    ) -> Result<Self, FeatureError> {
        let stimuli = shared_stimuli(tasks)?;
        let calibration_screens = calibration_screens_of(tasks)?;
        Self::of_screens(context, stimuli, &screens_of(tasks)?, &calibration_screens, settings)
    }

    /// The features of `screens`, centred by the mean over `calibration_screens`; both in any order.
    pub fn of_screens(
        context: EncodeContext<'_>,
        stimuli: &dyn Stimuli,
        screens: &[ScreenRecipe],
        calibration_screens: &[ScreenRecipe],
        settings: FeatureSettings,
    ) -> Result<Self, FeatureError> {
        let calibration_settings = settings.calibration.check()?;
        let [screens, calibration_screens] = [screens, calibration_screens].map(sorted_without_duplicates);
        if screens.is_empty() || calibration_screens.is_empty() {
            return Err(FeatureError::NoScreens);
        }
        let chosen = calibration_settings.choose(&calibration_screens);
        let mut items = Items::new(context, stimuli, &screens, settings.wanted);
        let mut store = items.open_store(context, stimuli)?;
        let known = stored_calibration(&store, &chosen, calibration_settings);
        let scale_screens = MapScale::choose(calibration_settings, &calibration_screens);
        if settings.wanted == Wanted::SceneAndMap {
            items.add(&scale_screens, Wanted::SceneAndMap);
        }
        if known.is_none() {
            items.add(&chosen, Wanted::Scene);
        }
        let mut encoded = items.encode(context, stimuli, &mut store)?;
        let calibration = match known {
            Some(calibration) => calibration,
            None => {
                let (computed, note) = compute_and_store(&store, &items, &chosen, calibration_settings)?;
                encoded.notes.extend(note);
                computed
            }
        };
        let shape = context.encoder.shape();
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
                let scale = MapScale::compute(&store, &items, &scale_screens, calibration_settings);
                (find(Part::Map)?, Some(scale.ok_or_else(|| store.lost())?))
            }
        };
        let index = screens.iter().copied().zip(0..).collect();
        Ok(Self { screens, index, shape, scenes, maps, map_scale, calibration, encoded, _store: store })
    }

    pub fn n_screens(&self) -> usize {
        self.screens.len()
    }

    /// The screens, sorted; a screen's position is its index.
    pub fn screens(&self) -> &[ScreenRecipe] {
        &self.screens
    }

    pub fn shape(&self) -> FeatureShape {
        self.shape
    }

    /// A screen's index, if the set contains it.
    pub fn index_of(&self, recipe: &ScreenRecipe) -> Option<u32> {
        self.index.get(recipe).copied()
    }

    /// The centred and scaled scene vector of a screen, `[scene_len]`. Panics if the index is out of range.
    pub fn scene(&self, index: u32) -> &[f32] {
        let start = index as usize * self.shape.scene_len;
        &self.scenes[start..start + self.shape.scene_len]
    }

    /// All scene vectors, `[n_screens, scene_len]`.
    pub fn scenes(&self) -> &[f32] {
        &self.scenes
    }

    /// The spatial map of a screen, `[14, 14, map_channels]`, neither centred nor scaled; `None` without maps. Panics
    /// if the index is out of range.
    pub fn map(&self, index: u32) -> Option<&[f16]> {
        (!self.maps.is_empty()).then(|| self.maps[index as usize].map())
    }

    pub fn has_maps(&self) -> bool {
        self.map_scale.is_some()
    }

    /// Copies the centred and scaled spatial map of a screen, `[14 * 14, map_channels]`; zeros without maps. Panics if
    /// the index is out of range.
    pub fn copy_map(&self, index: u32, out: &mut [f32]) {
        match (&self.map_scale, self.map(index)) {
            (Some(scale), Some(map)) => {
                scale.apply(map, out);
                // Maps are large: the original need not stay in memory.
                self.maps[index as usize].forget();
            }
            _ => out.fill(0.0),
        }
    }

    pub fn calibration(&self) -> &Calibration {
        &self.calibration
    }

    /// The number of encoded screens, and notes for the user.
    pub fn encoded(&self) -> &Encoded {
        &self.encoded
    }
}

fn sorted_without_duplicates(screens: &[ScreenRecipe]) -> Vec<ScreenRecipe> {
    let mut screens = screens.to_vec();
    screens.sort_unstable();
    screens.dedup();
    screens
}
