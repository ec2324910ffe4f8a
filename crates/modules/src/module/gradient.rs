//! The gradient of all parameters of a module, passed to an update rule piece by piece.

use crate::arithmetic::Instructions;
use crate::linear::Stacked;
use crate::linear::weight_update::{Target, UpdateRule, update_biases, update_weights};
use crate::module::convolution::ConvolutionGradient;
use crate::module::structure::{Stage, Structure};
use crate::module::visual::{Lagged, SceneHistory, VisualRows, first_col, pieces};
use std::ops::Range;

/// The features of a batch.
pub(crate) struct VisualInputs<'a, H> {
    pub visual: &'a VisualRows,
    /// Its rows, one per step.
    pub rows: Range<usize>,
    /// Features; step 0 is the first of the rows.
    pub history: &'a H,
}

/// What the gradient of a stage's weights is computed from; each row is a touch of a step.
pub(crate) struct StageGradient<'a> {
    /// `[n_rows, n_hidden + n_touch]`
    pub inputs: &'a [f32],
    /// `[n_rows, n_units]`
    pub d_preact: &'a [f32],
    /// Summed over the touches of each step: `[n_steps, n_units]`.
    pub step_d_preact: &'a [f32],
}

/// Passes the gradient of every parameter to the rule; that of convolutions was computed before.
pub(crate) fn emit_gradient<'a>(
    instructions: Instructions,
    structure: &Structure,
    visual: VisualInputs<'_, impl SceneHistory>,
    convolutions: Option<&ConvolutionGradient>,
    of_stage: impl Fn(usize) -> StageGradient<'a>,
    rule: &mut impl UpdateRule,
) {
    for (idx, stage) in structure.stages().iter().enumerate() {
        let StageGradient { inputs, d_preact, step_d_preact } = of_stage(idx);
        if idx == 0 {
            match convolutions {
                Some(convolutions) => convolutions.give(instructions, structure, &visual, rule),
                None => {
                    emit_scene_gradient(instructions, structure, stage, step_d_preact, visual.history, rule)
                }
            }
        }
        let n_inputs = stage.n_hidden + stage.n_touch;
        if n_inputs > 0 {
            let target = Target { first_col: stage.n_visual, ..Target::of(stage) };
            update_weights(instructions, target, d_preact, Stacked::whole(inputs, n_inputs), rule);
        }
        update_biases(instructions, stage.bias_start, stage.n_units, d_preact, rule);
    }
}

/// Passes the gradient of the weights that read scene vectors to the rule.
pub(super) fn emit_scene_gradient(
    instructions: Instructions,
    structure: &Structure,
    stage: &Stage,
    d_preact: &[f32],
    history: &impl SceneHistory,
    rule: &mut impl UpdateRule,
) {
    let shape = structure.shape();
    for piece in pieces(shape.scene_len) {
        for lag in 0..=shape.k_b {
            let target = Target { first_col: first_col(shape, lag) + piece.start, ..Target::of(stage) };
            let scenes = Lagged { history, lag, start: piece.start, end: piece.end };
            update_weights(instructions, target, d_preact, scenes, rule);
        }
    }
}

impl Target {
    pub(super) fn of(stage: &Stage) -> Self {
        Self { start: stage.weight_start, stride: stage.n_in(), first_col: 0, n_out: stage.n_units }
    }
}
