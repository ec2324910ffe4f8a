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

/// A function that executes `n_rounds` times [`N_CHAINS`] fused multiply-adds of a vector type.
#[cfg(target_arch = "x86_64")]
macro_rules! multiply_add_loop {
    ($name:ident, $features:literal, $n_lanes:literal, $splat:ident, $multiply_add:ident) => {
        #[target_feature(enable = $features)]
        fn $name(n_rounds: u64) -> u64 {
            use std::arch::x86_64::{$multiply_add, $splat};
            let (factor, term) = std::hint::black_box(($splat(0.999), $splat(0.001)));
            let mut acc = std::hint::black_box([$splat(0.5); N_CHAINS]);
            for _ in 0..n_rounds {
                for acc in &mut acc {
                    *acc = $multiply_add(*acc, factor, term);
                }
            }
            // Prevents the compiler from removing the loop.
            std::hint::black_box(acc);
            n_rounds * (N_CHAINS * $n_lanes) as u64
        }
    };
}

#[cfg(target_arch = "x86_64")]
multiply_add_loop!(with_fma, "avx2,fma", 8, _mm256_set1_ps, _mm256_fmadd_ps);
#[cfg(target_arch = "x86_64")]
multiply_add_loop!(with_avx512, "avx512f,avx2,fma", 16, _mm512_set1_ps, _mm512_fmadd_ps);
