//! Learning a composite: the loss, its gradient through votes, transformations and modules, and Adam.

use crate::adam::{AdamSettings, AdamState, AdamUpdate};
use crate::composite::controller::{Controller, ControllerParameters};
use crate::composite::layout::StageVotes;
use crate::composite::map_transformation::MapMemory;
use crate::composite::stage_rows::StageRows;
use crate::composite::tally::ShareTally;
use crate::linear::input_gradient::set_input_gradient;
use crate::linear::weight_update::{Accumulate, apply_whole};
use crate::loss::mean_cross_entropy;
use crate::module::{
    ConvolutionGradient, Module, SceneHistory, Stage, StageGradient, Structure, VisualInputs, VisualRows,
    emit_gradient,
};
use std::ops::Range;

/// Steps to learn from.
#[derive(Clone)]
pub struct CompositeBatch<'a, H> {
    /// Per module, old ones first: pre-activations from features.
    pub visual: &'a [VisualRows],
    /// The batch's rows of `visual`, one per step.
    pub rows: Range<usize>,
    /// Features; step 0 is the first of the rows.
    pub history: &'a H,
    /// `[n_steps, 2 (k_b + 1)]`: each touch after the `k_b` before it.
    pub touches: &'a [f32],
    /// `[n_steps, k_f]`: rewards of this touch, the next, ...
    pub rewards: &'a [f32],
}

/// Adam's state of all learned parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct CompositeAdam {
    /// The new module.
    pub module: AdamState,
    /// Votes, transformed touches, transformed maps.
    pub controller: [AdamState; 3],
}

/// Adam's state and the buffers of a batch.
#[derive(Clone, Debug)]
pub struct CompositeLearner {
    settings: AdamSettings,
    adam: CompositeAdam,
    stages: Vec<StageRows>,
    /// The new module's.
    convolutions: Option<ConvolutionGradient>,
    /// Per old module, if maps are transformed.
    maps: Vec<MapMemory>,
    d_composite: Vec<f32>,
    d_inputs: Vec<f32>,
    gradient: ControllerParameters,
    tally: ShareTally,
    max_steps: usize,
}

impl CompositeLearner {
    /// For batches of at most `max_steps` steps.
    pub fn new(controller: &Controller, settings: AdamSettings, max_steps: usize) -> Self {
        let structure = controller.structure();
        let layout = &controller.layout;
        let rows = |(idx, stage): (usize, &Stage)| {
            let n_moved = if idx == structure.touch_stage() { layout.actions.len() } else { 0 };
            StageRows::new(stage, layout.votes[idx].clone(), n_moved, max_steps)
        };
        let widest = structure.stages().iter().map(|stage| stage.n_hidden + stage.n_touch).max();
        let widest = widest.unwrap_or(0).max(structure.shape().k_f);
        let parameters = controller.parameters();
        let zeros = |parameters: &[f32]| vec![0.0; parameters.len()];
        Self {
            settings,
            adam: CompositeAdam::new(controller),
            stages: structure.stages().iter().enumerate().map(rows).collect(),
            convolutions: ConvolutionGradient::new(structure, max_steps),
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

    /// Shares since the tally was last cleared.
    pub fn tally(&self) -> &ShareTally {
        &self.tally
    }

    pub fn tally_mut(&mut self) -> &mut ShareTally {
        &mut self.tally
    }

    fn add_to_tally(&mut self, n_steps: usize) {
        self.tally.n_steps += n_steps as u64;
        let mut sums = &mut self.tally.sums[..];
        for stage in &self.stages {
            let (of_stage, rest) = sums.split_at_mut(stage.votes().n_shares());
            for shares in stage.shares(n_steps).chunks_exact(of_stage.len()) {
                of_stage.iter_mut().zip(shares).for_each(|(sum, &share)| *sum += f64::from(share));
            }
            sums = rest;
        }
    }

    pub fn adam(&self) -> &CompositeAdam {
        &self.adam
    }

    pub fn adam_mut(&mut self) -> &mut CompositeAdam {
        &mut self.adam
    }

    /// A stage's shares in the last batch, `[n_steps, n_shares]`.
    pub fn shares(&self, stage: usize, n_steps: usize) -> &[f32] {
        self.stages[stage].shares(n_steps)
    }

    /// The composite's logits in the last batch, `[n_steps, k_f]`.
    pub fn logits(&self, n_steps: usize) -> &[f32] {
        let readout = self.stages.last().expect("a module has stages");
        &readout.composite()[..n_steps * readout.votes().n_activations]
    }

    /// One update of the new module and of the controller. Returns the loss before it: the mean over steps of the sum
    /// over maps.
    pub fn learn(
        &mut self,
        controller: &mut Controller,
        module: &mut Module,
        learning_rate: f64,
        batch: CompositeBatch<'_, impl SceneHistory>,
    ) -> f32 {
        let loss = self.forward_and_backward(controller, module, &batch);
        self.add_to_tally(batch.rows.len());
        let (instructions, structure) = (module.instructions(), module.shared_structure());
        let mut update =
            AdamUpdate::begin(self.settings, learning_rate, module.parameters_mut(), &mut self.adam.module);
        let of_stage = new_module_gradient(&structure, &self.stages, batch.rows.len());
        let visual = new_module_visual(&batch);
        emit_gradient(instructions, &structure, visual, self.convolutions.as_ref(), of_stage, &mut update);
        let settings = *controller.settings();
        let rates = [learning_rate * settings.vote_rate, settings.action_rate, settings.map_rate];
        let gradients = [&self.gradient.votes, &self.gradient.actions, &self.gradient.maps];
        let ControllerParameters { votes, actions, maps } = controller.parameters_mut();
        let parameters = [votes, actions, maps].into_iter().zip(gradients);
        // No decay: 0 is not a neutral value for votes and transformations.
        let undecayed = AdamSettings { weight_decay: 0.0, ..self.settings };
        for ((parameters, gradient), (rate, state)) in
            parameters.zip(rates.into_iter().zip(&mut self.adam.controller))
        {
            let mut update = AdamUpdate::begin(undecayed, rate, parameters, state);
            apply_whole(instructions, gradient, &mut update);
        }
        loss
    }

    /// Adds the gradient of the new module's parameters to `gradient`. Returns the loss and the controller's gradient.
    pub fn add_gradient(
        &mut self,
        controller: &Controller,
        module: &Module,
        batch: CompositeBatch<'_, impl SceneHistory>,
        gradient: &mut [f32],
    ) -> (f32, &ControllerParameters) {
        let loss = self.forward_and_backward(controller, module, &batch);
        let (instructions, structure) = (module.instructions(), module.structure());
        let of_stage = new_module_gradient(structure, &self.stages, batch.rows.len());
        let (visual, mut rule) = (new_module_visual(&batch), Accumulate(gradient));
        emit_gradient(instructions, structure, visual, self.convolutions.as_ref(), of_stage, &mut rule);
        (loss, &self.gradient)
    }

    fn forward_and_backward(
        &mut self,
        controller: &Controller,
        module: &Module,
        batch: &CompositeBatch<'_, impl SceneHistory>,
    ) -> f32 {
        let k_f = module.structure().shape().k_f;
        let n_steps = batch.rows.len();
        assert!(n_steps <= self.max_steps, "{n_steps} steps in memory for {}", self.max_steps);
        for idx in 0..self.stages.len() {
            self.forward_stage(controller, module, idx, batch, n_steps);
        }
        let readout = self.stages.last().expect("a module has stages");
        let logits = &readout.composite()[..n_steps * k_f];
        let loss = mean_cross_entropy(logits, batch.rewards, k_f, &mut self.d_composite[..n_steps * k_f]);
        // The gradient of the votes is overwritten.
        let ControllerParameters { actions, maps, .. } = &mut self.gradient;
        [actions, maps].into_iter().for_each(|gradient| gradient.fill(0.0));
        for idx in (0..self.stages.len()).rev() {
            self.backward_stage(controller, module, idx, batch.touches, n_steps);
        }
        if let (Some(gradient), Some(convolved)) =
            (&mut self.convolutions, new_module_visual(batch).visual.convolved())
        {
            let d_preact =
                self.stages[0].new_module_gradient(&module.structure().stages()[0], n_steps).d_preact;
            gradient.find(module, convolved, batch.rows.clone(), d_preact);
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
        let stage = &new.structure().stages()[idx];
        let (before, rest) = self.stages.split_at_mut(idx);
        let rows = &mut rest[0];
        let hidden = before.last().map_or(&[][..], StageRows::composite);
        rows.set_inputs(stage, hidden, batch.touches, n_steps);
        rows.set_moved(controller, stage, n_steps);
        for module_idx in 0..=controller.old().len() {
            let module = controller.old().get(module_idx).map_or(new, |module| module);
            let visual = batch.visual.get(module_idx).filter(|_| idx == 0);
            let visual = visual.map(|visual| visual.rows(batch.rows.clone()));
            for reading in rows.readings(module_idx) {
                rows.set_voter(module, stage, reading, visual, n_steps);
            }
        }
        if stage.nonlinearity.is_none() {
            rows.transform_maps(controller, batch.touches, &mut self.maps, n_steps);
        }
        rows.vote(new.instructions(), &controller.parameters.votes, n_steps);
    }

    /// From the gradient of a stage's composite to that of the stage before; also computes the controller's gradient.
    fn backward_stage(
        &mut self,
        controller: &Controller,
        new: &Module,
        idx: usize,
        touches: &[f32],
        n_steps: usize,
    ) {
        let (instructions, stage) = (new.instructions(), &new.structure().stages()[idx]);
        let (rows, gradient) = (&mut self.stages[idx], &mut self.gradient);
        let votes = &controller.parameters.votes;
        rows.vote_backward(instructions, votes, &self.d_composite, n_steps, &mut gradient.votes);
        if stage.nonlinearity.is_none() {
            rows.transform_maps_backward(controller, touches, &mut self.maps, n_steps, &mut gradient.maps);
        }
        self.d_composite[..n_steps * stage.n_hidden].fill(0.0);
        let n_old = controller.old().len();
        for module_idx in 0..=n_old {
            let module = controller.old().get(module_idx).map_or(new, |module| module);
            for reading in rows.readings(module_idx) {
                // A frozen module's visual features are constant.
                if idx == 0 && module_idx < n_old && reading.moved.is_none() {
                    continue;
                }
                let (d_preact, weights) =
                    (rows.set_d_preact(module, stage, reading, n_steps), module.weights(stage));
                if stage.n_hidden > 0 {
                    let d_inputs = &mut self.d_inputs[..n_steps * stage.n_hidden];
                    set_input_gradient(instructions, weights.columns(0, stage.n_hidden), d_preact, d_inputs);
                    self.d_composite.iter_mut().zip(d_inputs).for_each(|(sum, d)| *sum += *d);
                }
                if let Some(old) = reading.moved {
                    let d_moved = &mut self.d_inputs[..n_steps * stage.n_touch];
                    let columns = weights.columns(stage.n_visual + stage.n_hidden, stage.n_touch);
                    set_input_gradient(instructions, columns, d_preact, d_moved);
                    let gradient = &mut gradient.actions[controller.layout.actions[old].clone()];
                    add_action_gradient(gradient, touches, d_moved, stage.n_touch);
                }
            }
        }
    }
}

impl CompositeAdam {
    pub fn new(controller: &Controller) -> Self {
        let ControllerParameters { votes, actions, maps } = controller.parameters();
        Self {
            module: AdamState::new(controller.structure().n_parameters()),
            controller: [votes, actions, maps].map(|parameters| AdamState::new(parameters.len())),
        }
    }
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

fn new_module_visual<'a, H>(batch: &CompositeBatch<'a, H>) -> VisualInputs<'a, H> {
    let visual = batch.visual.last().expect("there is always a module that learns");
    VisualInputs { visual, rows: batch.rows.clone(), history: batch.history }
}

/// What the new module read at each stage, and the d_preact of its sums.
fn new_module_gradient<'a>(
    structure: &'a Structure,
    stages: &'a [StageRows],
    n_steps: usize,
) -> impl Fn(usize) -> StageGradient<'a> {
    move |idx| stages[idx].new_module_gradient(&structure.stages()[idx], n_steps)
}
