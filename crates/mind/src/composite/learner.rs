//! Learning a composite: the loss of some steps, its gradient through votes, transformations and modules, and Adam.

use crate::adam::{AdamSettings, AdamState, AdamUpdate};
use crate::composite::controller::{Controller, ControllerParameters};
use crate::composite::layout::StageVotes;
use crate::composite::map_transformation::MapMemory;
use crate::composite::votes::{VoteBackPass, VotePass};
use crate::linear::Stacked;
use crate::linear::input_gradient::set_input_gradient;
use crate::linear::products::add_products;
use crate::linear::weight_update::{Accumulate, apply_whole};
use crate::loss::mean_cross_entropy;
use crate::module::{Module, SceneHistory, Stage, StageGradient, VisualRows, give_gradient};
use crate::nonlinearity::BackwardPass;
use std::ops::Range;

/// Steps to learn from.
#[derive(Clone)]
pub struct CompositeBatch<'a, H> {
    /// Of each module, old ones first: the first stage's sums from scene vectors.
    pub visual: &'a [VisualRows],
    /// Which rows of these.
    pub rows: Range<usize>,
    /// Scene vectors.
    pub history: &'a H,
    /// Touches, oldest first, the chosen one last: `[n_steps, 2 (k_b + 1)]`.
    pub touches: &'a [f32],
    /// Rewards of this touch, of the next, ...: `[n_steps, k_f]`.
    pub rewards: &'a [f32],
}

/// Adam's means of everything that learns.
#[derive(Clone, Debug, PartialEq)]
pub struct CompositeAdam {
    /// Of the new module.
    pub module: AdamState,
    /// Of votes, transformed touches and transformed maps.
    pub controller: [AdamState; 3],
}

/// Adam's state, and what learning works in.
#[derive(Clone, Debug)]
pub struct CompositeLearner {
    settings: AdamSettings,
    adam: CompositeAdam,
    stages: Vec<StageMemory>,
    /// One an old module whose maps are transformed.
    maps: Vec<MapMemory>,
    /// Gradient of a composite, and of one module's inputs.
    d_composite: Vec<f32>,
    d_inputs: Vec<f32>,
    gradient: ControllerParameters,
    tally: ShareTally,
    max_steps: usize,
}

/// Shares of all stages, one stage's `n_shares` after another's, summed over the steps that were learned from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShareTally {
    /// Sums.
    pub sums: Vec<f64>,
    /// Over so many steps.
    pub n_steps: u64,
}

/// One stage of all steps.
#[derive(Clone, Debug)]
struct StageMemory {
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
    d_votes_inputs: Vec<f32>,
    /// `[n_steps, n_shares]`
    shares: Vec<f32>,
    d_shares: Vec<f32>,
    /// `[n_steps, n_numbers]`
    composite: Vec<f32>,
}

impl CompositeLearner {
    /// For batches of at most `max_steps` steps.
    pub fn new(controller: &Controller, settings: AdamSettings, max_steps: usize) -> Self {
        let structure = controller.structure();
        let layout = &controller.layout;
        let memory = |(idx, stage): (usize, &Stage)| {
            let votes = &layout.votes[idx];
            let (n_inputs, n_voters) = (stage.n_hidden + stage.n_touch, votes.n_voters());
            let n_moved = if idx == structure.touch_stage() { layout.actions.len() } else { 0 };
            let rows = |n: usize| vec![0.0; max_steps * n];
            let numbers = rows(n_voters * votes.n_numbers);
            StageMemory {
                inputs: rows(n_inputs),
                moved: vec![rows(n_inputs); n_moved],
                sums: vec![rows(stage.n_units); n_voters],
                slopes: vec![rows(stage.n_units); n_voters],
                d_numbers: numbers.clone(),
                d_votes_inputs: numbers.clone(),
                numbers,
                shares: rows(votes.n_shares()),
                d_shares: rows(votes.n_shares()),
                composite: rows(votes.n_numbers),
            }
        };
        let widest =
            structure.stages().iter().map(|stage| stage.n_in().min(stage.n_hidden + stage.n_touch)).max();
        let widest = widest.unwrap_or(0).max(structure.shape().k_f);
        let parameters = controller.parameters();
        let zeros = |parameters: &[f32]| vec![0.0; parameters.len()];
        Self {
            settings,
            adam: CompositeAdam::new(controller),
            stages: structure.stages().iter().enumerate().map(memory).collect(),
            maps: layout.maps.iter().map(MapMemory::new).collect(),
            d_composite: vec![0.0; max_steps * widest],
            d_inputs: vec![0.0; max_steps * widest],
            gradient: ControllerParameters {
                votes: zeros(&parameters.votes),
                actions: zeros(&parameters.actions),
                maps: zeros(&parameters.maps),
            },
            tally: ShareTally {
                sums: vec![0.0; layout.votes.iter().map(StageVotes::n_shares).sum()],
                n_steps: 0,
            },
            max_steps,
        }
    }

    /// What was voted since the tally was last cleared.
    pub fn tally(&self) -> &ShareTally {
        &self.tally
    }

    /// The same, to clear or restore.
    pub fn tally_mut(&mut self) -> &mut ShareTally {
        &mut self.tally
    }

    fn count_shares(&mut self, n_steps: usize) {
        self.tally.n_steps += n_steps as u64;
        let mut sums = &mut self.tally.sums[..];
        for stage in &self.stages {
            let n_shares = stage.shares.len() / self.max_steps;
            let (of_stage, rest) = sums.split_at_mut(n_shares);
            for shares in stage.shares[..n_steps * n_shares].chunks_exact(n_shares) {
                of_stage.iter_mut().zip(shares).for_each(|(sum, &share)| *sum += f64::from(share));
            }
            sums = rest;
        }
    }

    /// Adam's means and the number of updates.
    pub fn adam(&self) -> &CompositeAdam {
        &self.adam
    }

    /// Adam's means and the number of updates, to restore.
    pub fn adam_mut(&mut self) -> &mut CompositeAdam {
        &mut self.adam
    }

    /// Votes at the steps of the last batch: of a stage, `[n_steps, n_shares]`.
    pub fn shares(&self, stage: usize, n_steps: usize) -> &[f32] {
        let shares = &self.stages[stage].shares;
        &shares[..n_steps * (shares.len() / self.max_steps)]
    }

    /// The composite's logits of the last batch, `[n_steps, k_f]`.
    pub fn logits(&self, n_steps: usize) -> &[f32] {
        let composite = &self.stages.last().expect("a module has stages").composite;
        &composite[..n_steps * (composite.len() / self.max_steps)]
    }

    /// One update of the new module and of the controller. Gives the loss before it: the mean over steps of the sum
    /// over maps.
    pub fn learn(
        &mut self,
        controller: &mut Controller,
        module: &mut Module,
        learning_rate: f64,
        batch: CompositeBatch<'_, impl SceneHistory>,
    ) -> f32 {
        let loss = self.forward_and_backward(controller, module, &batch);
        let n_steps = batch.rewards.len() / module.structure().shape().k_f;
        self.count_shares(n_steps);
        let (instructions, structure) = (module.instructions(), module.shared_structure());
        let mut update =
            AdamUpdate::begin(self.settings, learning_rate, module.parameters_mut(), &mut self.adam.module);
        let of_stage = new_module_gradient(&self.stages);
        give_gradient(instructions, &structure, n_steps, batch.history, of_stage, &mut update);
        let settings = *controller.settings();
        let rates = [learning_rate * settings.vote_rate, settings.action_rate, settings.map_rate];
        let gradients = [&self.gradient.votes, &self.gradient.actions, &self.gradient.maps];
        let ControllerParameters { votes, actions, maps } = controller.parameters_mut();
        let parameters = [votes, actions, maps].into_iter().zip(gradients);
        for ((parameters, gradient), (rate, state)) in
            parameters.zip(rates.into_iter().zip(&mut self.adam.controller))
        {
            let mut update = AdamUpdate::begin(self.settings, rate, parameters, state);
            apply_whole(instructions, gradient, &mut update);
        }
        loss
    }

    /// Adds the gradient of the loss to that of the new module's parameters, gives the controller's whole, and the loss.
    pub fn add_gradient(
        &mut self,
        controller: &Controller,
        module: &Module,
        batch: CompositeBatch<'_, impl SceneHistory>,
        gradient: &mut [f32],
    ) -> (f32, &ControllerParameters) {
        let loss = self.forward_and_backward(controller, module, &batch);
        let n_steps = batch.rewards.len() / module.structure().shape().k_f;
        let of_stage = new_module_gradient(&self.stages);
        let mut rule = Accumulate(gradient);
        give_gradient(module.instructions(), module.structure(), n_steps, batch.history, of_stage, &mut rule);
        (loss, &self.gradient)
    }

    fn forward_and_backward(
        &mut self,
        controller: &Controller,
        module: &Module,
        batch: &CompositeBatch<'_, impl SceneHistory>,
    ) -> f32 {
        let k_f = module.structure().shape().k_f;
        let n_steps = batch.rewards.len() / k_f;
        assert!(n_steps <= self.max_steps, "{n_steps} steps in memory for {}", self.max_steps);
        for idx in 0..self.stages.len() {
            self.forward_stage(controller, module, idx, batch, n_steps);
        }
        let readout = self.stages.last().expect("a module has stages");
        let logits = &readout.composite[..n_steps * k_f];
        let loss = mean_cross_entropy(logits, batch.rewards, k_f, &mut self.d_composite[..n_steps * k_f]);
        let ControllerParameters { votes, actions, maps } = &mut self.gradient;
        [votes, actions, maps].into_iter().for_each(|gradient| gradient.fill(0.0));
        for idx in (0..self.stages.len()).rev() {
            self.backward_stage(controller, module, idx, batch.touches, n_steps);
        }
        loss
    }

    fn forward_stage(
        &mut self,
        controller: &Controller,
        new: &Module,
        idx: usize,
        batch: &CompositeBatch<'_, impl SceneHistory>,
        n_steps: usize,
    ) {
        let touches = batch.touches;
        let (instructions, stage) = (new.instructions(), &new.structure().stages()[idx]);
        let (layout, n_old) = (&controller.layout, controller.old().len());
        let votes = &layout.votes[idx];
        let (before, rest) = self.stages.split_at_mut(idx);
        let StageMemory { inputs, moved, sums, numbers, shares, composite, .. } = &mut rest[0];
        let n_inputs = stage.n_hidden + stage.n_touch;
        let inputs = &mut inputs[..n_steps * n_inputs];
        let hidden = before.last().map_or(&[][..], |before| &before.composite);
        if n_inputs > 0 {
            for (step, inputs) in inputs.chunks_exact_mut(n_inputs).enumerate() {
                let (from_before, from_touches) = inputs.split_at_mut(stage.n_hidden);
                from_before.copy_from_slice(&hidden[step * stage.n_hidden..][..stage.n_hidden]);
                from_touches.copy_from_slice(&touches[step * stage.n_touch..][..stage.n_touch]);
            }
        }
        for (old, moved) in moved.iter_mut().enumerate() {
            let (matrix, biases) = controller.action(old);
            let rows =
                moved[..n_steps * n_inputs].chunks_exact_mut(n_inputs).zip(inputs.chunks_exact(n_inputs));
            for (moved, inputs) in rows {
                moved[..stage.n_hidden].copy_from_slice(&inputs[..stage.n_hidden]);
                let touches = &inputs[stage.n_hidden..];
                let rows = matrix.chunks_exact(touches.len()).zip(biases);
                for (moved, (row, bias)) in moved[stage.n_hidden..].iter_mut().zip(rows) {
                    *moved = row.iter().zip(touches).fold(*bias, |sum, (weight, touch)| sum + weight * touch);
                }
            }
        }
        let row_len = votes.n_voters() * votes.n_numbers;
        let numbers = &mut numbers[..n_steps * row_len];
        for module_idx in 0..=n_old {
            let module = module_of(controller, new, module_idx);
            let moved = moved.get(module_idx).map(|moved| (votes.transformed(module_idx), moved));
            let plain = (votes.of_module(module_idx), &*inputs);
            for (voter, inputs) in
                std::iter::once(plain).chain(moved.map(|(voter, moved)| (voter, &moved[..inputs.len()])))
            {
                let sums = &mut sums[voter][..n_steps * stage.n_units];
                match batch.visual.get(module_idx).filter(|_| idx == 0) {
                    Some(visual) => sums.copy_from_slice(visual.rows(batch.rows.clone())),
                    None => sums
                        .chunks_exact_mut(stage.n_units)
                        .for_each(|sums| sums.copy_from_slice(module.biases(stage))),
                }
                if n_inputs > 0 {
                    let weights = module.weights(stage).columns(stage.n_visual, n_inputs);
                    add_products(instructions, weights, Stacked::whole(inputs, n_inputs), sums);
                }
                let rows = sums.chunks_exact(stage.n_units).zip(numbers.chunks_exact_mut(row_len));
                for (sums, numbers) in rows {
                    let numbers = &mut numbers[voter * votes.n_numbers..][..votes.n_numbers];
                    match stage.nonlinearity {
                        Some(nonlinearity) => {
                            nonlinearity.forward(instructions, stage.n_units, sums, numbers)
                        }
                        None => numbers.copy_from_slice(sums),
                    }
                }
            }
        }
        if stage.nonlinearity.is_none() {
            let n_touch = layout.n_touch;
            for (old, (places, memory)) in layout.maps.iter().zip(&mut self.maps).enumerate() {
                for (numbers, touches) in numbers.chunks_exact_mut(row_len).zip(touches.chunks_exact(n_touch))
                {
                    let (plain, out) =
                        plain_and_transformed(numbers, votes.n_numbers, old, votes.transformed(old));
                    places.transform(&controller.parameters.maps, plain, touches, memory, out);
                }
            }
        }
        let pass = VotePass {
            numbers,
            shares: &mut shares[..n_steps * votes.n_shares()],
            composite: &mut composite[..n_steps * votes.n_numbers],
        };
        votes.vote(instructions, &controller.parameters.votes, pass);
    }

    /// From the gradient of a stage's composite to that of the one before; leaves slopes and the controller's gradient.
    fn backward_stage(
        &mut self,
        controller: &Controller,
        new: &Module,
        idx: usize,
        touches: &[f32],
        n_steps: usize,
    ) {
        let (instructions, stage) = (new.instructions(), &new.structure().stages()[idx]);
        let (layout, n_old) = (&controller.layout, controller.old().len());
        let votes = &layout.votes[idx];
        let memory = &mut self.stages[idx];
        let (n, row_len) = (votes.n_numbers, votes.n_voters() * votes.n_numbers);
        let pass = VoteBackPass {
            numbers: &memory.numbers[..n_steps * row_len],
            shares: &memory.shares[..n_steps * votes.n_shares()],
            d_composite: &self.d_composite[..n_steps * n],
            d_numbers: &mut memory.d_numbers[..n_steps * row_len],
            d_shares: &mut memory.d_shares[..n_steps * votes.n_shares()],
            d_inputs: &mut memory.d_votes_inputs[..n_steps * row_len],
        };
        votes.vote_back(instructions, &controller.parameters.votes, pass, &mut self.gradient.votes);
        let numbers = &mut memory.numbers[..n_steps * row_len];
        if stage.nonlinearity.is_none() {
            let d_rows = memory.d_numbers.chunks_exact_mut(row_len);
            for ((numbers, d_numbers), touches) in
                numbers.chunks_exact_mut(row_len).zip(d_rows).zip(touches.chunks_exact(layout.n_touch))
            {
                for (old, (places, memory)) in layout.maps.iter().zip(&mut self.maps).enumerate() {
                    let transformed = votes.transformed(old);
                    let (plain, out) = plain_and_transformed(numbers, n, old, transformed);
                    places.transform(&controller.parameters.maps, plain, touches, memory, out);
                    let (d_plain, d_out) = plain_and_transformed(d_numbers, n, old, transformed);
                    let gradient = &mut self.gradient.maps;
                    places.transform_back(
                        &controller.parameters.maps,
                        touches,
                        memory,
                        d_out,
                        d_plain,
                        gradient,
                    );
                }
            }
        }
        self.d_composite[..n_steps * stage.n_hidden].fill(0.0);
        for module_idx in 0..=n_old {
            let module = module_of(controller, new, module_idx);
            let moved = memory.moved.get(module_idx).map(|_| votes.transformed(module_idx));
            // What the first stage of a frozen module reads does not learn.
            let plain = (idx > 0 || module_idx == n_old).then(|| votes.of_module(module_idx));
            for voter in plain.into_iter().chain(moved) {
                let slopes = &mut memory.slopes[voter][..n_steps * stage.n_units];
                let sums = &memory.sums[voter][..n_steps * stage.n_units];
                let rows = slopes.chunks_exact_mut(stage.n_units).zip(sums.chunks_exact(stage.n_units));
                for (step, (slopes, sums)) in rows.enumerate() {
                    let place = step * row_len + voter * n..step * row_len + (voter + 1) * n;
                    let (out, dout) = (&memory.numbers[place.clone()], &memory.d_numbers[place]);
                    match stage.nonlinearity {
                        Some(nonlinearity) => {
                            let pass = BackwardPass { x: sums, out, dout, dx: slopes };
                            nonlinearity.backward(instructions, stage.n_units, pass);
                        }
                        None => slopes.copy_from_slice(dout),
                    }
                }
                let (weights, slopes) = (module.weights(stage), &*slopes);
                if stage.n_hidden > 0 {
                    let d_inputs = &mut self.d_inputs[..n_steps * stage.n_hidden];
                    set_input_gradient(instructions, weights.columns(0, stage.n_hidden), slopes, d_inputs);
                    self.d_composite.iter_mut().zip(d_inputs).for_each(|(sum, d)| *sum += *d);
                }
                if Some(voter) == moved {
                    let d_moved = &mut self.d_inputs[..n_steps * stage.n_touch];
                    let columns = weights.columns(stage.n_visual + stage.n_hidden, stage.n_touch);
                    set_input_gradient(instructions, columns, slopes, d_moved);
                    let gradient = &mut self.gradient.actions[layout.actions[module_idx].clone()];
                    add_action_gradient(gradient, touches, d_moved, stage.n_touch);
                }
            }
        }
    }
}

impl ShareTally {
    /// Starts anew.
    pub fn clear(&mut self) {
        self.sums.fill(0.0);
        self.n_steps = 0;
    }

    /// Means; `None` if nothing was learned.
    pub fn means(&self) -> Option<Vec<f64>> {
        (self.n_steps > 0).then(|| self.sums.iter().map(|sum| sum / self.n_steps as f64).collect())
    }
}

/// From shares of all stages, as [`ShareTally`] has them, to each voter's at each stage, `[n_stages][n_voters]`; of
/// votes on units, the mean over units.
pub fn voter_shares(shares: &[f64], votes: &[StageVotes]) -> Vec<Vec<f64>> {
    let mut rest = shares;
    let of_stage = |votes: &StageVotes| {
        let (of_stage, behind) = rest.split_at(votes.n_shares());
        rest = behind;
        let n_each = votes.n_shares() / votes.n_voters();
        of_stage.chunks_exact(n_each).map(|shares| shares.iter().sum::<f64>() / n_each as f64).collect()
    };
    votes.iter().map(of_stage).collect()
}

impl CompositeAdam {
    /// Before the first update.
    pub fn new(controller: &Controller) -> Self {
        let ControllerParameters { votes, actions, maps } = controller.parameters();
        Self {
            module: AdamState::new(controller.structure().n_parameters()),
            controller: [votes, actions, maps].map(|parameters| AdamState::new(parameters.len())),
        }
    }
}

fn module_of<'a>(controller: &'a Controller, new: &'a Module, idx: usize) -> &'a Module {
    controller.old().get(idx).map_or(new, |module| module)
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

/// `a' = W_a a + b`
fn add_action_gradient(gradient: &mut [f32], touches: &[f32], d_moved: &[f32], n: usize) {
    let (d_matrix, d_biases) = gradient.split_at_mut(n * n);
    for (touches, d_moved) in touches.chunks_exact(n).zip(d_moved.chunks_exact(n)) {
        for ((d_row, d_bias), d) in d_matrix.chunks_exact_mut(n).zip(&mut *d_biases).zip(d_moved) {
            d_row.iter_mut().zip(touches).for_each(|(sum, touch)| *sum += d * touch);
            *d_bias += d;
        }
    }
}

/// What the new module read at each stage, and the slopes of its sums.
fn new_module_gradient<'a>(stages: &'a [StageMemory]) -> impl Fn(usize) -> StageGradient<'a> {
    |idx| {
        let memory = &stages[idx];
        let slopes = memory.slopes.last().expect("the new module is voted on at every stage");
        StageGradient { inputs: &memory.inputs, slopes }
    }
}
