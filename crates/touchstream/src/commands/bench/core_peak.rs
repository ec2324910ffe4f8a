//! What a core can do at most, measured beside everything else.

use std::time::Instant;
use touchstream_encoder::peak::{MULTIPLY_ADDS_PER_ROUND, multiply_adds};

/// Thousands of millions of fused multiply-adds a second, the best of some tries; `None` where there is no FMA.
pub fn peak_per_core(n_tries: usize) -> Option<f64> {
    const N_ROUNDS: u64 = 20_000_000;
    let mut best_secs = f64::INFINITY;
    for _ in 0..n_tries {
        let start = Instant::now();
        std::hint::black_box(multiply_adds(N_ROUNDS)?);
        best_secs = best_secs.min(start.elapsed().as_secs_f64());
    }
    Some((N_ROUNDS * MULTIPLY_ADDS_PER_ROUND) as f64 / best_secs / 1e9)
}
