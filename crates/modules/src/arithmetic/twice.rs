//! Sixteen numbers as two times eight.

use crate::arithmetic::lanes::sum_of_lanes;
use crate::arithmetic::{Block, Lanes, N_LANES, SimdBlock, SimdVector};
use std::marker::PhantomData;

/// Blocks on machines whose registers hold eight numbers at most.
#[derive(Clone, Copy)]
pub(crate) struct Twice<E>(PhantomData<E>);

type Two<E> = [<E as SimdVector>::V; 2];

#[inline(always)]
fn each<E: SimdVector>(f: impl Fn(usize) -> E::V) -> Two<E> {
    [f(0), f(1)]
}

impl<E: SimdVector<Memory = Lanes>> SimdVector for Twice<E> {
    type Memory = Block;
    type V = Two<E>;

    #[inline(always)]
    fn splat(number: f32) -> Two<E> {
        [E::splat(number); 2]
    }
    #[inline(always)]
    fn load(numbers: &Block) -> Two<E> {
        each::<E>(|i| E::load(&numbers.as_chunks::<N_LANES>().0[i]))
    }
    #[inline(always)]
    fn store(x: Two<E>, numbers: &mut Block) {
        let [low, high] = x;
        let halves = numbers.as_chunks_mut::<N_LANES>().0;
        E::store(low, &mut halves[0]);
        E::store(high, &mut halves[1]);
    }
    #[inline(always)]
    fn add(a: Two<E>, b: Two<E>) -> Two<E> {
        each::<E>(|i| E::add(a[i], b[i]))
    }
    #[inline(always)]
    fn sub(a: Two<E>, b: Two<E>) -> Two<E> {
        each::<E>(|i| E::sub(a[i], b[i]))
    }
    #[inline(always)]
    fn mul(a: Two<E>, b: Two<E>) -> Two<E> {
        each::<E>(|i| E::mul(a[i], b[i]))
    }
    #[inline(always)]
    fn div(a: Two<E>, b: Two<E>) -> Two<E> {
        each::<E>(|i| E::div(a[i], b[i]))
    }
    #[inline(always)]
    fn mul_add(a: Two<E>, b: Two<E>, c: Two<E>) -> Two<E> {
        each::<E>(|i| E::mul_add(a[i], b[i], c[i]))
    }
    #[inline(always)]
    fn sqrt(x: Two<E>) -> Two<E> {
        each::<E>(|i| E::sqrt(x[i]))
    }
    #[inline(always)]
    fn max(bound: Two<E>, x: Two<E>) -> Two<E> {
        each::<E>(|i| E::max(bound[i], x[i]))
    }
    #[inline(always)]
    fn min(bound: Two<E>, x: Two<E>) -> Two<E> {
        each::<E>(|i| E::min(bound[i], x[i]))
    }
    #[inline(always)]
    fn select_if_less(a: Two<E>, b: Two<E>, then: Two<E>) -> Two<E> {
        each::<E>(|i| E::select_if_less(a[i], b[i], then[i]))
    }
    #[inline(always)]
    fn select_less(a: Two<E>, b: Two<E>, then: Two<E>, otherwise: Two<E>) -> Two<E> {
        each::<E>(|i| E::select_less(a[i], b[i], then[i], otherwise[i]))
    }
    #[inline(always)]
    fn any_above_zero(x: Two<E>) -> bool {
        E::any_above_zero(x[0]) | E::any_above_zero(x[1])
    }
    #[inline(always)]
    fn any_below_zero(x: Two<E>) -> bool {
        E::any_below_zero(x[0]) | E::any_below_zero(x[1])
    }
    #[inline(always)]
    fn below_zero(x: Two<E>) -> u32 {
        E::below_zero(x[0]) | E::below_zero(x[1]) << N_LANES
    }
    #[inline(always)]
    fn power_of_two(shifted: Two<E>) -> Two<E> {
        each::<E>(|i| E::power_of_two(shifted[i]))
    }
}

impl<E: SimdVector<Memory = Lanes>> SimdBlock for Twice<E> {
    #[inline(always)]
    fn load_two(one: &Lanes, other: &Lanes) -> Two<E> {
        [E::load(one), E::load(other)]
    }
    #[inline(always)]
    fn load_twice(numbers: &Lanes) -> Two<E> {
        [E::load(numbers); 2]
    }
    #[inline(always)]
    fn sums(x: Two<E>) -> [f32; 2] {
        x.map(|eight| {
            let mut numbers = [0.0; N_LANES];
            E::store(eight, &mut numbers);
            sum_of_lanes(&numbers)
        })
    }
    #[inline(always)]
    fn sums_of_eight(x: [Two<E>; N_LANES]) -> Lanes {
        let mut sums = [0.0; N_LANES];
        for (sum, [low, high]) in sums.iter_mut().zip(x) {
            let mut numbers = [0.0; N_LANES];
            E::store(E::add(low, high), &mut numbers);
            *sum = sum_of_lanes(&numbers);
        }
        sums
    }
}
