//! What kernels can do with sixteen floats.

/// Floats in a vector.
pub(crate) const N_LANES: usize = 16;

/// A vector in memory.
pub(crate) type Lanes = [f32; N_LANES];

/// Sixteen floats in registers; every operation is elementwise.
pub(crate) trait F32x16: Copy {
    /// Whether the machine has 32 vector registers, each of which holds such a vector whole.
    const HAS_32_REGISTERS: bool;

    fn splat(x: f32) -> Self;
    fn load(lanes: &Lanes) -> Self;
    fn store(self, lanes: &mut Lanes);
    /// Asks the processor to bring the start of a vector into the L2 cache.
    fn prefetch(lanes: &Lanes);
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    /// `self * factor + term`, rounded once where the machine can fuse the two, else twice.
    fn mul_add(self, factor: Self, term: Self) -> Self;
    /// `self` where it is larger than `other`, else `other`.
    fn max(self, other: Self) -> Self;
}
