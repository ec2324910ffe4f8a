//! How many multiply-adds a core can do at most, for saying which fraction of it is used.

/// Multiply-adds of one call of [`multiply_adds`] a round.
pub const MULTIPLY_ADDS_PER_ROUND: u64 = (N_CHAINS * N_LANES) as u64;

/// Enough independent sums to hide the latency of two units (4 or 5 cycles each), few enough to stay in registers.
const N_CHAINS: usize = 12;
const N_LANES: usize = 8;

/// Does nothing but fused multiply-adds in registers, [`MULTIPLY_ADDS_PER_ROUND`] of them a round, on this thread.
/// The answer means nothing; it is there so that the work is not left out. `None` where the processor has no FMA.
#[allow(unsafe_code)]
pub fn multiply_adds(n_rounds: u64) -> Option<f32> {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
        // SAFETY: the two features that the function asks for were just detected.
        return Some(unsafe { with_fma(n_rounds) });
    }
    let _ = n_rounds;
    None
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn with_fma(n_rounds: u64) -> f32 {
    let (factor, term) =
        (std::hint::black_box([0.999_f32; N_LANES]), std::hint::black_box([0.001_f32; N_LANES]));
    let mut sums = [[0.5_f32; N_LANES]; N_CHAINS];
    for _ in 0..n_rounds {
        for sum in &mut sums {
            for lane in 0..N_LANES {
                sum[lane] = sum[lane].mul_add(factor[lane], term[lane]);
            }
        }
    }
    sums.iter().flatten().sum()
}
