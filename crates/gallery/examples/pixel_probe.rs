//! Measures how well raw pixels separate the classes: a linear softmax classifier on downscaled portraits.
//!
//! A low accuracy is good: then the benefit of a network's features comes from shape, not from colour.

// The probe makes no images, so its last bits may differ between platforms.
#![allow(clippy::disallowed_methods)]

use std::time::Instant;
use touchstream_env::seed::RunSeed;
use touchstream_env::stimuli::Split;
use touchstream_env::touch::SCREEN_SIDE_PX;
use touchstream_gallery::{N_CLASSES, portrait};

const SEED: RunSeed = RunSeed(3);
const N_TRAIN: u32 = 50;
const N_VALIDATION: u32 = 20;
const SMALL_SIDE: usize = 32;
const N_INPUTS: usize = SMALL_SIDE * SMALL_SIDE * 3;
const N_EPOCHS: usize = 40;
const BATCH: usize = 59;
const LEARNING_RATE: f32 = 0.003;

/// Downscales to `SMALL_SIDE` by averaging blocks of 7 x 7 pixels.
fn shrunk(pixels: &[u8]) -> Vec<f32> {
    let cell = SCREEN_SIDE_PX / SMALL_SIDE;
    let mut small = vec![0.0; N_INPUTS];
    for (idx, &byte) in pixels.iter().enumerate() {
        let (pixel, channel) = (idx / 3, idx % 3);
        let (row, col) = (pixel / SCREEN_SIDE_PX / cell, pixel % SCREEN_SIDE_PX / cell);
        small[(row * SMALL_SIDE + col) * 3 + channel] += f32::from(byte) / (cell * cell) as f32;
    }
    small
}

/// All inputs with their classes, which alternate.
fn images(split: Split, n_each: u32) -> Vec<(Vec<f32>, usize)> {
    (0..n_each)
        .flat_map(|index| (0..N_CLASSES).map(move |class| (index, class)))
        .map(|(index, class)| (shrunk(&portrait(SEED, split, class, index).pixels), class))
        .collect()
}

/// Standardizes every input by mean and deviation of the training images.
fn standardise(train: &mut [(Vec<f32>, usize)], validation: &mut [(Vec<f32>, usize)]) {
    for input in 0..N_INPUTS {
        let n = train.len() as f32;
        let mean = train.iter().map(|(x, _)| x[input]).sum::<f32>() / n;
        let variance = train.iter().map(|(x, _)| (x[input] - mean) * (x[input] - mean)).sum::<f32>() / n;
        let scale = 1.0 / variance.sqrt().max(1e-3);
        for (x, _) in train.iter_mut().chain(validation.iter_mut()) {
            x[input] = (x[input] - mean) * scale;
        }
    }
}

/// One score per class; `weights` is `[N_CLASSES, N_INPUTS]`.
fn scores(weights: &[f32], x: &[f32]) -> Vec<f32> {
    weights.chunks_exact(N_INPUTS).map(|row| row.iter().zip(x).map(|(w, x)| w * x).sum()).collect()
}

fn accuracy(weights: &[f32], images: &[(Vec<f32>, usize)]) -> f64 {
    let n_right = images
        .iter()
        .filter(|(x, class)| {
            let scores = scores(weights, x);
            scores.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map(|(best, _)| best) == Some(*class)
        })
        .count();
    n_right as f64 / images.len() as f64
}

fn train(weights: &mut [f32], images: &[(Vec<f32>, usize)], l2: f32) {
    let mut gradient = vec![0.0; weights.len()];
    for _ in 0..N_EPOCHS {
        for batch in images.chunks(BATCH) {
            gradient.iter_mut().zip(weights.iter()).for_each(|(g, w)| *g = l2 * w);
            for (x, class) in batch {
                let scores = scores(weights, x);
                let highest = scores.iter().copied().fold(f32::MIN, f32::max);
                let shares: Vec<f32> = scores.iter().map(|score| (score - highest).exp()).collect();
                let total: f32 = shares.iter().sum();
                for (idx, row) in gradient.chunks_exact_mut(N_INPUTS).enumerate() {
                    let target = f32::from(u8::from(idx == *class));
                    let error = (shares[idx] / total - target) / batch.len() as f32;
                    row.iter_mut().zip(x).for_each(|(g, x)| *g += error * x);
                }
            }
            weights.iter_mut().zip(&gradient).for_each(|(w, g)| *w -= LEARNING_RATE * g);
        }
    }
}

fn main() {
    let start = Instant::now();
    let mut train_set = images(Split::Train, N_TRAIN);
    let mut validation_set = images(Split::Validation, N_VALIDATION);
    let n = train_set.len() + validation_set.len();
    println!("{n} portraits, {:.1} ms each", start.elapsed().as_secs_f64() * 1e3 / n as f64);
    standardise(&mut train_set, &mut validation_set);
    for l2 in [0.01, 0.3, 3.0] {
        let mut weights = vec![0.0; N_CLASSES * N_INPUTS];
        train(&mut weights, &train_set, l2);
        println!(
            "l2 {l2}: training {:.1} %, validation {:.1} %, chance {:.1} %",
            accuracy(&weights, &train_set) * 100.0,
            accuracy(&weights, &validation_set) * 100.0,
            100.0 / N_CLASSES as f64
        );
    }
}
