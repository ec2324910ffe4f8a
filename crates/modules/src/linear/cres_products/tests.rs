//! Products that skip zeros, against plain loops.

use super::*;
use crate::arithmetic::Instructions;
use crate::linear::weight_update::Accumulate;

/// Multiples of 16 and others, less than a pass, one and several.
const WIDTHS: [usize; 10] = [1, 7, 16, 33, 64, 80, 100, 128, 200, 256];

/// The four outputs for a pre-activation, and their derivatives.
fn parts(x: f64) -> [(f64, f64); PARTS] {
    let (up, down) = (x.max(0.0), (-x).max(0.0));
    let (is_up, is_down) = (f64::from(u8::from(x > 0.0)), f64::from(u8::from(x < 0.0)));
    [(up, is_up), (down, -is_down), (up * up, 2.0 * up), (down * down, -2.0 * down)]
}

/// Shapes below, at and above every block, on all instructions, with sums that are 0: three loops in f64.
#[test]
fn products_are_those_of_four_numbers() {
    let mut state = 1_u64;
    let mut noise = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1_u64 << 23) as f32 - 1.0
    };
    let shapes = [(1, 1), (5, 8), (3, 9), (16, 33), (64, 5), (65, 17), (196, 17), (300, 5), (34, 140)];
    for (n_units, (n_rows, n_channels)) in WIDTHS.into_iter().flat_map(|n| shapes.map(|shape| (n, shape))) {
        let mut x: Vec<f32> = (0..n_rows * n_channels).map(|_| noise()).collect();
        x.iter_mut().step_by(7).for_each(|x| *x = 0.0);
        x.iter_mut().skip(3).step_by(11).for_each(|x| *x = -0.0);
        let weights: Vec<f32> = (0..n_channels * PARTS * n_units).map(|_| noise()).collect();
        let d: Vec<f32> = (0..n_rows * n_units).map(|_| noise()).collect();
        let before: Vec<f32> = (0..n_rows * n_units).map(|_| noise()).collect();
        let name = format!("{n_units} units, {n_rows} rows, {n_channels} channels");
        let weight = |channel: usize, part: usize, unit: usize| {
            f64::from(weights[(channel * PARTS + part) * n_units + unit])
        };
        let part = |row: usize, channel: usize| parts(f64::from(x[row * n_channels + channel]));
        let d_of = |row: usize, unit: usize| f64::from(d[row * n_units + unit]);
        for instructions in Instructions::all() {
            let near = |found: f32, wanted: f64| {
                assert!(
                    (f64::from(found) - wanted).abs() < 1e-4,
                    "{name} on {}: {found} for {wanted}",
                    instructions.name()
                );
            };
            let mut out = before.clone();
            add_cres_products(instructions, &x, n_channels, &weights, &mut out);
            for (row, unit) in (0..n_rows).flat_map(|row| (0..n_units).map(move |unit| (row, unit))) {
                let sums = (0..n_channels).flat_map(|channel| {
                    let numbers = part(row, channel).into_iter().enumerate();
                    numbers.map(move |(part, (number, _))| number * weight(channel, part, unit))
                });
                let at = row * n_units + unit;
                near(out[at], f64::from(before[at]) + sums.sum::<f64>());
            }
            let mut dx = vec![7.0; x.len()];
            set_cres_slopes(instructions, &x, n_channels, &weights, &d, &mut dx);
            let mut gradient = vec![0.25; 3 + weights.len()];
            give_cres_gradient(instructions, &x, n_channels, &d, 3, &mut Accumulate(&mut gradient));
            assert_eq!(gradient[..3], [0.25; 3], "{name}");
            for channel in 0..n_channels {
                for row in 0..n_rows {
                    let slopes = part(row, channel).into_iter().enumerate().map(|(part, (_, slope))| {
                        let units = (0..n_units).map(|unit| d_of(row, unit) * weight(channel, part, unit));
                        slope * units.sum::<f64>()
                    });
                    near(dx[row * n_channels + channel], slopes.sum());
                }
                for (number, unit) in (0..PARTS).flat_map(|part| (0..n_units).map(move |u| (part, u))) {
                    let sum = (0..n_rows).map(|row| part(row, channel)[number].0 * d_of(row, unit));
                    let found = gradient[3 + (channel * PARTS + number) * n_units + unit];
                    near(found, 0.25 + sum.sum::<f64>());
                }
            }
        }
    }
}

/// Wide registers or not, the same bits.
#[test]
fn registers_do_not_change_bits() {
    let fused: Vec<_> = Instructions::all().filter(|one| one.rounding() == "fused").collect();
    let numbers = |n: usize, by: f32| (0..n).map(|i| (i as f32 * by).sin()).collect::<Vec<f32>>();
    let shapes = [(20, 37), (70, 17), (300, 5)];
    for (n_units, (n_rows, n_channels)) in WIDTHS.into_iter().flat_map(|n| shapes.map(|shape| (n, shape))) {
        let (x, d) = (numbers(n_rows * n_channels, 0.7), numbers(n_rows * n_units, 0.3));
        let weights = numbers(n_channels * PARTS * n_units, 0.9);
        let all = |instructions: Instructions| {
            let (mut out, mut dx, mut gradient) = (d.clone(), x.clone(), weights.clone());
            add_cres_products(instructions, &x, n_channels, &weights, &mut out);
            set_cres_slopes(instructions, &x, n_channels, &weights, &d, &mut dx);
            give_cres_gradient(instructions, &x, n_channels, &d, 0, &mut Accumulate(&mut gradient));
            [out, dx, gradient].concat().into_iter().map(f32::to_bits).collect::<Vec<_>>()
        };
        for pair in fused.windows(2) {
            assert_eq!(all(pair[0]), all(pair[1]), "{n_units} units, {n_rows} rows");
        }
    }
}

/// NaN pre-activations give NaN.
#[test]
fn nan_stays_nan() {
    for (n_units, (n_rows, instructions)) in WIDTHS
        .into_iter()
        .flat_map(|n| Instructions::all().flat_map(move |one| [(n, (3, one)), (n, (70, one))]))
    {
        let (mut x, weights) = (vec![0.5; n_rows * 2], vec![0.1; 2 * PARTS * n_units]);
        let d = vec![1.0; n_rows * n_units];
        x[0] = f32::NAN;
        let (mut out, mut dx) = (vec![0.0; n_rows * n_units], vec![0.0; x.len()]);
        add_cres_products(instructions, &x, 2, &weights, &mut out);
        assert!(out[..n_units].iter().all(|out| out.is_nan()) && !out[n_units].is_nan());
        set_cres_slopes(instructions, &x, 2, &weights, &d, &mut dx);
        assert!(dx[0].is_nan() && !dx[1].is_nan());
    }
}
