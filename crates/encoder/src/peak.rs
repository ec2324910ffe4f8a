//! Measures the peak multiply-add rate of a core, to report which fraction of it is used.

/// Number of independent accumulators: enough to hide the latency of two units (4 or 5 cycles each), few enough to stay
/// in registers.
const N_CHAINS: usize = 12;

/// Executes fused multiply-adds in the widest registers available, on this thread, and returns their number. `None` if
/// the processor has no FMA.
#[allow(unsafe_code)]
pub fn multiply_adds(n_rounds: u64) -> Option<u64> {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected;
        let has_fma = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        if has_fma && is_x86_feature_detected!("avx512f") {
            // SAFETY: the required instructions have just been detected.
            return Some(unsafe { with_avx512(n_rounds) });
        }
        if has_fma {
            // SAFETY: as above.
            return Some(unsafe { with_fma(n_rounds) });
        }
    }
    let _ = n_rounds;
    None
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn with_fma(n_rounds: u64) -> u64 {
    use std::arch::x86_64::{_mm256_fmadd_ps, _mm256_set1_ps};
    let (factor, term) = std::hint::black_box((_mm256_set1_ps(0.999), _mm256_set1_ps(0.001)));
    let mut acc = std::hint::black_box([_mm256_set1_ps(0.5); N_CHAINS]);
    for _ in 0..n_rounds {
        for acc in &mut acc {
            *acc = _mm256_fmadd_ps(*acc, factor, term);
        }
    }
    // Prevents the compiler from removing the loop.
    std::hint::black_box(acc);
    n_rounds * (N_CHAINS * 8) as u64
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx2,fma")]
fn with_avx512(n_rounds: u64) -> u64 {
    use std::arch::x86_64::{_mm512_fmadd_ps, _mm512_set1_ps};
    let (factor, term) = std::hint::black_box((_mm512_set1_ps(0.999), _mm512_set1_ps(0.001)));
    let mut acc = std::hint::black_box([_mm512_set1_ps(0.5); N_CHAINS]);
    for _ in 0..n_rounds {
        for acc in &mut acc {
            *acc = _mm512_fmadd_ps(*acc, factor, term);
        }
    }
    std::hint::black_box(acc);
    n_rounds * (N_CHAINS * 16) as u64
}
