//! Learning one module: loss, gradient, Adam.

use crate::adam::{AdamSettings, AdamState, AdamUpdate};
use crate::linear::weight_update::Accumulate;
use crate::module::batch_pass::{Batch, BatchPass, BatchSize};
use crate::module::gradient::VisualInputs;
use crate::module::network::Module;
use crate::module::structure::Structure;
use crate::module::visual::SceneHistory;

/// Adam's state and the buffers of a batch.
#[derive(Clone, Debug)]
pub struct Learner {
    settings: AdamSettings,
    state: AdamState,
    pass: BatchPass,
}

impl Learner {
    /// For batches of at most this size.
    pub fn new(structure: &Structure, settings: AdamSettings, size: BatchSize) -> Self {
        let state = AdamState::new(structure.n_parameters());
        Self { settings, state, pass: BatchPass::new(structure, size) }
    }

    pub fn state(&self) -> &AdamState {
        &self.state
    }

    pub fn state_mut(&mut self) -> &mut AdamState {
        &mut self.state
    }

    /// The logits of the last batch, `[n_steps, n_touches, k_f]`.
    pub fn logits(&self, n_steps: usize) -> &[f32] {
        self.pass.logits(n_steps)
    }

    /// One update of all parameters. Returns the loss before it: the mean over steps and touches of the sum over maps.
    pub fn learn(
        &mut self,
        module: &mut Module,
        learning_rate: f64,
        batch: Batch<'_, impl SceneHistory>,
    ) -> f32 {
        let loss = self.pass.run(module, &batch);
        let (instructions, structure) = (module.instructions(), module.shared_structure());
        let mut update =
            AdamUpdate::begin(self.settings, learning_rate, module.parameters_mut(), &mut self.state);
        self.pass.emit(instructions, &structure, visual_inputs(batch), &mut update);
        loss
    }

    /// Adds the gradient of the loss to `gradient`, which is as long as the parameters, and returns the loss.
    pub fn add_gradient(
        &mut self,
        module: &Module,
        batch: Batch<'_, impl SceneHistory>,
        gradient: &mut [f32],
    ) -> f32 {
        let loss = self.pass.run(module, &batch);
        let mut rule = Accumulate(gradient);
        self.pass.emit(module.instructions(), module.structure(), visual_inputs(batch), &mut rule);
        loss
    }
}

fn visual_inputs<H>(batch: Batch<'_, H>) -> VisualInputs<'_, H> {
    VisualInputs { visual: batch.visual, rows: batch.rows, history: batch.history }
}
