//! Blocks of sixteen floats as two vectors of eight.

use crate::arithmetic::lanes::sum_of_lanes;
use crate::arithmetic::{Block, Lanes, N_LANES, SimdBlock, SimdVector, inlined};
use std::marker::PhantomData;

/// Blocks on processors whose registers hold eight floats at most.
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

    inlined! {
        fn splat(value: f32) -> Two<E> = [E::splat(value); 2];
        fn load(values: &Block) -> Two<E> = each::<E>(|i| E::load(&values.as_chunks::<N_LANES>().0[i]));
        fn store(x: Two<E>, out: &mut Block) -> () = {
            let [low, high] = x;
            let halves = out.as_chunks_mut::<N_LANES>().0;
            E::store(low, &mut halves[0]);
            E::store(high, &mut halves[1]);
        };
        fn add(a: Two<E>, b: Two<E>) -> Two<E> = each::<E>(|i| E::add(a[i], b[i]));
        fn sub(a: Two<E>, b: Two<E>) -> Two<E> = each::<E>(|i| E::sub(a[i], b[i]));
        fn mul(a: Two<E>, b: Two<E>) -> Two<E> = each::<E>(|i| E::mul(a[i], b[i]));
        fn div(a: Two<E>, b: Two<E>) -> Two<E> = each::<E>(|i| E::div(a[i], b[i]));
        fn mul_add(a: Two<E>, b: Two<E>, c: Two<E>) -> Two<E> = each::<E>(|i| E::mul_add(a[i], b[i], c[i]));
        fn sqrt(x: Two<E>) -> Two<E> = each::<E>(|i| E::sqrt(x[i]));
        fn max(bound: Two<E>, x: Two<E>) -> Two<E> = each::<E>(|i| E::max(bound[i], x[i]));
        fn min(bound: Two<E>, x: Two<E>) -> Two<E> = each::<E>(|i| E::min(bound[i], x[i]));
        fn select_if_less(a: Two<E>, b: Two<E>, then: Two<E>) -> Two<E> =
            each::<E>(|i| E::select_if_less(a[i], b[i], then[i]));
        fn select_less(a: Two<E>, b: Two<E>, then: Two<E>, otherwise: Two<E>) -> Two<E> =
            each::<E>(|i| E::select_less(a[i], b[i], then[i], otherwise[i]));
        fn any_above_zero(x: Two<E>) -> bool = E::any_above_zero(x[0]) | E::any_above_zero(x[1]);
        fn any_below_zero(x: Two<E>) -> bool = E::any_below_zero(x[0]) | E::any_below_zero(x[1]);
        fn below_zero(x: Two<E>) -> u32 = E::below_zero(x[0]) | E::below_zero(x[1]) << N_LANES;
        fn power_of_two(shifted: Two<E>) -> Two<E> = each::<E>(|i| E::power_of_two(shifted[i]));
    }
}

impl<E: SimdVector<Memory = Lanes>> SimdBlock for Twice<E> {
    #[inline(always)]
    fn load_two(low: &Lanes, high: &Lanes) -> Two<E> {
        [E::load(low), E::load(high)]
    }
    #[inline(always)]
    fn load_twice(values: &Lanes) -> Two<E> {
        [E::load(values); 2]
    }
    #[inline(always)]
    fn sums(x: Two<E>) -> [f32; 2] {
        x.map(sum::<E>)
    }
    #[inline(always)]
    fn sums_of_eight(x: [Two<E>; N_LANES]) -> Lanes {
        let mut sums = [0.0; N_LANES];
        for (out, [low, high]) in sums.iter_mut().zip(x) {
            *out = sum::<E>(E::add(low, high));
        }
        sums
    }
}

#[inline(always)]
fn sum<E: SimdVector<Memory = Lanes>>(x: E::V) -> f32 {
    let mut lanes = [0.0; N_LANES];
    E::store(x, &mut lanes);
    sum_of_lanes(&lanes)
}
