//! What convolutions make of screens.

use crate::large_memory::zeros;
use crate::linear::Stacked;
use crate::linear::matrix_product::{Matrix, PackedColumns, SomeColumns, add_matrix_product, set_columns};
use crate::linear::products::add_products;
use crate::module::network::Module;
use crate::module::structure::{Convolutions, Stage, Structure};
use crate::module::visual::SceneHistory;
use std::ops::Range;

/// Some steps, each a row of its own; everything that the way back needs.
#[derive(Clone, Debug)]
pub(crate) struct ConvolvedRows {
    n_places: usize,
    /// The first row that shows the same screen as this one; what depends on the map alone stands there, once.
    map_rows: Vec<usize>,
    /// `[n_rows, n_places, n_channels]`
    maps: Vec<f32>,
    n_channels: usize,
    /// What maps are to the first convolution, `[n_rows, n_places, n_units]`.
    map_sums: Vec<f32>,
    layers: Vec<ConvolvedLayer>,
    /// Sums of the stage behind: biases, and what comes from flattened numbers; `[n_rows, n_units]`.
    sums: Vec<f32>,
    n_units: usize,
    scale: f32,
}

/// One convolution at all places.
#[derive(Clone, Debug)]
struct ConvolvedLayer {
    /// `[n_rows, n_places, n_units]`
    sums: Vec<f32>,
    /// Behind the nonlinearity, `[n_rows, n_places, n_out]`.
    numbers: Vec<f32>,
    /// The weights of channels, as products read them.
    weights: PackedColumns,
}

/// What one convolution read, summed and gave at one step.
pub(super) struct ConvolvedStep<'a> {
    /// `[n_places, n_hidden]`
    pub inputs: &'a [f32],
    pub sums: &'a [f32],
    pub numbers: &'a [f32],
}

impl ConvolvedRows {
    pub fn new(structure: &Structure, shape: &Convolutions, n_rows: usize) -> Self {
        let n_places = shape.map.n_places;
        let layer = |stage: &Stage| ConvolvedLayer {
            sums: zeros(n_rows * n_places * stage.n_units),
            numbers: zeros(n_rows * n_places * stage.n_out()),
            weights: PackedColumns::new(stage.n_hidden, stage.n_units),
        };
        let n_units = structure.stages()[0].n_units;
        Self {
            n_places,
            map_rows: (0..n_rows).collect(),
            maps: zeros(n_rows * n_places * shape.map.n_channels),
            n_channels: shape.map.n_channels,
            map_sums: zeros(n_rows * n_places * structure.convolutions()[0].n_units),
            layers: structure.convolutions().iter().map(layer).collect(),
            sums: vec![0.0; n_rows * n_units],
            n_units,
            scale: shape.scale(),
        }
    }

    /// The sums of the stage behind, `[n, n_units]`.
    pub fn rows(&self, rows: Range<usize>) -> &[f32] {
        &self.sums[rows.start * self.n_units..rows.end * self.n_units]
    }

    /// What flattened numbers count.
    pub fn scale(&self) -> f32 {
        self.scale
    }

    /// What the last convolution gave at all places, of steps from a row on: `[n, n_flat]`.
    pub fn flattened(&self, rows: Range<usize>) -> &[f32] {
        let numbers = &self.layers.last().expect("there is a convolution").numbers;
        let n_flat = numbers.len() / self.n_rows();
        &numbers[rows.start * n_flat..rows.end * n_flat]
    }

    fn n_rows(&self) -> usize {
        self.sums.len() / self.n_units
    }

    /// The first row that shows the same screen.
    pub(super) fn map_row(&self, row: usize) -> usize {
        self.map_rows[row]
    }

    /// One convolution at one step.
    pub(super) fn step(&self, layer: usize, row: usize) -> ConvolvedStep<'_> {
        let n_rows = self.n_rows();
        let of_row = |numbers: &'_ [f32], row: usize| {
            let n = numbers.len() / n_rows;
            row * n..(row + 1) * n
        };
        let inputs = match layer.checked_sub(1) {
            None => &self.maps[of_row(&self.maps, self.map_rows[row])],
            Some(before) => {
                let numbers = &self.layers[before].numbers;
                &numbers[of_row(numbers, row)]
            }
        };
        let ConvolvedLayer { sums, numbers, .. } = &self.layers[layer];
        ConvolvedStep { inputs, sums: &sums[of_row(sums, row)], numbers: &numbers[of_row(numbers, row)] }
    }

    /// Sets all rows. `tiled` is what biases and scene vectors are to the first convolution, `[n_rows, n_units]`.
    pub fn look(&mut self, module: &Module, history: &impl SceneHistory, tiled: &[f32]) {
        let map_len = self.n_places * self.n_channels;
        for (row, map) in self.maps.chunks_exact_mut(map_len).enumerate() {
            self.map_rows[row] = history.shown_before(row).unwrap_or(row);
            if self.map_rows[row] == row {
                history.copy_map(row, map);
            }
        }
        for (stage, layer) in module.structure().convolutions().iter().zip(&mut self.layers) {
            let weights = &module.parameters()[stage.weights()][stage.n_visual..];
            layer.weights.pack(module.instructions(), Matrix::rows(weights, stage.n_in()).transposed());
        }
        for row in 0..self.n_rows() {
            self.convolve(module, tiled, row);
        }
        let stage = &module.structure().stages()[0];
        self.sums.fill(0.0);
        let n_flat = stage.n_visual;
        let numbers = &self.layers.last().expect("there is a convolution").numbers;
        for first_col in (0..n_flat).step_by(PIECE) {
            let n_cols = PIECE.min(n_flat - first_col);
            let weights = module.weights(stage).columns(first_col, n_cols);
            let inputs = Stacked { numbers, stride: n_flat, first_col, n_cols };
            add_products(module.instructions(), weights, inputs, &mut self.sums);
        }
        let (scale, biases) = (self.scale, module.biases(stage));
        for sums in self.sums.chunks_exact_mut(self.n_units) {
            sums.iter_mut().zip(biases).for_each(|(sum, bias)| *sum = bias + scale * *sum);
        }
    }

    /// All convolutions of one step.
    fn convolve(&mut self, module: &Module, tiled: &[f32], row: usize) {
        let (instructions, n_places) = (module.instructions(), self.n_places);
        for (idx, stage) in module.structure().convolutions().iter().enumerate() {
            let (before, rest) = self.layers.split_at_mut(idx);
            let ConvolvedLayer { sums, numbers, weights } = &mut rest[0];
            let of_row = |n: usize| row * n_places * n..(row + 1) * n_places * n;
            let (sums, numbers) = (&mut sums[of_row(stage.n_units)], &mut numbers[of_row(stage.n_out())]);
            match before.last() {
                None => {
                    let tiled = &tiled[row * stage.n_units..][..stage.n_units];
                    if self.map_rows[row] == row {
                        let map = Matrix::rows(&self.maps[of_row(stage.n_hidden)], stage.n_hidden);
                        let map_sums = &mut self.map_sums[of_row(stage.n_units)];
                        set_columns(instructions, map, weights, SomeColumns::all(map_sums, stage.n_units));
                    }
                    let map_sums = &self.map_sums[self.map_rows[row] * sums.len()..][..sums.len()];
                    let places =
                        sums.chunks_exact_mut(stage.n_units).zip(map_sums.chunks_exact(stage.n_units));
                    for (sums, map_sums) in places {
                        let both = tiled.iter().zip(map_sums);
                        sums.iter_mut().zip(both).for_each(|(sum, (tiled, of_map))| *sum = tiled + of_map);
                    }
                }
                Some(before) => {
                    let biases = module.biases(stage);
                    sums.chunks_exact_mut(stage.n_units).for_each(|sums| sums.copy_from_slice(biases));
                    let inputs = Matrix::rows(&before.numbers[of_row(stage.n_hidden)], stage.n_hidden);
                    // `sums += inputs W^T`, at every place.
                    add_matrix_product(instructions, inputs, weights, sums);
                }
            }
            let nonlinearity = stage.nonlinearity.expect("only the readout has none");
            nonlinearity.forward(instructions, stage.n_units, sums, numbers);
        }
    }
}

/// Flattened numbers that are read in one go: those of a batch of steps stay in the second cache.
const PIECE: usize = 1024;
