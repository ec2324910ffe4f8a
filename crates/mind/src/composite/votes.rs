//! Votes on the numbers of a stage, for some steps: forward (eq. 6 to 9), and back.

use crate::arithmetic::Instructions;
use crate::composite::layout::StageVotes;
use crate::linear::input_gradient::set_input_gradient;
use crate::linear::products::add_products;
use crate::linear::weight_update::{Accumulate, Target, update_biases, update_weights};
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
        let steps = numbers.chunks_exact(n_voters * n);
        if self.is_by_unit() {
            let weights = &parameters[self.weights.clone()];
            for (numbers, shares) in steps.clone().zip(shares.chunks_exact_mut(n_shares)) {
                for (shares, weights) in shares.chunks_exact_mut(n).zip(weights.chunks_exact(n_voters * n)) {
                    for (numbers, weights) in numbers.chunks_exact(n).zip(weights.chunks_exact(n)) {
                        for ((share, number), weight) in shares.iter_mut().zip(numbers).zip(weights) {
                            *share += number * weight;
                        }
                    }
                }
            }
        } else {
            add_products(
                instructions,
                self.matrix(parameters),
                Stacked::whole(numbers, n_voters * n),
                shares,
            );
        }
        for ((numbers, shares), composite) in
            steps.zip(shares.chunks_exact_mut(n_shares)).zip(composite.chunks_exact_mut(n))
        {
            set_softmax(shares, n_voters);
            composite.fill(0.0);
            let n_each = n_shares / n_voters;
            for (numbers, shares) in numbers.chunks_exact(n).zip(shares.chunks_exact(n_each)) {
                let shares = shares.iter().cycle();
                composite.iter_mut().zip(numbers).zip(shares).for_each(|((c, x), share)| *c += share * x);
            }
        }
    }

    /// The way back. Adds the gradient of the votes' parameters to `gradient`.
    pub(crate) fn vote_back(
        &self,
        instructions: Instructions,
        parameters: &[f32],
        pass: VoteBackPass<'_>,
        gradient: &mut [f32],
    ) {
        let (n, n_voters, n_shares) = (self.n_numbers, self.n_voters(), self.n_shares());
        let n_each = n_shares / n_voters;
        let VoteBackPass { numbers, shares, d_composite, d_numbers, d_shares, d_inputs } = pass;
        let rows = n_voters * n;
        let steps =
            numbers.chunks_exact(rows).zip(shares.chunks_exact(n_shares)).zip(d_composite.chunks_exact(n));
        let outs = d_numbers.chunks_exact_mut(rows).zip(d_shares.chunks_exact_mut(n_shares));
        for (((numbers, shares), d_composite), (d_numbers, d_shares)) in steps.zip(outs) {
            d_shares.fill(0.0);
            for voter in 0..n_voters {
                let (numbers, d_numbers) = (&numbers[voter * n..][..n], &mut d_numbers[voter * n..][..n]);
                for idx in 0..n {
                    let share = voter * n_each + idx % n_each;
                    d_numbers[idx] = shares[share] * d_composite[idx];
                    d_shares[share] += numbers[idx] * d_composite[idx];
                }
            }
            set_softmax_slopes(shares, n_voters, d_shares);
        }
        if self.is_by_unit() {
            self.unit_back(parameters, numbers, d_shares, d_numbers, gradient);
            return;
        }
        set_input_gradient(instructions, self.matrix(parameters), d_shares, d_inputs);
        d_numbers.iter_mut().zip(&*d_inputs).for_each(|(d, more)| *d += more);
        let mut rule = Accumulate(gradient);
        let target = Target { start: self.weights.start, stride: rows, first_col: 0, n_out: n_voters };
        update_weights(instructions, target, d_shares, Stacked::whole(numbers, rows), &mut rule);
        update_biases(instructions, self.biases.start, n_voters, d_shares, &mut rule);
    }

    fn unit_back(
        &self,
        parameters: &[f32],
        numbers: &[f32],
        d_votes: &[f32],
        d_numbers: &mut [f32],
        gradient: &mut [f32],
    ) {
        let (n, rows) = (self.n_numbers, self.n_voters() * self.n_numbers);
        let steps = numbers.chunks_exact(rows).zip(d_numbers.chunks_exact_mut(rows));
        for ((numbers, d_numbers), d_votes) in steps.zip(d_votes.chunks_exact(rows)) {
            let d_biases = &mut gradient[self.biases.clone()];
            d_biases.iter_mut().zip(d_votes).for_each(|(sum, d)| *sum += d);
            let weights = parameters[self.weights.clone()].chunks_exact(rows);
            let d_weights = gradient[self.weights.clone()].chunks_exact_mut(rows);
            for ((weights, d_weights), d_votes) in weights.zip(d_weights).zip(d_votes.chunks_exact(n)) {
                for at in 0..rows {
                    d_numbers[at] += weights[at] * d_votes[at % n];
                    d_weights[at] += numbers[at] * d_votes[at % n];
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
