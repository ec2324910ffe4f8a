//! The policy: `VarArgmax{Dist[Norm[m]]}` (eq. 2 to 4), and sampling from it.

use crate::policy::settings::{Dist, Explore, PolicySettings, VarianceOf};
use touchstream_env::seed::RandomStream;
use touchstream_modules::{Instructions, PlainLoop, SkillMemory, set_exponentials, set_sigmoids};

/// The buffers of the policy.
#[derive(Clone, Debug)]
pub struct PolicyMemory {
    instructions: Instructions,
    n: usize,
    /// Predicted rewards, `[k_f, n]`.
    maps: Vec<f32>,
    /// `f(Norm[m])`, not yet divided by its sum, `[k_f, n]`.
    weights: Vec<f32>,
}

impl PolicyMemory {
    pub fn new(instructions: Instructions, k_f: usize, n_candidates: usize) -> Self {
        let numbers = vec![0.0; k_f * n_candidates];
        Self { instructions, n: n_candidates, maps: numbers.clone(), weights: numbers }
    }

    /// Predicted rewards of a map, `[n_candidates]`.
    pub fn map(&self, map: usize) -> &[f32] {
        &self.maps[map * self.n..][..self.n]
    }

    fn weights(&self, map: usize) -> &[f32] {
        &self.weights[map * self.n..][..self.n]
    }

    fn n_maps(&self) -> usize {
        self.maps.len() / self.n
    }

    /// Computes predicted rewards from logits.
    pub fn read(&mut self, memory: &SkillMemory) {
        for (map, rewards) in self.maps.chunks_exact_mut(self.n).enumerate() {
            set_sigmoids(self.instructions, memory.logits(map), rewards);
        }
    }

    #[cfg(test)]
    fn set_maps(&mut self, maps: &[f32]) {
        self.maps.copy_from_slice(maps);
    }

    /// Chooses a candidate.
    pub fn choose(&mut self, settings: &PolicySettings, random: &mut RandomStream) -> usize {
        match settings.explore {
            Explore::Sample => {
                let map = self.largest_variance(settings);
                draw(self.weights(map), random)
            }
            Explore::EpsilonGreedy { epsilon } if random.chance(epsilon) => {
                random.below(self.n as u32) as usize
            }
            Explore::EpsilonGreedy { .. } | Explore::Greedy => {
                let map = self.largest_variance(settings);
                argmax(self.map(map))
            }
        }
    }

    /// The index of the map that `VarArgmax` chooses; of equal variances, the first. Also computes the weights of its
    /// candidates.
    fn largest_variance(&mut self, settings: &PolicySettings) -> usize {
        let mut chosen = 0;
        self.instructions.vectorize(ChooseMap { memory: self, settings, chosen: &mut chosen });
        chosen
    }

    /// Computes `f(Norm[m])` of a map, times a constant.
    #[inline(always)]
    fn weigh(&mut self, map: usize, dist: Dist) {
        let place = map * self.n..(map + 1) * self.n;
        let (rewards, weights) = (&self.maps[place.clone()], &mut self.weights[place]);
        match dist {
            Dist::Identity => {
                let min = min(rewards);
                weights.iter_mut().zip(rewards).for_each(|(weight, reward)| *weight = reward - min);
            }
            // Relative to the maximum: this gives the same distribution and cannot overflow.
            Dist::Boltzmann { temperature } => {
                let max = rewards.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                set_exponentials(self.instructions, 1.0 / temperature, max, rewards, weights);
            }
        }
    }
}

/// See [`PolicyMemory::largest_variance`].
struct ChooseMap<'a> {
    memory: &'a mut PolicyMemory,
    settings: &'a PolicySettings,
    chosen: &'a mut usize,
}

impl PlainLoop for ChooseMap<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { memory, settings: &PolicySettings { dist, variance_of, .. }, chosen } = self;
        let of_maps = variance_of == VarianceOf::Maps;
        let mut largest = f32::NEG_INFINITY;
        for map in 0..memory.n_maps() {
            let spread = if of_maps {
                variance(memory.map(map))
            } else {
                memory.weigh(map, dist);
                // The distribution is the weights divided by their sum.
                let weights = memory.weights(map);
                let sum: f32 = weights.iter().sum();
                if sum > 0.0 { variance(weights) / (sum * sum) } else { 0.0 }
            };
            if spread > largest {
                (*chosen, largest) = (map, spread);
            }
        }
        if of_maps {
            memory.weigh(*chosen, dist);
        }
    }
}

#[inline(always)]
fn variance(numbers: &[f32]) -> f32 {
    let n = numbers.len() as f32;
    let mean = sum_of(numbers, |x| x) / n;
    sum_of(numbers, |x| (x - mean) * (x - mean)) / n
}

/// NaN is ignored.
#[inline(always)]
fn min(numbers: &[f32]) -> f32 {
    let smaller = |a: f32, b: f32| if b < a { b } else { a };
    let (chunks, rest) = numbers.as_chunks::<16>();
    let mut mins = [f32::INFINITY; 16];
    for chunk in chunks {
        for (min, &number) in mins.iter_mut().zip(chunk) {
            *min = smaller(*min, number);
        }
    }
    mins.iter().chain(rest).copied().fold(f32::INFINITY, smaller)
}

/// A sum with sixteen accumulators, which vectorizes, in a fixed order.
#[inline(always)]
fn sum_of(numbers: &[f32], term: impl Fn(f32) -> f32) -> f32 {
    let (chunks, rest) = numbers.as_chunks::<16>();
    let mut sums = [0.0_f32; 16];
    for chunk in chunks {
        for (sum, &number) in sums.iter_mut().zip(chunk) {
            *sum += term(number);
        }
    }
    sums.iter().sum::<f32>() + rest.iter().map(|&number| term(number)).sum::<f32>()
}

/// The index of the first maximum. NaN is ignored.
fn argmax(numbers: &[f32]) -> usize {
    let best = numbers.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    numbers.iter().position(|&number| number == best).unwrap_or(0)
}

/// Draws a candidate with probability proportional to its weight; if all weights are 0, any candidate may be drawn.
fn draw(weights: &[f32], random: &mut RandomStream) -> usize {
    let total = sum_of(weights, |weight| weight);
    if !(total > 0.0 && total.is_finite()) {
        return random.below(weights.len() as u32) as usize;
    }
    let mut left = random.unit_f32() * total;
    for (candidate, &weight) in weights.iter().enumerate() {
        left -= weight;
        if left < 0.0 {
            return candidate;
        }
    }
    // Because of rounding, no candidate may have been reached; then the last one with a positive weight is taken.
    weights.iter().rposition(|&weight| weight > 0.0).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstream_env::seed::{RunSeed, StreamName};

    const NAME: StreamName = StreamName::new("test/policy");

    /// The share of each candidate in 20,000 draws.
    fn shares(settings: PolicySettings, maps: &[f32], n: usize) -> Vec<f64> {
        let mut memory = PolicyMemory::new(Instructions::best(), maps.len() / n, n);
        memory.set_maps(maps);
        let mut counts = vec![0_u32; n];
        for index in 0..20_000 {
            counts[memory.choose(&settings, &mut RunSeed(1).stream(NAME, index))] += 1;
        }
        counts.iter().map(|&count| f64::from(count) / 20_000.0).collect()
    }

    #[track_caller]
    fn check(settings: PolicySettings, maps: &[f32], n: usize, expected: &[f64]) {
        let shares = shares(settings, maps, n);
        for (share, expected) in shares.iter().zip(expected) {
            // Four standard deviations at most.
            assert!((share - expected).abs() < 0.015, "{shares:?} instead of {expected:?}");
        }
    }

    #[test]
    fn identity_is_proportional_above_the_minimum() {
        check(PolicySettings::default(), &[0.1, 0.3, 0.2, 0.5], 4, &[0.0, 2.0 / 7.0, 1.0 / 7.0, 4.0 / 7.0]);
    }

    #[test]
    fn a_flat_map_is_touched_anywhere() {
        check(PolicySettings::default(), &[0.4; 4], 4, &[0.25; 4]);
    }

    #[test]
    fn boltzmann_prefers_high_rewards_and_does_not_overflow() {
        let warm = PolicySettings { dist: Dist::Boltzmann { temperature: 0.1 }, ..PolicySettings::default() };
        let e = std::f64::consts::E;
        check(warm, &[0.2, 0.3], 2, &[1.0 / (1.0 + e), e / (1.0 + e)]);
        let cold = PolicySettings { dist: Dist::Boltzmann { temperature: 1e-4 }, ..warm };
        check(cold, &[0.0, 1.0, 0.2], 3, &[0.0, 1.0, 0.0]);
    }

    #[test]
    fn the_map_of_largest_variance_is_taken() {
        // The predicted rewards of the second map vary more.
        let maps = [0.5, 0.6, 0.0, 0.8, 0.0, 0.0];
        check(PolicySettings::default(), &maps, 3, &[1.0, 0.0, 0.0]);
        // The first map's distribution is concentrated on one candidate, the second map's is spread over two.
        let maps = [0.01, 0.0, 0.0, 0.8, 0.8, 0.0];
        check(PolicySettings::default(), &maps, 3, &[0.5, 0.5, 0.0]);
        let printed = PolicySettings { variance_of: VarianceOf::Distributions, ..PolicySettings::default() };
        check(printed, &maps, 3, &[1.0, 0.0, 0.0]);
    }

    #[test]
    fn greedy_takes_the_best_and_epsilon_greedy_nearly_always() {
        let maps = [0.5, 0.6, 0.0, 0.8, 0.0, 0.1];
        let greedy = PolicySettings { explore: Explore::Greedy, ..PolicySettings::default() };
        check(greedy, &maps, 3, &[1.0, 0.0, 0.0]);
        let epsilon = Explore::EpsilonGreedy { epsilon: 0.3 };
        check(PolicySettings { explore: epsilon, ..greedy }, &maps, 3, &[0.8, 0.1, 0.1]);
    }
}
