//! One stage of a composite for a batch of steps: activations of every voter, votes, and the backward pass.

use crate::arithmetic::Instructions;
use crate::composite::controller::Controller;
use crate::composite::layout::StageVotes;
use crate::composite::map_transformation::MapMemory;
use crate::composite::votes::{VoteBackwardPass, VotePass};
use crate::linear::Stacked;
use crate::linear::products::add_products;
use crate::module::{Module, Stage, StageGradient};
use crate::nonlinearity::BackwardPass;

/// The buffers of one stage; each row is a step.
#[derive(Clone, Debug)]
pub(super) struct StageRows {
    votes: StageVotes,
    /// Inputs of all modules except scene vectors: `[n_steps, n_hidden + n_touch]`.
    inputs: Vec<f32>,
    /// The same with transformed touches, per old module; only at the touch stage.
    moved: Vec<Vec<f32>>,
    /// Per voter, `[n_steps, n_units]`.
    preact: Vec<Vec<f32>>,
    d_preact: Vec<Vec<f32>>,
    /// `[n_steps, n_voters, n_activations]`
    activations: Vec<f32>,
    d_activations: Vec<f32>,
    d_from_votes: Vec<f32>,
    /// `[n_steps, n_shares]`
    shares: Vec<f32>,
    d_shares: Vec<f32>,
    /// `[n_steps, n_activations]`
    composite: Vec<f32>,
}

/// A module as a voter: with the original touches, or with those that old module `moved` transforms.
#[derive(Clone, Copy)]
pub(super) struct Reading {
    pub voter: usize,
    pub moved: Option<usize>,
}

impl StageRows {
    pub fn new(stage: &Stage, votes: StageVotes, n_moved: usize, max_steps: usize) -> Self {
        let (n_inputs, n_voters) = (stage.n_hidden + stage.n_touch, votes.n_voters());
        let rows = |n: usize| vec![0.0; max_steps * n];
        let activations = rows(n_voters * votes.n_activations);
        Self {
            inputs: rows(n_inputs),
            moved: vec![rows(n_inputs); n_moved],
            preact: vec![rows(stage.n_units); n_voters],
            d_preact: vec![rows(stage.n_units); n_voters],
            d_activations: activations.clone(),
            d_from_votes: activations.clone(),
            activations,
            shares: rows(votes.n_shares()),
            d_shares: rows(votes.n_shares()),
            composite: rows(votes.n_activations),
            votes,
        }
    }

    pub fn votes(&self) -> &StageVotes {
        &self.votes
    }

    /// `[max_steps, n_activations]`
    pub fn composite(&self) -> &[f32] {
        &self.composite
    }

    pub fn shares(&self, n_steps: usize) -> &[f32] {
        &self.shares[..n_steps * self.votes.n_shares()]
    }

    /// Activations of all voters at one step.
    fn row_len(&self) -> usize {
        self.votes.n_voters() * self.votes.n_activations
    }

    /// The voters of a module; the new module has the last index.
    pub fn readings(&self, module: usize) -> impl Iterator<Item = Reading> + use<> {
        let plain = Reading { voter: self.votes.of_module(module), moved: None };
        let moved = (module < self.moved.len())
            .then(|| Reading { voter: self.votes.transformed(module), moved: Some(module) });
        std::iter::once(plain).chain(moved)
    }

    /// `hidden` is the composite of the stage before.
    pub fn set_inputs(&mut self, stage: &Stage, hidden: &[f32], touches: &[f32], n_steps: usize) {
        let (n_hidden, n_touch) = (stage.n_hidden, stage.n_touch);
        for step in 0..n_steps {
            let inputs = &mut self.inputs[step * (n_hidden + n_touch)..][..n_hidden + n_touch];
            inputs[..n_hidden].copy_from_slice(&hidden[step * n_hidden..][..n_hidden]);
            inputs[n_hidden..].copy_from_slice(&touches[step * n_touch..][..n_touch]);
        }
    }

    /// Transforms the touches for each old module: `a' = W_a a + b`.
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

    /// Computes a voter's activations. `visual` are the pre-activations from features, at the first stage.
    pub fn set_voter(
        &mut self,
        module: &Module,
        stage: &Stage,
        Reading { voter, moved }: Reading,
        visual: Option<&[f32]>,
        n_steps: usize,
    ) {
        let (n_units, n_inputs) = (stage.n_units, stage.n_hidden + stage.n_touch);
        let (n, row_len) = (self.votes.n_activations, self.row_len());
        let inputs = moved.map_or(&self.inputs, |old| &self.moved[old]);
        let preact = &mut self.preact[voter][..n_steps * n_units];
        match visual {
            Some(visual) => preact.copy_from_slice(visual),
            None => preact
                .chunks_exact_mut(n_units)
                .for_each(|preact| preact.copy_from_slice(module.biases(stage))),
        }
        if n_inputs > 0 {
            let weights = module.weights(stage).columns(stage.n_visual, n_inputs);
            let inputs = Stacked::whole(&inputs[..n_steps * n_inputs], n_inputs);
            add_products(module.instructions(), weights, inputs, preact);
        }
        let activations = &mut self.activations[voter * n..];
        match stage.nonlinearity {
            Some(nonlinearity) => {
                nonlinearity.forward_strided(module.instructions(), n_units, preact, activations, row_len);
            }
            None => {
                let rows = preact.chunks_exact(n_units).zip(activations.chunks_mut(row_len));
                rows.for_each(|(preact, activations)| activations[..n].copy_from_slice(preact));
            }
        }
    }

    /// Computes the gradient of a voter's pre-activations from that of its activations, and returns it.
    pub fn set_d_preact(
        &mut self,
        module: &Module,
        stage: &Stage,
        reading: Reading,
        n_steps: usize,
    ) -> &[f32] {
        let (n_units, n, row_len, voter) =
            (stage.n_units, self.votes.n_activations, self.row_len(), reading.voter);
        let d_preact = &mut self.d_preact[voter][..n_steps * n_units];
        let (out, dout) = (&self.activations[voter * n..], &self.d_activations[voter * n..]);
        match stage.nonlinearity {
            Some(nonlinearity) => {
                let pass = BackwardPass { x: &self.preact[voter], out, dout, dx: d_preact };
                nonlinearity.backward_strided(module.instructions(), n_units, pass, row_len);
            }
            None => {
                let rows = d_preact.chunks_exact_mut(n_units).zip(dout.chunks(row_len));
                rows.for_each(|(dx, dout)| dx.copy_from_slice(&dout[..n]));
            }
        }
        d_preact
    }

    /// Computes the transformed maps of old modules.
    pub fn transform_maps(
        &mut self,
        controller: &Controller,
        touches: &[f32],
        memory: &mut [MapMemory],
        n_steps: usize,
    ) {
        let (n, row_len) = (self.votes.n_activations, self.row_len());
        let rows =
            self.activations.chunks_exact_mut(row_len).zip(touches.chunks_exact(controller.layout.n_touch));
        for (activations, touches) in rows.take(n_steps) {
            for (old, (places, memory)) in controller.layout.maps.iter().zip(&mut *memory).enumerate() {
                let (plain, out) = plain_and_transformed(activations, n, old, self.votes.transformed(old));
                places.transform(&controller.parameters.maps, plain, touches, memory, out);
            }
        }
    }

    /// The backward pass of [`Self::transform_maps`], which is recomputed step by step.
    pub fn transform_maps_backward(
        &mut self,
        controller: &Controller,
        touches: &[f32],
        memory: &mut [MapMemory],
        n_steps: usize,
        gradient: &mut [f32],
    ) {
        let (n, row_len, parameters) =
            (self.votes.n_activations, self.row_len(), &controller.parameters.maps);
        let rows =
            self.activations.chunks_exact_mut(row_len).zip(self.d_activations.chunks_exact_mut(row_len));
        let rows = rows.zip(touches.chunks_exact(controller.layout.n_touch));
        for ((activations, d_activations), touches) in rows.take(n_steps) {
            for (old, (places, memory)) in controller.layout.maps.iter().zip(&mut *memory).enumerate() {
                let transformed = self.votes.transformed(old);
                let (plain, out) = plain_and_transformed(activations, n, old, transformed);
                places.transform(parameters, plain, touches, memory, out);
                let (d_plain, d_out) = plain_and_transformed(d_activations, n, old, transformed);
                places.transform_backward(parameters, touches, memory, d_out, d_plain, gradient);
            }
        }
    }

    /// Computes shares and composite.
    pub fn vote(&mut self, instructions: Instructions, parameters: &[f32], n_steps: usize) {
        let (n_shares, n, row_len) = (self.votes.n_shares(), self.votes.n_activations, self.row_len());
        let pass = VotePass {
            activations: &self.activations[..n_steps * row_len],
            shares: &mut self.shares[..n_steps * n_shares],
            composite: &mut self.composite[..n_steps * n],
        };
        self.votes.vote(instructions, parameters, pass);
    }

    /// From the gradient of the composite, computes those of all voters' activations and of the votes' parameters.
    pub fn vote_backward(
        &mut self,
        instructions: Instructions,
        parameters: &[f32],
        d_composite: &[f32],
        n_steps: usize,
        gradient: &mut [f32],
    ) {
        let (n_shares, n, row_len) = (self.votes.n_shares(), self.votes.n_activations, self.row_len());
        let pass = VoteBackwardPass {
            activations: &self.activations[..n_steps * row_len],
            shares: &self.shares[..n_steps * n_shares],
            d_composite: &d_composite[..n_steps * n],
            d_activations: &mut self.d_activations[..n_steps * row_len],
            d_shares: &mut self.d_shares[..n_steps * n_shares],
            d_inputs: &mut self.d_from_votes[..n_steps * row_len],
        };
        self.votes.vote_backward(instructions, parameters, pass, gradient);
    }

    pub fn new_module_gradient(&self, stage: &Stage, n_steps: usize) -> StageGradient<'_> {
        let d_preact = self.d_preact.last().expect("the new module is voted on at every stage");
        let d_preact = &d_preact[..n_steps * stage.n_units];
        let inputs = &self.inputs[..n_steps * (stage.n_hidden + stage.n_touch)];
        StageGradient { inputs, d_preact, step_d_preact: d_preact }
    }
}

/// At one step, the activations of an old module and of its transformed voter.
fn plain_and_transformed(
    activations: &mut [f32],
    n: usize,
    old: usize,
    transformed: usize,
) -> (&mut [f32], &mut [f32]) {
    let (before, from) = activations.split_at_mut(transformed * n);
    (&mut before[old * n..][..n], &mut from[..n])
}
