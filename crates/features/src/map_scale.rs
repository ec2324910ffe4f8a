//! Centring and scaling of spatial maps, as they are handed to modules.
//!
//! Each channel loses its mean, and all numbers are multiplied by one factor, so that the numbers of a place have a fixed
//! norm in the mean over places. Both are over some of the calibration screens. The paper is silent.

use crate::calibration::CalibrationSettings;
use crate::encode::Items;
use crate::segment::Part;
use crate::store::FeatureStore;
use half::f16;
use half::slice::HalfFloatSliceExt;
use std::num::NonZeroUsize;
use touchstream_env::trial::ScreenRecipe;

/// Calibration screens whose maps are looked at: each has hundreds of places.
const MAX_SCREENS: NonZeroUsize = NonZeroUsize::new(256).expect("above 0");

/// What turns an encoder's map into a module's.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MapScale {
    /// `[map_channels]`
    mean: Box<[f32]>,
    factor: f32,
}

impl MapScale {
    /// The screens that decide it, out of all calibration screens.
    pub fn choose(calibration: CalibrationSettings, screens: &[ScreenRecipe]) -> Vec<ScreenRecipe> {
        let max_screens = calibration.max_screens.map_or(MAX_SCREENS, |max| max.min(MAX_SCREENS));
        CalibrationSettings { max_screens: Some(max_screens), ..calibration }.choose(screens)
    }

    /// From maps that the store has; `None` where one is lost. In double precision and in the order given.
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
                for ((sum, square), &number) in sums.iter_mut().zip(&mut squares).zip(place) {
                    let number = f64::from(number);
                    *sum += number;
                    *square += number * number;
                }
            }
            stored.forget();
        }
        let n = n_places.max(1) as f64;
        let mean: Box<[f32]> = sums.iter().map(|sum| (sum / n) as f32).collect();
        let spread: f64 =
            squares.iter().zip(&mean).map(|(square, mean)| square / n - f64::from(*mean).powi(2)).sum();
        let factor = if spread > 0.0 { f64::from(calibration.norm) / spread.sqrt() } else { 0.0 };
        Some(Self { mean, factor: factor as f32 })
    }

    /// Centres and scales one map, `[n_places, map_channels]`.
    pub fn apply(&self, map: &[f16], out: &mut [f32]) {
        map.convert_to_f32_slice(out);
        for place in out.chunks_exact_mut(self.mean.len()) {
            place.iter_mut().zip(&self.mean).for_each(|(x, mean)| *x = (*x - mean) * self.factor);
        }
    }
}
