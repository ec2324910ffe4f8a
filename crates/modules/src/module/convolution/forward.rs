//! The forward pass of convolutions.

use crate::arithmetic::Instructions;
use crate::large_memory::AlignedNumbers;
use crate::linear::cres_products::{PARTS, add_cres_products, column_of, is_readable};
use crate::linear::matrix_product::{Matrix, PackedColumns, SomeColumns, add_matrix_product, set_columns};
use crate::module::convolution::flattened::{FlattenedNumbers, LastConvolution, add_flattened};
use crate::module::network::Module;
use crate::module::structure::{Convolutions, Flattened, Stage, Structure};
use crate::module::visual::SceneHistory;
use std::ops::Range;

/// A batch of steps, one row each, with everything that the backward pass needs.
#[derive(Clone, Debug)]
pub(crate) struct ConvolvedRows {
    n_places: usize,
    /// Per row the first row that shows the same screen; results of the map alone are stored there, once.
    map_rows: Vec<usize>,
    /// `[n_rows, n_places, n_channels]`
    maps: AlignedNumbers,
    n_channels: usize,
    /// Products of the first convolution with maps, `[n_rows, n_places, n_units]`.
    map_sums: AlignedNumbers,
    layers: Vec<ConvolvedLayer>,
    flattened: Flattened,
    flattened_numbers: Option<FlattenedNumbers>,
    /// Pre-activations of the next stage: biases and products with flattened activations, `[n_rows, n_units]`.
    sums: AlignedNumbers,
    scale: f32,
}

/// One convolution at all places.
#[derive(Clone, Debug)]
struct ConvolvedLayer {
    /// `[n_rows, n_places, n_units]`
    sums: AlignedNumbers,
    /// After the nonlinearity, `[n_rows, n_places, n_out]`; empty where the next stage reads pre-activations.
    numbers: AlignedNumbers,
    weights: ChannelWeights,
}

/// The weights of channels, in the layout that products read.
#[derive(Clone, Debug)]
pub(super) enum ChannelWeights {
    /// For activations.
    OfNumbers(PackedColumns),
    /// For pre-activations before CReS: `[n_channels, 4, n_units]`.
    OfSums(AlignedNumbers),
}

/// Pre-activations and activations of one convolution at one step.
#[derive(Clone, Copy)]
pub(super) struct ConvolvedStep<'a> {
    /// `[n_places, n_units]`
    pub sums: &'a [f32],
    /// `[n_places, n_out]`, or empty.
    pub numbers: &'a [f32],
}

impl ConvolvedRows {
    pub fn new(structure: &Structure, shape: &Convolutions, n_rows: usize) -> Self {
        let n_places = shape.map.n_places;
        let flattened = *structure.flattened().expect("what is convolved is flattened");
        let stages = structure.convolutions();
        let layer = |(idx, stage): (usize, &Stage)| {
            let n_kept = if is_readable(stage.nonlinearity) { 0 } else { stage.n_out() };
            ConvolvedLayer {
                sums: AlignedNumbers::zeros(n_rows * n_places * stage.n_units),
                numbers: AlignedNumbers::zeros(n_rows * n_places * n_kept),
                weights: ChannelWeights::new(stages, idx),
            }
        };
        Self {
            n_places,
            map_rows: (0..n_rows).collect(),
            maps: AlignedNumbers::zeros(n_rows * n_places * shape.map.n_channels),
            n_channels: shape.map.n_channels,
            map_sums: AlignedNumbers::zeros(n_rows * n_places * stages[0].n_units),
            layers: stages.iter().enumerate().map(layer).collect(),
            flattened,
            flattened_numbers: FlattenedNumbers::new(structure, &flattened, n_rows),
            sums: AlignedNumbers::zeros(n_rows * flattened.n_units),
            scale: shape.scale(),
        }
    }

    /// Pre-activations of the next stage, `[n, n_units]`.
    pub fn rows(&self, rows: Range<usize>) -> &[f32] {
        &self.sums[rows.start * self.flattened.n_units..rows.end * self.flattened.n_units]
    }

    /// The factor of flattened activations.
    pub fn scale(&self) -> f32 {
        self.scale
    }

    /// The last convolution for a range of steps.
    pub(super) fn last(&self, stage: &Stage, rows: Range<usize>) -> LastConvolution<'_> {
        let layer = self.layers.last().expect("there is a convolution");
        let of_rows = |numbers: &AlignedNumbers| {
            let n = numbers.len() / self.n_rows();
            rows.start * n..rows.end * n
        };
        let LastConvolution { nonlinearity, sums, numbers } = layer.as_last(stage);
        LastConvolution {
            nonlinearity,
            sums: &sums[of_rows(&layer.sums)],
            numbers: &numbers[of_rows(&layer.numbers)],
        }
    }

    /// Flattened activations from a step on, where they are stored.
    pub(super) fn flattened_numbers(&self, first: usize) -> Option<&[f32]> {
        Some(self.flattened_numbers.as_ref()?.of_steps(&self.flattened, first))
    }

    fn n_rows(&self) -> usize {
        self.map_rows.len()
    }

    /// The first row that shows the same screen.
    pub(super) fn map_row(&self, row: usize) -> usize {
        self.map_rows[row]
    }

    /// The map that is shown at a step.
    pub(super) fn map(&self, row: usize) -> &[f32] {
        let n = self.n_places * self.n_channels;
        &self.maps[self.map_rows[row] * n..][..n]
    }

    /// One convolution at one step.
    pub(super) fn step(&self, layer: usize, row: usize) -> ConvolvedStep<'_> {
        self.layers[layer].step(row, self.n_rows())
    }

    /// The weights of what a convolution reads.
    pub(super) fn channel_weights(&self, layer: usize) -> &ChannelWeights {
        &self.layers[layer].weights
    }

    /// Sets all rows. `tiled` are the biases of the first convolution plus its products with scene vectors, `[n_rows,
    /// n_units]`.
    pub fn look(&mut self, module: &Module, history: &impl SceneHistory, tiled: &[f32]) {
        let stages = module.structure().convolutions();
        for (stage, layer) in stages.iter().zip(&mut self.layers) {
            layer.weights.take(module, stage);
        }
        let map_len = self.n_places * self.n_channels;
        for row in 0..self.n_rows() {
            self.map_rows[row] = history.shown_before(row).unwrap_or(row);
            if self.map_rows[row] == row {
                // Multiplied at once, while it is in the cache.
                history.copy_map(row, &mut self.maps[row * map_len..][..map_len]);
            }
            self.look_at_map(module, &stages[0], tiled, row);
            for (idx, stage) in stages.iter().enumerate().skip(1) {
                self.convolve(module, stage, idx, row);
            }
        }
        let Self { ref layers, ref flattened, ref mut flattened_numbers, ref mut sums, scale, .. } = *self;
        let (Some(stage), Some(layer)) = (stages.last(), layers.last()) else {
            panic!("there is a convolution")
        };
        sums.fill(0.0);
        add_flattened(module, flattened, layer.as_last(stage), flattened_numbers.as_mut(), sums);
        let biases = module.biases(&module.structure().stages()[0]);
        for sums in sums.chunks_exact_mut(flattened.n_units) {
            sums.iter_mut().zip(biases).for_each(|(sum, bias)| *sum = bias + scale * *sum);
        }
    }

    /// The first convolution of one step. The products of a map that was shown before are reused.
    fn look_at_map(&mut self, module: &Module, stage: &Stage, tiled: &[f32], row: usize) {
        let (n_rows, n_sums) = (self.n_rows(), self.n_places * stage.n_units);
        let layer = &mut self.layers[0];
        let map_sums = &mut self.map_sums[self.map_rows[row] * n_sums..][..n_sums];
        if let (true, ChannelWeights::OfNumbers(weights)) = (self.map_rows[row] == row, &layer.weights) {
            let n = self.n_places * self.n_channels;
            let map = Matrix::rows(&self.maps[row * n..][..n], self.n_channels);
            set_columns(module.instructions(), map, weights, SomeColumns::all(map_sums, stage.n_units));
        }
        let tiled = &tiled[row * stage.n_units..][..stage.n_units];
        let sums = layer.sums[row * n_sums..][..n_sums].chunks_exact_mut(stage.n_units);
        for (sums, map_sums) in sums.zip(map_sums.chunks_exact(stage.n_units)) {
            let both = tiled.iter().zip(map_sums);
            sums.iter_mut().zip(both).for_each(|(sum, (tiled, of_map))| *sum = tiled + of_map);
        }
        layer.set_numbers(module.instructions(), stage, row, n_rows);
    }

    /// Another convolution of one step: `sums = b + W inputs`, at every place.
    fn convolve(&mut self, module: &Module, stage: &Stage, idx: usize, row: usize) {
        let (n_rows, n_sums) = (self.n_rows(), self.n_places * stage.n_units);
        let (instructions, biases) = (module.instructions(), module.biases(stage));
        let (before, rest) = self.layers.split_at_mut(idx);
        let (before, layer) = (before[idx - 1].step(row, n_rows), &mut rest[0]);
        let sums = &mut layer.sums[row * n_sums..][..n_sums];
        sums.chunks_exact_mut(stage.n_units).for_each(|sums| sums.copy_from_slice(biases));
        match &layer.weights {
            ChannelWeights::OfNumbers(weights) => {
                add_matrix_product(instructions, Matrix::rows(before.numbers, stage.n_hidden), weights, sums);
            }
            ChannelWeights::OfSums(weights) => {
                add_cres_products(instructions, before.sums, stage.n_hidden / PARTS, weights, sums);
            }
        }
        layer.set_numbers(instructions, stage, row, n_rows);
    }
}

impl ConvolvedLayer {
    fn step(&self, row: usize, n_rows: usize) -> ConvolvedStep<'_> {
        let of_row = |numbers: &AlignedNumbers| {
            let n = numbers.len() / n_rows;
            row * n..(row + 1) * n
        };
        ConvolvedStep { sums: &self.sums[of_row(&self.sums)], numbers: &self.numbers[of_row(&self.numbers)] }
    }

    /// All steps, as the next stage reads them.
    fn as_last(&self, stage: &Stage) -> LastConvolution<'_> {
        let nonlinearity = stage.nonlinearity.expect("only the readout has none");
        LastConvolution { nonlinearity, sums: &self.sums, numbers: &self.numbers }
    }

    /// Sets the activations of a step, if the next stage reads them.
    fn set_numbers(&mut self, instructions: Instructions, stage: &Stage, row: usize, n_rows: usize) {
        let (n_sums, n_numbers) = (self.sums.len() / n_rows, self.numbers.len() / n_rows);
        if n_numbers > 0 {
            let sums = &self.sums[row * n_sums..][..n_sums];
            let numbers = &mut self.numbers[row * n_numbers..][..n_numbers];
            let nonlinearity = stage.nonlinearity.expect("only the readout has none");
            nonlinearity.forward(instructions, stage.n_units, sums, numbers);
        }
    }
}

impl ChannelWeights {
    /// For one of the convolutions: the first reads a map.
    fn new(stages: &[Stage], idx: usize) -> Self {
        let stage = &stages[idx];
        let before = idx.checked_sub(1).and_then(|before| stages[before].nonlinearity);
        match is_readable(before) {
            true => Self::OfSums(AlignedNumbers::zeros(stage.n_hidden * stage.n_units)),
            false => Self::OfNumbers(PackedColumns::new(stage.n_hidden, stage.n_units)),
        }
    }

    /// Copies the weights of a convolution, `[n_units, n_hidden]`, which follow the columns of scene vectors.
    fn take(&mut self, module: &Module, stage: &Stage) {
        let weights = &module.parameters()[stage.weights()][stage.n_visual..];
        match self {
            Self::OfNumbers(packed) => {
                packed.pack(module.instructions(), Matrix::rows(weights, stage.n_in()).transposed());
            }
            Self::OfSums(numbers) => {
                let n_channels = stage.n_hidden / PARTS;
                for (idx, numbers) in numbers.chunks_exact_mut(stage.n_units).enumerate() {
                    let col = column_of(idx, n_channels);
                    let rows = weights[col..].iter().step_by(stage.n_in());
                    numbers.iter_mut().zip(rows).for_each(|(number, weight)| *number = *weight);
                }
            }
        }
    }
}
