//! Named random streams derived from one seed: the source of all randomness.
//!
//! Every random choice is `f(seed, name, index, position)`, computed by Philox4x32-10 (Salmon et al.,
//! "Parallel random numbers: as easy as 1, 2, 3", 2011). The seed is the cipher's key; name, index and
//! position are its counter. So trial 1,000,000 is drawn without drawing the 999,999 before it, and two
//! streams of different names share no counter, as long as the 32-bit tags of the names differ
//! (a test compares all of them).

use serde::{Deserialize, Serialize};

/// The seed of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RunSeed(pub u64);

/// The purpose of a random stream. Results depend on the text: never change an existing one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StreamName {
    text: &'static str,
    tag: u32,
}

impl StreamName {
    /// A stream name from its text.
    pub const fn new(text: &'static str) -> Self {
        Self { text, tag: fnv1a_32(text.as_bytes()) }
    }

    pub const fn text(self) -> &'static str {
        self.text
    }

    /// The part of the Philox counter that is specific to this name.
    pub const fn tag(self) -> u32 {
        self.tag
    }
}

const fn fnv1a_32(bytes: &[u8]) -> u32 {
    let mut hash = 0x811c_9dc5_u32;
    let mut idx = 0;
    while idx < bytes.len() {
        hash = (hash ^ bytes[idx] as u32).wrapping_mul(0x0100_0193);
        idx += 1;
    }
    hash
}

impl RunSeed {
    /// The `index`-th stream with a name, at its start.
    pub fn stream(self, name: StreamName, index: u64) -> RandomStream {
        RandomStream {
            key: [self.0 as u32, (self.0 >> 32) as u32],
            counter: [0, name.tag, index as u32, (index >> 32) as u32],
            block: [0; 4],
            n_used: 4,
        }
    }
}

/// A sequence of random numbers. Cheap to create from seed, name and index, so it is never stored.
#[derive(Clone, Debug)]
pub struct RandomStream {
    key: [u32; 2],
    counter: [u32; 4],
    block: [u32; 4],
    n_used: usize,
}

impl RandomStream {
    /// The next 32 random bits.
    pub fn next_u32(&mut self) -> u32 {
        if self.n_used == 4 {
            self.block = philox4x32_10(self.counter, self.key);
            self.counter[0] = self.counter[0].wrapping_add(1);
            self.n_used = 0;
        }
        let word = self.block[self.n_used];
        self.n_used += 1;
        word
    }

    /// Fills a slice with random bits: equals repeated calls of [`RandomStream::next_u32`], but is faster.
    #[inline(always)]
    pub fn fill_u32(&mut self, words: &mut [u32]) {
        let n_left = (4 - self.n_used).min(words.len());
        let (left, rest) = words.split_at_mut(n_left);
        left.iter_mut().for_each(|word| *word = self.next_u32());
        let (blocks, rest) = rest.as_chunks_mut::<4>();
        let (many, single) = blocks.as_chunks_mut::<SIDE_BY_SIDE>();
        for blocks in many {
            *blocks = philox_side_by_side(self.counter, self.key);
            self.counter[0] = self.counter[0].wrapping_add(SIDE_BY_SIDE as u32);
        }
        for block in single {
            *block = philox4x32_10(self.counter, self.key);
            self.counter[0] = self.counter[0].wrapping_add(1);
        }
        rest.iter_mut().for_each(|word| *word = self.next_u32());
    }

    /// Two independent standard normal numbers (Box-Muller transform).
    pub fn normal_pair(&mut self) -> (f32, f32) {
        // In (0, 1], so that the logarithm is finite.
        let radius = (f64::from(self.next_u32()) + 1.0) / 4_294_967_296.0;
        let angle = f64::from(self.next_u32()) * (std::f64::consts::TAU / 4_294_967_296.0);
        let length = (-2.0 * radius.ln()).sqrt();
        ((length * angle.cos()) as f32, (length * angle.sin()) as f32)
    }

    /// The next 64 random bits, the low half drawn first.
    pub fn next_u64(&mut self) -> u64 {
        let low = u64::from(self.next_u32());
        low | u64::from(self.next_u32()) << 32
    }

    /// Uniform in `0..n`, without bias (Lemire's method with rejection). Panics if `n` is 0.
    pub fn below(&mut self, n: u32) -> u32 {
        assert!(n > 0, "a uniform draw needs at least one possibility");
        let rejected_below = n.wrapping_neg() % n;
        loop {
            let wide = u64::from(self.next_u32()) * u64::from(n);
            if wide as u32 >= rejected_below {
                return (wide >> 32) as u32;
            }
        }
    }

    /// Uniform in `low..=high`.
    pub fn between(&mut self, low: u32, high: u32) -> u32 {
        assert!(low <= high, "empty range {low}..={high}");
        match (high - low).checked_add(1) {
            Some(n) => low + self.below(n),
            None => self.next_u32(),
        }
    }

    /// Uniform in `[0, 1)`, a multiple of 2^-24.
    pub fn unit_f32(&mut self) -> f32 {
        (self.next_u32() >> 8) as f32 * (1.0 / 16_777_216.0)
    }

    /// Uniform in `[low, high)`.
    pub fn in_range(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.unit_f32()
    }

    /// True with the given probability.
    pub fn chance(&mut self, probability: f32) -> bool {
        self.unit_f32() < probability
    }

    /// A uniformly drawn item. Panics if there are none.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len() as u32) as usize]
    }

    /// Permutes the items in place, uniformly over all orders (Fisher-Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u32 + 1) as usize);
        }
    }
}

const PHILOX_M0: u32 = 0xd251_1f53;
const PHILOX_M1: u32 = 0xcd9e_8d57;
const PHILOX_W0: u32 = 0x9e37_79b9;
const PHILOX_W1: u32 = 0xbb67_ae85;

#[inline]
fn philox4x32_10(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    let [mut c0, mut c1, mut c2, mut c3] = counter;
    let [mut k0, mut k1] = key;
    for _ in 0..10 {
        let p0 = u64::from(PHILOX_M0) * u64::from(c0);
        let p1 = u64::from(PHILOX_M1) * u64::from(c2);
        (c0, c1, c2, c3) = ((p1 >> 32) as u32 ^ c1 ^ k0, p1 as u32, (p0 >> 32) as u32 ^ c3 ^ k1, p0 as u32);
        k0 = k0.wrapping_add(PHILOX_W0);
        k1 = k1.wrapping_add(PHILOX_W1);
    }
    [c0, c1, c2, c3]
}

/// Blocks that are computed together. They are independent, so the compiler puts several into one vector register.
const SIDE_BY_SIDE: usize = 16;

/// The blocks of this counter and of the fifteen after it.
#[inline(always)]
fn philox_side_by_side(counter: [u32; 4], key: [u32; 2]) -> [[u32; 4]; SIDE_BY_SIDE] {
    // A word is the low half of its lane. High halves are never read, so no round converts between widths.
    type Lanes = [u64; SIDE_BY_SIDE];
    let product = |a: u32, x: Lanes| -> Lanes { x.map(|x| u64::from(a) * u64::from(x as u32)) };
    let mixed =
        |p: Lanes, c: Lanes, k: u32| -> Lanes { std::array::from_fn(|i| (p[i] >> 32) ^ c[i] ^ u64::from(k)) };
    let [first, rest @ ..] = counter;
    let mut c0: Lanes = std::array::from_fn(|i| u64::from(first.wrapping_add(i as u32)));
    let [mut c1, mut c2, mut c3] = rest.map(|word| [u64::from(word); SIDE_BY_SIDE]);
    let [mut k0, mut k1] = key;
    for _ in 0..10 {
        let (p0, p1) = (product(PHILOX_M0, c0), product(PHILOX_M1, c2));
        (c0, c1, c2, c3) = (mixed(p1, c1, k0), p1, mixed(p0, c3, k1), p0);
        k0 = k0.wrapping_add(PHILOX_W0);
        k1 = k1.wrapping_add(PHILOX_W1);
    }
    std::array::from_fn(|i| [c0[i], c1[i], c2[i], c3[i]].map(|lane| lane as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The known answers of the Random123 distribution (`kat_vectors`, philox4x32 10).
    #[test]
    fn philox_matches_published_vectors() {
        let cases = [
            ([0; 4], [0; 2], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
            ([u32::MAX; 4], [u32::MAX; 2], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
            (
                [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
                [0xa409_3822, 0x299f_31d0],
                [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
            ),
        ];
        for (counter, key, answer) in cases {
            assert_eq!(philox4x32_10(counter, key), answer);
        }
    }

    #[test]
    fn a_stream_depends_on_seed_name_and_index() {
        let first = |seed, name, index| RunSeed(seed).stream(StreamName::new(name), index).next_u64();
        let reference = first(1, "trial", 0);
        assert_eq!(reference, first(1, "trial", 0));
        for other in
            [first(2, "trial", 0), first(1 << 32, "trial", 0), first(1, "other", 0), first(1, "trial", 1)]
        {
            assert_ne!(reference, other);
        }
        assert_ne!(first(1, "trial", 1), first(1, "trial", 1 << 32));
    }

    #[test]
    fn filling_a_slice_equals_single_draws() {
        for (n_before, n) in
            [(0, 0), (0, 9), (1, 2), (3, 17), (4, 8), (5, 1), (0, 32), (2, 103), (8, 256), (3, 600)]
        {
            let mut one_by_one = RunSeed(3).stream(StreamName::new("test"), 4);
            let mut at_once = one_by_one.clone();
            for _ in 0..n_before {
                assert_eq!(one_by_one.next_u32(), at_once.next_u32());
            }
            let mut words = vec![0; n];
            at_once.fill_u32(&mut words);
            assert!(words.iter().all(|&word| word == one_by_one.next_u32()), "{n_before}, {n}");
            assert_eq!(one_by_one.next_u64(), at_once.next_u64());
        }
    }

    #[test]
    fn normal_numbers_have_the_moments_of_the_normal_distribution() {
        let mut stream = RunSeed(7).stream(StreamName::new("test"), 2);
        let pairs: Vec<(f64, f64)> =
            (0..50_000).map(|_| stream.normal_pair()).map(|(x, y)| (x.into(), y.into())).collect();
        let mean = |f: &dyn Fn(f64, f64) -> f64| pairs.iter().map(|&(x, y)| f(x, y)).sum::<f64>() / 50_000.0;
        // Tolerances are five standard errors: those of the means of x, x^2, xy and x^4 are 1, sqrt 2, 1 and sqrt 96,
        // each over sqrt 50,000.
        for (what, found, wanted, error) in [
            ("x", mean(&|x, _| x), 0.0, 0.023),
            ("y", mean(&|_, y| y), 0.0, 0.023),
            ("x^2", mean(&|x, _| x * x), 1.0, 0.032),
            ("y^2", mean(&|_, y| y * y), 1.0, 0.032),
            ("xy", mean(&|x, y| x * y), 0.0, 0.023),
            ("x^4", mean(&|x, _| x.powi(4)), 3.0, 0.22),
        ] {
            assert!((found - wanted).abs() < error, "mean of {what}: {found}");
        }
    }

    #[test]
    fn bounded_draws_are_uniform() {
        let mut stream = RunSeed(7).stream(StreamName::new("test"), 0);
        let mut counts = [0_u32; 6];
        for _ in 0..60_000 {
            counts[stream.below(6) as usize] += 1;
        }
        // Five standard deviations of a count, which is 91.
        assert!(counts.iter().all(|&count| count.abs_diff(10_000) < 457), "{counts:?}");
    }

    #[test]
    fn shuffles_reach_every_order_equally_often() {
        let mut counts = std::collections::BTreeMap::new();
        for index in 0..24_000 {
            let mut items = [0, 1, 2, 3];
            RunSeed(3).stream(StreamName::new("test"), index).shuffle(&mut items);
            *counts.entry(items).or_insert(0_u32) += 1;
        }
        assert_eq!(counts.len(), 24);
        assert!(counts.values().all(|&count| count.abs_diff(1000) < 160), "{counts:?}");
    }

    #[test]
    fn ranges_include_both_ends() {
        let mut stream = RunSeed(7).stream(StreamName::new("test"), 1);
        let drawn: Vec<u32> = (0..1000).map(|_| stream.between(6, 9)).collect();
        assert_eq!(drawn.iter().min(), Some(&6));
        assert_eq!(drawn.iter().max(), Some(&9));
        assert_eq!(stream.between(5, 5), 5);
        stream.between(0, u32::MAX);
    }
}
