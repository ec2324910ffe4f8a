//! The gradient of all parameters of a module, given to a rule piece by piece.

use crate::arithmetic::Instructions;
use crate::linear::Stacked;
use crate::linear::weight_update::{Target, UpdateRule, update_biases, update_weights};
use crate::module::convolution::ConvolutionGradient;
use crate::module::structure::{Stage, Structure};
use crate::module::visual::{Lagged, SceneHistory, VisualRows, first_col, pieces};
use std::ops::Range;

/// What was seen at the steps that are learned from.
pub(crate) struct Seen<'a, H> {
    pub visual: &'a VisualRows,
    /// Which rows of it, one a step.
    pub rows: Range<usize>,
    /// Features, from the first of the rows on.
    pub history: &'a H,
}

/// What a stage read, each row a touch of a step, and the slopes of its sums.
pub(crate) struct StageGradient<'a> {
    /// `[n_rows, n_hidden + n_touch]`
    pub inputs: &'a [f32],
    /// `[n_rows, n_units]`
    pub slopes: &'a [f32],
    /// The same, those of all touches of a step together: `[n_steps, n_units]`.
    pub step_slopes: &'a [f32],
}

/// Gives the gradient of every parameter of a module to the rule; that of convolutions was found before.
pub(crate) fn give_gradient<'a>(
    instructions: Instructions,
    structure: &Structure,
    seen: Seen<'_, impl SceneHistory>,
    convolutions: Option<&ConvolutionGradient>,
    of_stage: impl Fn(usize) -> StageGradient<'a>,
    rule: &mut impl UpdateRule,
) {
    for (idx, stage) in structure.stages().iter().enumerate() {
        let StageGradient { inputs, slopes, step_slopes } = of_stage(idx);
        if idx == 0 {
            match convolutions {
                Some(convolutions) => convolutions.give(instructions, structure, &seen, rule),
                None => give_scene_gradient(instructions, structure, stage, step_slopes, seen.history, rule),
            }
        }
        let n_inputs = stage.n_hidden + stage.n_touch;
        if n_inputs > 0 {
            let target = Target { first_col: stage.n_visual, ..Target::of(stage) };
            update_weights(instructions, target, slopes, Stacked::whole(inputs, n_inputs), rule);
        }
        update_biases(instructions, stage.bias_start, stage.n_units, slopes, rule);
    }
}

/// Gives the gradient of the weights that read scene vectors.
pub(super) fn give_scene_gradient(
    instructions: Instructions,
    structure: &Structure,
    stage: &Stage,
    slopes: &[f32],
    history: &impl SceneHistory,
    rule: &mut impl UpdateRule,
) {
    let shape = structure.shape();
    for piece in pieces(shape.scene_len) {
        for lag in 0..=shape.k_b {
            let target = Target { first_col: first_col(shape, lag) + piece.start, ..Target::of(stage) };
            let scenes = Lagged { history, lag, start: piece.start, end: piece.end };
            update_weights(instructions, target, slopes, scenes, rule);
        }
    }
}

impl Target {
    /// All weights of a stage.
    pub(super) fn of(stage: &Stage) -> Self {
        Self { start: stage.weight_start, stride: stage.n_in(), first_col: 0, n_out: stage.n_units }
    }
}
