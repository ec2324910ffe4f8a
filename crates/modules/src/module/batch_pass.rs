//! The forward and backward pass of a module over a batch.

use crate::arithmetic::Instructions;
use crate::linear::input_gradient::set_input_gradient;
use crate::linear::products::add_products;
use crate::linear::weight_update::UpdateRule;
use crate::linear::{Stacked, Weights};
use crate::loss::mean_cross_entropy;
use crate::module::convolution::ConvolutionGradient;
use crate::module::gradient::{StageGradient, VisualInputs, emit_gradient};
use crate::module::network::Module;
use crate::module::structure::{Stage, Structure};
use crate::module::visual::{SceneHistory, VisualRows};
use crate::nonlinearity::BackwardPass;
use std::ops::Range;

/// Steps to learn from.
#[derive(Clone)]
pub struct Batch<'a, H> {
    /// From [`Module::visual`], with the current weights.
    pub visual: &'a VisualRows,
    /// Its rows, one per step.
    pub rows: Range<usize>,
    /// Features; step 0 is the first of the rows.
    pub history: &'a H,
    /// `[n_steps, n_touches, 2 (k_b + 1)]`: each touch after the `k_b` before it. Touches of a step share its features.
    pub touches: &'a [f32],
    /// `[n_steps, n_touches, k_f]`: rewards of this touch, the next, ...
    pub rewards: &'a [f32],
}

/// The size of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchSize {
    /// Maximum number of steps.
    pub n_steps: usize,
    /// Touches per step.
    pub n_touches: usize,
}

impl BatchSize {
    pub fn steps(n_steps: usize) -> Self {
        Self { n_steps, n_touches: 1 }
    }
}

/// The buffers of a batch.
#[derive(Clone, Debug)]
pub(super) struct BatchPass {
    size: BatchSize,
    stages: Vec<StageMemory>,
    convolutions: Option<ConvolutionGradient>,
    /// Gradient of a stage's inputs.
    gradient: Vec<f32>,
    /// The stage that reads touches. Rows are steps before it, and touches of steps from it on.
    touch_stage: usize,
    /// Gradient of its pre-activations, summed over the touches of each step: `[n_steps, n_units]`.
    step_d_preact: Vec<f32>,
}

#[derive(Clone, Debug)]
struct StageMemory {
    /// Inputs except scene vectors, `[n_rows, n_hidden + n_touch]`.
    inputs: Vec<f32>,
    /// `[n_rows, n_units]`
    preact: Vec<f32>,
    /// `[n_rows, n_out]`
    activations: Vec<f32>,
    /// `[n_rows, n_units]`
    d_preact: Vec<f32>,
}

impl StageMemory {
    fn new(stage: &Stage, n_rows: usize) -> Self {
        Self {
            inputs: vec![0.0; n_rows * (stage.n_hidden + stage.n_touch)],
            preact: vec![0.0; n_rows * stage.n_units],
            activations: vec![0.0; n_rows * stage.n_out()],
            d_preact: vec![0.0; n_rows * stage.n_units],
        }
    }
}

impl BatchPass {
    pub fn new(structure: &Structure, size: BatchSize) -> Self {
        let BatchSize { n_steps, n_touches } = size;
        let stages = structure.stages();
        let touch_stage = structure.touch_stage();
        let (before, after) = stages.split_at(touch_stage);
        let memory = before.iter().map(|stage| StageMemory::new(stage, n_steps));
        let widest = stages.iter().map(|stage| stage.n_hidden).max().unwrap_or(0);
        Self {
            size,
            stages: memory
                .chain(after.iter().map(|stage| StageMemory::new(stage, n_steps * n_touches)))
                .collect(),
            convolutions: ConvolutionGradient::new(structure, n_steps),
            gradient: vec![0.0; n_steps * n_touches * widest],
            touch_stage,
            step_d_preact: vec![0.0; n_steps * stages[touch_stage].n_units],
        }
    }

    /// The logits of the last batch, `[n_steps, n_touches, k_f]`.
    pub fn logits(&self, n_steps: usize) -> &[f32] {
        let preact = &self.stages.last().expect("a module has stages").preact;
        &preact[..n_steps * (preact.len() / self.size.n_steps)]
    }

    /// Rows of a stage for a batch of `n_steps`.
    fn n_rows(&self, stage: usize, n_steps: usize) -> usize {
        if stage < self.touch_stage { n_steps } else { n_steps * self.size.n_touches }
    }

    /// Forward and backward pass. Returns the loss: the mean over steps and touches of the sum over maps.
    pub fn run(&mut self, module: &Module, batch: &Batch<'_, impl SceneHistory>) -> f32 {
        let k_f = module.structure().shape().k_f;
        let n_steps = batch.rows.len();
        let BatchSize { n_steps: max_steps, n_touches } = self.size;
        assert!(n_steps <= max_steps, "{n_steps} steps in memory for {max_steps}");
        let n_logits = n_steps * n_touches * k_f;
        assert_eq!(batch.rewards.len(), n_logits, "rewards of every touch");
        self.forward(module, batch, n_steps);
        let readout = self.stages.last_mut().expect("a module has stages");
        let (logits, d_preact) = (&readout.preact[..n_logits], &mut readout.d_preact[..n_logits]);
        let loss = mean_cross_entropy(logits, batch.rewards, k_f, d_preact);
        self.backward(module, n_steps);
        if let (Some(gradient), Some(convolved)) = (&mut self.convolutions, batch.visual.convolved()) {
            // The touch stage reads the flattened features.
            gradient.find(module, convolved, batch.rows.clone(), &self.step_d_preact);
        }
        loss
    }

    /// Passes the gradient of all parameters to an update rule.
    pub fn emit(
        &self,
        instructions: Instructions,
        structure: &Structure,
        inputs: VisualInputs<'_, impl SceneHistory>,
        rule: &mut impl UpdateRule,
    ) {
        let n_steps = inputs.rows.len();
        let of_stage = |idx: usize| {
            let (stage, memory) = (&structure.stages()[idx], &self.stages[idx]);
            let n_rows = self.n_rows(idx, n_steps);
            let of_steps = if idx == self.touch_stage { &self.step_d_preact } else { &memory.d_preact };
            StageGradient {
                inputs: &memory.inputs[..n_rows * (stage.n_hidden + stage.n_touch)],
                d_preact: &memory.d_preact[..n_rows * stage.n_units],
                step_d_preact: &of_steps[..n_steps * stage.n_units],
            }
        };
        emit_gradient(instructions, structure, inputs, self.convolutions.as_ref(), of_stage, rule);
    }

    fn forward(&mut self, module: &Module, batch: &Batch<'_, impl SceneHistory>, n_steps: usize) {
        let instructions = module.instructions();
        for (idx, stage) in module.structure().stages().iter().enumerate() {
            let n_rows = self.n_rows(idx, n_steps);
            // All touches of a step have the same features.
            let n_sharing = if idx == self.touch_stage { self.size.n_touches } else { 1 };
            let (before, rest) = self.stages.split_at_mut(idx);
            let StageMemory { inputs, preact, activations, .. } = &mut rest[0];
            let preact = &mut preact[..n_rows * stage.n_units];
            let visual = batch.visual.rows(batch.rows.clone());
            for (row, preact) in preact.chunks_exact_mut(stage.n_units).enumerate() {
                preact.copy_from_slice(match idx {
                    0 => &visual[row / n_sharing * stage.n_units..][..stage.n_units],
                    _ => module.biases(stage),
                });
            }
            let n_inputs = stage.n_hidden + stage.n_touch;
            if n_inputs > 0 {
                let hidden = before.last().map_or(&[][..], |before| &before.activations);
                let inputs = &mut inputs[..n_rows * n_inputs];
                for (row, inputs) in inputs.chunks_exact_mut(n_inputs).enumerate() {
                    let (from_before, from_touches) = inputs.split_at_mut(stage.n_hidden);
                    from_before
                        .copy_from_slice(&hidden[row / n_sharing * stage.n_hidden..][..stage.n_hidden]);
                    from_touches.copy_from_slice(&batch.touches[row * stage.n_touch..][..stage.n_touch]);
                }
                let weights = module.weights(stage).columns(stage.n_visual, n_inputs);
                add_products(instructions, weights, Stacked::whole(inputs, n_inputs), preact);
            }
            let activations = &mut activations[..n_rows * stage.n_out()];
            match stage.nonlinearity {
                Some(nonlinearity) => nonlinearity.forward(instructions, stage.n_units, preact, activations),
                None => activations.copy_from_slice(preact),
            }
        }
    }

    fn backward(&mut self, module: &Module, n_steps: usize) {
        let instructions = module.instructions();
        let stages = module.structure().stages();
        for idx in (0..stages.len()).rev() {
            let stage = &stages[idx];
            if idx == self.touch_stage {
                self.sum_over_touches(stage, n_steps);
            }
            let Some(before) = idx.checked_sub(1).map(|before| &stages[before]) else { break };
            let n_rows = self.n_rows(idx - 1, n_steps);
            let (memory_before, memory) = self.stages.split_at_mut(idx);
            let d_preact = if idx == self.touch_stage { &self.step_d_preact } else { &memory[0].d_preact };
            let gradient = &mut self.gradient[..n_rows * stage.n_hidden];
            let weights: Weights<'_> = module.weights(stage).columns(0, stage.n_hidden);
            set_input_gradient(instructions, weights, &d_preact[..n_rows * stage.n_units], gradient);
            let StageMemory { preact, activations, d_preact, .. } = &mut memory_before[idx - 1];
            let n_preact = n_rows * before.n_units;
            if let Some(nonlinearity) = before.nonlinearity {
                let pass = BackwardPass {
                    x: &preact[..n_preact],
                    out: &activations[..n_rows * before.n_out()],
                    dout: gradient,
                    dx: &mut d_preact[..n_preact],
                };
                nonlinearity.backward(instructions, before.n_units, pass);
            }
        }
    }

    fn sum_over_touches(&mut self, stage: &Stage, n_steps: usize) {
        let (n_touches, n_units) = (self.size.n_touches, stage.n_units);
        let d_preact = self.stages[self.touch_stage].d_preact.chunks_exact(n_touches * n_units);
        for (preact, d_preact) in self.step_d_preact.chunks_exact_mut(n_units).zip(d_preact).take(n_steps) {
            let (first, others) = d_preact.split_at(n_units);
            preact.copy_from_slice(first);
            for d_preact in others.chunks_exact(n_units) {
                preact.iter_mut().zip(d_preact).for_each(|(sum, slope)| *sum += slope);
            }
        }
    }
}
