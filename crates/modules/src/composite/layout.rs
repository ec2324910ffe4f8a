//! The voters of each stage, and the layout of a controller's parameters.

use crate::composite::settings::{Voting, VotingSettings};
use crate::module::{ModuleShape, Structure};
use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Voter {
    /// An old module.
    Old(usize),
    /// A copy of an old module with transformed touches or maps.
    Transformed(usize),
    /// The new module.
    New,
}

/// The votes of one stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageVotes {
    n_old: usize,
    has_transformed: bool,
    /// Activations per voter.
    pub n_activations: usize,
    voting: Voting,
    /// Among all vote parameters: `[n_voters, n_voters * n_activations]`, or `[n_voters, n_voters, n_activations]` with unit
    /// voting.
    pub weights: Range<usize>,
    /// Among all vote parameters: `[n_voters]`, or `[n_voters, n_activations]` with unit voting.
    pub biases: Range<usize>,
}

impl StageVotes {
    /// The votes of all stages of a controller with `n_old` old modules.
    pub fn of_stages(structure: &Structure, n_old: usize, settings: &VotingSettings) -> Vec<Self> {
        Layout::new(structure, n_old, settings).votes
    }

    pub fn n_voters(&self) -> usize {
        self.n_old + if self.has_transformed { self.n_old } else { 0 } + 1
    }

    /// Shares of one step: one per voter, or one per voter and activation, `[n_voters, n_activations]`.
    pub fn n_shares(&self) -> usize {
        self.n_voters() * if self.is_by_unit() { self.n_activations } else { 1 }
    }

    /// Unit voting.
    pub fn is_by_unit(&self) -> bool {
        self.voting == Voting::Unit
    }

    /// Voters are ordered: old modules, transformed copies, the new module.
    pub fn voter(&self, idx: usize) -> Voter {
        match idx {
            idx if idx + 1 == self.n_voters() => Voter::New,
            idx if idx < self.n_old => Voter::Old(idx),
            idx => Voter::Transformed(idx - self.n_old),
        }
    }

    /// The index of an old module's transformed copy.
    pub(crate) fn transformed(&self, old: usize) -> usize {
        debug_assert!(self.has_transformed);
        self.n_old + old
    }

    /// The voter of a module; the new module has the last index.
    pub(crate) fn of_module(&self, module: usize) -> usize {
        if module < self.n_old { module } else { self.n_voters() - 1 }
    }
}

/// The ranges of one map transformation's parameters; see `map_transformation.rs`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MapPlaces {
    pub k_f: usize,
    pub n_touch: usize,
    pub n_hidden: usize,
    /// Weights and biases of gates, hidden units and outputs.
    ranges: [Range<usize>; 6],
}

/// Hidden units of a map transformation in the paper.
const MAP_UNITS: usize = 4;
/// Outputs of CReS per unit.
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

    /// Inputs of the hidden units: the maps, the maps times gates, the touches.
    pub fn n_in(&self) -> usize {
        2 * self.k_f + self.n_touch
    }

    /// `[k_f, n_touch]`
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

/// The layout of a controller's parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub n_old: usize,
    pub votes: Vec<StageVotes>,
    pub n_vote_parameters: usize,
    /// One per old module, or empty if touches are not transformed.
    pub actions: Vec<Range<usize>>,
    pub n_touch: usize,
    /// One per old module, or empty if maps are not transformed.
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
                n_activations: stage.n_out(),
                voting: settings.voting,
                weights: 0..0,
                biases: 0..0,
            };
            let n = stage.n_voters();
            stage.weights = at..at + n * n * stage.n_activations;
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
