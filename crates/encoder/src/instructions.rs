//! Loops compiled twice: for the machine that every x86-64 is, and for AVX2 where it is there.

/// A loop that gains from wide registers. Mark `run` `#[inline(always)]`, so that it is compiled into its callers.
pub(crate) trait Work {
    /// Does it.
    fn run(self);
}

/// Runs a loop on the widest instructions that this machine has. Results are the same bits on all of them: nothing
/// here fuses a multiplication with an addition.
#[allow(unsafe_code)]
pub(crate) fn on_best_instructions(work: impl Work) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: AVX2 was just detected, and that is all that the function asks for.
        return unsafe { on_avx2(work) };
    }
    work.run();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn on_avx2(work: impl Work) {
    work.run();
}
