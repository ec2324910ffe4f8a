//! How many multiply-adds a core can do at most, for saying which fraction of it is used.

/// Enough independent sums to hide the latency of two units (4 or 5 cycles each), few enough to stay in registers.
const N_CHAINS: usize = 12;

/// Does nothing but fused multiply-adds in the widest registers that there are, on this thread, and says how many they
/// were. `None` where the processor has no FMA.
#[allow(unsafe_code)]
pub fn multiply_adds(n_rounds: u64) -> Option<u64> {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected;
        let has_fma = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        if has_fma && is_x86_feature_detected!("avx512f") {
            // SAFETY: what the function asks for was just detected.
            return Some(unsafe { with_avx512(n_rounds) });
        }
        if has_fma {
            // SAFETY: the same.
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
    let mut sums = std::hint::black_box([_mm256_set1_ps(0.5); N_CHAINS]);
    for _ in 0..n_rounds {
        for sum in &mut sums {
            *sum = _mm256_fmadd_ps(*sum, factor, term);
        }
    }
    // So that the work is not left out.
    std::hint::black_box(sums);
    n_rounds * (N_CHAINS * 8) as u64
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx2,fma")]
fn with_avx512(n_rounds: u64) -> u64 {
    use std::arch::x86_64::{_mm512_fmadd_ps, _mm512_set1_ps};
    let (factor, term) = std::hint::black_box((_mm512_set1_ps(0.999), _mm512_set1_ps(0.001)));
    let mut sums = std::hint::black_box([_mm512_set1_ps(0.5); N_CHAINS]);
    for _ in 0..n_rounds {
        for sum in &mut sums {
            *sum = _mm512_fmadd_ps(*sum, factor, term);
        }
    }
    std::hint::black_box(sums);
    n_rounds * (N_CHAINS * 16) as u64
}
