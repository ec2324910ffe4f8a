//! Votes on the activations of a stage for a batch of steps (eq. 6 to 9), forward and backward.

use crate::arithmetic::{Arithmetic, Instructions, Kernel};
use crate::composite::layout::StageVotes;
use crate::linear::input_gradient::set_input_gradient;
use crate::linear::products::add_products;
use crate::linear::weight_update::{Target, UpdateRule, update_biases, update_weights};
use crate::linear::{Stacked, Weights};

/// Inputs and outputs of the votes.
pub(crate) struct VotePass<'a> {
    /// `[n_steps, n_voters, n_activations]`
    pub activations: &'a [f32],
    /// `[n_steps, n_shares]`
    pub shares: &'a mut [f32],
    /// `[n_steps, n_activations]`
    pub composite: &'a mut [f32],
}

/// Inputs and outputs of the backward pass.
pub(crate) struct VoteBackwardPass<'a> {
    pub activations: &'a [f32],
    pub shares: &'a [f32],
    pub d_composite: &'a [f32],
    /// Output.
    pub d_activations: &'a mut [f32],
    /// Buffers, as large as `shares` and as `activations`.
    pub d_shares: &'a mut [f32],
    pub d_inputs: &'a mut [f32],
}

impl StageVotes {
    fn matrix<'a>(&self, parameters: &'a [f32]) -> Weights<'a> {
        Weights::whole(&parameters[self.weights.clone()], self.n_voters() * self.n_activations)
    }

    /// Computes shares and composite. `parameters` are those of all stages' votes.
    pub(crate) fn vote(&self, instructions: Instructions, parameters: &[f32], pass: VotePass<'_>) {
        let (n, n_voters, n_shares) = (self.n_activations, self.n_voters(), self.n_shares());
        let VotePass { activations, shares, composite } = pass;
        for shares in shares.chunks_exact_mut(n_shares) {
            shares.copy_from_slice(&parameters[self.biases.clone()]);
        }
        if self.is_by_unit() {
            let weights = &parameters[self.weights.clone()];
            instructions.run(UnitVotes { n, n_voters, weights, activations, votes: shares });
        } else {
            let inputs = Stacked::whole(activations, n_voters * n);
            add_products(instructions, self.matrix(parameters), inputs, shares);
        }
        shares.chunks_exact_mut(n_shares).for_each(|shares| softmax(shares, n_voters));
        let is_by_unit = self.is_by_unit();
        instructions.run(Composites { is_by_unit, n, n_voters, activations, shares, composite });
    }

    /// Sets this stage's part of `gradient`, which is as long as `parameters`.
    pub(crate) fn vote_backward(
        &self,
        instructions: Instructions,
        parameters: &[f32],
        pass: VoteBackwardPass<'_>,
        gradient: &mut [f32],
    ) {
        let (n, n_voters, n_shares) = (self.n_activations, self.n_voters(), self.n_shares());
        let VoteBackwardPass { activations, shares, d_composite, d_activations, d_shares, d_inputs } = pass;
        let is_by_unit = self.is_by_unit();
        let of_stage = &mut gradient[self.weights.start..self.biases.end];
        if d_composite.is_empty() {
            return of_stage.fill(0.0);
        }
        instructions.run(CompositesBackward {
            is_by_unit,
            n,
            n_voters,
            activations,
            shares,
            d_composite,
            d_activations,
            d_shares,
        });
        for (shares, d_shares) in shares.chunks_exact(n_shares).zip(d_shares.chunks_exact_mut(n_shares)) {
            softmax_backward(shares, n_voters, d_shares);
        }
        if is_by_unit {
            let weights = &parameters[self.weights.clone()];
            instructions.run(UnitVotesBackward {
                n,
                weights,
                activations,
                d_votes: d_shares,
                d_activations,
                gradient: of_stage,
            });
            return;
        }
        set_input_gradient(instructions, self.matrix(parameters), d_shares, d_inputs);
        instructions.run(Add { sums: d_activations, more: d_inputs });
        let rows = n_voters * n;
        let mut rule = Set(gradient);
        let target = Target { start: self.weights.start, stride: rows, first_col: 0, n_out: n_voters };
        update_weights(instructions, target, d_shares, Stacked::whole(activations, rows), &mut rule);
        update_biases(instructions, self.biases.start, n_voters, d_shares, &mut rule);
    }
}

/// Stores a gradient that is passed once for each parameter.
struct Set<'a>(&'a mut [f32]);

impl UpdateRule for Set<'_> {
    #[inline(always)]
    fn apply<A: Arithmetic>(&mut self, at: usize, gradient: &[f32]) {
        self.0[at..at + gradient.len()].copy_from_slice(gradient);
    }
}

struct Add<'a> {
    sums: &'a mut [f32],
    more: &'a [f32],
}

impl Kernel for Add<'_> {
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        self.sums.iter_mut().zip(self.more).for_each(|(sum, more)| *sum += more);
    }
}

/// Adds weights times activations to the votes, which start as biases.
struct UnitVotes<'a> {
    n: usize,
    n_voters: usize,
    weights: &'a [f32],
    activations: &'a [f32],
    votes: &'a mut [f32],
}

impl Kernel for UnitVotes<'_> {
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let Self { n, n_voters, weights, activations, votes } = self;
        let rows = n_voters * n;
        for (activations, votes) in activations.chunks_exact(rows).zip(votes.chunks_exact_mut(rows)) {
            for (votes, weights) in votes.chunks_exact_mut(n).zip(weights.chunks_exact(rows)) {
                for (activations, weights) in activations.chunks_exact(n).zip(weights.chunks_exact(n)) {
                    for ((vote, number), weight) in votes.iter_mut().zip(activations).zip(weights) {
                        *vote += number * weight;
                    }
                }
            }
        }
    }
}

/// The sum of all voters' activations, weighted by their shares.
struct Composites<'a> {
    is_by_unit: bool,
    n: usize,
    n_voters: usize,
    activations: &'a [f32],
    shares: &'a [f32],
    composite: &'a mut [f32],
}

impl Kernel for Composites<'_> {
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let Self { is_by_unit, n, n_voters, activations, shares, composite } = self;
        let n_shares = n_voters * if is_by_unit { n } else { 1 };
        let steps = activations.chunks_exact(n_voters * n).zip(shares.chunks_exact(n_shares));
        for ((activations, shares), composite) in steps.zip(composite.chunks_exact_mut(n)) {
            composite.fill(0.0);
            if is_by_unit {
                for (activations, shares) in activations.chunks_exact(n).zip(shares.chunks_exact(n)) {
                    composite
                        .iter_mut()
                        .zip(activations)
                        .zip(shares)
                        .for_each(|((c, x), share)| *c += share * x);
                }
            } else {
                for (activations, share) in activations.chunks_exact(n).zip(shares) {
                    composite.iter_mut().zip(activations).for_each(|(c, x)| *c += share * x);
                }
            }
        }
    }
}

/// From the gradient of composites, those of activations and of shares.
struct CompositesBackward<'a> {
    is_by_unit: bool,
    n: usize,
    n_voters: usize,
    activations: &'a [f32],
    shares: &'a [f32],
    d_composite: &'a [f32],
    d_activations: &'a mut [f32],
    d_shares: &'a mut [f32],
}

/// Voters that are summed at the same time.
const N_VOTERS: usize = 8;

impl Kernel for CompositesBackward<'_> {
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let Self { is_by_unit, n, n_voters, activations, shares, d_composite, d_activations, d_shares } =
            self;
        let (rows, n_shares) = (n_voters * n, n_voters * if is_by_unit { n } else { 1 });
        let steps = activations
            .chunks_exact(rows)
            .zip(shares.chunks_exact(n_shares))
            .zip(d_composite.chunks_exact(n));
        let outs = d_activations.chunks_exact_mut(rows).zip(d_shares.chunks_exact_mut(n_shares));
        for (((activations, shares), d_composite), (d_activations, d_shares)) in steps.zip(outs) {
            if is_by_unit {
                let voters = activations.chunks_exact(n).zip(shares.chunks_exact(n));
                let outs = d_activations.chunks_exact_mut(n).zip(d_shares.chunks_exact_mut(n));
                for ((activations, shares), (d_activations, d_shares)) in voters.zip(outs) {
                    for idx in 0..n {
                        d_activations[idx] = shares[idx] * d_composite[idx];
                        d_shares[idx] = activations[idx] * d_composite[idx];
                    }
                }
            } else {
                for (d_activations, share) in d_activations.chunks_exact_mut(n).zip(shares) {
                    d_activations.iter_mut().zip(d_composite).for_each(|(d_number, d)| *d_number = share * d);
                }
                for (d_shares, activations) in
                    d_shares.chunks_mut(N_VOTERS).zip(activations.chunks(N_VOTERS * n))
                {
                    sum_products(activations, d_composite, d_shares);
                }
            }
        }
    }
}

/// Sets `sums` to the dot product of each row with `d`, summed from left to right; there are at most [`N_VOTERS`] rows.
#[inline(always)]
fn sum_products(rows: &[f32], d: &[f32], sums: &mut [f32]) {
    let n = d.len();
    // Missing voters repeat the last one.
    let mut row_of: [&[f32]; N_VOTERS] = [&[]; N_VOTERS];
    for (voter, row) in row_of.iter_mut().enumerate() {
        *row = &rows[voter.min(sums.len() - 1) * n..][..n];
    }
    let mut totals = [0.0; N_VOTERS];
    for (idx, d) in d.iter().enumerate() {
        for (total, row) in totals.iter_mut().zip(&row_of) {
            *total += row[idx] * d;
        }
    }
    sums.iter_mut().zip(totals).for_each(|(sum, total)| *sum = total);
}

/// From the gradient of votes, adds to that of activations and sets that of weights and biases.
struct UnitVotesBackward<'a> {
    n: usize,
    weights: &'a [f32],
    activations: &'a [f32],
    d_votes: &'a [f32],
    d_activations: &'a mut [f32],
    gradient: &'a mut [f32],
}

impl Kernel for UnitVotesBackward<'_> {
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let Self { n, weights, activations, d_votes, d_activations, gradient } = self;
        gradient.fill(0.0);
        let (d_weights, d_biases) = gradient.split_at_mut(weights.len());
        let rows = d_biases.len();
        let steps = activations.chunks_exact(rows).zip(d_activations.chunks_exact_mut(rows));
        for ((activations, d_activations), d_votes) in steps.zip(d_votes.chunks_exact(rows)) {
            d_biases.iter_mut().zip(d_votes).for_each(|(sum, d)| *sum += d);
            let of_voters = weights.chunks_exact(rows).zip(d_weights.chunks_exact_mut(rows));
            for ((weights, d_weights), d_votes) in of_voters.zip(d_votes.chunks_exact(n)) {
                let weights = weights.chunks_exact(n).zip(d_weights.chunks_exact_mut(n));
                let activations = activations.chunks_exact(n).zip(d_activations.chunks_exact_mut(n));
                for ((weights, d_weights), (activations, d_activations)) in weights.zip(activations) {
                    for idx in 0..n {
                        d_activations[idx] += weights[idx] * d_votes[idx];
                        d_weights[idx] += activations[idx] * d_votes[idx];
                    }
                }
            }
        }
    }
}

/// Over the voters of `[n_voters, n_each]`, in place.
fn softmax(votes: &mut [f32], n_voters: usize) {
    let n_each = votes.len() / n_voters;
    for idx in 0..n_each {
        let most = votes[idx..].iter().step_by(n_each).copied().fold(f32::NEG_INFINITY, f32::max);
        let mut sum = 0.0;
        for vote in votes[idx..].iter_mut().step_by(n_each) {
            *vote = (*vote - most).exp();
            sum += *vote;
        }
        votes[idx..].iter_mut().step_by(n_each).for_each(|vote| *vote /= sum);
    }
}

/// From the gradient of shares, that of votes, in place.
fn softmax_backward(shares: &[f32], n_voters: usize, d: &mut [f32]) {
    let n_each = shares.len() / n_voters;
    for idx in 0..n_each {
        let mean: f32 = shares[idx..]
            .iter()
            .step_by(n_each)
            .zip(d[idx..].iter().step_by(n_each))
            .map(|(p, d)| p * d)
            .sum();
        for (d, share) in d[idx..].iter_mut().step_by(n_each).zip(shares[idx..].iter().step_by(n_each)) {
            *d = share * (*d - mean);
        }
    }
}
