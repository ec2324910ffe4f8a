//! Unit voting and its composite for a tile of candidates.

use crate::arithmetic::{Arithmetic, Block, Kernel, SimdVector};
use crate::composite::layer_composite::weighted_sums;
use crate::composite::layer_votes::softmax;
use crate::composite::layout::StageVotes;
use crate::composite::packed_rows::{Grouping, PackedRows};
use crate::composite::tile::{N_TILE, Tile};
use crate::nonlinearity::{MAX_PARTS, Nonlinearity, parts, with_known};

/// The votes on the activations of a stage, laid out for tiles.
#[derive(Clone, Debug)]
pub(crate) struct UnitVotes {
    /// Per activation, `[n_voters, n_voters]`.
    packed: Vec<PackedRows>,
    /// `[n_activations, n_voters]`
    biases: Vec<f32>,
    n_voters: usize,
}

/// One unit's activations of all voters, `[n_parts, n_voters]`.
pub(crate) type UnitActivations = [Vec<Tile>; MAX_PARTS];

impl UnitVotes {
    pub fn new(votes: &StageVotes) -> Self {
        let n_voters = votes.n_voters();
        let packed = PackedRows::new(n_voters, n_voters, Grouping::TilesInOrder);
        Self { packed: vec![packed; votes.n_activations], biases: vec![0.0; votes.biases.len()], n_voters }
    }

    /// `parameters` are those of all stages' votes.
    pub fn load(&mut self, votes: &StageVotes, parameters: &[f32]) {
        let (n, n_voters) = (votes.n_activations, self.n_voters);
        let (weights, biases) = (&parameters[votes.weights.clone()], &parameters[votes.biases.clone()]);
        for (idx, packed) in self.packed.iter_mut().enumerate() {
            packed.load_from(|row, column| weights[(row * n_voters + column) * n + idx]);
        }
        for (voter, biases) in biases.chunks_exact(n).enumerate() {
            let places = self.biases[voter..].iter_mut().step_by(n_voters);
            places.zip(biases).for_each(|(place, &bias)| *place = bias);
        }
    }
}

/// Computes the composite of a stage, `[n_parts, n_units]`.
pub(crate) struct UnitVotePass<'a> {
    pub votes: &'a UnitVotes,
    /// The readout has none.
    pub nonlinearity: Option<Nonlinearity>,
    /// Pre-activations of all voters, `[n_voters, n_units]`.
    pub x: &'a [Tile],
    pub activations: &'a mut UnitActivations,
    pub shares: &'a mut [Tile],
    pub composite: &'a mut [Tile],
}

impl Kernel for UnitVotePass<'_> {
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        match A::HAS_32_REGISTERS {
            true => self.pass::<A::Blocks, N_TILE>(),
            false => self.pass::<A::Blocks, 1>(),
        }
    }
}

impl UnitVotePass<'_> {
    #[inline(always)]
    fn pass<B: SimdVector<Memory = Block>, const BLOCKS: usize>(self) {
        let Self { votes, nonlinearity, x, activations, shares, composite } = self;
        let UnitVotes { packed, biases, n_voters } = votes;
        let n_parts = nonlinearity.map_or(1, Nonlinearity::n_parts);
        let n_units = packed.len() / n_parts;
        for unit in 0..n_units {
            let x = x[unit..].iter().step_by(n_units);
            match nonlinearity {
                Some(nonlinearity) => {
                    with_known!(nonlinearity, |known, PARTS| set_activations::<B, PARTS>(
                        known,
                        x,
                        activations
                    ));
                }
                None => activations[0].iter_mut().zip(x).for_each(|(activation, x)| *activation = *x),
            }
            for (part, activations) in activations.iter().enumerate().take(n_parts) {
                let idx = part * n_units + unit;
                let (activations, biases) =
                    (&activations[..*n_voters], &biases[idx * n_voters..][..*n_voters]);
                packed[idx].tile_products::<B, BLOCKS>(biases, activations, shares);
                softmax::<B, BLOCKS>(shares);
                weighted_sums::<B, BLOCKS>(activations, shares, &mut composite[idx..=idx]);
            }
        }
    }
}

/// Computes the activations of one unit of all voters.
#[inline(always)]
fn set_activations<'x, B: SimdVector<Memory = Block>, const PARTS: usize>(
    known: Nonlinearity,
    x: impl Iterator<Item = &'x Tile>,
    activations: &mut UnitActivations,
) {
    for (voter, x) in x.enumerate() {
        for block in 0..N_TILE {
            let parts = parts::<B>(known, B::load(&x[block]));
            for part in 0..PARTS {
                B::store(parts[part], &mut activations[part][voter][block]);
            }
        }
    }
}
