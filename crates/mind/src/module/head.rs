//! Reward maps: the logits of many candidate touches on one screen.

use crate::arithmetic::{Arithmetic, Kernel, N_LANES};
use crate::linear::candidates::{Block, MAX_CHUNKS, block_nonlinearity, block_products};
use crate::linear::products::add_products;
use crate::linear::{Stacked, Weights};
use crate::module::network::Module;
use crate::module::structure::{Stage, Structure};
use crate::nonlinearity::Nonlinearity;

/// Candidate touches in centred coordinates, each in [-1, 1].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Candidates {
    /// Heights, then zeros up to a multiple of eight.
    rows: Vec<f32>,
    cols: Vec<f32>,
    n: usize,
}

impl Candidates {
    /// Room for some candidates, all in the middle of the screen.
    pub fn new(n: usize) -> Self {
        let n_lanes = n.next_multiple_of(N_LANES);
        Self { rows: vec![0.0; n_lanes], cols: vec![0.0; n_lanes], n }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.n
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// Their heights and their distances from the left, to write.
    pub fn coordinates_mut(&mut self) -> (&mut [f32], &mut [f32]) {
        (&mut self.rows[..self.n], &mut self.cols[..self.n])
    }

    /// One of them: row, column.
    pub fn get(&self, idx: usize) -> [f32; 2] {
        [self.rows[idx], self.cols[idx]]
    }
}

/// What predicting works in; made once, used at every step.
#[derive(Clone, Debug)]
pub struct HeadMemory {
    /// The first stage's numbers, if it does not read touches.
    bottleneck: Vec<f32>,
    /// The touch stage's sums without the present touch.
    shared: Vec<f32>,
    /// Sums of a stage for a block, and the stage's numbers.
    sums: Vec<f32>,
    numbers: Vec<f32>,
    /// `[k_f, n_lanes]`
    logits: Vec<f32>,
    n_lanes: usize,
    n_candidates: usize,
}

impl HeadMemory {
    /// For a structure and a number of candidates.
    pub fn new(structure: &Structure, n_candidates: usize) -> Self {
        let block = MAX_CHUNKS * N_LANES;
        let largest = |f: fn(&Stage) -> usize| structure.stages().iter().map(f).max().unwrap_or(0);
        let n_lanes = n_candidates.next_multiple_of(N_LANES);
        Self {
            bottleneck: vec![0.0; structure.stages()[0].n_out()],
            shared: vec![0.0; structure.stages()[structure.touch_stage()].n_units],
            sums: vec![0.0; block * largest(|stage| stage.n_units)],
            numbers: vec![0.0; block * largest(Stage::n_out)],
            logits: vec![0.0; structure.shape().k_f * n_lanes],
            n_lanes,
            n_candidates,
        }
    }

    /// The logits of one of the `k_f` maps, `[n_candidates]`.
    pub fn logits(&self, map: usize) -> &[f32] {
        &self.logits[map * self.n_lanes..][..self.n_candidates]
    }
}

impl Module {
    /// Predicts the logits of all candidates. `visual` is the step's row of [`Module::visual`], `past_touches` are the
    /// touches before, oldest first, `[2 k_b]`.
    pub fn predict(
        &self,
        visual: &[f32],
        past_touches: &[f32],
        candidates: &Candidates,
        memory: &mut HeadMemory,
    ) {
        assert_eq!(candidates.rows.len(), memory.n_lanes, "memory for another number of candidates");
        self.share(visual, past_touches, memory);
        let (touch_stage, later) = self.touch_and_later_stages();
        let touch_weights = self.weights(touch_stage).columns(touch_stage.n_in() - 2, 2);
        self.instructions().run(Predict {
            module: self,
            touch_stage,
            later,
            touch_weights,
            candidates,
            memory,
        });
    }

    fn touch_and_later_stages(&self) -> (&Stage, &[Stage]) {
        let stages = &self.structure().stages()[self.structure().touch_stage()..];
        (&stages[0], &stages[1..])
    }

    /// Sums of the touch stage that are the same for all candidates.
    fn share(&self, visual: &[f32], past_touches: &[f32], memory: &mut HeadMemory) {
        let HeadMemory { bottleneck, shared, .. } = memory;
        let (touch_stage, _) = self.touch_and_later_stages();
        let weights = self.weights(touch_stage);
        match (self.structure().touch_stage(), self.structure().stages()[0].nonlinearity) {
            (1, Some(nonlinearity)) => {
                nonlinearity.forward(self.instructions(), visual.len(), visual, bottleneck);
                shared.copy_from_slice(self.biases(touch_stage));
                let inputs = Stacked::whole(bottleneck, bottleneck.len());
                let weights = weights.columns(0, touch_stage.n_hidden);
                add_products(self.instructions(), weights, inputs, shared);
            }
            _ => shared.copy_from_slice(visual),
        }
        let first_touch = touch_stage.n_in() - touch_stage.n_touch;
        let inputs = Stacked::whole(past_touches, past_touches.len());
        if !past_touches.is_empty() {
            add_products(
                self.instructions(),
                weights.columns(first_touch, past_touches.len()),
                inputs,
                shared,
            );
        }
    }
}

struct Predict<'a> {
    module: &'a Module,
    touch_stage: &'a Stage,
    later: &'a [Stage],
    /// The two columns of the present touch.
    touch_weights: Weights<'a>,
    candidates: &'a Candidates,
    memory: &'a mut HeadMemory,
}

impl Kernel for Predict<'_> {
    #[inline(always)]
    fn run<A: Arithmetic>(mut self) {
        let n_chunks = self.memory.n_lanes / N_LANES;
        let n_whole = n_chunks / MAX_CHUNKS * MAX_CHUNKS;
        for chunk in (0..n_whole).step_by(MAX_CHUNKS) {
            self.block::<A, MAX_CHUNKS>(chunk);
        }
        if n_whole < n_chunks {
            self.block::<A, 1>(n_whole);
        }
    }
}

impl Predict<'_> {
    /// All stages for the `8 N` candidates from eight times `chunk` on.
    #[inline(always)]
    fn block<A: Arithmetic, const N: usize>(&mut self, chunk: usize) {
        let HeadMemory { shared, sums, numbers, logits, n_lanes, .. } = &mut *self.memory;
        let sums = blocks::<N>(sums);
        let numbers = blocks::<N>(numbers);
        let at = |coordinates: &[f32]| -> [A::V; N] {
            std::array::from_fn(|i| A::load(&coordinates.as_chunks::<N_LANES>().0[chunk + i]))
        };
        let (rows, cols) = (at(&self.candidates.rows), at(&self.candidates.cols));
        for (unit, (sum, &shared)) in sums.iter_mut().zip(shared.iter()).enumerate() {
            let weights = self.touch_weights.row(unit);
            let (row_weight, col_weight) = (A::splat(weights[0]), A::splat(weights[1]));
            for i in 0..N {
                let with_row = A::mul_add(row_weight, rows[i], A::splat(shared));
                A::store(A::mul_add(col_weight, cols[i], with_row), &mut sum[i]);
            }
        }
        let mut n_units = self.touch_stage.n_units;
        let mut nonlinearity = self.touch_stage.nonlinearity;
        for stage in self.later {
            let n_in = activate::<A, N>(nonlinearity, &sums[..n_units], numbers);
            let weights = &self.module.parameters()[stage.weights()];
            let biases = self.module.biases(stage);
            block_products::<A, N>(weights, biases, &numbers[..n_in], sums);
            (n_units, nonlinearity) = (stage.n_units, stage.nonlinearity);
        }
        for (map, sums) in sums[..n_units].iter().enumerate() {
            logits[map * *n_lanes + chunk * N_LANES..][..N * N_LANES].copy_from_slice(sums.as_flattened());
        }
    }
}

/// How many numbers there are behind the nonlinearity.
#[inline(always)]
fn activate<A: Arithmetic, const N: usize>(
    nonlinearity: Option<Nonlinearity>,
    sums: &[Block<N>],
    numbers: &mut [Block<N>],
) -> usize {
    match nonlinearity {
        Some(nonlinearity) => {
            block_nonlinearity::<A, N>(nonlinearity, sums, numbers);
            nonlinearity.n_parts() * sums.len()
        }
        None => {
            numbers[..sums.len()].copy_from_slice(sums);
            sums.len()
        }
    }
}

#[inline(always)]
fn blocks<const N: usize>(numbers: &mut [f32]) -> &mut [Block<N>] {
    numbers.as_chunks_mut::<N_LANES>().0.as_chunks_mut::<N>().0
}
