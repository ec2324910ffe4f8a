//! Who votes at each stage, and where a controller's parameters stand.

use crate::composite::settings::{Voting, VotingSettings};
use crate::module::{ModuleShape, Structure};
use std::ops::Range;

/// Whose numbers are voted on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Voter {
    /// An old module as it is.
    Old(usize),
    /// An old module with transformed touches, or with a transformed map.
    Transformed(usize),
    /// The module that learns.
    New,
}

/// The votes of one stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageVotes {
    n_old: usize,
    has_transformed: bool,
    /// Numbers that each voter gives.
    pub n_numbers: usize,
    voting: Voting,
    /// Where the weights stand among all vote parameters: for layers `[n_voters, n_voters * n_numbers]`, the numbers of
    /// one voter together; for units `[n_voters, n_voters, n_numbers]`.
    pub weights: Range<usize>,
    /// Where the biases stand: `[n_voters]`, for units `[n_voters, n_numbers]`.
    pub biases: Range<usize>,
}

impl StageVotes {
    /// The votes of all stages of a controller over so many old modules.
    pub fn of_stages(structure: &Structure, n_old: usize, settings: &VotingSettings) -> Vec<Self> {
        Layout::new(structure, n_old, settings).votes
    }

    /// How many there are to choose from.
    pub fn n_voters(&self) -> usize {
        self.n_old + if self.has_transformed { self.n_old } else { 0 } + 1
    }

    /// Shares of one step: one a voter, or one a voter and number, `[n_voters, n_numbers]`.
    pub fn n_shares(&self) -> usize {
        self.n_voters() * if self.is_by_unit() { self.n_numbers } else { 1 }
    }

    /// Whether each number is voted on for itself.
    pub fn is_by_unit(&self) -> bool {
        self.voting == Voting::Unit
    }

    /// Which voter has this number: old ones, transformed ones, the new one.
    pub fn voter(&self, idx: usize) -> Voter {
        match idx {
            idx if idx + 1 == self.n_voters() => Voter::New,
            idx if idx < self.n_old => Voter::Old(idx),
            idx => Voter::Transformed(idx - self.n_old),
        }
    }

    /// The number of the transformed voter of an old module.
    pub(crate) fn transformed(&self, old: usize) -> usize {
        debug_assert!(self.has_transformed);
        self.n_old + old
    }

    /// The number of a module's own voter; the new module stands behind the old ones.
    pub(crate) fn of_module(&self, module: usize) -> usize {
        if module < self.n_old { module } else { self.n_voters() - 1 }
    }
}

/// Where the parameters of one map transformation stand among those of all: see `map_transformation.rs`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MapPlaces {
    pub k_f: usize,
    pub n_touch: usize,
    pub n_hidden: usize,
    /// Weights and biases of gates, of hidden units and of outputs.
    ranges: [Range<usize>; 6],
}

/// The paper's hidden units of a map transformation.
const MAP_UNITS: usize = 4;
/// Parts of its CReS.
pub(crate) const MAP_PARTS: usize = 4;

impl MapPlaces {
    fn new(shape: &ModuleShape, start: usize) -> Self {
        let (k_f, n_touch, n_hidden) = (shape.k_f, shape.n_touch(), MAP_UNITS.max(shape.k_f));
        let n_in = 2 * k_f + n_touch;
        let mut at = start;
        let sizes = [k_f * n_touch, k_f, n_hidden * n_in, n_hidden, k_f * MAP_PARTS * n_hidden, k_f];
        let ranges = sizes.map(|len| {
            at += len;
            at - len..at
        });
        Self { k_f, n_touch, n_hidden, ranges }
    }

    /// What the hidden units read: the maps, the maps times gates, the touches.
    pub fn n_in(&self) -> usize {
        2 * self.k_f + self.n_touch
    }

    /// `[k_f, n_touch]`: gates.
    pub fn gate_weights(&self) -> Range<usize> {
        self.ranges[0].clone()
    }

    pub fn gate_biases(&self) -> Range<usize> {
        self.ranges[1].clone()
    }

    /// `[n_hidden, n_in]`
    pub fn hidden_weights(&self) -> Range<usize> {
        self.ranges[2].clone()
    }

    pub fn hidden_biases(&self) -> Range<usize> {
        self.ranges[3].clone()
    }

    /// `[k_f, 4 n_hidden]`
    pub fn out_weights(&self) -> Range<usize> {
        self.ranges[4].clone()
    }

    pub fn out_biases(&self) -> Range<usize> {
        self.ranges[5].clone()
    }

    fn end(&self) -> usize {
        self.out_biases().end
    }
}

/// All parameters of a controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub n_old: usize,
    /// One a stage of the structure.
    pub votes: Vec<StageVotes>,
    pub n_vote_parameters: usize,
    /// One an old module; none if touches are not transformed.
    pub actions: Vec<Range<usize>>,
    pub n_touch: usize,
    /// One an old module; none if maps are not transformed.
    pub maps: Vec<MapPlaces>,
}

impl Layout {
    pub fn new(structure: &Structure, n_old: usize, settings: &VotingSettings) -> Self {
        let stages = structure.stages();
        let mut at = 0;
        let mut votes = Vec::with_capacity(stages.len());
        for (idx, stage) in stages.iter().enumerate() {
            let has_transformed = (settings.transforms_actions && idx == structure.touch_stage())
                || (settings.transforms_maps && idx + 1 == stages.len());
            let mut stage = StageVotes {
                n_old,
                has_transformed,
                n_numbers: stage.n_out(),
                voting: settings.voting,
                weights: 0..0,
                biases: 0..0,
            };
            let n = stage.n_voters();
            stage.weights = at..at + n * n * stage.n_numbers;
            stage.biases = stage.weights.end..stage.weights.end + stage.n_shares();
            at = stage.biases.end;
            votes.push(stage);
        }
        let shape = structure.shape();
        let n_touch = shape.n_touch();
        let n_action = n_touch * n_touch + n_touch;
        let n_actions = if settings.transforms_actions { n_old } else { 0 };
        let mut maps: Vec<MapPlaces> = Vec::new();
        for _ in 0..if settings.transforms_maps { n_old } else { 0 } {
            let start = maps.last().map_or(0, MapPlaces::end);
            maps.push(MapPlaces::new(shape, start));
        }
        Self {
            n_old,
            votes,
            n_vote_parameters: at,
            actions: (0..n_actions).map(|old| old * n_action..(old + 1) * n_action).collect(),
            n_touch,
            maps,
        }
    }

    pub fn n_action_parameters(&self) -> usize {
        self.actions.last().map_or(0, |range| range.end)
    }

    pub fn n_map_parameters(&self) -> usize {
        self.maps.last().map_or(0, MapPlaces::end)
    }
}
