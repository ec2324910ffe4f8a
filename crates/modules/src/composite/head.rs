//! Reward maps of a composite: the logits of many candidate touches on one screen.

use crate::arithmetic::{Arithmetic, Block, Instructions, Kernel, N_BLOCK, SimdVector};
use crate::composite::activation_list::ActivationList;
use crate::composite::controller::Controller;
use crate::composite::layer_composite::{LayerComposite, MapComposite, OfTouch, StoreTouchStage, Stored};
use crate::composite::layer_votes::{LayerVotePass, LayerVotes};
use crate::composite::layout::StageVotes;
use crate::composite::map_tiles::{MapTiles, TransformMaps};
use crate::composite::packed_rows::{Grouping, PackedRows};
use crate::composite::tile::{N_TILE, Tile, TouchTile, ZERO_TILE};
use crate::composite::touch_stage::TouchStage;
use crate::composite::touch_votes::{Expand, TouchVotePass, TouchVotes};
use crate::composite::unit_votes::{UnitActivations, UnitVotePass, UnitVotes};
use crate::composite::votes::VotePass;
use crate::module::{Candidates, Module, Stage};

/// The buffers of prediction; allocated once.
#[derive(Clone, Debug)]
pub struct CompositeHead {
    /// All voters' activations, their shares and the composite; empty without a bottleneck.
    bottleneck: Vec<f32>,
    bottleneck_shares: Vec<f32>,
    bottleneck_composite: Vec<f32>,
    touch_stage: TouchStage,
    /// From the touch stage on.
    stages: Vec<StageHead>,
    maps: Vec<MapTiles>,
    work: Work,
    instructions: Instructions,
    /// `[k_f, n_blocks]`
    logits: Vec<Block>,
    n_blocks: usize,
    n_candidates: usize,
}

/// Weights of one stage, laid out for prediction.
#[derive(Clone, Debug)]
struct StageHead {
    /// Per module, old ones first; empty at the touch stage.
    modules: Vec<PackedRows>,
    votes: TileVotes,
}

/// The votes of one stage, laid out for prediction.
#[derive(Clone, Debug)]
enum TileVotes {
    /// On the touch stage, if its activations are polynomials.
    Touch(Box<TouchVotes>),
    Layer(LayerVotes),
    Unit(UnitVotes),
}

/// The intermediate values of a tile of candidates.
#[derive(Clone, Debug)]
struct Work {
    touches: TouchTile,
    /// Pre-activations of all voters, `[n_voters, n_units]`.
    x: Vec<Tile>,
    /// Votes, replaced by shares: `[n_voters]`.
    votes: Vec<Tile>,
    composite: Vec<Tile>,
    list: ActivationList,
    /// With unit voting.
    unit: UnitActivations,
}

impl CompositeHead {
    pub fn new(controller: &Controller, n_candidates: usize) -> Self {
        let structure = controller.structure();
        let touch_stage = structure.touch_stage();
        let (stages, votes) = (&structure.stages()[touch_stage..], &controller.votes()[touch_stage..]);
        let instructions = controller.old()[0].instructions();
        let has_wide_registers = instructions.has_wide_registers();
        let head = |(idx, (stage, votes)): (usize, (&Stage, &StageVotes))| StageHead {
            modules: match idx {
                0 => Vec::new(),
                _ => {
                    let rows = PackedRows::new(stage.n_units, stage.n_hidden, Grouping::Tiles);
                    vec![rows; controller.old().len() + 1]
                }
            },
            votes: TileVotes::new(idx == 0, stage, votes, Grouping::Lists { has_wide_registers }),
        };
        let heads: Vec<_> = stages.iter().zip(votes).enumerate().map(head).collect();
        let bottleneck = controller.votes().first().filter(|_| touch_stage > 0);
        let of_bottleneck = |f: fn(&StageVotes) -> usize| vec![0.0; bottleneck.map_or(0, f)];
        let n_blocks = n_candidates.div_ceil(N_BLOCK);
        let mut new = Self {
            bottleneck: of_bottleneck(|votes| votes.n_voters() * votes.n_activations),
            bottleneck_shares: of_bottleneck(StageVotes::n_shares),
            bottleneck_composite: of_bottleneck(|votes| votes.n_activations),
            touch_stage: TouchStage::new(controller),
            maps: controller.layout.maps.iter().map(MapTiles::new).collect(),
            work: Work::new(stages, votes, &heads),
            stages: heads,
            instructions,
            logits: vec![[0.0; N_BLOCK]; structure.shape().k_f * n_blocks],
            n_blocks,
            n_candidates,
        };
        // Old modules are frozen: loaded once.
        for (stage, head) in stages.iter().zip(&mut new.stages) {
            for (module, packed) in controller.old().iter().zip(&mut head.modules) {
                packed.load(&module.parameters()[stage.weights()]);
            }
        }
        new
    }

    /// Loads the current parameters of the controller and the new module. Must be called before the first prediction and
    /// after each update.
    pub fn load(&mut self, controller: &Controller, new: &Module) {
        let touch_stage = new.structure().touch_stage();
        let stages = &new.structure().stages()[touch_stage..];
        let votes = &controller.votes()[touch_stage..];
        let parameters = &controller.parameters().votes;
        for ((stage, head), votes) in stages.iter().zip(&mut self.stages).zip(votes) {
            if let Some(packed) = head.modules.last_mut() {
                packed.load(&new.parameters()[stage.weights()]);
            }
            match &mut head.votes {
                TileVotes::Touch(head) => head.load(&parameters[votes.weights.clone()]),
                TileVotes::Layer(head) => head.load(votes, parameters),
                TileVotes::Unit(head) => head.load(votes, parameters),
            }
        }
        self.touch_stage.load(controller, new);
        let maps = controller.layout.maps.iter().zip(&mut self.maps);
        maps.for_each(|(places, tiles)| tiles.load(places, &controller.parameters().maps));
    }

    /// The logits of one of the `k_f` maps, `[n_candidates]`.
    pub fn logits(&self, map: usize) -> &[f32] {
        &self.logits[map * self.n_blocks..].as_flattened()[..self.n_candidates]
    }

    /// Predicts the logits of all candidates. `visual` returns each module's row of the first stage, old modules first;
    /// `past_touches` are `[2 k_b]`, oldest first.
    pub fn predict<'v>(
        &mut self,
        controller: &Controller,
        new: &Module,
        visual: impl Fn(usize) -> &'v [f32],
        past_touches: &[f32],
        candidates: &Candidates,
    ) {
        assert_eq!(candidates.n_blocks(), self.n_blocks, "buffers for another number of candidates");
        if new.structure().touch_stage() > 0 {
            self.set_bottleneck(controller, new, &visual);
        }
        self.touch_stage.set(controller, new, &self.bottleneck_composite, &visual, past_touches);
        self.maps.iter_mut().for_each(|map| map.set_past_touches(past_touches));
        if let TileVotes::Touch(head) = &mut self.stages[0].votes {
            let votes = &controller.votes()[new.structure().touch_stage()];
            head.set_units(self.touch_stage.units());
            let biases = &controller.parameters().votes[votes.biases.clone()];
            self.instructions.run(Expand { votes: head, biases });
        }
        let mut predict = Predict { head: self, controller, new, candidates };
        (0..predict.head.n_blocks).step_by(N_TILE).for_each(|first| predict.tile(first));
    }

    /// Computes the composite of the bottleneck.
    fn set_bottleneck<'v>(
        &mut self,
        controller: &Controller,
        new: &Module,
        visual: &impl Fn(usize) -> &'v [f32],
    ) {
        let (stage, votes) = (&new.structure().stages()[0], &controller.votes()[0]);
        let nonlinearity = stage.nonlinearity.expect("only the readout has none");
        for module in 0..=controller.old().len() {
            let activations =
                &mut self.bottleneck[votes.of_module(module) * votes.n_activations..][..votes.n_activations];
            nonlinearity.forward(new.instructions(), stage.n_units, visual(module), activations);
        }
        let pass = VotePass {
            activations: &self.bottleneck,
            shares: &mut self.bottleneck_shares,
            composite: &mut self.bottleneck_composite,
        };
        votes.vote(new.instructions(), &controller.parameters().votes, pass);
    }
}

impl TileVotes {
    fn new(reads_touches: bool, stage: &Stage, votes: &StageVotes, lists: Grouping) -> Self {
        if votes.is_by_unit() {
            return Self::Unit(UnitVotes::new(votes));
        }
        let of_touch = match stage.nonlinearity {
            Some(nonlinearity) if reads_touches => TouchVotes::new(nonlinearity, votes, stage.n_units, lists),
            _ => None,
        };
        match of_touch {
            Some(votes) => Self::Touch(Box::new(votes)),
            None => Self::Layer(LayerVotes::new(stage, votes, lists)),
        }
    }
}

impl Work {
    fn new(stages: &[Stage], votes: &[StageVotes], heads: &[StageHead]) -> Self {
        let max =
            |f: &dyn Fn((&Stage, &StageVotes)) -> usize| stages.iter().zip(votes).map(f).max().unwrap_or(0);
        let max_voters = max(&|(_, votes)| votes.n_voters());
        let of_touch = heads.iter().map(|head| match &head.votes {
            TileVotes::Touch(votes) => votes.max_activations(),
            TileVotes::Layer(_) | TileVotes::Unit(_) => 0,
        });
        let max_activations = max(&|(_, votes)| votes.n_voters() * votes.n_activations);
        let by_unit = votes.iter().any(StageVotes::is_by_unit);
        let unit = vec![ZERO_TILE; if by_unit { max_voters } else { 0 }];
        Self {
            touches: TouchTile { rows: ZERO_TILE, cols: ZERO_TILE },
            x: vec![ZERO_TILE; max(&|(stage, votes)| votes.n_voters() * stage.n_units)],
            votes: vec![ZERO_TILE; max_voters],
            composite: vec![ZERO_TILE; max(&|(_, votes)| votes.n_activations)],
            list: ActivationList::new(of_touch.chain([max_activations]).max().unwrap_or(0)),
            unit: std::array::from_fn(|_| unit.clone()),
        }
    }
}

/// Predicts for the candidates of a screen. Each part is a kernel of its own: the compiler would take minutes for all of them
/// in one function.
struct Predict<'a> {
    head: &'a mut CompositeHead,
    controller: &'a Controller,
    new: &'a Module,
    candidates: &'a Candidates,
}

impl Predict<'_> {
    /// All stages for the blocks of a tile.
    fn tile(&mut self, first: usize) {
        let CompositeHead { touch_stage, stages: heads, maps, work, instructions, logits, n_blocks, .. } =
            &mut *self.head;
        let Work { touches, x, votes: shares, composite, list, unit } = work;
        let first_stage = self.new.structure().touch_stage();
        let stages = &self.new.structure().stages()[first_stage..];
        let all_votes = &self.controller.votes()[first_stage..];
        let (old, new) = (self.controller.old(), self.new);
        let module_of = |idx: usize| old.get(idx).map_or(new, |module| module);
        instructions.run(SetTouches { candidates: self.candidates, first, touches });
        for (idx, ((stage, votes), head)) in stages.iter().zip(all_votes).zip(heads.iter()).enumerate() {
            let (n_units, n_voters) = (stage.n_units, votes.n_voters());
            let (x, shares) = (&mut x[..n_voters * n_units], &mut shares[..n_voters]);
            let of_touch = OfTouch { units: touch_stage.units(), n_units, touches };
            match (idx, &head.votes) {
                (0, TileVotes::Touch(_)) => {}
                (0, _) => instructions.run(StoreTouchStage { of_touch, x }),
                _ => instructions.run(StageProducts {
                    head,
                    biases: |module| module_of(module).biases(stage),
                    voter: |module| votes.of_module(module),
                    composite: &composite[..stage.n_hidden],
                    x,
                }),
            }
            if stage.nonlinearity.is_none() {
                let transformed = |old: usize| votes.transformed(old);
                instructions.run(TransformMaps { maps, touches, transformed, logits: x });
            }
            let composite = &mut composite[..votes.n_activations];
            match &head.votes {
                TileVotes::Touch(votes) => instructions.run(TouchVotePass { votes, touches, list, shares }),
                TileVotes::Layer(votes) => instructions.run(LayerVotePass { votes, x, list, shares }),
                TileVotes::Unit(votes) => {
                    let nonlinearity = stage.nonlinearity;
                    let pass = UnitVotePass { votes, nonlinearity, x, activations: unit, shares, composite };
                    instructions.run(pass);
                    continue;
                }
            }
            match (&head.votes, stage.nonlinearity) {
                (TileVotes::Touch(_), Some(nonlinearity)) => {
                    instructions.run(LayerComposite {
                        nonlinearity,
                        n_units,
                        x: of_touch,
                        shares,
                        composite,
                    });
                }
                (_, Some(nonlinearity)) => {
                    let x = Stored { x, n_units };
                    instructions.run(LayerComposite { nonlinearity, n_units, x, shares, composite });
                }
                (_, None) => instructions.run(MapComposite { maps: x, shares, composite }),
            }
        }
        let n = N_TILE.min(*n_blocks - first);
        for (map, tile) in composite[..logits.len() / *n_blocks].iter().enumerate() {
            logits[map * *n_blocks + first..][..n].copy_from_slice(&tile[..n]);
        }
    }
}

/// Copies the touches of a tile. Missing blocks repeat the last one.
struct SetTouches<'a> {
    candidates: &'a Candidates,
    first: usize,
    touches: &'a mut TouchTile,
}

impl Kernel for SetTouches<'_> {
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        for idx in 0..N_TILE {
            let block = (self.first + idx).min(self.candidates.n_blocks() - 1);
            let (rows, cols) = self.candidates.block::<A::Blocks>(block);
            A::Blocks::store(rows, &mut self.touches.rows[idx]);
            A::Blocks::store(cols, &mut self.touches.cols[idx]);
        }
    }
}

/// Computes the pre-activations of all modules.
struct StageProducts<'a, F, G> {
    head: &'a StageHead,
    /// From a module to the stage's biases.
    biases: F,
    /// From a module to its voter.
    voter: G,
    composite: &'a [Tile],
    x: &'a mut [Tile],
}

impl<'b, F: Fn(usize) -> &'b [f32], G: Fn(usize) -> usize> Kernel for StageProducts<'_, F, G> {
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let Self { head, biases, voter, composite, x } = self;
        for (module, packed) in head.modules.iter().enumerate() {
            let biases = biases(module);
            let x = &mut x[voter(module) * biases.len()..][..biases.len()];
            match A::HAS_32_REGISTERS {
                true => packed.tile_products::<A::Blocks, N_TILE>(biases, composite, x),
                false => packed.tile_products::<A::Blocks, 1>(biases, composite, x),
            }
        }
    }
}
