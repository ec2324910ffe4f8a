//! Ridge regression from scene vectors to boxes; how strongly weights are held back is chosen by cross-validation.

use crate::box_numbers::{BoxNumbers, box_from_numbers, numbers_from_box};
use crate::boxed_scenes::BoxedScenes;
use crate::conjugate_gradients::{Gram, Systems};
use crate::score::mean_iou;
use touchstream_env::pixel_box::PixelBox;

/// The inner products of all pairs of screens are kept: 1.6 GB for so many.
pub const MAX_RIDGE_SCREENS: usize = 20_000;

const N_FOLDS: usize = 5;
const N_NUMBERS: usize = 4;
/// Shares of a scene vector's mean squared length, from strong to weak.
const STRENGTHS: [f64; 10] = [100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.003];

/// Why there is nothing to regress.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RidgeError {
    /// A fold would be empty.
    #[error("ridge regression needs at least {N_FOLDS} training screens; there are {n}")]
    TooFew {
        /// How many there are.
        n: usize,
    },
    /// Memory would run out.
    #[error("ridge regression takes at most {MAX_RIDGE_SCREENS} training screens; there are {n}")]
    TooMany {
        /// How many there are.
        n: usize,
    },
}

/// A linear map from scene vectors to boxes.
#[derive(Clone, Debug, PartialEq)]
pub struct Ridge {
    /// How strongly weights were held back, as a share of a scene vector's mean squared length.
    pub strength: f64,
    /// The mean overlap on training screens that were left out; what the strength was chosen by.
    pub cross_validated_iou: f64,
    scene_mean: Vec<f32>,
    number_means: BoxNumbers,
    /// `[scene_len][4]`
    weights: Vec<BoxNumbers>,
}

/// Learns from training screens, and from nothing else.
pub fn fit_ridge(train: &BoxedScenes) -> Result<Ridge, RidgeError> {
    let n = train.len();
    if n < N_FOLDS {
        return Err(RidgeError::TooFew { n });
    }
    if n > MAX_RIDGE_SCREENS {
        return Err(RidgeError::TooMany { n });
    }
    let scene_mean = scene_mean(train);
    let centred: Vec<f32> =
        train.scenes().flat_map(|scene| scene.iter().zip(&scene_mean).map(|(x, mean)| x - mean)).collect();
    let numbers: Vec<BoxNumbers> = train.boxes().iter().map(|&bounds| numbers_from_box(bounds)).collect();
    let number_means = means(&numbers);
    let targets: Vec<BoxNumbers> = numbers.iter().map(|&numbers| minus(numbers, number_means)).collect();
    let gram = Gram::of(&centred, train.scene_len());
    // Equal scene vectors hold nothing that could be held back.
    let unit = gram.mean_diagonal().max(f64::MIN_POSITIVE);
    let (strength, cross_validated_iou) = choose_strength(&gram, unit, &targets, number_means, train.boxes());
    let mut shares = vec![0.0; n * N_NUMBERS];
    let systems = Systems {
        gram: &gram,
        ridge: strength * unit,
        right_sides: targets.as_flattened(),
        n_columns: N_NUMBERS,
        is_about: &|_, _| true,
    };
    systems.solve(&mut shares);
    let mut weights = vec![[0.0; N_NUMBERS]; train.scene_len()];
    for (scene, shares) in centred.chunks_exact(train.scene_len()).zip(shares.chunks_exact(N_NUMBERS)) {
        for (weights, &x) in weights.iter_mut().zip(scene) {
            weights.iter_mut().zip(shares).for_each(|(weight, share)| *weight += f64::from(x) * share);
        }
    }
    Ok(Ridge { strength, cross_validated_iou, scene_mean, number_means, weights })
}

impl Ridge {
    /// The box of a scene vector.
    pub fn predict(&self, scene: &[f32]) -> PixelBox {
        let mut numbers = self.number_means;
        for ((x, mean), weights) in scene.iter().zip(&self.scene_mean).zip(&self.weights) {
            let x = f64::from(x - mean);
            numbers.iter_mut().zip(weights).for_each(|(number, weight)| *number += x * weight);
        }
        box_from_numbers(numbers)
    }
}

/// The strength of the largest mean overlap on screens that were left out, and that overlap. One column a fold and
/// number; a fold's columns are about the screens of the others.
fn choose_strength(
    gram: &Gram,
    unit: f64,
    targets: &[BoxNumbers],
    number_means: BoxNumbers,
    boxes: &[PixelBox],
) -> (f64, f64) {
    let n_columns = N_FOLDS * N_NUMBERS;
    let right_sides: Vec<f64> = targets.iter().flat_map(|numbers| numbers.repeat(N_FOLDS)).collect();
    let is_about = |row: usize, column: usize| row % N_FOLDS != column / N_NUMBERS;
    let mut shares = vec![0.0; right_sides.len()];
    let mut best = (STRENGTHS[0], f64::NEG_INFINITY);
    for strength in STRENGTHS {
        let ridge = strength * unit;
        Systems { gram, ridge, right_sides: &right_sides, n_columns, is_about: &is_about }.solve(&mut shares);
        let predicted = gram.times(&shares, n_columns);
        let left_out = predicted.chunks_exact(n_columns).enumerate().map(|(row, columns)| {
            let numbers = &columns[row % N_FOLDS * N_NUMBERS..][..N_NUMBERS];
            let mut shifted = number_means;
            shifted.iter_mut().zip(numbers).for_each(|(mean, number)| *mean += number);
            box_from_numbers(shifted)
        });
        let overlap = mean_iou(left_out, boxes);
        if overlap > best.1 {
            best = (strength, overlap);
        }
    }
    best
}

fn scene_mean(train: &BoxedScenes) -> Vec<f32> {
    let mut sums = vec![0.0_f64; train.scene_len()];
    for scene in train.scenes() {
        sums.iter_mut().zip(scene).for_each(|(sum, &x)| *sum += f64::from(x));
    }
    sums.iter().map(|sum| (sum / train.len() as f64) as f32).collect()
}

fn means(numbers: &[BoxNumbers]) -> BoxNumbers {
    let mut sums = [0.0; N_NUMBERS];
    for numbers in numbers {
        sums.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += number);
    }
    sums.map(|sum| sum / numbers.len() as f64)
}

fn minus(numbers: BoxNumbers, others: BoxNumbers) -> BoxNumbers {
    std::array::from_fn(|idx| numbers[idx] - others[idx])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Vectors of which the box is a linear map, but for the rounding to pixels.
    fn planted(n: usize, first: usize) -> BoxedScenes {
        let scene_len = 24;
        let random = |idx: usize| {
            let mixed = (idx as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            ((mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40) as f32 / (1 << 24) as f32 - 0.5
        };
        let scenes: Vec<f32> = (0..n * scene_len).map(|idx| random(idx + first * scene_len)).collect();
        let bounds = |scene: &[f32]| {
            let sum = |from: usize| scene[from..from + 3].iter().map(|&x| f64::from(x)).sum::<f64>();
            box_from_numbers([
                50.0 + 30.0 * sum(0),
                60.0 + 30.0 * sum(3),
                160.0 + 30.0 * sum(6),
                170.0 + 30.0 * sum(9),
            ])
        };
        let boxes = scenes.chunks_exact(scene_len).map(bounds).collect();
        BoxedScenes::new(scene_len, scenes, boxes).unwrap()
    }

    #[test]
    fn a_planted_linear_map_is_found() {
        let (train, validation) = (planted(300, 0), planted(100, 300));
        let ridge = fit_ridge(&train).unwrap();
        let overlap = mean_iou(validation.scenes().map(|scene| ridge.predict(scene)), validation.boxes());
        assert!(overlap > 0.98, "{overlap} with strength {}", ridge.strength);
        assert!((ridge.cross_validated_iou - overlap).abs() < 0.02, "{}", ridge.cross_validated_iou);
        assert!(ridge.strength < 0.1);
    }

    #[test]
    fn what_cannot_be_known_is_held_back() {
        let mut boxes = planted(200, 0).boxes().to_vec();
        boxes.reverse();
        let train = BoxedScenes::new(24, planted(200, 0).numbers().to_vec(), boxes).unwrap();
        assert!(fit_ridge(&train).unwrap().strength >= 1.0);
    }

    #[test]
    fn scenes_that_are_all_alike_give_the_mean_box() {
        let boxes = planted(20, 0).boxes().to_vec();
        let train = BoxedScenes::new(2, vec![1.0; 40], boxes.clone()).unwrap();
        assert_eq!(fit_ridge(&train).unwrap().predict(&[1.0, 1.0]), crate::mean_box(&boxes));
    }

    #[test]
    fn too_few_screens_are_refused() {
        let error = fit_ridge(&planted(4, 0)).unwrap_err();
        assert_eq!(error.to_string(), "ridge regression needs at least 5 training screens; there are 4");
    }
}
