//! Votes on whole layers, and their softmax, for a tile of candidates.

use crate::arithmetic::{Arithmetic, Block, Kernel, SimdVector};
use crate::composite::activation_list::ActivationList;
use crate::composite::cres_votes::unit_major;
use crate::composite::layout::StageVotes;
use crate::composite::packed_rows::{Grouping, PackedRows};
use crate::composite::tile::{N_TILE, Tile, load_blocks, store_blocks};
use crate::exponential::exp;
use crate::module::Stage;
use crate::nonlinearity::Nonlinearity;

/// The votes on a layer, laid out for tiles.
#[derive(Clone, Debug)]
pub(crate) struct LayerVotes {
    packed: PackedRows,
    biases: Vec<f32>,
    /// `None` for maps.
    nonlinearity: Option<Nonlinearity>,
    n_units: usize,
}

impl LayerVotes {
    pub fn new(stage: &Stage, votes: &StageVotes, lists: Grouping) -> Self {
        let n_voters = votes.n_voters();
        let grouping = if stage.nonlinearity.is_some() { lists } else { Grouping::Tiles };
        Self {
            packed: PackedRows::new(n_voters, n_voters * votes.n_activations, grouping),
            biases: vec![0.0; n_voters],
            nonlinearity: stage.nonlinearity,
            n_units: stage.n_units,
        }
    }

    /// `parameters` are those of all stages' votes.
    pub fn load(&mut self, votes: &StageVotes, parameters: &[f32]) {
        let weights = &parameters[votes.weights.clone()];
        match self.nonlinearity {
            Some(Nonlinearity::Cres) => self.packed.load_columns(weights, unit_major(self.n_units)),
            _ => self.packed.load(weights),
        }
        self.biases.copy_from_slice(&parameters[votes.biases.clone()]);
    }

    /// `x` are all voters' pre-activations or maps, `[n_voters, n_units]`.
    #[inline(always)]
    fn vote<B: SimdVector<Memory = Block>, const BLOCKS: usize>(
        &self,
        x: &[Tile],
        list: &mut ActivationList,
        votes: &mut [Tile],
    ) {
        match self.nonlinearity {
            Some(Nonlinearity::Cres) => {
                for block in 0..N_TILE {
                    self.packed.cres_products::<B, BLOCKS>(&self.biases, x, block, votes);
                }
            }
            Some(nonlinearity) => {
                for block in 0..N_TILE {
                    list.set::<B>(nonlinearity, self.n_units, x, block);
                    self.packed.list_products::<B, BLOCKS>(&self.biases, list, block, votes);
                }
            }
            None => self.packed.tile_products::<B, BLOCKS>(&self.biases, x, votes),
        }
    }
}

/// Computes the shares of a layer's voters.
pub(crate) struct LayerVotePass<'a> {
    pub votes: &'a LayerVotes,
    /// Pre-activations of all voters, `[n_voters, n_units]`.
    pub x: &'a [Tile],
    pub list: &'a mut ActivationList,
    pub shares: &'a mut [Tile],
}

impl Kernel for LayerVotePass<'_> {
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let Self { votes, x, list, shares } = self;
        match A::HAS_32_REGISTERS {
            true => {
                votes.vote::<A::Blocks, N_TILE>(x, list, shares);
                softmax::<A::Blocks, N_TILE>(shares);
            }
            false => {
                votes.vote::<A::Blocks, 1>(x, list, shares);
                softmax::<A::Blocks, 1>(shares);
            }
        }
    }
}

/// Over the voters, in place.
#[inline(always)]
pub(crate) fn softmax<B: SimdVector<Memory = Block>, const BLOCKS: usize>(votes: &mut [Tile]) {
    for first in (0..N_TILE).step_by(BLOCKS) {
        let mut max = [B::splat(f32::NEG_INFINITY); BLOCKS];
        for vote in votes.iter() {
            let vote = load_blocks::<B, BLOCKS>(vote, first);
            for block in 0..BLOCKS {
                max[block] = B::max(max[block], vote[block]);
            }
        }
        let mut sums = [B::zero(); BLOCKS];
        for vote in votes.iter_mut() {
            let mut share = load_blocks::<B, BLOCKS>(vote, first);
            for block in 0..BLOCKS {
                share[block] = exp::<B>(B::sub(share[block], max[block]));
                sums[block] = B::add(sums[block], share[block]);
            }
            store_blocks::<B, BLOCKS>(share, vote, first);
        }
        for sum in &mut sums {
            *sum = B::div(B::splat(1.0), *sum);
        }
        for vote in votes.iter_mut() {
            let mut share = load_blocks::<B, BLOCKS>(vote, first);
            for block in 0..BLOCKS {
                share[block] = B::mul(share[block], sums[block]);
            }
            store_blocks::<B, BLOCKS>(share, vote, first);
        }
    }
}
