//! The way back through convolutions.

use crate::arithmetic::Instructions;
use crate::large_memory::zeros;
use crate::linear::Stacked;
use crate::linear::matrix_product::{Matrix, PackedColumns, SomeColumns, add_matrix_product, set_columns};
use crate::linear::weight_update::{Target, UpdateRule, apply_rows, update_biases, update_weights};
use crate::module::convolution::forward::{ConvolvedRows, ConvolvedStep};
use crate::module::gradient::{Seen, give_scene_gradient};
use crate::module::network::Module;
use crate::module::structure::{Stage, Structure};
use crate::module::visual::SceneHistory;
use crate::nonlinearity::BackwardPass;
use std::ops::Range;

/// Flattened numbers whose weights are brought near together: rows are long, each begins in another page.
const PIECE: usize = 512;

/// Gradients of the convolutions' parameters, and what finding them works in.
#[derive(Clone, Debug)]
pub(crate) struct ConvolutionGradient {
    /// Slopes of the stage behind, times what a flattened number counts: `[max_steps, n_units]`.
    scaled_slopes: Vec<f32>,
    /// `[max_steps, n_flat]`
    d_flat: Vec<f32>,
    /// Weights of the stage behind that read some flattened numbers.
    near_weights: PackedColumns,
    layers: Vec<LayerGradient>,
    /// Slopes of the first convolution, summed over steps that show one screen: `[max_steps, n_places, n_units]`, where the
    /// first of them stands.
    map_slopes: Vec<f32>,
    /// One step of one convolution: slopes of its sums, and the gradient of what it read.
    slopes: Vec<f32>,
    d_inputs: Vec<f32>,
}

/// The gradient of one convolution.
#[derive(Clone, Debug)]
struct LayerGradient {
    /// Slopes of sums, summed over places: `[max_steps, n_units]`.
    slopes: Vec<f32>,
    /// Of the weights of channels: `[n_units, n_hidden]`.
    weights: Vec<f32>,
    /// What products read: those weights as they are, and what was read at one step, `[n_places, n_hidden]`.
    packed_weights: PackedColumns,
    packed_inputs: PackedColumns,
}

impl ConvolutionGradient {
    /// For batches of at most `max_steps` steps; `None` for modules without convolutions.
    pub fn new(structure: &Structure, max_steps: usize) -> Option<Self> {
        let shape = structure.shape().convolutions.as_ref()?;
        let (stages, behind) = (structure.convolutions(), &structure.stages()[0]);
        let n_places = shape.map.n_places;
        let widest = |of: fn(&Stage) -> usize| n_places * stages.iter().map(of).max().unwrap_or(0);
        let layer = |stage: &Stage| LayerGradient {
            slopes: vec![0.0; max_steps * stage.n_units],
            weights: vec![0.0; stage.n_units * stage.n_hidden],
            packed_weights: PackedColumns::new(stage.n_units, stage.n_hidden),
            packed_inputs: PackedColumns::new(n_places, stage.n_hidden),
        };
        Some(Self {
            scaled_slopes: vec![0.0; max_steps * behind.n_units],
            d_flat: zeros(max_steps * behind.n_visual),
            near_weights: PackedColumns::new(behind.n_units, PIECE),
            layers: stages.iter().map(layer).collect(),
            map_slopes: zeros(max_steps * n_places * stages[0].n_units),
            slopes: vec![0.0; widest(|stage| stage.n_units)],
            d_inputs: vec![0.0; widest(|stage| stage.n_hidden)],
        })
    }

    /// Finds the gradient of some rows from the slopes of the stage behind, `[n_steps, n_units]`.
    pub fn find(&mut self, module: &Module, convolved: &ConvolvedRows, rows: Range<usize>, slopes: &[f32]) {
        let behind = &module.structure().stages()[0];
        let n_steps = rows.len();
        let scaled = &mut self.scaled_slopes[..n_steps * behind.n_units];
        scaled.iter_mut().zip(slopes).for_each(|(scaled, slope)| *scaled = convolved.scale() * slope);
        let d_flat = &mut self.d_flat[..n_steps * behind.n_visual];
        set_flat_gradient(module, behind, scaled, &mut self.near_weights, d_flat);
        for (stage, layer) in module.structure().convolutions().iter().zip(&mut self.layers) {
            let weights = &module.parameters()[stage.weights()][stage.n_visual..];
            layer.packed_weights.pack(module.instructions(), Matrix::rows(weights, stage.n_in()));
            layer.weights.fill(0.0);
        }
        for (step, row) in rows.clone().enumerate() {
            for layer in (0..self.layers.len()).rev() {
                self.go_back(module, convolved.step(layer, row), layer, step);
            }
            self.keep_map_slopes(convolved, rows.clone(), step);
        }
        for (step, row) in rows.clone().enumerate() {
            if first_with_map(convolved, rows.clone(), row) == step {
                self.add_map_gradient(module, convolved.step(0, row), step);
            }
        }
    }

    /// Puts the slopes of the first convolution at a step to those of other steps that show the same screen.
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

    /// The gradient of the weights that read a map, of all steps that show it.
    fn add_map_gradient(&mut self, module: &Module, pass: ConvolvedStep<'_>, step: usize) {
        let (stage, n) = (&module.structure().convolutions()[0], pass.sums.len());
        let slopes = Matrix::rows(&self.map_slopes[step * n..][..n], stage.n_units);
        self.layers[0].add_weight_gradient(module.instructions(), slopes, pass.inputs);
    }

    /// One convolution of one step: from the gradient of its numbers to that of its inputs.
    fn go_back(&mut self, module: &Module, pass: ConvolvedStep<'_>, layer: usize, step: usize) {
        let instructions = module.instructions();
        let stages = module.structure().convolutions();
        let stage = &stages[layer];
        let ConvolvedStep { inputs, sums, numbers } = pass;
        let d_numbers = match layer + 1 == stages.len() {
            true => &self.d_flat[step * numbers.len()..][..numbers.len()],
            false => &self.d_inputs[..numbers.len()],
        };
        let slopes = &mut self.slopes[..sums.len()];
        let nonlinearity = stage.nonlinearity.expect("only the readout has none");
        let back = BackwardPass { x: sums, out: numbers, dout: d_numbers, dx: slopes };
        nonlinearity.backward(instructions, stage.n_units, back);
        let gradient = &mut self.layers[layer];
        let over_places = &mut gradient.slopes[step * stage.n_units..][..stage.n_units];
        over_places.fill(0.0);
        for slopes in slopes.chunks_exact(stage.n_units) {
            over_places.iter_mut().zip(slopes).for_each(|(sum, slope)| *sum += slope);
        }
        if layer > 0 {
            let n_places = sums.len() / stage.n_units;
            let at_places = Matrix::rows(slopes, stage.n_units);
            gradient.add_weight_gradient(instructions, at_places, inputs);
            let d_inputs = &mut self.d_inputs[..n_places * stage.n_hidden];
            set_columns(
                instructions,
                at_places,
                &gradient.packed_weights,
                SomeColumns::all(d_inputs, stage.n_hidden),
            );
        }
    }

    /// Gives the gradient of the convolutions, and of the weights that read what they flatten, to the rule.
    pub fn give(
        &self,
        instructions: Instructions,
        structure: &Structure,
        seen: &Seen<'_, impl SceneHistory>,
        rule: &mut impl UpdateRule,
    ) {
        let Some(convolved) = seen.visual.convolved() else { panic!("rows of another module") };
        let n_steps = seen.rows.len();
        for (stage, gradient) in structure.convolutions().iter().zip(&self.layers) {
            let slopes = &gradient.slopes[..n_steps * stage.n_units];
            if stage.n_visual > 0 {
                give_scene_gradient(instructions, structure, stage, slopes, seen.history, rule);
            }
            let target = Target { first_col: stage.n_visual, ..Target::of(stage) };
            apply_rows(instructions, target, &gradient.weights, rule);
            update_biases(instructions, stage.bias_start, stage.n_units, slopes, rule);
        }
        let behind = &structure.stages()[0];
        let slopes = &self.scaled_slopes[..n_steps * behind.n_units];
        let flattened = Stacked::whole(convolved.flattened(seen.rows.clone()), behind.n_visual);
        update_weights(instructions, Target::of(behind), slopes, flattened, rule);
    }
}

/// The first of some steps that shows what a row does.
fn first_with_map(convolved: &ConvolvedRows, mut rows: Range<usize>, row: usize) -> usize {
    let is_shown = |other| convolved.map_row(other) == convolved.map_row(row);
    rows.position(is_shown).expect("the row is one of them")
}

impl LayerGradient {
    /// Adds what slopes at all places, `[n_places, n_units]`, say about the weights of what was read there.
    fn add_weight_gradient(&mut self, instructions: Instructions, slopes: Matrix<'_>, inputs: &[f32]) {
        self.packed_inputs
            .pack(instructions, Matrix::rows(inputs, inputs.len() / self.packed_inputs.depth()));
        add_matrix_product(instructions, slopes.transposed(), &self.packed_inputs, &mut self.weights);
    }
}

/// Sets the gradient of flattened numbers, `[n_steps, n_flat]`, from the slopes of the stage behind.
fn set_flat_gradient(
    module: &Module,
    behind: &Stage,
    slopes: &[f32],
    near_weights: &mut PackedColumns,
    d_flat: &mut [f32],
) {
    let (n_flat, weights) = (behind.n_visual, &module.parameters()[behind.weights()]);
    let slopes = Matrix::rows(slopes, behind.n_units);
    for first in (0..n_flat).step_by(PIECE) {
        let n = PIECE.min(n_flat - first);
        near_weights.pack_columns(module.instructions(), n, Matrix::rows(&weights[first..], behind.n_in()));
        let columns = SomeColumns { numbers: d_flat, stride: n_flat, first, n };
        set_columns(module.instructions(), slopes, near_weights, columns);
    }
}
