//! Votes on the numbers of a stage, for some steps: forward (eq. 6 to 9), and back.

use crate::arithmetic::{Arithmetic, Instructions, Kernel};
use crate::composite::layout::StageVotes;
use crate::linear::input_gradient::set_input_gradient;
use crate::linear::products::add_products;
use crate::linear::weight_update::{Target, UpdateRule, update_biases, update_weights};
use crate::linear::{Stacked, Weights};

/// What is voted on at some steps, and what comes of it.
pub(crate) struct VotePass<'a> {
    /// Every voter's numbers, `[n_steps, n_voters, n_numbers]`.
    pub numbers: &'a [f32],
    /// `[n_steps, n_shares]`
    pub shares: &'a mut [f32],
    /// `[n_steps, n_numbers]`
    pub composite: &'a mut [f32],
}

/// The gradient of a composite, on its way back.
pub(crate) struct VoteBackPass<'a> {
    pub numbers: &'a [f32],
    pub shares: &'a [f32],
    pub d_composite: &'a [f32],
    /// Set: gradient of the numbers.
    pub d_numbers: &'a mut [f32],
    /// To work in: as large as `shares`, and as `numbers`.
    pub d_shares: &'a mut [f32],
    pub d_inputs: &'a mut [f32],
}

impl StageVotes {
    /// The weights of a layer's votes as a matrix.
    fn matrix<'a>(&self, parameters: &'a [f32]) -> Weights<'a> {
        Weights::whole(&parameters[self.weights.clone()], self.n_voters() * self.n_numbers)
    }

    /// Sets shares and composite. `parameters` are those of all votes.
    pub(crate) fn vote(&self, instructions: Instructions, parameters: &[f32], pass: VotePass<'_>) {
        let (n, n_voters, n_shares) = (self.n_numbers, self.n_voters(), self.n_shares());
        let VotePass { numbers, shares, composite } = pass;
        for shares in shares.chunks_exact_mut(n_shares) {
            shares.copy_from_slice(&parameters[self.biases.clone()]);
        }
        if self.is_by_unit() {
            let weights = &parameters[self.weights.clone()];
            instructions.run(UnitVotes { n, n_voters, weights, numbers, votes: shares });
        } else {
            let inputs = Stacked::whole(numbers, n_voters * n);
            add_products(instructions, self.matrix(parameters), inputs, shares);
        }
        shares.chunks_exact_mut(n_shares).for_each(|shares| set_softmax(shares, n_voters));
        let is_by_unit = self.is_by_unit();
        instructions.run(Composites { is_by_unit, n, n_voters, numbers, shares, composite });
    }

    /// The way back. Sets the gradient of this stage's vote parameters in `gradient`.
    pub(crate) fn vote_back(
        &self,
        instructions: Instructions,
        parameters: &[f32],
        pass: VoteBackPass<'_>,
        gradient: &mut [f32],
    ) {
        let (n, n_voters, n_shares) = (self.n_numbers, self.n_voters(), self.n_shares());
        let VoteBackPass { numbers, shares, d_composite, d_numbers, d_shares, d_inputs } = pass;
        let is_by_unit = self.is_by_unit();
        let of_stage = &mut gradient[self.weights.start..self.biases.end];
        if d_composite.is_empty() {
            return of_stage.fill(0.0);
        }
        instructions.run(CompositesBack {
            is_by_unit,
            n,
            n_voters,
            numbers,
            shares,
            d_composite,
            d_numbers,
            d_shares,
        });
        for (shares, d_shares) in shares.chunks_exact(n_shares).zip(d_shares.chunks_exact_mut(n_shares)) {
            set_softmax_slopes(shares, n_voters, d_shares);
        }
        if is_by_unit {
            let weights = &parameters[self.weights.clone()];
            instructions.run(UnitVotesBack {
                n,
                weights,
                numbers,
                d_votes: d_shares,
                d_numbers,
                gradient: of_stage,
            });
            return;
        }
        set_input_gradient(instructions, self.matrix(parameters), d_shares, d_inputs);
        instructions.run(Add { sums: d_numbers, more: d_inputs });
        let rows = n_voters * n;
        let mut rule = Set(gradient);
        let target = Target { start: self.weights.start, stride: rows, first_col: 0, n_out: n_voters };
        update_weights(instructions, target, d_shares, Stacked::whole(numbers, rows), &mut rule);
        update_biases(instructions, self.biases.start, n_voters, d_shares, &mut rule);
    }
}

/// Sets a gradient of which every parameter is given once.
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

/// Adds weights times numbers to the votes on every number, which start as biases.
struct UnitVotes<'a> {
    n: usize,
    n_voters: usize,
    weights: &'a [f32],
    numbers: &'a [f32],
    votes: &'a mut [f32],
}

impl Kernel for UnitVotes<'_> {
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let Self { n, n_voters, weights, numbers, votes } = self;
        let rows = n_voters * n;
        for (numbers, votes) in numbers.chunks_exact(rows).zip(votes.chunks_exact_mut(rows)) {
            for (votes, weights) in votes.chunks_exact_mut(n).zip(weights.chunks_exact(rows)) {
                for (numbers, weights) in numbers.chunks_exact(n).zip(weights.chunks_exact(n)) {
                    for ((vote, number), weight) in votes.iter_mut().zip(numbers).zip(weights) {
                        *vote += number * weight;
                    }
                }
            }
        }
    }
}

/// Sums of all voters' numbers, each with its share.
struct Composites<'a> {
    is_by_unit: bool,
    n: usize,
    n_voters: usize,
    numbers: &'a [f32],
    shares: &'a [f32],
    composite: &'a mut [f32],
}

impl Kernel for Composites<'_> {
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let Self { is_by_unit, n, n_voters, numbers, shares, composite } = self;
        let n_shares = n_voters * if is_by_unit { n } else { 1 };
        let steps = numbers.chunks_exact(n_voters * n).zip(shares.chunks_exact(n_shares));
        for ((numbers, shares), composite) in steps.zip(composite.chunks_exact_mut(n)) {
            composite.fill(0.0);
            if is_by_unit {
                for (numbers, shares) in numbers.chunks_exact(n).zip(shares.chunks_exact(n)) {
                    composite.iter_mut().zip(numbers).zip(shares).for_each(|((c, x), share)| *c += share * x);
                }
            } else {
                for (numbers, share) in numbers.chunks_exact(n).zip(shares) {
                    composite.iter_mut().zip(numbers).for_each(|(c, x)| *c += share * x);
                }
            }
        }
    }
}

/// From the gradient of composites to those of numbers and of shares.
struct CompositesBack<'a> {
    is_by_unit: bool,
    n: usize,
    n_voters: usize,
    numbers: &'a [f32],
    shares: &'a [f32],
    d_composite: &'a [f32],
    d_numbers: &'a mut [f32],
    d_shares: &'a mut [f32],
}

/// Voters whose sums are added up side by side.
const N_VOTERS: usize = 8;

impl Kernel for CompositesBack<'_> {
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let Self { is_by_unit, n, n_voters, numbers, shares, d_composite, d_numbers, d_shares } = self;
        let (rows, n_shares) = (n_voters * n, n_voters * if is_by_unit { n } else { 1 });
        let steps =
            numbers.chunks_exact(rows).zip(shares.chunks_exact(n_shares)).zip(d_composite.chunks_exact(n));
        let outs = d_numbers.chunks_exact_mut(rows).zip(d_shares.chunks_exact_mut(n_shares));
        for (((numbers, shares), d_composite), (d_numbers, d_shares)) in steps.zip(outs) {
            if is_by_unit {
                let voters = numbers.chunks_exact(n).zip(shares.chunks_exact(n));
                let outs = d_numbers.chunks_exact_mut(n).zip(d_shares.chunks_exact_mut(n));
                for ((numbers, shares), (d_numbers, d_shares)) in voters.zip(outs) {
                    for idx in 0..n {
                        d_numbers[idx] = shares[idx] * d_composite[idx];
                        d_shares[idx] = numbers[idx] * d_composite[idx];
                    }
                }
            } else {
                for (d_numbers, share) in d_numbers.chunks_exact_mut(n).zip(shares) {
                    d_numbers.iter_mut().zip(d_composite).for_each(|(d_number, d)| *d_number = share * d);
                }
                for (d_shares, numbers) in d_shares.chunks_mut(N_VOTERS).zip(numbers.chunks(N_VOTERS * n)) {
                    sum_products(numbers, d_composite, d_shares);
                }
            }
        }
    }
}

/// Sets `sums` to those of the products of each row with `d`, from left to right; there are at most [`N_VOTERS`].
#[inline(always)]
fn sum_products(rows: &[f32], d: &[f32], sums: &mut [f32]) {
    let n = d.len();
    // Where fewer are left, the last stands for those that are missing.
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

/// From the gradient of votes on numbers: adds to that of numbers, sets that of weights and biases.
struct UnitVotesBack<'a> {
    n: usize,
    weights: &'a [f32],
    numbers: &'a [f32],
    d_votes: &'a [f32],
    d_numbers: &'a mut [f32],
    gradient: &'a mut [f32],
}

impl Kernel for UnitVotesBack<'_> {
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let Self { n, weights, numbers, d_votes, d_numbers, gradient } = self;
        gradient.fill(0.0);
        let (d_weights, d_biases) = gradient.split_at_mut(weights.len());
        let rows = d_biases.len();
        let steps = numbers.chunks_exact(rows).zip(d_numbers.chunks_exact_mut(rows));
        for ((numbers, d_numbers), d_votes) in steps.zip(d_votes.chunks_exact(rows)) {
            d_biases.iter_mut().zip(d_votes).for_each(|(sum, d)| *sum += d);
            let of_voters = weights.chunks_exact(rows).zip(d_weights.chunks_exact_mut(rows));
            for ((weights, d_weights), d_votes) in of_voters.zip(d_votes.chunks_exact(n)) {
                let weights = weights.chunks_exact(n).zip(d_weights.chunks_exact_mut(n));
                let numbers = numbers.chunks_exact(n).zip(d_numbers.chunks_exact_mut(n));
                for ((weights, d_weights), (numbers, d_numbers)) in weights.zip(numbers) {
                    for idx in 0..n {
                        d_numbers[idx] += weights[idx] * d_votes[idx];
                        d_weights[idx] += numbers[idx] * d_votes[idx];
                    }
                }
            }
        }
    }
}

/// Over the voters, `[n_voters, n_each]`, in place.
fn set_softmax(votes: &mut [f32], n_voters: usize) {
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

/// From the gradient of shares to that of votes, in place.
fn set_softmax_slopes(shares: &[f32], n_voters: usize, d: &mut [f32]) {
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
