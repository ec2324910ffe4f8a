//! The calibration of tasks: read from the cache, or computed from their training screens.

use crate::calibration::{Calibration, CalibrationSettings, calibration_hash};
use crate::encode::{EncodeContext, Items, Wanted, screens_of, shared_stimuli};
use crate::error::FeatureError;
use crate::store::FeatureStore;
use touchstream_env::stimuli::Split;
use touchstream_env::trial::{BoundTask, ScreenRecipe};

/// A calibration, and notes for the user.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibrated {
    pub calibration: Calibration,
    /// For instance, that it could not be stored.
    pub notes: Vec<String>,
}

/// The calibration of a [`FeatureSet`](crate::FeatureSet) of these tasks. If it is not cached, the scene vectors of the
/// calibration screens are read or encoded.
pub fn calibrate_tasks(
    context: EncodeContext<'_>,
    tasks: &[&BoundTask],
    settings: CalibrationSettings,
) -> Result<Calibrated, FeatureError> {
    let settings = settings.check()?;
    let stimuli = shared_stimuli(tasks)?;
    let chosen = settings.choose(&calibration_screens_of(tasks)?);
    if chosen.is_empty() {
        return Err(FeatureError::NoScreens);
    }
    let items = Items::new(context, stimuli, &chosen, Wanted::Scene);
    let mut store = items.open_store(context, stimuli)?;
    if let Some(calibration) = stored_calibration(&store, &chosen, settings) {
        return Ok(Calibrated { calibration, notes: Vec::new() });
    }
    let mut notes = items.encode(context, stimuli, &mut store)?.notes;
    let (calibration, note) = compute_and_store(&store, &items, &chosen, settings)?;
    notes.extend(note);
    Ok(Calibrated { calibration, notes })
}

/// The training screens of the tasks, whichever split these are bound to; sorted, without duplicates.
pub(crate) fn calibration_screens_of(tasks: &[&BoundTask]) -> Result<Vec<ScreenRecipe>, FeatureError> {
    let mut screens = Vec::new();
    for task in tasks {
        screens.extend(match task.split() {
            Split::Train => screens_of(&[task])?,
            Split::Validation => screens_of(&[&task.on_split(Split::Train)?])?,
        });
    }
    screens.sort_unstable();
    screens.dedup();
    Ok(screens)
}

/// The calibration with these screens, if its file exists and is intact.
pub(crate) fn stored_calibration(
    store: &FeatureStore,
    chosen: &[ScreenRecipe],
    settings: CalibrationSettings,
) -> Option<Calibration> {
    let hash = calibration_hash(store.head(), chosen, settings);
    Calibration::read(store.folder()?, hash, store.head().shape.scene_len)
}

/// Computes the calibration from stored screens, and stores it if possible; returns a note otherwise.
pub(crate) fn compute_and_store(
    store: &FeatureStore,
    items: &Items,
    chosen: &[ScreenRecipe],
    settings: CalibrationSettings,
) -> Result<(Calibration, Option<String>), FeatureError> {
    let computed = Calibration::compute(store, items, chosen, settings).ok_or_else(|| store.lost())?;
    let mut note = None;
    if let Some(folder) = store.writable_folder()
        && let Err(error) = computed.write(folder)
    {
        note = Some(format!("the mean of {} was not stored: {error}", folder.display()));
    }
    Ok((computed, note))
}
