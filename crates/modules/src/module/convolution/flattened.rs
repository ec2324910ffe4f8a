//! The layer after convolutions: its products with the activations of all places, forward and backward. After CReS the
//! weights of zeros are skipped (`cres_products`); other activations are copied into the order of the weights and
//! multiplied densely.

use crate::arithmetic::Instructions;
use crate::large_memory::AlignedNumbers;
use crate::linear::cres_products::{add_cres_products, give_cres_gradient, is_readable, set_cres_slopes};
use crate::linear::matrix_product::{Matrix, PackedColumns, add_matrix_product};
use crate::linear::products::add_products;
use crate::linear::weight_update::{Target, UpdateRule, update_weights};
use crate::linear::{Stacked, Weights};
use crate::module::network::Module;
use crate::module::structure::{Flattened, Structure};
use crate::nonlinearity::{BackwardPass, Nonlinearity};

/// The last convolution of a batch: pre-activations, `[n_steps, n_places, n_channels]`, and activations, `[n_steps,
/// n_places, n_parts, n_channels]`; the latter are empty where pre-activations are enough.
#[derive(Clone, Copy)]
pub(super) struct LastConvolution<'a> {
    pub nonlinearity: Nonlinearity,
    pub sums: &'a [f32],
    pub numbers: &'a [f32],
}

/// Flattened activations, where they are stored.
#[derive(Clone, Debug)]
pub(super) struct FlattenedNumbers {
    /// In the order of the weights: `[n_steps, n_places, n_channels, n_parts]`.
    numbers: AlignedNumbers,
    /// Weights of one place.
    near_weights: PackedColumns,
}

impl FlattenedNumbers {
    /// `None` where pre-activations are enough.
    pub fn new(structure: &Structure, flattened: &Flattened, n_steps: usize) -> Option<Self> {
        let last = structure.convolutions().last()?;
        let &Flattened { n_channels, n_parts, n_units, .. } = flattened;
        (!is_readable(last.nonlinearity)).then(|| Self {
            numbers: AlignedNumbers::zeros(n_steps * flattened.n_flat()),
            near_weights: PackedColumns::new(n_channels * n_parts, n_units),
        })
    }

    /// From a step on.
    pub fn of_steps(&self, flattened: &Flattened, first: usize) -> &[f32] {
        &self.numbers[first * flattened.n_flat()..]
    }
}

/// Adds the products with flattened activations to the pre-activations of the layer, `[n_steps, n_units]`.
pub(super) fn add_flattened(
    module: &Module,
    flattened: &Flattened,
    last: LastConvolution<'_>,
    put_down: Option<&mut FlattenedNumbers>,
    sums: &mut [f32],
) {
    let (instructions, weights) = (module.instructions(), module.flattened_weights(flattened));
    let &Flattened { n_places, n_channels, n_parts, n_units, .. } = flattened;
    let Some(FlattenedNumbers { numbers, near_weights }) = put_down else {
        return add_cres_products(instructions, last.sums, n_places * n_channels, weights, sums);
    };
    let (n_of_place, n_flat) = (n_channels * n_parts, flattened.n_flat());
    let places = numbers.chunks_exact_mut(n_of_place).zip(last.numbers.chunks_exact(n_of_place));
    places.for_each(|(numbers, by_part)| transpose(by_part, n_channels, numbers));
    for (place, weights) in weights.chunks_exact(n_of_place * n_units).enumerate() {
        near_weights.pack(instructions, Matrix::rows(weights, n_units));
        let numbers = Matrix::rows(&numbers[place * n_of_place..], n_flat);
        add_matrix_product(instructions, numbers, near_weights, sums);
    }
}

/// The gradient of flattened activations, where they are stored: `[n_steps, n_flat]`, and of those of one place.
#[derive(Clone, Debug)]
pub(super) struct FlattenedGradient {
    d_flat: AlignedNumbers,
    d_place: Vec<f32>,
}

impl FlattenedGradient {
    /// `None` where pre-activations are enough.
    pub fn new(structure: &Structure, flattened: &Flattened, max_steps: usize) -> Option<Self> {
        let last = structure.convolutions().last()?;
        (!is_readable(last.nonlinearity)).then(|| Self {
            d_flat: AlignedNumbers::zeros(max_steps * flattened.n_flat()),
            d_place: vec![0.0; last.n_out()],
        })
    }
}

/// Sets the gradient of the last convolution's pre-activations, `[n_steps, n_places, n_channels]`, from the gradient of
/// the layer's, `[n_steps, n_units]`.
pub(super) fn set_last_slopes(
    module: &Module,
    flattened: &Flattened,
    last: LastConvolution<'_>,
    slopes: &[f32],
    put_down: Option<&mut FlattenedGradient>,
    last_slopes: &mut [f32],
) {
    let (instructions, weights) = (module.instructions(), module.flattened_weights(flattened));
    let &Flattened { n_places, n_channels, n_parts, n_units, .. } = flattened;
    let Some(FlattenedGradient { d_flat, d_place }) = put_down else {
        let n_channels = n_places * n_channels;
        return set_cres_slopes(instructions, last.sums, n_channels, weights, slopes, last_slopes);
    };
    let d_flat = &mut d_flat[..slopes.len() / n_units * flattened.n_flat()];
    d_flat.fill(0.0);
    let slopes = Stacked::whole(slopes, n_units);
    add_products(instructions, Weights::whole(weights, n_units), slopes, d_flat);
    let n_of_place = n_channels * n_parts;
    let places = last.sums.chunks_exact(n_channels).zip(last.numbers.chunks_exact(n_of_place));
    let back = last_slopes.chunks_exact_mut(n_channels).zip(d_flat.chunks_exact(n_of_place));
    for ((x, out), (dx, d_flat)) in places.zip(back) {
        transpose(d_flat, n_parts, d_place);
        last.nonlinearity.backward(instructions, n_channels, BackwardPass { x, out, dout: d_place, dx });
    }
}

/// Passes the gradient of the weights to the rule, from the gradient of the layer's pre-activations and the flattened
/// activations.
pub(super) fn give_flattened_gradient(
    instructions: Instructions,
    flattened: &Flattened,
    slopes: &[f32],
    sums: &[f32],
    put_down: Option<&[f32]>,
    rule: &mut impl UpdateRule,
) {
    let &Flattened { n_places, n_channels, n_units, weight_start, .. } = flattened;
    match put_down {
        None => give_cres_gradient(instructions, sums, n_places * n_channels, slopes, weight_start, rule),
        Some(numbers) => {
            let n_flat = flattened.n_flat();
            let target = Target { start: weight_start, stride: n_units, first_col: 0, n_out: n_flat };
            let numbers = &numbers[..slopes.len() / n_units * n_flat];
            update_weights(instructions, target, numbers, Stacked::whole(slopes, n_units), rule);
        }
    }
}

/// Transposes a matrix with rows of `n_cols` numbers.
fn transpose(rows: &[f32], n_cols: usize, out: &mut [f32]) {
    let n_rows = rows.len() / n_cols;
    for (col, out) in out.chunks_exact_mut(n_rows).enumerate() {
        out.iter_mut().zip(rows[col..].iter().step_by(n_cols)).for_each(|(out, number)| *out = *number);
    }
}
