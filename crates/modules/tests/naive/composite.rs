//! The equations of voting, written as they are printed, in f64 and without any cleverness.

use super::{apply, seen, stage_numbers};
use touchstream_modules::Nonlinearity;
use touchstream_modules::composite::{ControllerParameters, Voting, VotingSettings};
use touchstream_modules::module::Structure;

/// A composite as a function of all its parameters.
pub struct NaiveComposite<'a> {
    pub structure: &'a Structure,
    pub settings: VotingSettings,
    pub old: Vec<Vec<f64>>,
    pub new: Vec<f64>,
    pub votes: Vec<f64>,
    pub actions: Vec<f64>,
    pub maps: Vec<f64>,
}

fn linear(weights: &[f64], biases: &[f64], x: &[f64]) -> Vec<f64> {
    let dot = |row: &[f64]| row.iter().zip(x).map(|(w, x)| w * x).sum::<f64>();
    assert_eq!(weights.len(), biases.len() * x.len());
    weights.chunks(x.len()).zip(biases).map(|(row, b)| dot(row) + b).collect()
}

fn softmax(votes: &[f64]) -> Vec<f64> {
    let sum: f64 = votes.iter().map(|vote| vote.exp()).sum();
    votes.iter().map(|vote| vote.exp() / sum).collect()
}

/// Takes from the front.
fn take<'a>(from: &mut &'a [f64], n: usize) -> &'a [f64] {
    let (taken, rest) = from.split_at(n);
    *from = rest;
    taken
}

impl<'a> NaiveComposite<'a> {
    pub fn new(
        structure: &'a Structure,
        settings: VotingSettings,
        old: &[Vec<f32>],
        new: &[f32],
        parameters: &ControllerParameters,
    ) -> Self {
        let wide = |numbers: &[f32]| numbers.iter().map(|&x| f64::from(x)).collect::<Vec<f64>>();
        Self {
            structure,
            settings,
            old: old.iter().map(|parameters| wide(parameters)).collect(),
            new: wide(new),
            votes: wide(&parameters.votes),
            actions: wide(&parameters.actions),
            maps: wide(&parameters.maps),
        }
    }

    /// `W_a a + b`
    fn moved(&self, old: usize, touches: &[f64]) -> Vec<f64> {
        let n = touches.len();
        let (matrix, biases) = self.actions[old * (n * n + n)..][..n * n + n].split_at(n * n);
        linear(matrix, biases, touches)
    }

    /// `W2 CReS(W1 [m, m * relu(G a + g), a] + b1) + b2`
    fn transformed(&self, old: usize, m: &[f64], a: &[f64]) -> Vec<f64> {
        let (k_f, t, h) = (m.len(), a.len(), 4.max(m.len()));
        let n = 2 * k_f + t;
        let len = k_f * t + k_f + h * n + h + k_f * 4 * h + k_f;
        let mut from = &self.maps[old * len..][..len];
        let gates = apply(Nonlinearity::Relu, &linear(take(&mut from, k_f * t), take(&mut from, k_f), a));
        let gated = m.iter().zip(gates).map(|(m, g)| m * g);
        let input: Vec<f64> = m.iter().copied().chain(gated).chain(a.iter().copied()).collect();
        let hidden = linear(take(&mut from, h * n), take(&mut from, h), &input);
        linear(take(&mut from, k_f * 4 * h), take(&mut from, k_f), &apply(Nonlinearity::Cres, &hidden))
    }

    /// The composite of voters' numbers, and how they were voted on: `[n_voters]`, or `[n_voters, n]`.
    fn vote(&self, from: &mut &[f64], voters: &[Vec<f64>]) -> (Vec<f64>, Vec<f64>) {
        let (v, n) = (voters.len(), voters[0].len());
        let weights = take(from, v * v * n);
        let mut composite = vec![0.0; n];
        if self.settings.voting == Voting::Layer {
            let shares = softmax(&linear(weights, take(from, v), &voters.concat()));
            for (numbers, share) in voters.iter().zip(&shares) {
                composite.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += share * number);
            }
            return (composite, shares);
        }
        let biases = take(from, v * n);
        let mut all_shares = vec![0.0; v * n];
        for j in 0..n {
            let votes: Vec<f64> = (0..v)
                .map(|to| {
                    biases[to * n + j]
                        + (0..v).map(|w| weights[(to * v + w) * n + j] * voters[w][j]).sum::<f64>()
                })
                .collect();
            for (w, share) in softmax(&votes).into_iter().enumerate() {
                composite[j] += share * voters[w][j];
                all_shares[w * n + j] = share;
            }
        }
        (composite, all_shares)
    }

    /// The composite's logits, and the shares of every stage.
    pub fn logits_and_shares(&self, psi: &[f64], map: &[f64], touches: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>) {
        let stages = self.structure.stages();
        let mut votes = &self.votes[..];
        let mut before = Vec::new();
        let mut shares = Vec::new();
        for (idx, stage) in stages.iter().enumerate() {
            // Each module has its own features; after the first stage all read the composite.
            let numbers = |parameters: &[f64], touches: &[f64]| -> Vec<f64> {
                let mut x = match idx {
                    0 => seen(self.structure, parameters, psi, map),
                    _ => before.clone(),
                };
                x.extend(if stage.n_touch > 0 { touches } else { &[] });
                stage_numbers(self.structure, stage, parameters, &x)
            };
            let mut voters: Vec<Vec<f64>> =
                self.old.iter().map(|parameters| numbers(parameters, touches)).collect();
            if stage.n_touch > 0 && self.settings.transforms_actions {
                let moved = self.old.iter().enumerate();
                voters.extend(moved.map(|(old, parameters)| numbers(parameters, &self.moved(old, touches))));
            }
            if idx + 1 == stages.len() && self.settings.transforms_maps {
                let transformed = (0..self.old.len()).map(|old| self.transformed(old, &voters[old], touches));
                voters.extend(transformed.collect::<Vec<_>>());
            }
            voters.push(numbers(&self.new, touches));
            let (composite, of_stage) = self.vote(&mut votes, &voters);
            shares.push(of_stage);
            before = composite;
        }
        assert!(votes.is_empty());
        (before, shares)
    }
}
