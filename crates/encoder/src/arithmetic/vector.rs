//! The vector operations of kernels.

pub(crate) const N_LANES: usize = 16;

pub(crate) type Lanes = [f32; N_LANES];

/// Sixteen floats in registers; all operations are elementwise.
pub(crate) trait F32x16: Copy {
    /// Whether the machine has 32 vector registers of this width.
    const HAS_32_REGISTERS: bool;

    fn splat(x: f32) -> Self;
    fn load(lanes: &Lanes) -> Self;
    fn store(self, lanes: &mut Lanes);
    /// Prefetches the start of a vector into the L2 cache.
    fn prefetch(lanes: &Lanes);
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    /// `self * factor + term`, rounded once where the machine can fuse them, else twice.
    fn mul_add(self, factor: Self, term: Self) -> Self;
    /// `self` if it is larger than `other`, else `other`.
    fn max(self, other: Self) -> Self;
}

/// Defines methods that are inlined into all their callers.
macro_rules! inlined {
    ($(fn $name:ident($($args:tt)*) $(-> $out:ty)? = $body:expr;)*) => { $(
        #[inline(always)]
        fn $name($($args)*) $(-> $out)? {
            $body
        }
    )* };
}
pub(crate) use inlined;
