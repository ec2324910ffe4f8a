//! Reward maps: the logits of many candidate touches on one screen.

use crate::arithmetic::{Arithmetic, Block, Kernel, N_BLOCK, Numbers};
use crate::linear::candidates::{Active, block_nonlinearity, block_products, block_readout, pack_weights};
use crate::linear::products::add_products;
use crate::linear::touch_polynomial::TouchPolynomial;
use crate::linear::{Stacked, Weights};
use crate::module::network::Module;
use crate::module::structure::{Stage, Structure};

/// Candidate touches in centred coordinates, on whatever scale the module reads them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Candidates {
    /// Heights and distances from the left, then zeros up to whole blocks.
    rows: Vec<Block>,
    cols: Vec<Block>,
    n: usize,
}

impl Candidates {
    /// Room for some candidates, all in the middle of the screen.
    pub fn new(n: usize) -> Self {
        let zeros = vec![[0.0; N_BLOCK]; n.div_ceil(N_BLOCK)];
        Self { rows: zeros.clone(), cols: zeros, n }
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
        (&mut self.rows.as_flattened_mut()[..self.n], &mut self.cols.as_flattened_mut()[..self.n])
    }

    /// One of them: row, column.
    pub fn get(&self, idx: usize) -> [f32; 2] {
        [self.rows.as_flattened()[idx], self.cols.as_flattened()[idx]]
    }

    /// How many blocks they fill.
    pub(crate) fn n_blocks(&self) -> usize {
        self.rows.len()
    }

    /// Rows and columns of a block.
    #[inline(always)]
    pub(crate) fn block<B: Numbers<Memory = Block>>(&self, block: usize) -> (B::V, B::V) {
        (B::load(&self.rows[block]), B::load(&self.cols[block]))
    }
}

/// What predicting works in; made once, used at every step.
#[derive(Clone, Debug)]
pub struct HeadMemory {
    /// The first stage's numbers, if it does not read touches.
    bottleneck: Vec<f32>,
    /// The touch stage's sums without the present touch.
    shared: Vec<f32>,
    /// The stage behind it, where that can be had from a polynomial of the touch.
    polynomial: Option<TouchPolynomial>,
    /// Weights of the stages behind, laid out for prediction.
    packed: Vec<f32>,
    /// Sums of a stage for some blocks, and the stage's numbers.
    sums: Vec<Block>,
    numbers: Vec<Block>,
    /// Which of the stage's numbers those are; some are left out.
    columns: Vec<u32>,
    /// `[k_f, n_blocks]`
    logits: Vec<Block>,
    n_blocks: usize,
    n_candidates: usize,
    /// Blocks of candidates that go through the stages together.
    blocks_per_group: usize,
    /// Of the widest stage: sums, and numbers.
    most_sums: usize,
    most_numbers: usize,
}

/// Weights of a stage that stay near, in bytes; larger ones are read for several blocks at once.
const NEAR_BYTES: usize = 64 << 10;
/// How many.
const MAX_GROUP: usize = 4;
/// Numbers that are put down before it is known whether they stay.
const N_AHEAD: usize = 2;

impl HeadMemory {
    /// For a structure and a number of candidates.
    pub fn new(structure: &Structure, n_candidates: usize) -> Self {
        let later = &structure.stages()[structure.touch_stage()..];
        let largest = |f: fn(&Stage) -> usize| later.iter().map(f).max().unwrap_or(0);
        let nonlinearity = later[0].nonlinearity.expect("only the readout has none");
        let polynomial = TouchPolynomial::new(nonlinearity, later[0].n_units, later[1].n_units);
        let most_sums = largest(|stage| stage.n_units);
        let of_polynomial = polynomial.as_ref().map_or(0, TouchPolynomial::n_numbers);
        let most_numbers = largest(Stage::n_out).max(of_polynomial);
        let most_weights = later[1..].iter().map(|stage| stage.weights().len()).max().unwrap_or(0);
        let blocks_per_group = if 4 * most_weights > NEAR_BYTES { MAX_GROUP } else { 1 };
        let n_blocks = n_candidates.div_ceil(N_BLOCK);
        Self {
            bottleneck: vec![0.0; structure.stages()[0].n_out()],
            shared: vec![0.0; structure.stages()[structure.touch_stage()].n_units],
            packed: vec![0.0; structure.n_parameters() - later[1].weight_start],
            sums: vec![[0.0; N_BLOCK]; blocks_per_group * most_sums],
            numbers: vec![[0.0; N_BLOCK]; blocks_per_group * (most_numbers + N_AHEAD)],
            columns: vec![0; blocks_per_group * (most_numbers + N_AHEAD)],
            polynomial,
            logits: vec![[0.0; N_BLOCK]; structure.shape().k_f * n_blocks],
            n_blocks,
            n_candidates,
            blocks_per_group,
            most_sums,
            most_numbers: most_numbers + N_AHEAD,
        }
    }

    /// Takes a module's weights as they are now. To be called before predicting, and again whenever they have changed.
    pub fn load(&mut self, module: &Module) {
        let (touch_stage, later) = module.touch_and_later_stages();
        let first_packed = later[0].weight_start;
        let n_done = match &mut self.polynomial {
            Some(polynomial) => {
                let (weights, n_units) = (module.weights(&later[0]), touch_stage.n_units);
                polynomial.load(|out, part, unit| weights.row(out)[part * n_units + unit]);
                1
            }
            None => 0,
        };
        // The readout's are read as they are.
        for stage in &later[n_done..later.len().max(n_done + 1) - 1] {
            let place = stage.weights();
            let packed = &mut self.packed[place.start - first_packed..place.end - first_packed];
            pack_weights(&module.parameters()[place], stage.n_units, packed);
        }
    }

    /// The logits of one of the `k_f` maps, `[n_candidates]`.
    pub fn logits(&self, map: usize) -> &[f32] {
        &self.logits[map * self.n_blocks..].as_flattened()[..self.n_candidates]
    }
}

impl Module {
    /// Predicts the logits of all candidates with the weights that the memory was [loaded](HeadMemory::load) with.
    /// `visual` is the step's row of [`Module::visual`], `past_touches` are the
    /// touches before, oldest first, `[2 k_b]`.
    pub fn predict(
        &self,
        visual: &[f32],
        past_touches: &[f32],
        candidates: &Candidates,
        memory: &mut HeadMemory,
    ) {
        assert_eq!(candidates.n_blocks(), memory.n_blocks, "memory for another number of candidates");
        self.share(visual, past_touches, memory);
        let (touch_stage, later) = self.touch_and_later_stages();
        let touch_weights = self.weights(touch_stage).columns(touch_stage.n_in() - 2, 2);
        if let Some(polynomial) = &mut memory.polynomial {
            let biases = self.biases(&later[0]);
            polynomial.expand(self.instructions(), &memory.shared, touch_weights, biases);
        }
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
        let HeadMemory { n_blocks, blocks_per_group, .. } = *self.memory;
        for first in (0..n_blocks).step_by(blocks_per_group) {
            self.group::<A::Blocks>(first, blocks_per_group.min(n_blocks - first));
        }
    }
}

impl Predict<'_> {
    /// All stages for some blocks of candidates, from the first on.
    #[inline(always)]
    fn group<B: Numbers<Memory = Block>>(&mut self, first: usize, n: usize) {
        let HeadMemory { most_sums, most_numbers, n_blocks, .. } = *self.memory;
        let HeadMemory { shared, polynomial, packed, sums, numbers, columns, logits, .. } = &mut *self.memory;
        let sums = &mut sums[..n * most_sums];
        let mut bench = Bench {
            numbers: &mut numbers[..n * most_numbers],
            columns: &mut columns[..n * most_numbers],
            n_active: [0; MAX_GROUP],
            most_numbers,
        };
        let candidates = self.candidates;
        let (mut before, later) = match polynomial {
            Some(polynomial) => {
                for (block, room) in bench.rooms().enumerate() {
                    let (rows, cols) = candidates.block::<B>(first + block);
                    *room.n_active = polynomial.block_numbers::<B>(rows, cols, room.columns, room.numbers);
                }
                polynomial.block_products::<B>(|block| bench.active(block), sums, most_sums);
                (&self.later[0], &self.later[1..])
            }
            None => {
                for (block, sums) in sums.chunks_exact_mut(most_sums).enumerate() {
                    let (rows, cols) = candidates.block::<B>(first + block);
                    touch_sums::<B>(self.touch_weights, shared, rows, cols, sums);
                }
                (self.touch_stage, self.later)
            }
        };
        let (readout, between) = later.split_last().map_or((None, later), |(last, rest)| (Some(last), rest));
        for stage in between {
            let nonlinearity = before.nonlinearity.expect("only the readout has none");
            for (sums, room) in sums.chunks_exact(most_sums).zip(bench.rooms()) {
                let sums = &sums[..before.n_units];
                *room.n_active = block_nonlinearity::<B>(nonlinearity, sums, 0, room.columns, room.numbers);
            }
            let (weights, first_packed) = (stage.weights(), self.later[0].weight_start);
            let packed = &packed[weights.start - first_packed..weights.end - first_packed];
            let biases = self.module.biases(stage);
            block_products::<B>(packed, biases, |block| bench.active(block), sums, most_sums);
            before = stage;
        }
        for (block, sums) in sums.chunks_exact(most_sums).enumerate() {
            let sums = &sums[..before.n_units];
            let mut put = |map: usize, sum| B::store(sum, &mut logits[map * n_blocks + first + block]);
            match (readout, before.nonlinearity) {
                (Some(readout), Some(nonlinearity)) => {
                    let (weights, biases) = (self.module.weights(readout), self.module.biases(readout));
                    block_readout::<B>(nonlinearity, sums, |map| weights.row(map), biases, put);
                }
                // The polynomials were those of the readout.
                _ => sums.iter().enumerate().for_each(|(map, sums)| put(map, B::load(sums))),
            }
        }
    }
}

/// What the next stage reads, for some blocks.
struct Bench<'m> {
    /// `[n_blocks, most_numbers]`, both; the first few of each block are there.
    numbers: &'m mut [Block],
    columns: &'m mut [u32],
    n_active: [usize; MAX_GROUP],
    most_numbers: usize,
}

/// Where one block's numbers go.
struct Room<'m> {
    numbers: &'m mut [Block],
    columns: &'m mut [u32],
    n_active: &'m mut usize,
}

impl Bench<'_> {
    #[inline(always)]
    fn rooms(&mut self) -> impl Iterator<Item = Room<'_>> {
        let numbers = self.numbers.chunks_exact_mut(self.most_numbers);
        let columns = self.columns.chunks_exact_mut(self.most_numbers);
        let rooms = numbers.zip(columns).zip(&mut self.n_active);
        rooms.map(|((numbers, columns), n_active)| Room { numbers, columns, n_active })
    }

    #[inline(always)]
    fn active(&self, block: usize) -> Active<'_> {
        let place = block * self.most_numbers..block * self.most_numbers + self.n_active[block];
        Active { columns: &self.columns[place.clone()], numbers: &self.numbers[place] }
    }
}

/// The touch stage's sums for a block of candidates.
#[inline(always)]
fn touch_sums<B: Numbers<Memory = Block>>(
    touch_weights: Weights<'_>,
    shared: &[f32],
    rows: B::V,
    cols: B::V,
    sums: &mut [Block],
) {
    for (unit, (sum, &shared)) in sums.iter_mut().zip(shared).enumerate() {
        let weights = touch_weights.row(unit);
        let with_row = B::mul_add(B::splat(weights[0]), rows, B::splat(shared));
        B::store(B::mul_add(B::splat(weights[1]), cols, with_row), sum);
    }
}
