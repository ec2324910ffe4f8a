//! Reward maps of a composite: the logits of many candidate touches on one screen.

use crate::arithmetic::{Arithmetic, Block, Kernel, N_BLOCK, Numbers};
use crate::composite::block_votes::{BlockNumbers, BlockVotes, VoteMemory};
use crate::composite::controller::Controller;
use crate::composite::layout::StageVotes;
use crate::composite::map_blocks::MapBlocks;
use crate::composite::votes::VotePass;
use crate::linear::candidates::{Active, block_nonlinearity, block_products, pack_weights};
use crate::linear::products::add_products;
use crate::linear::touch_polynomial::TouchPolynomial;
use crate::linear::{Stacked, Weights};
use crate::module::{Candidates, Module, Stage};

/// What predicting works in; made once, used at every step.
#[derive(Clone, Debug)]
pub struct CompositeHead {
    /// The bottleneck's numbers of all voters, their shares and the composite, if there is a bottleneck.
    bottleneck: Vec<f32>,
    bottleneck_shares: Vec<f32>,
    bottleneck_composite: Vec<f32>,
    /// Sums of the touch stage in the middle of the screen, and how they change with the present touch, `[n, 2]`: for
    /// all units of all voters.
    middles: Vec<f32>,
    slopes: Vec<f32>,
    /// Touches as an old module is told of them; what the touch stage makes of the bottleneck.
    moved: Vec<f32>,
    from_hidden: Vec<f32>,
    /// The touch stage's votes on layers, where they can be had from a polynomial of the touch.
    polynomial: Option<TouchPolynomial>,
    /// The touch stage and those behind it.
    stages: Vec<StageHead>,
    maps: Vec<MapBlocks>,
    work: Work,
    /// `[k_f, n_blocks]`
    logits: Vec<Block>,
    n_blocks: usize,
    n_candidates: usize,
}

/// Weights of one stage, laid out for prediction.
#[derive(Clone, Debug)]
struct StageHead {
    /// Of each module, old ones first; none at the touch stage.
    packed: Vec<Vec<f32>>,
    votes: BlockVotes,
}

/// What a block of candidates passes through.
#[derive(Clone, Debug)]
struct Work {
    sums: Vec<Block>,
    numbers: BlockNumbers,
    /// What the polynomial reads.
    monomials: BlockNumbers,
    votes: VoteMemory,
    composite: Vec<Block>,
    /// 0, 1, 2, ...: of a composite nothing is left out.
    all_columns: Vec<u32>,
}

impl CompositeHead {
    /// For a controller and a number of candidates.
    pub fn new(controller: &Controller, n_candidates: usize) -> Self {
        let structure = controller.structure();
        let touch_stage = structure.touch_stage();
        let (stages, votes) = (&structure.stages()[touch_stage..], &controller.votes()[touch_stage..]);
        let n_touch_units = votes[0].n_voters() * stages[0].n_units;
        let nonlinearity = stages[0].nonlinearity.expect("only the readout has none");
        let polynomial = match votes[0].is_by_unit() {
            true => None,
            false => TouchPolynomial::new(nonlinearity, n_touch_units, votes[0].n_voters()),
        };
        let bottleneck = controller.votes().first().filter(|_| touch_stage > 0);
        let of_bottleneck = |f: fn(&StageVotes) -> usize| vec![0.0; bottleneck.map_or(0, f)];
        let n_blocks = n_candidates.div_ceil(N_BLOCK);
        let head = |(idx, votes): (usize, &StageVotes)| StageHead {
            packed: match idx {
                0 => Vec::new(),
                _ => vec![vec![0.0; stages[idx].weights().len()]; controller.old().len() + 1],
            },
            votes: BlockVotes::new(votes),
        };
        let mut new = Self {
            bottleneck: of_bottleneck(|votes| votes.n_voters() * votes.n_numbers),
            bottleneck_shares: of_bottleneck(StageVotes::n_shares),
            bottleneck_composite: of_bottleneck(|votes| votes.n_numbers),
            middles: vec![0.0; n_touch_units],
            slopes: vec![0.0; 2 * n_touch_units],
            moved: vec![0.0; structure.shape().n_touch()],
            from_hidden: vec![0.0; stages[0].n_units],
            stages: votes.iter().enumerate().map(head).collect(),
            maps: controller.layout.maps.iter().map(MapBlocks::new).collect(),
            work: Work::new(stages, votes, polynomial.as_ref()),
            polynomial,
            logits: vec![[0.0; N_BLOCK]; structure.shape().k_f * n_blocks],
            n_blocks,
            n_candidates,
        };
        // Old modules do not change any more.
        for (stage, head) in stages.iter().zip(&mut new.stages) {
            for (module, packed) in controller.old().iter().zip(&mut head.packed) {
                pack_weights(&module.parameters()[stage.weights()], stage.n_units, packed);
            }
        }
        new
    }

    /// Takes the new module's weights and the controller's as they are now. To be called before predicting, and again
    /// whenever they have changed.
    pub fn load(&mut self, controller: &Controller, new: &Module) {
        let touch_stage = new.structure().touch_stage();
        let stages = &new.structure().stages()[touch_stage..];
        let votes = &controller.votes()[touch_stage..];
        let parameters = &controller.parameters().votes;
        for ((stage, head), votes) in stages.iter().zip(&mut self.stages).zip(votes) {
            if let Some(packed) = head.packed.last_mut() {
                pack_weights(&new.parameters()[stage.weights()], stage.n_units, packed);
            }
            head.votes.load(votes, parameters);
        }
        if let Some(polynomial) = &mut self.polynomial {
            let (n_units, votes) = (stages[0].n_units, &votes[0]);
            let (n, n_voters) = (votes.n_numbers, votes.n_voters());
            let weights = &parameters[votes.weights.clone()];
            polynomial.load(n_voters, |out, part, voter| {
                &weights[(out * n_voters + voter) * n + part * n_units..][..n_units]
            });
        }
        let maps = controller.layout.maps.iter().zip(&mut self.maps);
        maps.for_each(|(places, blocks)| blocks.load(places, &controller.parameters().maps));
    }

    /// The logits of one of the `k_f` maps, `[n_candidates]`.
    pub fn logits(&self, map: usize) -> &[f32] {
        &self.logits[map * self.n_blocks..].as_flattened()[..self.n_candidates]
    }

    /// Predicts the logits of all candidates. `visual` gives each module's row of the first stage, old ones first;
    /// `past_touches` are the touches before, oldest first, `[2 k_b]`.
    pub fn predict<'v>(
        &mut self,
        controller: &Controller,
        new: &Module,
        visual: impl Fn(usize) -> &'v [f32],
        past_touches: &[f32],
        candidates: &Candidates,
    ) {
        assert_eq!(candidates.n_blocks(), self.n_blocks, "memory for another number of candidates");
        if new.structure().touch_stage() > 0 {
            self.set_bottleneck(controller, new, &visual);
        }
        self.set_touch_stage(controller, new, &visual, past_touches);
        self.maps.iter_mut().for_each(|map| map.look(past_touches));
        if let Some(polynomial) = &mut self.polynomial {
            let votes = &controller.votes()[new.structure().touch_stage()];
            let biases = &controller.parameters().votes[votes.biases.clone()];
            let slopes = Weights::whole(&self.slopes, 2);
            polynomial.expand(new.instructions(), &self.middles, slopes, biases);
        }
        new.instructions().run(Predict { head: self, controller, new, candidates });
    }

    /// The composite of the stage that reads screens alone.
    fn set_bottleneck<'v>(
        &mut self,
        controller: &Controller,
        new: &Module,
        visual: &impl Fn(usize) -> &'v [f32],
    ) {
        let (stage, votes) = (&new.structure().stages()[0], &controller.votes()[0]);
        let nonlinearity = stage.nonlinearity.expect("only the readout has none");
        for module in 0..=controller.old().len() {
            let numbers =
                &mut self.bottleneck[votes.of_module(module) * votes.n_numbers..][..votes.n_numbers];
            nonlinearity.forward(new.instructions(), stage.n_units, visual(module), numbers);
        }
        let pass = VotePass {
            numbers: &self.bottleneck,
            shares: &mut self.bottleneck_shares,
            composite: &mut self.bottleneck_composite,
        };
        votes.vote(new.instructions(), &controller.parameters().votes, pass);
    }

    /// Sums of all units that read the touch, as functions of it.
    fn set_touch_stage<'v>(
        &mut self,
        controller: &Controller,
        new: &Module,
        visual: &impl Fn(usize) -> &'v [f32],
        past_touches: &[f32],
    ) {
        let touch_stage = new.structure().touch_stage();
        let (stage, votes) = (&new.structure().stages()[touch_stage], &controller.votes()[touch_stage]);
        let (n_units, n_old) = (stage.n_units, controller.old().len());
        let n_touch = stage.n_touch;
        for module_idx in 0..=n_old {
            let module = controller.old().get(module_idx).map_or(new, |module| module);
            let weights = module.weights(stage);
            if touch_stage > 0 {
                self.from_hidden.copy_from_slice(module.biases(stage));
                let inputs = Stacked::whole(&self.bottleneck_composite, stage.n_hidden);
                add_products(
                    new.instructions(),
                    weights.columns(0, stage.n_hidden),
                    inputs,
                    &mut self.from_hidden,
                );
            } else {
                self.from_hidden.copy_from_slice(visual(module_idx));
            }
            let touch_weights = weights.columns(stage.n_in() - n_touch, n_touch);
            let first = votes.of_module(module_idx) * n_units;
            for unit in 0..n_units {
                let (past, now) = touch_weights.row(unit).split_at(n_touch - 2);
                self.middles[first + unit] = self.from_hidden[unit] + dot(past, past_touches);
                self.slopes[2 * (first + unit)..][..2].copy_from_slice(now);
            }
            if module_idx < controller.layout.actions.len() {
                let (matrix, biases) = controller.action(module_idx);
                for ((moved, row), bias) in
                    self.moved.iter_mut().zip(matrix.chunks_exact(n_touch)).zip(biases)
                {
                    *moved = bias + dot(&row[..n_touch - 2], past_touches);
                }
                let first = votes.transformed(module_idx) * n_units;
                for unit in 0..n_units {
                    let row = touch_weights.row(unit);
                    self.middles[first + unit] = self.from_hidden[unit] + dot(row, &self.moved);
                    for now in 0..2 {
                        let column = matrix.iter().skip(n_touch - 2 + now).step_by(n_touch);
                        let slope = row.iter().zip(column).map(|(weight, a)| weight * a).sum();
                        self.slopes[2 * (first + unit) + now] = slope;
                    }
                }
            }
        }
    }
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl Work {
    fn new(stages: &[Stage], votes: &[StageVotes], polynomial: Option<&TouchPolynomial>) -> Self {
        let most =
            |f: &dyn Fn((&Stage, &StageVotes)) -> usize| stages.iter().zip(votes).map(f).max().unwrap_or(0);
        let most_numbers = most(&|(_, votes)| votes.n_voters() * votes.n_numbers);
        let widest = most(&|(_, votes)| votes.n_numbers);
        Self {
            sums: vec![[0.0; N_BLOCK]; most(&|(stage, votes)| votes.n_voters() * stage.n_units)],
            numbers: BlockNumbers::new(most_numbers),
            monomials: BlockNumbers::new(polynomial.map_or(0, TouchPolynomial::n_numbers)),
            votes: VoteMemory::new(votes),
            composite: vec![[0.0; N_BLOCK]; widest],
            all_columns: (0..widest as u32).collect(),
        }
    }
}

struct Predict<'a> {
    head: &'a mut CompositeHead,
    controller: &'a Controller,
    new: &'a Module,
    candidates: &'a Candidates,
}

impl Kernel for Predict<'_> {
    #[inline(always)]
    fn run<A: Arithmetic>(mut self) {
        for block in 0..self.head.n_blocks {
            self.block::<A::Blocks>(block);
        }
    }
}

impl Predict<'_> {
    /// All stages for a block of candidates.
    #[inline(always)]
    fn block<B: Numbers<Memory = Block>>(&mut self, block: usize) {
        let CompositeHead {
            middles, slopes, polynomial, stages: heads, maps, work, logits, n_blocks, ..
        } = &mut *self.head;
        let Work { sums, numbers, monomials, votes: memory, composite, all_columns } = work;
        let touch_stage = self.new.structure().touch_stage();
        let stages = &self.new.structure().stages()[touch_stage..];
        let all_votes = &self.controller.votes()[touch_stage..];
        let n_old = self.controller.old().len();
        let (rows, cols) = self.candidates.block::<B>(block);
        for (idx, ((stage, votes), head)) in stages.iter().zip(all_votes).zip(heads.iter()).enumerate() {
            let n_units = stage.n_units;
            numbers.clear();
            if idx == 0 {
                touch_sums::<B>(middles, slopes, rows, cols, sums);
            } else {
                let n = stage.n_hidden;
                let before = Active { columns: &all_columns[..n], numbers: &composite[..n] };
                for (module_idx, packed) in head.packed.iter().enumerate() {
                    let module = self.controller.old().get(module_idx).map_or(self.new, |module| module);
                    let sums = &mut sums[votes.of_module(module_idx) * n_units..][..n_units];
                    block_products::<B>(packed, module.biases(stage), |_| before, sums, n_units);
                }
            }
            match stage.nonlinearity {
                Some(nonlinearity) => {
                    for voter in 0..votes.n_voters() {
                        let sums = &sums[voter * n_units..][..n_units];
                        let (columns, room) = numbers.room();
                        let first = voter * votes.n_numbers;
                        let n = block_nonlinearity::<B>(nonlinearity, sums, first, columns, room);
                        numbers.end_voter(n);
                    }
                }
                None => {
                    for (old, map) in maps.iter_mut().enumerate() {
                        let (plain, out) = (old * n_units, votes.transformed(old) * n_units);
                        map.transform::<B>(rows, cols, plain, out, sums);
                    }
                    debug_assert_eq!(votes.of_module(n_old) + 1, votes.n_voters());
                    for voter in 0..votes.n_voters() {
                        let (columns, room) = numbers.room();
                        let first = voter * n_units;
                        room[..n_units].copy_from_slice(&sums[first..first + n_units]);
                        let columns = columns[..n_units].iter_mut().zip(first as u32..);
                        columns.for_each(|(column, idx)| *column = idx);
                        numbers.end_voter(n_units);
                    }
                }
            }
            if votes.is_by_unit() {
                head.votes.unit_votes::<B>(numbers, memory, composite);
                continue;
            }
            match (idx, &mut *polynomial) {
                (0, Some(polynomial)) => {
                    monomials.clear();
                    let (columns, room) = monomials.room();
                    let n = polynomial.block_numbers::<B>(rows, cols, columns, room);
                    monomials.end_voter(n);
                    let active = monomials.all();
                    let shares = memory.shares(votes.n_voters());
                    polynomial.block_products::<B>(|_| active, shares, votes.n_voters());
                }
                _ => head.votes.layer_votes::<B>(numbers, memory),
            }
            head.votes.layer_composite::<B>(numbers, memory, composite);
        }
        for (map, numbers) in composite[..logits.len() / *n_blocks].iter().enumerate() {
            logits[map * *n_blocks + block] = *numbers;
        }
    }
}

/// Sums of units in the middle of the screen and their slopes, at the touches of a block.
#[inline(always)]
fn touch_sums<B: Numbers<Memory = Block>>(
    middles: &[f32],
    slopes: &[f32],
    rows: B::V,
    cols: B::V,
    sums: &mut [Block],
) {
    for ((sum, &middle), slopes) in sums.iter_mut().zip(middles).zip(slopes.as_chunks::<2>().0) {
        let with_row = B::mul_add(B::splat(slopes[0]), rows, B::splat(middle));
        B::store(B::mul_add(B::splat(slopes[1]), cols, with_row), sum);
    }
}
