//! Centring and scaling of spatial maps before modules read them.
//!
//! Each channel's mean is subtracted, and all values are multiplied by one factor, so that the vectors of positions
//! have a fixed root mean square norm. Mean and factor are computed over some calibration screens. Completes the paper,
//! which does not say how features are scaled.

use crate::calibration::CalibrationSettings;
use crate::encode::Items;
use crate::segment::Part;
use crate::store::FeatureStore;
use half::f16;
use half::slice::HalfFloatSliceExt;
use std::num::NonZeroUsize;
use touchstream_env::trial::ScreenRecipe;

/// Maximum number of calibration screens: each has hundreds of positions.
const MAX_SCREENS: NonZeroUsize = NonZeroUsize::new(256).expect("above 0");

/// Converts an encoder's map to a module's input.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MapScale {
    /// `[map_channels]`
    mean: Box<[f32]>,
    factor: f32,
}

impl MapScale {
    /// The screens to use, out of all calibration screens.
    pub fn choose(calibration: CalibrationSettings, screens: &[ScreenRecipe]) -> Vec<ScreenRecipe> {
        let max_screens = calibration.max_screens.map_or(MAX_SCREENS, |max| max.min(MAX_SCREENS));
        CalibrationSettings { max_screens: Some(max_screens), ..calibration }.choose(screens)
    }

    /// Computed from stored maps, in double precision and in the given order; `None` if one is missing.
    pub fn compute(
        store: &FeatureStore,
        items: &Items,
        screens: &[ScreenRecipe],
        calibration: CalibrationSettings,
    ) -> Option<Self> {
        let n_channels = store.head().shape.map_channels;
        let (mut sums, mut squares) = (vec![0.0_f64; n_channels], vec![0.0_f64; n_channels]);
        let mut n_places = 0_usize;
        for recipe in screens {
            let stored = store.get(items.id(recipe, Part::Map))?;
            for place in stored.map().chunks_exact(n_channels) {
                n_places += 1;
                for ((sum, square), &x) in sums.iter_mut().zip(&mut squares).zip(place) {
                    let x = f64::from(x);
                    *sum += x;
                    *square += x * x;
                }
            }
            stored.forget();
        }
        let n = n_places.max(1) as f64;
        let mean: Box<[f32]> = sums.iter().map(|sum| (sum / n) as f32).collect();
        let variance: f64 =
            squares.iter().zip(&mean).map(|(square, mean)| square / n - f64::from(*mean).powi(2)).sum();
        let factor = if variance > 0.0 { f64::from(calibration.norm) / variance.sqrt() } else { 0.0 };
        Some(Self { mean, factor: factor as f32 })
    }

    /// Centres and scales a map, `[n_places, map_channels]`.
    pub fn apply(&self, map: &[f16], out: &mut [f32]) {
        map.convert_to_f32_slice(out);
        for place in out.chunks_exact_mut(self.mean.len()) {
            place.iter_mut().zip(&self.mean).for_each(|(x, mean)| *x = (*x - mean) * self.factor);
        }
    }
}
