//! Reward maps: the logits of many candidate touches on one screen.

use crate::arithmetic::{Arithmetic, Block, Kernel, N_BLOCK, SimdVector};
use crate::linear::candidates::{
    Active, N_AHEAD, is_summed_in_order, pack_weights, tile_nonlinearity, tile_products, tile_readout,
};
use crate::linear::polynomial_readout::Readout;
use crate::linear::products::add_products;
use crate::linear::touch_polynomial::TouchPolynomial;
use crate::linear::{Stacked, Weights};
use crate::module::network::Module;
use crate::module::structure::{Stage, Structure};

/// Candidate touches in touch coordinates: 0 in the middle of the screen, plus or minus the touch scale at its edges.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Candidates {
    /// Padded with zeros to whole blocks.
    rows: Vec<Block>,
    cols: Vec<Block>,
    n: usize,
}

impl Candidates {
    /// `n` candidates in the middle of the screen.
    pub fn new(n: usize) -> Self {
        let zeros = vec![[0.0; N_BLOCK]; n.div_ceil(N_BLOCK)];
        Self { rows: zeros.clone(), cols: zeros, n }
    }

    pub fn len(&self) -> usize {
        self.n
    }

    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// Rows and columns.
    pub fn coordinates_mut(&mut self) -> (&mut [f32], &mut [f32]) {
        (&mut self.rows.as_flattened_mut()[..self.n], &mut self.cols.as_flattened_mut()[..self.n])
    }

    /// Row and column.
    pub fn get(&self, idx: usize) -> [f32; 2] {
        [self.rows.as_flattened()[idx], self.cols.as_flattened()[idx]]
    }

    pub(crate) fn n_blocks(&self) -> usize {
        self.rows.len()
    }

    /// Rows and columns.
    #[inline(always)]
    pub(crate) fn block<B: SimdVector<Memory = Block>>(&self, block: usize) -> (B::V, B::V) {
        (B::load(&self.rows[block]), B::load(&self.cols[block]))
    }

    /// Rows and columns of a tile's blocks, from `first` on. Missing blocks repeat the last one.
    #[inline(always)]
    fn tile<B: SimdVector<Memory = Block>, const TILE: usize>(&self, first: usize) -> [(B::V, B::V); TILE] {
        let mut tile = [(B::zero(), B::zero()); TILE];
        for (block, touches) in (first..).zip(&mut tile) {
            *touches = self.block::<B>(block.min(self.n_blocks() - 1));
        }
        tile
    }
}

/// The buffers of prediction; allocated once.
#[derive(Clone, Debug)]
pub struct HeadMemory {
    /// The activations of the first stage, if it does not read touches.
    bottleneck: Vec<f32>,
    /// The touch stage's pre-activations without the current touch.
    shared: Vec<f32>,
    /// For the stage after it, if that is a polynomial of the touch.
    polynomial: Option<TouchPolynomial>,
    /// Packed weights of the later stages.
    packed: Vec<f32>,
    route: Route,
    /// Of one stage, for some tiles.
    pre_activations: Vec<Block>,
    activations: Vec<Block>,
    /// Indices of active activations within the stage.
    columns: Vec<u32>,
    /// `[k_f, n_blocks]`
    logits: Vec<Block>,
    n_blocks: usize,
    n_candidates: usize,
    /// Units of the widest stage.
    max_units: usize,
    /// Inputs of the widest stage, polynomials included.
    max_inputs: usize,
}

/// The order in which blocks of candidates pass through the stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Route {
    /// In registers: one hidden stage after the touch stage, with weights that stay in the first-level cache.
    Fused,
    /// Block by block.
    Blocks,
    /// Several blocks together, so that weights are loaded from lower-level caches less often.
    Groups {
        /// Whether the blocks can share a list of active inputs.
        as_tile: bool,
    },
}

/// Maximum size of a stage's weights for which blocks pass one by one.
const NEAR_BYTES: usize = 64 << 10;
/// Blocks of a group.
const GROUP: usize = 4;
/// Blocks that pass through a small module together if there are 32 registers.
const FUSED_TILE: usize = 2;

impl Route {
    fn new(later: &[Stage], polynomial: Option<&TouchPolynomial>) -> Self {
        let max_weights = later.iter().map(|stage| stage.weights().len()).max().unwrap_or(0);
        if size_of::<f32>() * max_weights > NEAR_BYTES {
            let (_, hidden) = later.split_last().expect("there is a readout");
            return Self::Groups { as_tile: hidden.iter().all(|stage| is_summed_in_order(stage.n_units)) };
        }
        match (later, polynomial) {
            ([stage, readout], Some(polynomial))
                if polynomial.can_read(stage.nonlinearity, stage.n_units, readout.n_units) =>
            {
                Self::Fused
            }
            _ => Self::Blocks,
        }
    }

    fn max_blocks(self) -> usize {
        match self {
            Self::Fused => FUSED_TILE,
            Self::Blocks => 1,
            Self::Groups { .. } => GROUP,
        }
    }
}

impl HeadMemory {
    pub fn new(structure: &Structure, n_candidates: usize) -> Self {
        let later = &structure.stages()[structure.touch_stage()..];
        let largest = |f: fn(&Stage) -> usize| later.iter().map(f).max().unwrap_or(0);
        let nonlinearity = later[0].nonlinearity.expect("only the readout has none");
        let polynomial = TouchPolynomial::new(nonlinearity, later[0].n_units, later[1].n_units);
        let route = Route::new(&later[1..], polynomial.as_ref());
        let max_units = largest(|stage| stage.n_units);
        let of_polynomial = polynomial.as_ref().map_or(0, TouchPolynomial::n_inputs);
        let max_inputs = largest(Stage::n_out).max(of_polynomial) + N_AHEAD;
        let n_blocks = n_candidates.div_ceil(N_BLOCK);
        Self {
            bottleneck: vec![0.0; structure.stages()[0].n_out()],
            shared: vec![0.0; structure.stages()[structure.touch_stage()].n_units],
            packed: vec![0.0; structure.n_parameters() - later[1].weight_start],
            pre_activations: vec![[0.0; N_BLOCK]; route.max_blocks() * max_units],
            activations: vec![[0.0; N_BLOCK]; route.max_blocks() * max_inputs],
            columns: vec![0; route.max_blocks() * max_inputs],
            route,
            polynomial,
            logits: vec![[0.0; N_BLOCK]; structure.shape().k_f * n_blocks],
            n_blocks,
            n_candidates,
            max_units,
            max_inputs,
        }
    }

    /// Loads a module's current weights. Must be called before the first prediction and after each update.
    pub fn load(&mut self, module: &Module) {
        let (touch_stage, later) = module.touch_and_later_stages();
        let first_packed = later[0].weight_start;
        let n_done = match &mut self.polynomial {
            Some(polynomial) => {
                let (weights, n_units) = (module.weights(&later[0]), touch_stage.n_units);
                polynomial.load(1, |out, part, _| &weights.row(out)[part * n_units..][..n_units]);
                1
            }
            None => 0,
        };
        // The readout's weights are not packed.
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
    /// Predicts the logits of all candidates with the [loaded](HeadMemory::load) weights. `visual` is the step's row of
    /// [`Module::visual`], `past_touches` are `[2 k_b]`, oldest first.
    pub fn predict(
        &self,
        visual: &[f32],
        past_touches: &[f32],
        candidates: &Candidates,
        memory: &mut HeadMemory,
    ) {
        assert_eq!(candidates.n_blocks(), memory.n_blocks, "buffers for another number of candidates");
        self.set_shared(visual, past_touches, memory);
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

    /// Computes the pre-activations of the touch stage that all candidates share.
    fn set_shared(&self, visual: &[f32], past_touches: &[f32], memory: &mut HeadMemory) {
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
    /// The two columns of the current touch.
    touch_weights: Weights<'a>,
    candidates: &'a Candidates,
    memory: &'a mut HeadMemory,
}

impl Kernel for Predict<'_> {
    #[inline(always)]
    fn run<A: Arithmetic>(mut self) {
        match self.memory.route {
            Route::Fused if A::HAS_32_REGISTERS => self.fused::<A::Blocks, FUSED_TILE>(),
            Route::Fused => self.fused::<A::Blocks, 1>(),
            Route::Groups { as_tile: true } if A::HAS_32_REGISTERS => self.groups::<A::Blocks, GROUP>(1),
            Route::Groups { .. } => self.groups::<A::Blocks, 1>(GROUP),
            Route::Blocks => self.groups::<A::Blocks, 1>(1),
        }
    }
}

impl Predict<'_> {
    #[inline(always)]
    fn fused<B: SimdVector<Memory = Block>, const TILE: usize>(&mut self) {
        let HeadMemory { polynomial, activations, columns, logits, n_blocks, .. } = &mut *self.memory;
        let (Some(polynomial), [stage, readout]) = (polynomial, self.later) else {
            unreachable!("this route needs a polynomial and one stage before the readout")
        };
        let readout = Readout {
            nonlinearity: stage.nonlinearity.expect("only the readout has none"),
            weights: self.module.weights(readout),
            biases: self.module.biases(readout),
        };
        for first in (0..*n_blocks).step_by(TILE) {
            let touches = self.candidates.tile::<B, TILE>(first);
            let n = polynomial.tile_inputs::<B, TILE>(touches, columns, activations);
            let active = Active { columns: &columns[..n], numbers: &activations[..n * TILE] };
            polynomial.read_tile::<B, TILE>(active, readout, |map, block, logit| {
                if first + block < *n_blocks {
                    B::store(logit, &mut logits[map * *n_blocks + first + block]);
                }
            });
        }
    }

    /// All candidates, `n_tiles` together.
    #[inline(always)]
    fn groups<B: SimdVector<Memory = Block>, const TILE: usize>(&mut self, n_tiles: usize) {
        let n_blocks = self.memory.n_blocks;
        for first in (0..n_blocks).step_by(n_tiles * TILE) {
            self.group::<B, TILE>(first, n_tiles.min((n_blocks - first).div_ceil(TILE)));
        }
    }

    /// All stages for `n_tiles` tiles, from block `first` on.
    #[inline(always)]
    fn group<B: SimdVector<Memory = Block>, const TILE: usize>(&mut self, first: usize, n_tiles: usize) {
        let HeadMemory { max_units, max_inputs, n_blocks, .. } = *self.memory;
        let HeadMemory { shared, polynomial, packed, pre_activations, activations, columns, logits, .. } =
            &mut *self.memory;
        let pre_activations = &mut pre_activations[..n_tiles * max_units * TILE];
        let mut inputs = TileInputs {
            activations: &mut activations[..n_tiles * max_inputs * TILE],
            columns: &mut columns[..n_tiles * max_inputs],
            n_active: [0; GROUP],
            max_inputs,
            tile: TILE,
        };
        let candidates = self.candidates;
        let (mut before, later) = match polynomial {
            Some(polynomial) => {
                for (tile, out) in inputs.tiles_mut().enumerate() {
                    let touches = candidates.tile::<B, TILE>(first + tile * TILE);
                    *out.n_active = polynomial.tile_inputs::<B, TILE>(touches, out.columns, out.activations);
                }
                let active = |tile| inputs.active(tile);
                polynomial.tile_products::<B, TILE>(active, pre_activations, max_units);
                (&self.later[0], &self.later[1..])
            }
            None => {
                for (tile, out) in pre_activations.chunks_exact_mut(max_units * TILE).enumerate() {
                    let touches = candidates.tile::<B, TILE>(first + tile * TILE);
                    touch_pre_activations::<B, TILE>(self.touch_weights, shared, touches, out);
                }
                (self.touch_stage, self.later)
            }
        };
        let (readout, between) = later.split_last().map_or((None, later), |(last, rest)| (Some(last), rest));
        for stage in between {
            let nonlinearity = before.nonlinearity.expect("only the readout has none");
            for (x, out) in pre_activations.chunks_exact(max_units * TILE).zip(inputs.tiles_mut()) {
                let x = &x[..before.n_units * TILE];
                *out.n_active = tile_nonlinearity::<B, TILE>(nonlinearity, x, out.columns, out.activations);
            }
            let (weights, first_packed) = (stage.weights(), self.later[0].weight_start);
            let packed = &packed[weights.start - first_packed..weights.end - first_packed];
            let biases = self.module.biases(stage);
            let active = |tile| inputs.active(tile);
            tile_products::<B, TILE>(packed, biases, active, pre_activations, max_units);
            before = stage;
        }
        for (tile, x) in pre_activations.chunks_exact(max_units * TILE).enumerate() {
            let (x, first) = (&x[..before.n_units * TILE], first + tile * TILE);
            let mut put = |map: usize, block: usize, logit| {
                if first + block < n_blocks {
                    B::store(logit, &mut logits[map * n_blocks + first + block]);
                }
            };
            match (readout, before.nonlinearity) {
                (Some(readout), Some(nonlinearity)) => {
                    let (weights, biases) = (self.module.weights(readout), self.module.biases(readout));
                    tile_readout::<B, TILE>(nonlinearity, x, |map| weights.row(map), biases, put);
                }
                // The polynomial was already the readout's.
                _ => x.iter().enumerate().for_each(|(idx, x)| put(idx / TILE, idx % TILE, B::load(x))),
            }
        }
    }
}

/// The inputs of the next stage for some tiles.
struct TileInputs<'m> {
    /// `[n_tiles, max_inputs, tile]`, of which the first `n_active` of each tile are set.
    activations: &'m mut [Block],
    /// `[n_tiles, max_inputs]`
    columns: &'m mut [u32],
    n_active: [usize; GROUP],
    max_inputs: usize,
    tile: usize,
}

/// Buffers for the inputs of one tile.
struct TileInputsMut<'m> {
    activations: &'m mut [Block],
    columns: &'m mut [u32],
    n_active: &'m mut usize,
}

impl TileInputs<'_> {
    #[inline(always)]
    fn tiles_mut(&mut self) -> impl Iterator<Item = TileInputsMut<'_>> {
        let activations = self.activations.chunks_exact_mut(self.max_inputs * self.tile);
        let columns = self.columns.chunks_exact_mut(self.max_inputs);
        let tiles = activations.zip(columns).zip(&mut self.n_active);
        tiles.map(|((activations, columns), n_active)| TileInputsMut { activations, columns, n_active })
    }

    #[inline(always)]
    fn active(&self, tile: usize) -> Active<'_> {
        let (first, n) = (tile * self.max_inputs, self.n_active[tile]);
        Active {
            columns: &self.columns[first..first + n],
            numbers: &self.activations[first * self.tile..(first + n) * self.tile],
        }
    }
}

/// The touch stage's pre-activations for a tile of candidates, `[n_units, TILE]`.
#[inline(always)]
fn touch_pre_activations<B: SimdVector<Memory = Block>, const TILE: usize>(
    touch_weights: Weights<'_>,
    shared: &[f32],
    touches: [(B::V, B::V); TILE],
    out: &mut [Block],
) {
    for (unit, (out, &shared)) in out.as_chunks_mut::<TILE>().0.iter_mut().zip(shared).enumerate() {
        let weights = touch_weights.row(unit);
        for (out, (rows, cols)) in out.iter_mut().zip(touches) {
            let with_row = B::mul_add(B::splat(weights[0]), rows, B::splat(shared));
            B::store(B::mul_add(B::splat(weights[1]), cols, with_row), out);
        }
    }
}
