//! What a core can do at most, measured beside everything else.

use std::time::Instant;
use touchstream_encoder::peak::multiply_adds;

/// Thousands of millions of fused multiply-adds a second, the best of some tries; `None` where there is no FMA.
pub fn peak_per_core(n_tries: usize) -> Option<f64> {
    const N_ROUNDS: u64 = 20_000_000;
    let mut best = 0.0_f64;
    for _ in 0..n_tries {
        let start = Instant::now();
        let n = multiply_adds(N_ROUNDS)?;
        best = best.max(n as f64 / start.elapsed().as_secs_f64() / 1e9);
    }
    Some(best)
}
