//! Dropout of features while an agent learns. Beyond the paper.

use touchstream_env::seed::{RandomStream, RunSeed, StreamName};
use touchstream_modules::{Instructions, PlainLoop};

const SCENES: StreamName = StreamName::new("agent/dropout-scenes");
const MAPS: StreamName = StreamName::new("agent/dropout-maps");

/// Sets random features to 0 and scales the others so that the mean stays the same.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Dropout {
    seed: RunSeed,
    /// The dropped share of features, in 256ths.
    n_dropped: u8,
    factor: f32,
    instructions: Instructions,
}

impl Dropout {
    /// `share` is rounded to the nearest 256th; `None` if that is 0.
    pub fn new(share: f64, seed: RunSeed) -> Option<Self> {
        let n_dropped = (256.0 * share).round() as u8;
        let factor = 256.0 / (256.0 - f32::from(n_dropped));
        (n_dropped > 0).then(|| Self { seed, n_dropped, factor, instructions: Instructions::best() })
    }

    pub fn drop_in_scene(&self, step: u64, scene: &mut [f32]) {
        self.drop_features(self.seed.stream(SCENES, step), scene);
    }

    pub fn drop_in_map(&self, step: u64, map: &mut [f32]) {
        self.drop_features(self.seed.stream(MAPS, step), map);
    }

    fn drop_features(&self, random: RandomStream, features: &mut [f32]) {
        self.instructions.vectorize(DropFeatures {
            random,
            n_dropped: self.n_dropped,
            factor: self.factor,
            features,
        });
    }
}

struct DropFeatures<'a> {
    random: RandomStream,
    n_dropped: u8,
    factor: f32,
    features: &'a mut [f32],
}

/// Random words that are drawn at once. Each byte decides about one feature.
const WORDS: usize = 64;
const FEATURES: usize = 4 * WORDS;

impl PlainLoop for DropFeatures<'_> {
    #[inline(always)]
    fn run(mut self) {
        let (mut words, mut bytes) = ([0_u32; WORDS], [0_u8; FEATURES]);
        for features in self.features.chunks_mut(FEATURES) {
            self.random.fill_u32(&mut words);
            for (bytes, word) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(words) {
                *bytes = word.to_le_bytes();
            }
            for (feature, byte) in features.iter_mut().zip(bytes) {
                *feature *= if byte < self.n_dropped { 0.0 } else { self.factor };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_given_share_is_dropped_and_the_mean_stays() {
        for (share, expected) in [(0.25, 0.25), (0.5, 0.5), (0.1, 26.0 / 256.0)] {
            let dropout = Dropout::new(share, RunSeed(1)).unwrap();
            let mut numbers = vec![2.0_f32; 100_003];
            dropout.drop_in_map(7, &mut numbers);
            let n_zeros = numbers.iter().filter(|&&number| number == 0.0).count();
            let found = n_zeros as f64 / numbers.len() as f64;
            assert!((found - expected).abs() < 0.006, "{found} instead of {expected}");
            let mean = numbers.iter().map(|&number| f64::from(number)).sum::<f64>() / numbers.len() as f64;
            assert!((mean - 2.0).abs() < 0.03, "{mean}");
        }
        assert_eq!(Dropout::new(0.0, RunSeed(1)), None);
    }

    #[test]
    fn dropped_features_depend_on_seed_and_step_only() {
        let dropped = |seed: u64, step: u64| {
            let mut scene = vec![1.0; 300];
            Dropout::new(0.5, RunSeed(seed)).unwrap().drop_in_scene(step, &mut scene);
            scene
        };
        assert_eq!(dropped(1, 5), dropped(1, 5));
        assert_ne!(dropped(1, 5), dropped(1, 6));
        assert_ne!(dropped(1, 5), dropped(2, 5));
        let mut map = vec![1.0; 300];
        Dropout::new(0.5, RunSeed(1)).unwrap().drop_in_map(5, &mut map);
        assert_ne!(dropped(1, 5), map);
    }
}
