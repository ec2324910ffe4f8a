//! Centring and scaling of scene vectors before modules read them.
//!
//! A vector becomes `x - mean`, scaled to a fixed norm. The mean is over the calibration screens: all training screens
//! of the tasks. Completes the paper, which does not say how features are scaled. Centring matters: EMS on the quadrant
//! task reaches an area under the curve of 0.53 after 80,000 steps, and 0.34 without it.

use crate::encode::Items;
use crate::error::FeatureError;
use crate::recipe_bytes::put_recipe;
use crate::segment::{Part, SegmentHead};
use crate::store::FeatureStore;
use std::num::NonZeroUsize;
use touchstream_env::stimuli::ContentHash;
use touchstream_env::trial::ScreenRecipe;

/// Must be raised whenever the same screens and settings would give another mean or other vectors.
const CALIBRATION_VERSION: u32 = 1;

/// How scene vectors are centred and scaled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CalibrationSettings {
    /// Norm of every vector, above 0.
    pub norm: f32,
    /// Maximum number of calibration screens, evenly spaced; `None` for all.
    pub max_screens: Option<NonZeroUsize>,
}

impl CalibrationSettings {
    /// Norm 2, over all training screens.
    pub const DEFAULT: Self = Self { norm: 2.0, max_screens: None };
    /// Norm 8, for the preset `paper`.
    pub const PAPER: Self = Self { norm: 8.0, ..Self::DEFAULT };

    pub(crate) fn check(self) -> Result<Self, FeatureError> {
        match self.norm.is_finite() && self.norm > 0.0 {
            true => Ok(self),
            false => Err(FeatureError::Norm { norm: self.norm }),
        }
    }

    /// The screens to use, out of all calibration screens.
    pub(crate) fn choose(self, screens: &[ScreenRecipe]) -> Vec<ScreenRecipe> {
        let n = self.max_screens.map_or(screens.len(), NonZeroUsize::get).min(screens.len());
        (0..n).map(|idx| screens[idx * screens.len() / n]).collect()
    }
}

impl Default for CalibrationSettings {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Converts an encoder's scene vector to a module's input.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    pub(crate) mean: Box<[f32]>,
    pub(crate) norm: f32,
    pub(crate) n_screens: usize,
    pub(crate) content_hash: ContentHash,
}

impl Calibration {
    /// The mean scene vector of the calibration screens, `[scene_len]`.
    pub fn mean(&self) -> &[f32] {
        &self.mean
    }

    pub fn norm(&self) -> f32 {
        self.norm
    }

    pub fn n_screens(&self) -> usize {
        self.n_screens
    }

    /// Hash of encoder, images, calibration screens and settings. Together with a screen, it determines the screen's
    /// vector; recorded with every result.
    pub fn content_hash(&self) -> ContentHash {
        self.content_hash
    }

    /// Centres and scales a vector; both are `[scene_len]`. A vector equal to the mean becomes zeros.
    pub fn apply(&self, scene: &[f32], out: &mut [f32]) {
        let centred = |(x, mean): (&f32, &f32)| f64::from(*x) - f64::from(*mean);
        let pairs = || scene.iter().zip(&self.mean);
        let square: f64 = pairs().map(|pair| centred(pair).powi(2)).sum();
        let scale = if square > 0.0 { f64::from(self.norm) / square.sqrt() } else { 0.0 };
        out.iter_mut().zip(pairs()).for_each(|(out, pair)| *out = (centred(pair) * scale) as f32);
    }

    /// Averages the stored scene vectors of screens, in double precision and in the given order, so that the result
    /// depends neither on threads nor on the order of encoding.
    pub(crate) fn compute(
        store: &FeatureStore,
        items: &Items,
        screens: &[ScreenRecipe],
        settings: CalibrationSettings,
    ) -> Option<Self> {
        let mut sums = vec![0.0_f64; store.head().shape.scene_len];
        for recipe in screens {
            let stored = store.get(items.id(recipe, Part::Scene))?;
            sums.iter_mut().zip(stored.scene()).for_each(|(sum, &x)| *sum += f64::from(x));
        }
        let n_screens = screens.len();
        Some(Self {
            mean: sums.iter().map(|sum| (sum / n_screens.max(1) as f64) as f32).collect(),
            norm: settings.norm,
            n_screens,
            content_hash: calibration_hash(store.head(), screens, settings),
        })
    }
}

/// The hash of a calibration, which does not require computing its mean.
pub(crate) fn calibration_hash(
    head: &SegmentHead,
    screens: &[ScreenRecipe],
    settings: CalibrationSettings,
) -> ContentHash {
    let mut bytes = b"touchstream calibration".to_vec();
    bytes.extend(CALIBRATION_VERSION.to_le_bytes());
    bytes.extend(head.encoder_hash.0);
    bytes.extend(head.data_hash.0);
    bytes.extend(settings.norm.to_bits().to_le_bytes());
    bytes.extend((screens.len() as u64).to_le_bytes());
    screens.iter().for_each(|screen| put_recipe(screen, &mut bytes));
    ContentHash(*blake3::hash(&bytes).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstream_env::stimuli::{ImageId, Split};

    fn calibration(mean: &[f32]) -> Calibration {
        let content_hash = ContentHash([0; 32]);
        Calibration { mean: mean.into(), norm: 2.0, n_screens: 1, content_hash }
    }

    #[test]
    fn vectors_are_centred_and_scaled() {
        let mut out = [0.0; 2];
        calibration(&[1.0, 2.0]).apply(&[4.0, 6.0], &mut out);
        assert_eq!(out, [1.2, 1.6]);
        calibration(&[1.0, 2.0]).apply(&[1.0, 2.0], &mut out);
        assert_eq!(out, [0.0, 0.0]);
        calibration(&[0.0, 0.0]).apply(&[1e-44, 0.0], &mut out);
        assert_eq!(out, [2.0, 0.0]);
        calibration(&[-f32::MAX, 0.0]).apply(&[f32::MAX, 0.0], &mut out);
        assert_eq!(out, [2.0, 0.0]);
    }

    #[test]
    fn calibration_screens_are_evenly_spaced() {
        let screen = |index| ScreenRecipe::Whole { split: Split::Train, image: ImageId::Object { index } };
        let screens: Vec<ScreenRecipe> = (0..10).map(screen).collect();
        let chosen = |n| {
            let settings = CalibrationSettings { max_screens: NonZeroUsize::new(n), ..Default::default() };
            settings.choose(&screens)
        };
        assert_eq!(chosen(0), screens);
        assert_eq!(chosen(20), screens);
        assert_eq!(chosen(5), [0, 2, 4, 6, 8].map(screen));
    }

    #[test]
    fn invalid_norms_are_rejected() {
        for norm in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            assert!(CalibrationSettings { norm, max_screens: None }.check().is_err(), "{norm}");
        }
        assert!(CalibrationSettings::PAPER.check().is_ok());
    }
}
