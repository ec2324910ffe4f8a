//! What can be done with eight numbers, or with sixteen, on whatever machine.

/// How many numbers are worked on together.
pub(crate) const N_LANES: usize = 8;

/// Eight numbers in memory.
pub(crate) type Lanes = [f32; N_LANES];

/// The numbers of a block of candidates.
pub(crate) const N_BLOCK: usize = 16;

/// Sixteen numbers in memory.
pub(crate) type Block = [f32; N_BLOCK];

/// Some numbers that are worked on together. All of it is done to each for itself.
pub(crate) trait SimdVector: Copy {
    /// In memory: [`Lanes`] or a [`Block`].
    type Memory: Copy;
    /// Ready to be worked on.
    type V: Copy;

    fn splat(number: f32) -> Self::V;
    fn load(numbers: &Self::Memory) -> Self::V;
    fn store(x: Self::V, numbers: &mut Self::Memory);
    fn add(a: Self::V, b: Self::V) -> Self::V;
    fn sub(a: Self::V, b: Self::V) -> Self::V;
    fn mul(a: Self::V, b: Self::V) -> Self::V;
    fn div(a: Self::V, b: Self::V) -> Self::V;
    /// `a * b + c`, rounded once or twice.
    fn mul_add(a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    fn sqrt(x: Self::V) -> Self::V;
    /// The larger; `x` if one is NaN.
    fn max(bound: Self::V, x: Self::V) -> Self::V;
    /// The smaller; `x` if one is NaN.
    fn min(bound: Self::V, x: Self::V) -> Self::V;
    /// `then` where `a < b`, else 0.
    fn select_if_less(a: Self::V, b: Self::V, then: Self::V) -> Self::V;
    /// `then` where `a < b`, else `otherwise`.
    fn select_less(a: Self::V, b: Self::V, then: Self::V, otherwise: Self::V) -> Self::V;
    /// Whether any of them is above 0, or NaN.
    fn any_above_zero(x: Self::V) -> bool;
    /// Whether any of them is below 0, or NaN.
    fn any_below_zero(x: Self::V) -> bool;
    /// One bit for each number that is below 0, or NaN; the lowest is that of the first.
    fn below_zero(x: Self::V) -> u32;
    /// `2^n` of the whole number in the low bits of [`ROUNDER`] + n.
    fn power_of_two(shifted: Self::V) -> Self::V;

    /// 0, for all.
    #[inline(always)]
    fn zero() -> Self::V {
        Self::splat(0.0)
    }
}

/// Eight numbers beside eight others.
pub(crate) trait SimdBlock: SimdVector<Memory = Block> {
    fn load_two(one: &Lanes, other: &Lanes) -> Self::V;

    /// The same beside themselves.
    fn load_twice(numbers: &Lanes) -> Self::V;

    /// The sum of either eight, in a fixed order.
    fn sums(x: Self::V) -> [f32; 2];

    /// The sum of each of eight blocks: halves are added, then as in [`sum_of_lanes`].
    fn sums_of_eight(x: [Self::V; N_LANES]) -> Lanes;
}

/// What a machine can do: with eight numbers, and with the sixteen of a block.
pub(crate) trait Arithmetic: SimdVector<Memory = Lanes> {
    /// Blocks, to the same bits as two times eight.
    type Blocks: SimdBlock;
    /// Whether there are 32 registers, not 16 or whatever a machine has.
    const HAS_32_REGISTERS: bool;

    /// Tells the processor that these numbers will be needed soon; it brings them into its second cache.
    fn prefetch(numbers: &[f32]);

    /// `a * b + c` of single numbers.
    fn mul_add_one(a: f32, b: f32, c: f32) -> f32;

    /// The eight numbers.
    #[inline(always)]
    fn stored(x: Self::V) -> Lanes {
        let mut numbers = [0.0; N_LANES];
        Self::store(x, &mut numbers);
        numbers
    }
}

/// The sum of eight numbers, in a fixed order.
#[inline(always)]
pub(crate) fn sum_of_lanes(x: &Lanes) -> f32 {
    ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]))
}

/// Adding this and taking it away again rounds to a whole number, which then stands in the low bits.
pub(crate) const ROUNDER: f32 = 12_582_912.0;

/// Eight numbers from a place on, 0 where there are none.
#[inline(always)]
pub(crate) fn load_from<A: Arithmetic>(numbers: &[f32], start: usize) -> A::V {
    match numbers[start..].first_chunk() {
        Some(whole) => A::load(whole),
        None => A::load(&padded(&numbers[start..])),
    }
}

/// Puts eight numbers down from a place on, as many as there is room for.
#[inline(always)]
pub(crate) fn store_from<A: Arithmetic>(eight: A::V, numbers: &mut [f32], start: usize) {
    let rest = &mut numbers[start..];
    match rest.first_chunk_mut() {
        Some(whole) => A::store(eight, whole),
        None => rest.iter_mut().zip(A::stored(eight)).for_each(|(number, one)| *number = one),
    }
}

/// Up to eight numbers, the rest 0.
#[inline(always)]
pub(crate) fn padded(numbers: &[f32]) -> Lanes {
    let mut lanes = [0.0; N_LANES];
    lanes[..numbers.len()].copy_from_slice(numbers);
    lanes
}
