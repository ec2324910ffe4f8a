//! The backward pass of convolutions.

use crate::arithmetic::Instructions;
use crate::large_memory::AlignedNumbers;
use crate::linear::cres_products::{PARTS, column_of, give_cres_gradient, is_readable, set_cres_slopes};
use crate::linear::matrix_product::{Matrix, PackedColumns, SomeColumns, add_matrix_product, set_columns};
use crate::linear::weight_update::{Accumulate, Target, UpdateRule, apply_rows, update_biases};
use crate::module::convolution::flattened::{FlattenedGradient, give_flattened_gradient, set_last_slopes};
use crate::module::convolution::forward::{ChannelWeights, ConvolvedRows, ConvolvedStep};
use crate::module::gradient::{VisualInputs, emit_scene_gradient};
use crate::module::network::Module;
use crate::module::structure::{Stage, Structure};
use crate::module::visual::SceneHistory;
use crate::nonlinearity::BackwardPass;
use std::ops::Range;

/// Gradients of the convolutions' parameters, with their buffers.
#[derive(Clone, Debug)]
pub(crate) struct ConvolutionGradient {
    n_places: usize,
    /// Gradient of the next stage's pre-activations times the factor of flattened activations: `[max_steps, n_units]`.
    scaled_slopes: AlignedNumbers,
    flattened: Option<FlattenedGradient>,
    /// Gradient of the last convolution's pre-activations: `[max_steps, n_places, n_units]`.
    last_slopes: AlignedNumbers,
    layers: Vec<LayerGradient>,
    /// The same of the first convolution, summed over steps that show one screen and stored at the first of them:
    /// `[max_steps, n_places, n_units]`.
    map_slopes: AlignedNumbers,
    /// For one step: the same of a convolution and of the one before, and the gradient of its inputs.
    slopes: AlignedNumbers,
    slopes_before: AlignedNumbers,
    d_inputs: AlignedNumbers,
}

/// The gradient of one convolution.
#[derive(Clone, Debug)]
struct LayerGradient {
    /// Gradient of the pre-activations, summed over places: `[max_steps, n_units]`.
    slopes: Vec<f32>,
    /// Of the weights of channels: `[n_units, n_hidden]`.
    weights: Vec<f32>,
    way: WayBack,
}

/// How weights and inputs get their gradient.
#[derive(Clone, Debug)]
enum WayBack {
    /// By dense products: with the weights, and with the inputs of one step, `[n_places, n_hidden]`.
    OfNumbers { packed_weights: PackedColumns, packed_inputs: PackedColumns },
    /// By products that skip the zeros after CReS: the gradient of weights, `[n_channels, 4, n_units]`.
    OfSums { weights: AlignedNumbers },
}

impl ConvolutionGradient {
    /// For batches of at most `max_steps` steps; `None` for modules without convolutions.
    pub fn new(structure: &Structure, max_steps: usize) -> Option<Self> {
        let (shape, flattened) = (structure.shape().convolutions.as_ref()?, structure.flattened()?);
        let (stages, n_places) = (structure.convolutions(), shape.map.n_places);
        let last = stages.last()?;
        let widest = |of: fn(&Stage) -> usize| n_places * stages.iter().map(of).max().unwrap_or(0);
        Some(Self {
            n_places,
            scaled_slopes: AlignedNumbers::zeros(max_steps * flattened.n_units),
            flattened: FlattenedGradient::new(structure, flattened, max_steps),
            last_slopes: AlignedNumbers::zeros(max_steps * n_places * last.n_units),
            layers: (0..stages.len())
                .map(|idx| LayerGradient::new(stages, idx, n_places, max_steps))
                .collect(),
            map_slopes: AlignedNumbers::zeros(max_steps * n_places * stages[0].n_units),
            slopes: AlignedNumbers::zeros(widest(|stage| stage.n_units)),
            slopes_before: AlignedNumbers::zeros(widest(|stage| stage.n_units)),
            d_inputs: AlignedNumbers::zeros(widest(|stage| stage.n_hidden)),
        })
    }

    /// Computes the gradient of some rows from the gradient of the next stage's pre-activations, `[n_steps, n_units]`.
    pub fn find(&mut self, module: &Module, convolved: &ConvolvedRows, rows: Range<usize>, slopes: &[f32]) {
        let structure = module.structure();
        let (stages, n_steps) = (structure.convolutions(), rows.len());
        let (Some(flattened), Some(last)) = (structure.flattened(), stages.last()) else {
            panic!("rows of another module")
        };
        let scaled = &mut self.scaled_slopes[..n_steps * flattened.n_units];
        scaled.iter_mut().zip(slopes).for_each(|(scaled, slope)| *scaled = convolved.scale() * slope);
        let n_last = flattened.n_places * flattened.n_channels;
        let last_slopes = &mut self.last_slopes[..n_steps * n_last];
        let seen = convolved.last(last, rows.clone());
        set_last_slopes(module, flattened, seen, scaled, self.flattened.as_mut(), last_slopes);
        for (stage, layer) in stages.iter().zip(&mut self.layers) {
            layer.begin(module, stage);
        }
        for (step, row) in rows.clone().enumerate() {
            self.slopes[..n_last].copy_from_slice(&self.last_slopes[step * n_last..][..n_last]);
            for layer in (0..stages.len()).rev() {
                self.sum_over_places(&stages[layer], layer, step);
                if layer > 0 {
                    self.go_back(module, convolved, layer, row);
                }
            }
            self.keep_map_slopes(convolved, rows.clone(), step);
        }
        for (step, row) in rows.clone().enumerate() {
            if first_with_map(convolved, rows.clone(), row) == step {
                let n = convolved.step(0, row).sums.len();
                let slopes = Matrix::rows(&self.map_slopes[step * n..][..n], stages[0].n_units);
                self.layers[0].add_weight_gradient(module.instructions(), slopes, convolved.map(row));
            }
        }
        for (stage, layer) in stages.iter().zip(&mut self.layers) {
            layer.end(stage);
        }
    }

    /// Adds the gradient of the first convolution at a step to the gradient of other steps that show the same screen.
    fn keep_map_slopes(&mut self, convolved: &ConvolvedRows, rows: Range<usize>, step: usize) {
        let row = rows.start + step;
        let first = first_with_map(convolved, rows, row);
        let slopes = &self.slopes[..convolved.step(0, row).sums.len()];
        let kept = &mut self.map_slopes[first * slopes.len()..][..slopes.len()];
        match first == step {
            true => kept.copy_from_slice(slopes),
            false => kept.iter_mut().zip(slopes).for_each(|(kept, slope)| *kept += slope),
        }
    }

    fn sum_over_places(&mut self, stage: &Stage, layer: usize, step: usize) {
        let over_places = &mut self.layers[layer].slopes[step * stage.n_units..][..stage.n_units];
        over_places.fill(0.0);
        for slopes in self.slopes.chunks_exact(stage.n_units).take(self.n_places) {
            over_places.iter_mut().zip(slopes).for_each(|(sum, slope)| *sum += slope);
        }
    }

    /// One convolution of one step: from the gradient of its pre-activations to the gradients of its weights and of the
    /// pre-activations of the convolution before.
    fn go_back(&mut self, module: &Module, convolved: &ConvolvedRows, layer: usize, row: usize) {
        let instructions = module.instructions();
        let stages = module.structure().convolutions();
        let (stage, before) = (&stages[layer], &stages[layer - 1]);
        let ConvolvedStep { sums, numbers } = convolved.step(layer - 1, row);
        let n_places = sums.len() / before.n_units;
        let slopes = &self.slopes[..n_places * stage.n_units];
        let slopes_before = &mut self.slopes_before[..sums.len()];
        let gradient = &mut self.layers[layer];
        match (&mut gradient.way, convolved.channel_weights(layer)) {
            (WayBack::OfSums { weights: gradient }, ChannelWeights::OfSums(weights)) => {
                let mut rule = Accumulate(gradient);
                give_cres_gradient(instructions, sums, before.n_units, slopes, 0, &mut rule);
                set_cres_slopes(instructions, sums, before.n_units, weights, slopes, slopes_before);
            }
            (WayBack::OfNumbers { .. }, _) => {
                let at_places = Matrix::rows(slopes, stage.n_units);
                gradient.add_weight_gradient(instructions, at_places, numbers);
                let d_inputs = &mut self.d_inputs[..n_places * stage.n_hidden];
                gradient.set_input_gradient(instructions, at_places, d_inputs, stage);
                let nonlinearity = before.nonlinearity.expect("only the readout has none");
                let back = BackwardPass { x: sums, out: numbers, dout: d_inputs, dx: slopes_before };
                nonlinearity.backward(instructions, before.n_units, back);
            }
            (WayBack::OfSums { .. }, ChannelWeights::OfNumbers(_)) => panic!("rows of another module"),
        }
        std::mem::swap(&mut self.slopes, &mut self.slopes_before);
    }

    /// Passes the gradient of the convolutions, and of the weights that read flattened activations, to the rule.
    pub fn give(
        &self,
        instructions: Instructions,
        structure: &Structure,
        seen: &VisualInputs<'_, impl SceneHistory>,
        rule: &mut impl UpdateRule,
    ) {
        let (Some(convolved), Some(flattened)) = (seen.visual.convolved(), structure.flattened()) else {
            panic!("rows of another module")
        };
        let n_steps = seen.rows.len();
        for (stage, gradient) in structure.convolutions().iter().zip(&self.layers) {
            let slopes = &gradient.slopes[..n_steps * stage.n_units];
            if stage.n_visual > 0 {
                emit_scene_gradient(instructions, structure, stage, slopes, seen.history, rule);
            }
            let target = Target { first_col: stage.n_visual, ..Target::of(stage) };
            apply_rows(instructions, target, &gradient.weights, rule);
            update_biases(instructions, stage.bias_start, stage.n_units, slopes, rule);
        }
        let last = structure.convolutions().last().expect("there is a convolution");
        let slopes = &self.scaled_slopes[..n_steps * flattened.n_units];
        let sums = convolved.last(last, seen.rows.clone()).sums;
        let put_down = convolved.flattened_numbers(seen.rows.start);
        give_flattened_gradient(instructions, flattened, slopes, sums, put_down, rule);
    }
}

/// The first of these rows that shows the same map as `row`.
fn first_with_map(convolved: &ConvolvedRows, mut rows: Range<usize>, row: usize) -> usize {
    let is_shown = |other| convolved.map_row(other) == convolved.map_row(row);
    rows.position(is_shown).expect("the row is one of them")
}

impl LayerGradient {
    fn new(stages: &[Stage], idx: usize, n_places: usize, max_steps: usize) -> Self {
        let stage = &stages[idx];
        let before = idx.checked_sub(1).and_then(|before| stages[before].nonlinearity);
        let n_weights = stage.n_units * stage.n_hidden;
        Self {
            slopes: vec![0.0; max_steps * stage.n_units],
            weights: vec![0.0; n_weights],
            way: match is_readable(before) {
                true => WayBack::OfSums { weights: AlignedNumbers::zeros(n_weights) },
                false => WayBack::OfNumbers {
                    packed_weights: PackedColumns::new(stage.n_units, stage.n_hidden),
                    packed_inputs: PackedColumns::new(n_places, stage.n_hidden),
                },
            },
        }
    }

    /// Before the first step.
    fn begin(&mut self, module: &Module, stage: &Stage) {
        self.weights.fill(0.0);
        match &mut self.way {
            WayBack::OfSums { weights } => weights.fill(0.0),
            WayBack::OfNumbers { packed_weights, .. } => {
                let weights = &module.parameters()[stage.weights()][stage.n_visual..];
                packed_weights.pack(module.instructions(), Matrix::rows(weights, stage.n_in()));
            }
        }
    }

    /// After the last step: copies the gradient into the order of the weights.
    fn end(&mut self, stage: &Stage) {
        let WayBack::OfSums { weights } = &self.way else { return };
        let n_channels = stage.n_hidden / PARTS;
        for (idx, of_units) in weights.chunks_exact(stage.n_units).enumerate() {
            let col = column_of(idx, n_channels);
            let rows = self.weights[col..].iter_mut().step_by(stage.n_hidden);
            rows.zip(of_units).for_each(|(weight, gradient)| *weight = *gradient);
        }
    }

    /// Adds the gradient of the weights from the gradient at all places, `[n_places, n_units]`, and the inputs there.
    fn add_weight_gradient(&mut self, instructions: Instructions, slopes: Matrix<'_>, inputs: &[f32]) {
        let WayBack::OfNumbers { packed_inputs, .. } = &mut self.way else { panic!("this one reads sums") };
        packed_inputs.pack(instructions, Matrix::rows(inputs, inputs.len() / packed_inputs.depth()));
        add_matrix_product(instructions, slopes.transposed(), packed_inputs, &mut self.weights);
    }

    /// Sets the gradient of the inputs, `[n_places, n_hidden]`.
    fn set_input_gradient(
        &self,
        instructions: Instructions,
        slopes: Matrix<'_>,
        d_inputs: &mut [f32],
        stage: &Stage,
    ) {
        let WayBack::OfNumbers { packed_weights, .. } = &self.way else { panic!("this one reads sums") };
        set_columns(instructions, slopes, packed_weights, SomeColumns::all(d_inputs, stage.n_hidden));
    }
}
