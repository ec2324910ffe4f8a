//! Dropout: while an agent learns, some features are left out at every step, others each time. Beyond the paper.

use touchstream_env::seed::{RandomStream, RunSeed, StreamName};
use touchstream_modules::{Instructions, PlainLoop};

const SCENES: StreamName = StreamName::new("agent/dropout-scenes");
const MAPS: StreamName = StreamName::new("agent/dropout-maps");

/// Leaves out features. Those that stay count as much more as others are missing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Dropout {
    seed: RunSeed,
    /// Of 256 features so many are left out, in the mean.
    n_out: u8,
    factor: f32,
    instructions: Instructions,
}

impl Dropout {
    /// Leaves out a share of all features, to the nearest 256th; `None` if that is none.
    pub fn new(share: f64, seed: RunSeed) -> Option<Self> {
        let n_out = (256.0 * share).round() as u8;
        let factor = 256.0 / (256.0 - f32::from(n_out));
        (n_out > 0).then(|| Self { seed, n_out, factor, instructions: Instructions::best() })
    }

    /// Of the scene vector of a step.
    pub fn hide_in_scene(&self, step: u64, scene: &mut [f32]) {
        self.hide(self.seed.stream(SCENES, step), scene);
    }

    /// Of the spatial map of a step.
    pub fn hide_in_map(&self, step: u64, map: &mut [f32]) {
        self.hide(self.seed.stream(MAPS, step), map);
    }

    fn hide(&self, random: RandomStream, numbers: &mut [f32]) {
        self.instructions.vectorize(Hide { random, n_out: self.n_out, factor: self.factor, numbers });
    }
}

struct Hide<'a> {
    random: RandomStream,
    n_out: u8,
    factor: f32,
    numbers: &'a mut [f32],
}

/// Random words that are drawn at once, and what they decide about: a byte a number.
const WORDS: usize = 64;
const NUMBERS: usize = 4 * WORDS;

impl PlainLoop for Hide<'_> {
    #[inline(always)]
    fn run(mut self) {
        let (mut words, mut bytes) = ([0_u32; WORDS], [0_u8; NUMBERS]);
        for numbers in self.numbers.chunks_mut(NUMBERS) {
            self.random.fill_u32(&mut words);
            for (bytes, word) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(words) {
                *bytes = word.to_le_bytes();
            }
            for (number, byte) in numbers.iter_mut().zip(bytes) {
                *number *= if byte < self.n_out { 0.0 } else { self.factor };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_are_left_out_as_was_asked_for_and_the_mean_stays() {
        for (share, expected) in [(0.25, 0.25), (0.5, 0.5), (0.1, 26.0 / 256.0)] {
            let dropout = Dropout::new(share, RunSeed(1)).unwrap();
            let mut numbers = vec![2.0_f32; 100_003];
            dropout.hide_in_map(7, &mut numbers);
            let n_zeros = numbers.iter().filter(|&&number| number == 0.0).count();
            let found = n_zeros as f64 / numbers.len() as f64;
            assert!((found - expected).abs() < 0.006, "{found} instead of {expected}");
            let mean = numbers.iter().map(|&number| f64::from(number)).sum::<f64>() / numbers.len() as f64;
            assert!((mean - 2.0).abs() < 0.03, "{mean}");
        }
        assert_eq!(Dropout::new(0.0, RunSeed(1)), None);
    }

    #[test]
    fn a_step_always_hides_the_same_and_others_something_else() {
        let hidden = |seed: u64, step: u64| {
            let mut scene = vec![1.0; 300];
            Dropout::new(0.5, RunSeed(seed)).unwrap().hide_in_scene(step, &mut scene);
            scene
        };
        assert_eq!(hidden(1, 5), hidden(1, 5));
        assert_ne!(hidden(1, 5), hidden(1, 6));
        assert_ne!(hidden(1, 5), hidden(2, 5));
        let mut map = vec![1.0; 300];
        Dropout::new(0.5, RunSeed(1)).unwrap().hide_in_map(5, &mut map);
        assert_ne!(hidden(1, 5), map);
    }
}
