//! Votes of a stage for blocks of candidates.

use crate::arithmetic::{Block, N_BLOCK, Numbers};
use crate::composite::layout::StageVotes;
use crate::exponential::exp;
use crate::linear::candidates::{Active, block_products, pack_weights};

/// All voters' numbers of one block that are not 0 for all of it, voter by voter.
#[derive(Clone, Debug)]
pub(crate) struct BlockNumbers {
    numbers: Vec<Block>,
    columns: Vec<u32>,
    /// Where each voter's numbers end.
    ends: Vec<usize>,
}

/// Numbers that are put down before it is known whether they stay.
const N_AHEAD: usize = 2;

impl BlockNumbers {
    /// Room for so many.
    pub fn new(most: usize) -> Self {
        let most = most + N_AHEAD;
        Self { numbers: vec![[0.0; N_BLOCK]; most], columns: vec![0; most], ends: Vec::with_capacity(most) }
    }

    #[inline(always)]
    pub fn clear(&mut self) {
        self.ends.clear();
    }

    #[inline(always)]
    fn len(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// Where the next voter's numbers go.
    #[inline(always)]
    pub fn room(&mut self) -> (&mut [u32], &mut [Block]) {
        let n = self.len();
        (&mut self.columns[n..], &mut self.numbers[n..])
    }

    /// The voter has put down so many.
    #[inline(always)]
    pub fn end_voter(&mut self, n: usize) {
        let end = self.len() + n;
        self.ends.push(end);
    }

    /// All of them.
    #[inline(always)]
    pub fn all(&self) -> Active<'_> {
        Active { columns: &self.columns[..self.len()], numbers: &self.numbers[..self.len()] }
    }

    /// One voter's.
    #[inline(always)]
    fn of_voter(&self, voter: usize) -> Active<'_> {
        let place = if voter == 0 { 0 } else { self.ends[voter - 1] }..self.ends[voter];
        Active { columns: &self.columns[place.clone()], numbers: &self.numbers[place] }
    }
}

/// What voting on a block works in.
#[derive(Clone, Debug)]
pub(crate) struct VoteMemory {
    /// Votes, then shares: `[n_voters]`.
    shares: Vec<Block>,
    /// Of units: all numbers, also those that are 0, `[n_voters, n_numbers]`, and which columns are not 0.
    dense: Vec<Block>,
    is_active: Vec<bool>,
}

impl VoteMemory {
    pub fn new(votes: &[StageVotes]) -> Self {
        let most = |f: fn(&StageVotes) -> usize| votes.iter().map(f).max().unwrap_or(0);
        let zeros = |n: usize| vec![[0.0; N_BLOCK]; n];
        let by_unit = votes.iter().any(StageVotes::is_by_unit);
        let most_numbers = most(|votes| votes.n_voters() * votes.n_numbers);
        Self {
            shares: zeros(most(StageVotes::n_voters)),
            dense: zeros(if by_unit { most_numbers } else { 0 }),
            is_active: vec![false; if by_unit { most(|votes| votes.n_numbers) } else { 0 }],
        }
    }

    /// Where votes go.
    #[inline(always)]
    pub fn shares(&mut self, n_voters: usize) -> &mut [Block] {
        &mut self.shares[..n_voters]
    }
}

/// The votes of a stage, laid out for blocks.
#[derive(Clone, Debug)]
pub(crate) struct BlockVotes {
    n_voters: usize,
    n_numbers: usize,
    /// Of layers: packed. Of units: `[n_numbers, n_voters, n_voters]`.
    weights: Vec<f32>,
    /// Of layers `[n_voters]`, of units `[n_numbers, n_voters]`.
    biases: Vec<f32>,
}

impl BlockVotes {
    pub fn new(votes: &StageVotes) -> Self {
        let (weights, biases) = (vec![0.0; votes.weights.len()], vec![0.0; votes.biases.len()]);
        Self { n_voters: votes.n_voters(), n_numbers: votes.n_numbers, weights, biases }
    }

    /// Takes the parameters as they are now.
    pub fn load(&mut self, votes: &StageVotes, parameters: &[f32]) {
        let (n, n_voters) = (self.n_numbers, self.n_voters);
        let (weights, biases) = (&parameters[votes.weights.clone()], &parameters[votes.biases.clone()]);
        if !votes.is_by_unit() {
            pack_weights(weights, n_voters, &mut self.weights);
            self.biases.copy_from_slice(biases);
            return;
        }
        for (pair, weights) in weights.chunks_exact(n).enumerate() {
            weights
                .iter()
                .enumerate()
                .for_each(|(idx, &w)| self.weights[idx * n_voters * n_voters + pair] = w);
        }
        for (voter, biases) in biases.chunks_exact(n).enumerate() {
            biases.iter().enumerate().for_each(|(idx, &b)| self.biases[idx * n_voters + voter] = b);
        }
    }

    /// Votes on whole layers, left in memory.
    #[inline(always)]
    pub fn layer_votes<B: Numbers<Memory = Block>>(&self, numbers: &BlockNumbers, memory: &mut VoteMemory) {
        let active = numbers.all();
        let votes = memory.shares(self.n_voters);
        block_products::<B>(&self.weights, &self.biases, |_| active, votes, self.n_voters);
    }

    /// From votes in memory to shares and the composite.
    #[inline(always)]
    pub fn layer_composite<B: Numbers<Memory = Block>>(
        &self,
        numbers: &BlockNumbers,
        memory: &mut VoteMemory,
        composite: &mut [Block],
    ) {
        let shares = memory.shares(self.n_voters);
        softmax::<B>(shares);
        composite[..self.n_numbers].fill([0.0; N_BLOCK]);
        for (voter, share) in shares.iter().enumerate() {
            let Active { columns, numbers } = numbers.of_voter(voter);
            let weight = B::load(share);
            for (&column, number) in columns.iter().zip(numbers) {
                let sum = &mut composite[column as usize - voter * self.n_numbers];
                B::store(B::mul_add(weight, B::load(number), B::load(sum)), sum);
            }
        }
    }

    /// Votes on every number for itself, and the composite.
    #[inline(always)]
    pub fn unit_votes<B: Numbers<Memory = Block>>(
        &self,
        numbers: &BlockNumbers,
        memory: &mut VoteMemory,
        composite: &mut [Block],
    ) {
        let (n, n_voters) = (self.n_numbers, self.n_voters);
        let VoteMemory { shares, dense, is_active } = memory;
        let shares = &mut shares[..n_voters];
        // The numbers of all voters at one place stand together.
        let dense = &mut dense[..n * n_voters];
        dense.fill([0.0; N_BLOCK]);
        is_active[..n].fill(false);
        for voter in 0..n_voters {
            let Active { columns, numbers } = numbers.of_voter(voter);
            for (&column, number) in columns.iter().zip(numbers) {
                let place = column as usize - voter * n;
                dense[place * n_voters + voter] = *number;
                is_active[place] = true;
            }
        }
        let places = dense.chunks_exact(n_voters).zip(composite.iter_mut()).zip(&is_active[..n]);
        let weights = self.weights.chunks_exact(n_voters * n_voters).zip(self.biases.chunks_exact(n_voters));
        for (((numbers, sum), is_active), (weights, biases)) in places.zip(weights) {
            *sum = [0.0; N_BLOCK];
            if !is_active {
                continue;
            }
            for ((share, weights), &bias) in shares.iter_mut().zip(weights.chunks_exact(n_voters)).zip(biases)
            {
                let mut vote = B::splat(bias);
                for (number, &weight) in numbers.iter().zip(weights) {
                    vote = B::mul_add(B::splat(weight), B::load(number), vote);
                }
                B::store(vote, share);
            }
            softmax::<B>(shares);
            for (number, share) in numbers.iter().zip(shares.iter()) {
                B::store(B::mul_add(B::load(share), B::load(number), B::load(sum)), sum);
            }
        }
    }
}

/// Over the voters, for each candidate, in place.
#[inline(always)]
fn softmax<B: Numbers<Memory = Block>>(votes: &mut [Block]) {
    let mut most = B::splat(f32::NEG_INFINITY);
    for vote in votes.iter() {
        most = B::max(most, B::load(vote));
    }
    let mut sum = B::zero();
    for vote in votes.iter_mut() {
        let share = exp::<B>(B::sub(B::load(vote), most));
        sum = B::add(sum, share);
        B::store(share, vote);
    }
    let factor = B::div(B::splat(1.0), sum);
    for vote in votes.iter_mut() {
        B::store(B::mul(B::load(vote), factor), vote);
    }
}
