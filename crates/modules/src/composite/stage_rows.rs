//! One stage of a composite at some steps, each row a step: what every voter computes, the votes, and the way back.

use crate::arithmetic::Instructions;
use crate::composite::controller::Controller;
use crate::composite::layout::StageVotes;
use crate::composite::map_transformation::MapMemory;
use crate::composite::votes::{VoteBackPass, VotePass};
use crate::linear::Stacked;
use crate::linear::products::add_products;
use crate::module::{Module, Stage, StageGradient};
use crate::nonlinearity::BackwardPass;

/// Everything of one stage that the way back needs.
#[derive(Clone, Debug)]
pub(super) struct StageRows {
    votes: StageVotes,
    /// What all modules read besides scene vectors: `[n_steps, n_hidden + n_touch]`.
    inputs: Vec<f32>,
    /// The same with transformed touches, for each old module; only at the touch stage.
    moved: Vec<Vec<f32>>,
    /// Sums and their gradients of each voter that has sums, `[n_steps, n_units]`.
    sums: Vec<Vec<f32>>,
    slopes: Vec<Vec<f32>>,
    /// Of all voters: `[n_steps, n_voters, n_numbers]`.
    numbers: Vec<f32>,
    d_numbers: Vec<f32>,
    d_vote_inputs: Vec<f32>,
    /// `[n_steps, n_shares]`
    shares: Vec<f32>,
    d_shares: Vec<f32>,
    /// `[n_steps, n_numbers]`
    composite: Vec<f32>,
}

/// A module's numbers as one voter: with the touches as they are, or as an old module's transformation has them.
#[derive(Clone, Copy)]
pub(super) struct Reading {
    pub voter: usize,
    pub moved: Option<usize>,
}

impl StageRows {
    pub fn new(stage: &Stage, votes: StageVotes, n_moved: usize, max_steps: usize) -> Self {
        let (n_inputs, n_voters) = (stage.n_hidden + stage.n_touch, votes.n_voters());
        let rows = |n: usize| vec![0.0; max_steps * n];
        let numbers = rows(n_voters * votes.n_numbers);
        Self {
            inputs: rows(n_inputs),
            moved: vec![rows(n_inputs); n_moved],
            sums: vec![rows(stage.n_units); n_voters],
            slopes: vec![rows(stage.n_units); n_voters],
            d_numbers: numbers.clone(),
            d_vote_inputs: numbers.clone(),
            numbers,
            shares: rows(votes.n_shares()),
            d_shares: rows(votes.n_shares()),
            composite: rows(votes.n_numbers),
            votes,
        }
    }

    pub fn votes(&self) -> &StageVotes {
        &self.votes
    }

    /// `[n_steps, n_numbers]`, perhaps with more rows behind.
    pub fn composite(&self) -> &[f32] {
        &self.composite
    }

    pub fn shares(&self, n_steps: usize) -> &[f32] {
        &self.shares[..n_steps * self.votes.n_shares()]
    }

    /// Numbers of all voters at one step.
    fn row_len(&self) -> usize {
        self.votes.n_voters() * self.votes.n_numbers
    }

    /// How a module is voted on here; the new module stands behind the old ones.
    pub fn readings(&self, module: usize) -> impl Iterator<Item = Reading> + use<> {
        let plain = Reading { voter: self.votes.of_module(module), moved: None };
        let moved = (module < self.moved.len())
            .then(|| Reading { voter: self.votes.transformed(module), moved: Some(module) });
        std::iter::once(plain).chain(moved)
    }

    /// Takes the composite of the stage before, and the touches.
    pub fn set_inputs(&mut self, stage: &Stage, hidden: &[f32], touches: &[f32], n_steps: usize) {
        let (n_hidden, n_touch) = (stage.n_hidden, stage.n_touch);
        for step in 0..n_steps {
            let inputs = &mut self.inputs[step * (n_hidden + n_touch)..][..n_hidden + n_touch];
            inputs[..n_hidden].copy_from_slice(&hidden[step * n_hidden..][..n_hidden]);
            inputs[n_hidden..].copy_from_slice(&touches[step * n_touch..][..n_touch]);
        }
    }

    /// `a' = W_a a + b` for each old module, where touches are read.
    pub fn set_moved(&mut self, controller: &Controller, stage: &Stage, n_steps: usize) {
        let n_inputs = stage.n_hidden + stage.n_touch;
        for (old, moved) in self.moved.iter_mut().enumerate() {
            let (matrix, biases) = controller.action(old);
            let rows = moved.chunks_exact_mut(n_inputs).zip(self.inputs.chunks_exact(n_inputs));
            for (moved, inputs) in rows.take(n_steps) {
                moved[..stage.n_hidden].copy_from_slice(&inputs[..stage.n_hidden]);
                let touches = &inputs[stage.n_hidden..];
                let rows = matrix.chunks_exact(touches.len()).zip(biases);
                for (moved, (row, bias)) in moved[stage.n_hidden..].iter_mut().zip(rows) {
                    *moved = row.iter().zip(touches).fold(*bias, |sum, (weight, touch)| sum + weight * touch);
                }
            }
        }
    }

    /// A module's sums and numbers as one voter. `visual` is what it has made of screens, at the first stage.
    pub fn set_voter(
        &mut self,
        module: &Module,
        stage: &Stage,
        Reading { voter, moved }: Reading,
        visual: Option<&[f32]>,
        n_steps: usize,
    ) {
        let (n_units, n_inputs) = (stage.n_units, stage.n_hidden + stage.n_touch);
        let (n, row_len) = (self.votes.n_numbers, self.row_len());
        let inputs = moved.map_or(&self.inputs, |old| &self.moved[old]);
        let sums = &mut self.sums[voter][..n_steps * n_units];
        match visual {
            Some(visual) => sums.copy_from_slice(visual),
            None => {
                sums.chunks_exact_mut(n_units).for_each(|sums| sums.copy_from_slice(module.biases(stage)))
            }
        }
        if n_inputs > 0 {
            let weights = module.weights(stage).columns(stage.n_visual, n_inputs);
            let inputs = Stacked::whole(&inputs[..n_steps * n_inputs], n_inputs);
            add_products(module.instructions(), weights, inputs, sums);
        }
        let numbers = &mut self.numbers[voter * n..];
        match stage.nonlinearity {
            Some(nonlinearity) => {
                nonlinearity.forward_strided(module.instructions(), n_units, sums, numbers, row_len);
            }
            None => {
                let rows = sums.chunks_exact(n_units).zip(numbers.chunks_mut(row_len));
                rows.for_each(|(sums, numbers)| numbers[..n].copy_from_slice(sums));
            }
        }
    }

    /// Sets the gradient of a voter's sums from that of its numbers, and gives it.
    pub fn set_slopes(&mut self, module: &Module, stage: &Stage, reading: Reading, n_steps: usize) -> &[f32] {
        let (n_units, n, row_len, voter) =
            (stage.n_units, self.votes.n_numbers, self.row_len(), reading.voter);
        let slopes = &mut self.slopes[voter][..n_steps * n_units];
        let (out, dout) = (&self.numbers[voter * n..], &self.d_numbers[voter * n..]);
        match stage.nonlinearity {
            Some(nonlinearity) => {
                let pass = BackwardPass { x: &self.sums[voter], out, dout, dx: slopes };
                nonlinearity.backward_strided(module.instructions(), n_units, pass, row_len);
            }
            None => {
                let rows = slopes.chunks_exact_mut(n_units).zip(dout.chunks(row_len));
                rows.for_each(|(dx, dout)| dx.copy_from_slice(&dout[..n]));
            }
        }
        slopes
    }

    /// Sets what old modules' maps become where they are transformed.
    pub fn transform_maps(
        &mut self,
        controller: &Controller,
        touches: &[f32],
        memory: &mut [MapMemory],
        n_steps: usize,
    ) {
        let (n, row_len) = (self.votes.n_numbers, self.row_len());
        let rows =
            self.numbers.chunks_exact_mut(row_len).zip(touches.chunks_exact(controller.layout.n_touch));
        for (numbers, touches) in rows.take(n_steps) {
            for (old, (places, memory)) in controller.layout.maps.iter().zip(&mut *memory).enumerate() {
                let (plain, out) = plain_and_transformed(numbers, n, old, self.votes.transformed(old));
                places.transform(&controller.parameters.maps, plain, touches, memory, out);
            }
        }
    }

    /// The way back of [`Self::transform_maps`], which is done again step by step.
    pub fn transform_maps_back(
        &mut self,
        controller: &Controller,
        touches: &[f32],
        memory: &mut [MapMemory],
        n_steps: usize,
        gradient: &mut [f32],
    ) {
        let (n, row_len, parameters) = (self.votes.n_numbers, self.row_len(), &controller.parameters.maps);
        let rows = self.numbers.chunks_exact_mut(row_len).zip(self.d_numbers.chunks_exact_mut(row_len));
        let rows = rows.zip(touches.chunks_exact(controller.layout.n_touch));
        for ((numbers, d_numbers), touches) in rows.take(n_steps) {
            for (old, (places, memory)) in controller.layout.maps.iter().zip(&mut *memory).enumerate() {
                let transformed = self.votes.transformed(old);
                let (plain, out) = plain_and_transformed(numbers, n, old, transformed);
                places.transform(parameters, plain, touches, memory, out);
                let (d_plain, d_out) = plain_and_transformed(d_numbers, n, old, transformed);
                places.transform_back(parameters, touches, memory, d_out, d_plain, gradient);
            }
        }
    }

    /// Shares and composite.
    pub fn vote(&mut self, instructions: Instructions, parameters: &[f32], n_steps: usize) {
        let (n_shares, n, row_len) = (self.votes.n_shares(), self.votes.n_numbers, self.row_len());
        let pass = VotePass {
            numbers: &self.numbers[..n_steps * row_len],
            shares: &mut self.shares[..n_steps * n_shares],
            composite: &mut self.composite[..n_steps * n],
        };
        self.votes.vote(instructions, parameters, pass);
    }

    /// From the gradient of the composite to that of all voters' numbers; sets that of the votes.
    pub fn vote_back(
        &mut self,
        instructions: Instructions,
        parameters: &[f32],
        d_composite: &[f32],
        n_steps: usize,
        gradient: &mut [f32],
    ) {
        let (n_shares, n, row_len) = (self.votes.n_shares(), self.votes.n_numbers, self.row_len());
        let pass = VoteBackPass {
            numbers: &self.numbers[..n_steps * row_len],
            shares: &self.shares[..n_steps * n_shares],
            d_composite: &d_composite[..n_steps * n],
            d_numbers: &mut self.d_numbers[..n_steps * row_len],
            d_shares: &mut self.d_shares[..n_steps * n_shares],
            d_inputs: &mut self.d_vote_inputs[..n_steps * row_len],
        };
        self.votes.vote_back(instructions, parameters, pass, gradient);
    }

    /// What the new module read, and the slopes of its sums.
    pub fn new_module_gradient(&self, stage: &Stage, n_steps: usize) -> StageGradient<'_> {
        let slopes = self.slopes.last().expect("the new module is voted on at every stage");
        let slopes = &slopes[..n_steps * stage.n_units];
        let inputs = &self.inputs[..n_steps * (stage.n_hidden + stage.n_touch)];
        StageGradient { inputs, slopes, step_slopes: slopes }
    }
}

/// One step's numbers of an old module, and of its transformed voter.
fn plain_and_transformed(
    numbers: &mut [f32],
    n: usize,
    old: usize,
    transformed: usize,
) -> (&mut [f32], &mut [f32]) {
    let (before, from) = numbers.split_at_mut(transformed * n);
    (&mut before[old * n..][..n], &mut from[..n])
}
