//! Votes of a stage for blocks of candidates.

use crate::arithmetic::{Arithmetic, N_LANES};
use crate::composite::layout::StageVotes;
use crate::exponential::exp;
use crate::linear::candidates::{Active, Block, MAX_CHUNKS, block_products, pack_weights};
use crate::module::blocks;

/// All voters' numbers of one block that are not 0 for all of it, voter by voter.
#[derive(Clone, Debug)]
pub(crate) struct BlockNumbers {
    numbers: Vec<f32>,
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
        Self {
            numbers: vec![0.0; MAX_CHUNKS * N_LANES * most],
            columns: vec![0; most],
            ends: Vec::with_capacity(most),
        }
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
    pub fn room<const N: usize>(&mut self) -> (&mut [u32], &mut [Block<N>]) {
        let n = self.len();
        (&mut self.columns[n..], &mut blocks::<N>(&mut self.numbers)[n..])
    }

    /// The voter has put down so many.
    #[inline(always)]
    pub fn end_voter(&mut self, n: usize) {
        let end = self.len() + n;
        self.ends.push(end);
    }

    #[inline(always)]
    fn read<const N: usize>(&self) -> &[Block<N>] {
        self.numbers.as_chunks::<N_LANES>().0.as_chunks::<N>().0
    }

    /// All of them.
    #[inline(always)]
    pub fn all<const N: usize>(&self) -> Active<'_, N> {
        Active { columns: &self.columns[..self.len()], numbers: &self.read::<N>()[..self.len()] }
    }

    /// One voter's.
    #[inline(always)]
    fn of_voter<const N: usize>(&self, voter: usize) -> Active<'_, N> {
        let place = if voter == 0 { 0 } else { self.ends[voter - 1] }..self.ends[voter];
        Active { columns: &self.columns[place.clone()], numbers: &self.read::<N>()[place] }
    }
}

/// What voting on a block works in.
#[derive(Clone, Debug)]
pub(crate) struct VoteMemory {
    /// Votes, then shares: `[n_voters]` blocks.
    shares: Vec<f32>,
    /// Of units: all numbers, also those that are 0, `[n_voters, n_numbers]` blocks, and which columns are not 0.
    dense: Vec<f32>,
    is_active: Vec<bool>,
}

impl VoteMemory {
    pub fn new(votes: &[StageVotes]) -> Self {
        let most = |f: fn(&StageVotes) -> usize| votes.iter().map(f).max().unwrap_or(0);
        let block = MAX_CHUNKS * N_LANES;
        let by_unit = votes.iter().any(StageVotes::is_by_unit);
        let most_numbers = most(|votes| votes.n_voters() * votes.n_numbers);
        Self {
            shares: vec![0.0; block * most(StageVotes::n_voters)],
            dense: vec![0.0; if by_unit { block * most_numbers } else { 0 }],
            is_active: vec![false; if by_unit { most(|votes| votes.n_numbers) } else { 0 }],
        }
    }

    /// Where votes go.
    #[inline(always)]
    pub fn shares<const N: usize>(&mut self, n_voters: usize) -> &mut [Block<N>] {
        &mut blocks::<N>(&mut self.shares)[..n_voters]
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
    pub fn layer_votes<A: Arithmetic, const N: usize>(
        &self,
        numbers: &BlockNumbers,
        memory: &mut VoteMemory,
    ) {
        let active = numbers.all::<N>();
        let votes = memory.shares::<N>(self.n_voters);
        block_products::<A, N>(&self.weights, &self.biases, |_| active, votes, self.n_voters);
    }

    /// From votes in memory to shares and the composite.
    #[inline(always)]
    pub fn layer_composite<A: Arithmetic, const N: usize>(
        &self,
        numbers: &BlockNumbers,
        memory: &mut VoteMemory,
        composite: &mut [Block<N>],
    ) {
        let shares = memory.shares::<N>(self.n_voters);
        softmax::<A, N>(shares);
        composite[..self.n_numbers].fill([[0.0; N_LANES]; N]);
        for (voter, share) in shares.iter().enumerate() {
            let Active { columns, numbers } = numbers.of_voter::<N>(voter);
            let mut weight = [A::zero(); N];
            for i in 0..N {
                weight[i] = A::load(&share[i]);
            }
            for (&column, number) in columns.iter().zip(numbers) {
                let sum = &mut composite[column as usize - voter * self.n_numbers];
                for i in 0..N {
                    A::store(A::mul_add(weight[i], A::load(&number[i]), A::load(&sum[i])), &mut sum[i]);
                }
            }
        }
    }

    /// Votes on every number for itself, and the composite.
    #[inline(always)]
    pub fn unit_votes<A: Arithmetic, const N: usize>(
        &self,
        numbers: &BlockNumbers,
        memory: &mut VoteMemory,
        composite: &mut [Block<N>],
    ) {
        let (n, n_voters) = (self.n_numbers, self.n_voters);
        let VoteMemory { shares, dense, is_active } = memory;
        let shares = &mut blocks::<N>(shares)[..n_voters];
        // The numbers of all voters at one place stand together.
        let dense = &mut blocks::<N>(dense)[..n * n_voters];
        dense.fill([[0.0; N_LANES]; N]);
        is_active[..n].fill(false);
        for voter in 0..n_voters {
            let Active { columns, numbers } = numbers.of_voter::<N>(voter);
            for (&column, number) in columns.iter().zip(numbers) {
                let place = column as usize - voter * n;
                dense[place * n_voters + voter] = *number;
                is_active[place] = true;
            }
        }
        let places = dense.chunks_exact(n_voters).zip(composite.iter_mut()).zip(&is_active[..n]);
        let weights = self.weights.chunks_exact(n_voters * n_voters).zip(self.biases.chunks_exact(n_voters));
        for (((numbers, sum), is_active), (weights, biases)) in places.zip(weights) {
            *sum = [[0.0; N_LANES]; N];
            if !is_active {
                continue;
            }
            for ((share, weights), &bias) in shares.iter_mut().zip(weights.chunks_exact(n_voters)).zip(biases)
            {
                let mut vote = [A::splat(bias); N];
                for (number, &weight) in numbers.iter().zip(weights) {
                    for i in 0..N {
                        vote[i] = A::mul_add(A::splat(weight), A::load(&number[i]), vote[i]);
                    }
                }
                for i in 0..N {
                    A::store(vote[i], &mut share[i]);
                }
            }
            softmax::<A, N>(shares);
            for (number, share) in numbers.iter().zip(shares.iter()) {
                for i in 0..N {
                    let more = A::mul_add(A::load(&share[i]), A::load(&number[i]), A::load(&sum[i]));
                    A::store(more, &mut sum[i]);
                }
            }
        }
    }
}

/// Over the voters, for each candidate, in place.
#[inline(always)]
fn softmax<A: Arithmetic, const N: usize>(votes: &mut [Block<N>]) {
    for i in 0..N {
        let mut most = A::splat(f32::NEG_INFINITY);
        for vote in votes.iter() {
            most = A::max(most, A::load(&vote[i]));
        }
        let mut sum = A::zero();
        for vote in votes.iter_mut() {
            let share = exp::<A>(A::sub(A::load(&vote[i]), most));
            sum = A::add(sum, share);
            A::store(share, &mut vote[i]);
        }
        let factor = A::div(A::splat(1.0), sum);
        for vote in votes.iter_mut() {
            A::store(A::mul(A::load(&vote[i]), factor), &mut vote[i]);
        }
    }
}
