//! Some steps through a module, forward and backward, and what that works in.

use crate::arithmetic::Instructions;
use crate::linear::input_gradient::set_input_gradient;
use crate::linear::products::add_products;
use crate::linear::weight_update::UpdateRule;
use crate::linear::{Stacked, Weights};
use crate::loss::mean_cross_entropy;
use crate::module::convolution::ConvolutionGradient;
use crate::module::gradient::{Seen, StageGradient, give_gradient};
use crate::module::network::Module;
use crate::module::structure::{Stage, Structure};
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
    /// Touches, oldest first, the chosen one last: `[n_steps, n_touches, 2 (k_b + 1)]`. Several of a step share what was
    /// seen.
    pub touches: &'a [f32],
    /// Rewards of this touch, of the next, ...: `[n_steps, n_touches, k_f]`.
    pub rewards: &'a [f32],
}

/// How much is learned from at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchSize {
    /// Steps, at most.
    pub n_steps: usize,
    /// Touches of each.
    pub n_touches: usize,
}

impl BatchSize {
    /// One touch at each of so many steps.
    pub fn steps(n_steps: usize) -> Self {
        Self { n_steps, n_touches: 1 }
    }
}

/// All stages of a batch.
#[derive(Clone, Debug)]
pub(super) struct BatchPass {
    size: BatchSize,
    stages: Vec<StageMemory>,
    convolutions: Option<ConvolutionGradient>,
    /// Gradient of a stage's numbers.
    gradient: Vec<f32>,
    /// The stage that reads touches. Before it each row is a step, from it on a touch of a step.
    touch_stage: usize,
    /// Its slopes, those of all touches of a step together: `[n_steps, n_units]`.
    step_slopes: Vec<f32>,
}

/// One stage.
#[derive(Clone, Debug)]
struct StageMemory {
    /// What it reads besides scene vectors: `[n_rows, n_hidden + n_touch]`.
    inputs: Vec<f32>,
    /// `[n_rows, n_units]`
    sums: Vec<f32>,
    /// Behind the nonlinearity, `[n_rows, n_out]`.
    numbers: Vec<f32>,
    /// Gradient of the sums.
    slopes: Vec<f32>,
}

impl StageMemory {
    fn new(stage: &Stage, n_rows: usize) -> Self {
        Self {
            inputs: vec![0.0; n_rows * (stage.n_hidden + stage.n_touch)],
            sums: vec![0.0; n_rows * stage.n_units],
            numbers: vec![0.0; n_rows * stage.n_out()],
            slopes: vec![0.0; n_rows * stage.n_units],
        }
    }
}

impl BatchPass {
    pub fn new(structure: &Structure, size: BatchSize) -> Self {
        let BatchSize { n_steps, n_touches } = size;
        let stages = structure.stages();
        let touch_stage = structure.touch_stage();
        let (before, behind) = stages.split_at(touch_stage);
        let memory = before.iter().map(|stage| StageMemory::new(stage, n_steps));
        let widest = stages.iter().map(|stage| stage.n_hidden).max().unwrap_or(0);
        Self {
            size,
            stages: memory
                .chain(behind.iter().map(|stage| StageMemory::new(stage, n_steps * n_touches)))
                .collect(),
            convolutions: ConvolutionGradient::new(structure, n_steps),
            gradient: vec![0.0; n_steps * n_touches * widest],
            touch_stage,
            step_slopes: vec![0.0; n_steps * stages[touch_stage].n_units],
        }
    }

    /// The logits of the last batch, `[n_steps, n_touches, k_f]`.
    pub fn logits(&self, n_steps: usize) -> &[f32] {
        let sums = &self.stages.last().expect("a module has stages").sums;
        &sums[..n_steps * (sums.len() / self.size.n_steps)]
    }

    /// Rows of a stage when so many steps are learned from.
    fn n_rows(&self, stage: usize, n_steps: usize) -> usize {
        if stage < self.touch_stage { n_steps } else { n_steps * self.size.n_touches }
    }

    /// Forward, the loss, and back. Gives the loss: the mean over steps and touches of the sum over maps.
    pub fn run(&mut self, module: &Module, batch: &Batch<'_, impl SceneHistory>) -> f32 {
        let k_f = module.structure().shape().k_f;
        let n_steps = batch.rows.len();
        let BatchSize { n_steps: max_steps, n_touches } = self.size;
        assert!(n_steps <= max_steps, "{n_steps} steps in memory for {max_steps}");
        let n_logits = n_steps * n_touches * k_f;
        assert_eq!(batch.rewards.len(), n_logits, "rewards of every touch");
        self.forward(module, batch, n_steps);
        let readout = self.stages.last_mut().expect("a module has stages");
        let (logits, slopes) = (&readout.sums[..n_logits], &mut readout.slopes[..n_logits]);
        let loss = mean_cross_entropy(logits, batch.rewards, k_f, slopes);
        self.backward(module, n_steps);
        if let (Some(gradient), Some(convolved)) = (&mut self.convolutions, batch.visual.convolved()) {
            // What is flattened is read together with touches.
            gradient.find(module, convolved, batch.rows.clone(), &self.step_slopes);
        }
        loss
    }

    /// Gives the gradient of all parameters to a rule.
    pub fn give(
        &self,
        instructions: Instructions,
        structure: &Structure,
        seen: Seen<'_, impl SceneHistory>,
        rule: &mut impl UpdateRule,
    ) {
        let n_steps = seen.rows.len();
        let of_stage = |idx: usize| {
            let (stage, memory) = (&structure.stages()[idx], &self.stages[idx]);
            let n_rows = self.n_rows(idx, n_steps);
            let of_steps = if idx == self.touch_stage { &self.step_slopes } else { &memory.slopes };
            StageGradient {
                inputs: &memory.inputs[..n_rows * (stage.n_hidden + stage.n_touch)],
                slopes: &memory.slopes[..n_rows * stage.n_units],
                step_slopes: &of_steps[..n_steps * stage.n_units],
            }
        };
        give_gradient(instructions, structure, seen, self.convolutions.as_ref(), of_stage, rule);
    }

    /// Leaves sums and numbers of all stages.
    fn forward(&mut self, module: &Module, batch: &Batch<'_, impl SceneHistory>, n_steps: usize) {
        let instructions = module.instructions();
        for (idx, stage) in module.structure().stages().iter().enumerate() {
            let n_rows = self.n_rows(idx, n_steps);
            // What was seen is the same for all touches of a step.
            let n_alike = if idx == self.touch_stage { self.size.n_touches } else { 1 };
            let (before, rest) = self.stages.split_at_mut(idx);
            let StageMemory { inputs, sums, numbers, .. } = &mut rest[0];
            let sums = &mut sums[..n_rows * stage.n_units];
            let visual = batch.visual.rows(batch.rows.clone());
            for (row, sums) in sums.chunks_exact_mut(stage.n_units).enumerate() {
                sums.copy_from_slice(match idx {
                    0 => &visual[row / n_alike * stage.n_units..][..stage.n_units],
                    _ => module.biases(stage),
                });
            }
            let n_inputs = stage.n_hidden + stage.n_touch;
            if n_inputs > 0 {
                let hidden = before.last().map_or(&[][..], |before| &before.numbers);
                let inputs = &mut inputs[..n_rows * n_inputs];
                for (row, inputs) in inputs.chunks_exact_mut(n_inputs).enumerate() {
                    let (from_before, from_touches) = inputs.split_at_mut(stage.n_hidden);
                    from_before.copy_from_slice(&hidden[row / n_alike * stage.n_hidden..][..stage.n_hidden]);
                    from_touches.copy_from_slice(&batch.touches[row * stage.n_touch..][..stage.n_touch]);
                }
                let weights = module.weights(stage).columns(stage.n_visual, n_inputs);
                add_products(instructions, weights, Stacked::whole(inputs, n_inputs), sums);
            }
            let numbers = &mut numbers[..n_rows * stage.n_out()];
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
        for idx in (0..stages.len()).rev() {
            let stage = &stages[idx];
            if idx == self.touch_stage {
                self.sum_over_touches(stage, n_steps);
            }
            let Some(before) = idx.checked_sub(1).map(|before| &stages[before]) else { break };
            let n_rows = self.n_rows(idx - 1, n_steps);
            let (memory_before, memory) = self.stages.split_at_mut(idx);
            let slopes = if idx == self.touch_stage { &self.step_slopes } else { &memory[0].slopes };
            let gradient = &mut self.gradient[..n_rows * stage.n_hidden];
            let weights: Weights<'_> = module.weights(stage).columns(0, stage.n_hidden);
            set_input_gradient(instructions, weights, &slopes[..n_rows * stage.n_units], gradient);
            let StageMemory { sums, numbers, slopes, .. } = &mut memory_before[idx - 1];
            let n_sums = n_rows * before.n_units;
            if let Some(nonlinearity) = before.nonlinearity {
                let pass = BackwardPass {
                    x: &sums[..n_sums],
                    out: &numbers[..n_rows * before.n_out()],
                    dout: gradient,
                    dx: &mut slopes[..n_sums],
                };
                nonlinearity.backward(instructions, before.n_units, pass);
            }
        }
    }

    fn sum_over_touches(&mut self, stage: &Stage, n_steps: usize) {
        let (n_touches, n_units) = (self.size.n_touches, stage.n_units);
        let slopes = self.stages[self.touch_stage].slopes.chunks_exact(n_touches * n_units);
        for (sums, slopes) in self.step_slopes.chunks_exact_mut(n_units).zip(slopes).take(n_steps) {
            let (first, others) = slopes.split_at(n_units);
            sums.copy_from_slice(first);
            for slopes in others.chunks_exact(n_units) {
                sums.iter_mut().zip(slopes).for_each(|(sum, slope)| *sum += slope);
            }
        }
    }
}
