//! Learning: the loss of some steps, its gradient through all stages, and Adam.

use crate::adam::{AdamSettings, AdamState, AdamUpdate};
use crate::linear::input_gradient::set_input_gradient;
use crate::linear::products::add_products;
use crate::linear::weight_update::Accumulate;
use crate::linear::{Stacked, Weights};
use crate::loss::mean_cross_entropy;
use crate::module::convolution::ConvolutionGradient;
use crate::module::gradient::{Seen, StageGradient, give_gradient};
use crate::module::network::Module;
use crate::module::structure::Structure;
use crate::module::visual::{SceneHistory, VisualRows};
use crate::nonlinearity::BackwardPass;
use std::ops::Range;

/// Steps to learn from.
#[derive(Clone)]
pub struct Batch<'a, H> {
    /// What [`Module::visual`] gave under the present weights.
    pub visual: &'a VisualRows,
    /// Which rows of it, one a step.
    pub rows: Range<usize>,
    /// Features, from the first of the rows on.
    pub history: &'a H,
    /// Touches, oldest first, the chosen one last: `[n_steps, 2 (k_b + 1)]`.
    pub touches: &'a [f32],
    /// Rewards of this touch, of the next, ...: `[n_steps, k_f]`.
    pub rewards: &'a [f32],
}

/// Adam's state, and what learning works in.
#[derive(Clone, Debug)]
pub struct Learner {
    settings: AdamSettings,
    state: AdamState,
    stages: Vec<StageMemory>,
    convolutions: Option<ConvolutionGradient>,
    /// Gradient of a stage's numbers.
    gradient: Vec<f32>,
    max_steps: usize,
}

/// One stage of all steps, each row a step.
#[derive(Clone, Debug)]
struct StageMemory {
    /// What it reads besides scene vectors: `[n_steps, n_hidden + n_touch]`.
    inputs: Vec<f32>,
    /// `[n_steps, n_units]`
    sums: Vec<f32>,
    /// Behind the nonlinearity, `[n_steps, n_out]`.
    numbers: Vec<f32>,
    /// Gradient of the sums.
    slopes: Vec<f32>,
}

impl Learner {
    /// For batches of at most `max_steps` steps.
    pub fn new(structure: &Structure, settings: AdamSettings, max_steps: usize) -> Self {
        let stages = structure.stages();
        let memory = stages.iter().map(|stage| StageMemory {
            inputs: vec![0.0; max_steps * (stage.n_hidden + stage.n_touch)],
            sums: vec![0.0; max_steps * stage.n_units],
            numbers: vec![0.0; max_steps * stage.n_out()],
            slopes: vec![0.0; max_steps * stage.n_units],
        });
        let widest = stages.iter().map(|stage| stage.n_hidden).max().unwrap_or(0);
        Self {
            settings,
            state: AdamState::new(structure.n_parameters()),
            stages: memory.collect(),
            convolutions: ConvolutionGradient::new(structure, max_steps),
            gradient: vec![0.0; max_steps * widest],
            max_steps,
        }
    }

    /// Adam's means and the number of updates.
    pub fn state(&self) -> &AdamState {
        &self.state
    }

    /// Adam's means and the number of updates, to restore.
    pub fn state_mut(&mut self) -> &mut AdamState {
        &mut self.state
    }

    /// The logits of the last batch, `[n_steps, k_f]`.
    pub fn logits(&self, n_steps: usize) -> &[f32] {
        let sums = &self.stages.last().expect("a module has stages").sums;
        &sums[..n_steps * (sums.len() / self.max_steps)]
    }

    /// One update of all parameters. Gives the loss before it: the mean over steps of the sum over maps.
    pub fn learn(
        &mut self,
        module: &mut Module,
        learning_rate: f64,
        batch: Batch<'_, impl SceneHistory>,
    ) -> f32 {
        let loss = self.forward_and_backward(module, &batch);
        let (instructions, structure) = (module.instructions(), module.shared_structure());
        let mut update =
            AdamUpdate::begin(self.settings, learning_rate, module.parameters_mut(), &mut self.state);
        let seen = Seen { visual: batch.visual, rows: batch.rows, history: batch.history };
        let of_stage = gradient_of(&self.stages);
        give_gradient(instructions, &structure, seen, self.convolutions.as_ref(), of_stage, &mut update);
        loss
    }

    /// Adds the gradient of the loss to `gradient`, one number a parameter, and gives the loss.
    pub fn add_gradient(
        &mut self,
        module: &Module,
        batch: Batch<'_, impl SceneHistory>,
        gradient: &mut [f32],
    ) -> f32 {
        let loss = self.forward_and_backward(module, &batch);
        let seen = Seen { visual: batch.visual, rows: batch.rows, history: batch.history };
        let (of_stage, mut rule) = (gradient_of(&self.stages), Accumulate(gradient));
        let (instructions, structure) = (module.instructions(), module.structure());
        give_gradient(instructions, structure, seen, self.convolutions.as_ref(), of_stage, &mut rule);
        loss
    }

    fn forward_and_backward(&mut self, module: &Module, batch: &Batch<'_, impl SceneHistory>) -> f32 {
        let k_f = module.structure().shape().k_f;
        let n_steps = batch.rows.len();
        assert!(n_steps <= self.max_steps, "{n_steps} steps in memory for {}", self.max_steps);
        assert_eq!(batch.rewards.len(), n_steps * k_f, "rewards of every step");
        self.forward(module, batch, n_steps);
        let readout = self.stages.last_mut().expect("a module has stages");
        let (logits, slopes) = (&readout.sums[..n_steps * k_f], &mut readout.slopes[..n_steps * k_f]);
        let loss = mean_cross_entropy(logits, batch.rewards, k_f, slopes);
        self.backward(module, n_steps);
        if let (Some(gradient), Some(convolved)) = (&mut self.convolutions, batch.visual.convolved()) {
            let slopes = &self.stages[0].slopes;
            gradient.find(module, convolved, batch.rows.clone(), slopes);
        }
        loss
    }

    /// Leaves sums and numbers of all stages.
    fn forward(&mut self, module: &Module, batch: &Batch<'_, impl SceneHistory>, n_steps: usize) {
        let instructions = module.instructions();
        for (idx, stage) in module.structure().stages().iter().enumerate() {
            let (before, rest) = self.stages.split_at_mut(idx);
            let StageMemory { inputs, sums, numbers, .. } = &mut rest[0];
            let sums = &mut sums[..n_steps * stage.n_units];
            if idx == 0 {
                sums.copy_from_slice(batch.visual.rows(batch.rows.clone()));
            } else {
                sums.chunks_exact_mut(stage.n_units)
                    .for_each(|sums| sums.copy_from_slice(module.biases(stage)));
            }
            let n_inputs = stage.n_hidden + stage.n_touch;
            if n_inputs > 0 {
                let hidden = before.last().map_or(&[][..], |before| &before.numbers);
                let inputs = &mut inputs[..n_steps * n_inputs];
                for (step, inputs) in inputs.chunks_exact_mut(n_inputs).enumerate() {
                    let (from_before, from_touches) = inputs.split_at_mut(stage.n_hidden);
                    from_before.copy_from_slice(&hidden[step * stage.n_hidden..][..stage.n_hidden]);
                    from_touches.copy_from_slice(&batch.touches[step * stage.n_touch..][..stage.n_touch]);
                }
                let weights = module.weights(stage).columns(stage.n_visual, n_inputs);
                add_products(instructions, weights, Stacked::whole(inputs, n_inputs), sums);
            }
            let numbers = &mut numbers[..n_steps * stage.n_out()];
            match stage.nonlinearity {
                Some(nonlinearity) => nonlinearity.forward(instructions, stage.n_units, sums, numbers),
                None => numbers.copy_from_slice(sums),
            }
        }
    }

    /// From the slopes of the logits to those of all other sums.
    fn backward(&mut self, module: &Module, n_steps: usize) {
        let instructions = module.instructions();
        let stages = module.structure().stages();
        for idx in (1..stages.len()).rev() {
            let (stage, before) = (&stages[idx], &stages[idx - 1]);
            let (memory_before, memory) = self.stages.split_at_mut(idx);
            let gradient = &mut self.gradient[..n_steps * stage.n_hidden];
            let weights: Weights<'_> = module.weights(stage).columns(0, stage.n_hidden);
            set_input_gradient(instructions, weights, &memory[0].slopes[..n_steps * stage.n_units], gradient);
            let StageMemory { sums, numbers, slopes, .. } = &mut memory_before[idx - 1];
            let n_sums = n_steps * before.n_units;
            if let Some(nonlinearity) = before.nonlinearity {
                let pass = BackwardPass {
                    x: &sums[..n_sums],
                    out: &numbers[..n_steps * before.n_out()],
                    dout: gradient,
                    dx: &mut slopes[..n_sums],
                };
                nonlinearity.backward(instructions, before.n_units, pass);
            }
        }
    }
}

fn gradient_of<'a>(stages: &'a [StageMemory]) -> impl Fn(usize) -> StageGradient<'a> {
    |idx| StageGradient { inputs: &stages[idx].inputs, slopes: &stages[idx].slopes }
}
