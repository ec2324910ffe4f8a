//! The operations on vectors of eight floats and on blocks of sixteen that all kernels are written with.

/// Floats in a vector.
pub(crate) const N_LANES: usize = 8;

/// A vector in memory.
pub(crate) type Lanes = [f32; N_LANES];

/// Candidates in a block.
pub(crate) const N_BLOCK: usize = 16;

/// One value for each candidate of a block, in memory.
pub(crate) type Block = [f32; N_BLOCK];

/// Defines methods that are inlined into all their callers.
macro_rules! inlined {
    ($(fn $name:ident($($arg:ident: $type:ty),*) -> $out:ty = $body:expr;)*) => {
        $(
            #[inline(always)]
            fn $name($($arg: $type),*) -> $out {
                $body
            }
        )*
    };
}
pub(crate) use inlined;

/// Operations on each float of a vector or block.
pub(crate) trait SimdVector: Copy {
    /// [`Lanes`] or a [`Block`].
    type Memory: Copy;
    /// In registers.
    type V: Copy;

    fn splat(value: f32) -> Self::V;
    fn load(values: &Self::Memory) -> Self::V;
    fn store(x: Self::V, out: &mut Self::Memory);
    fn add(a: Self::V, b: Self::V) -> Self::V;
    fn sub(a: Self::V, b: Self::V) -> Self::V;
    fn mul(a: Self::V, b: Self::V) -> Self::V;
    fn div(a: Self::V, b: Self::V) -> Self::V;
    /// `a * b + c`, rounded once or twice.
    fn mul_add(a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    fn sqrt(x: Self::V) -> Self::V;
    /// `x` if either is NaN.
    fn max(bound: Self::V, x: Self::V) -> Self::V;
    /// `x` if either is NaN.
    fn min(bound: Self::V, x: Self::V) -> Self::V;
    /// `then` where `a < b`, else 0.
    fn select_if_less(a: Self::V, b: Self::V, then: Self::V) -> Self::V;
    /// `then` where `a < b`, else `otherwise`.
    fn select_less(a: Self::V, b: Self::V, then: Self::V, otherwise: Self::V) -> Self::V;
    /// Whether any float is above 0 or NaN.
    fn any_above_zero(x: Self::V) -> bool;
    /// Whether any float is below 0 or NaN.
    fn any_below_zero(x: Self::V) -> bool;
    /// One bit for each float, the first in the lowest: whether it is below 0 or NaN.
    fn below_zero(x: Self::V) -> u32;
    /// `2^n`, given [`ROUNDER`] + n.
    fn power_of_two(shifted: Self::V) -> Self::V;

    #[inline(always)]
    fn zero() -> Self::V {
        Self::splat(0.0)
    }
}

/// Operations on the two halves of a block.
pub(crate) trait SimdBlock: SimdVector<Memory = Block> {
    fn load_two(low: &Lanes, high: &Lanes) -> Self::V;

    /// The same eight floats in both halves.
    fn load_twice(values: &Lanes) -> Self::V;

    /// The sum of each half, in the order of [`sum_of_lanes`].
    fn sums(x: Self::V) -> [f32; 2];

    /// The sum of each of eight blocks: the two halves are added, then their lanes as in [`sum_of_lanes`].
    fn sums_of_eight(x: [Self::V; N_LANES]) -> Lanes;
}

/// An instruction set.
pub(crate) trait Arithmetic: SimdVector<Memory = Lanes> {
    /// The same bits as two vectors.
    type Blocks: SimdBlock;
    /// Whether there are 32 registers of 16 floats.
    const HAS_32_REGISTERS: bool;

    /// Asks the processor to fetch these floats into its second-level cache.
    fn prefetch(values: &[f32]);

    /// `a * b + c` of single floats.
    fn mul_add_one(a: f32, b: f32, c: f32) -> f32;

    #[inline(always)]
    fn stored(x: Self::V) -> Lanes {
        let mut out = [0.0; N_LANES];
        Self::store(x, &mut out);
        out
    }
}

/// The sum of eight floats, in a fixed order.
#[inline(always)]
pub(crate) fn sum_of_lanes(x: &Lanes) -> f32 {
    ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]))
}

/// Adding this rounds to an integer, which is then in the low bits.
pub(crate) const ROUNDER: f32 = 12_582_912.0;

/// Eight floats from `start` on, 0 beyond the end.
#[inline(always)]
pub(crate) fn load_from<A: Arithmetic>(values: &[f32], start: usize) -> A::V {
    match values[start..].first_chunk() {
        Some(whole) => A::load(whole),
        None => A::load(&padded(&values[start..])),
    }
}

/// Stores eight floats from `start` on, without those beyond the end.
#[inline(always)]
pub(crate) fn store_from<A: Arithmetic>(x: A::V, out: &mut [f32], start: usize) {
    let rest = &mut out[start..];
    match rest.first_chunk_mut() {
        Some(whole) => A::store(x, whole),
        None => rest.iter_mut().zip(A::stored(x)).for_each(|(out, value)| *out = value),
    }
}

/// Up to eight floats, followed by zeros.
#[inline(always)]
pub(crate) fn padded(values: &[f32]) -> Lanes {
    let mut lanes = [0.0; N_LANES];
    lanes[..values.len()].copy_from_slice(values);
    lanes
}
