//! A controller: the frozen modules and the parameters of votes and transformations.

use crate::composite::layout::{Layout, MAP_PARTS, StageVotes};
use crate::composite::settings::VotingSettings;
use crate::module::{Module, Structure};
use std::ops::Range;
use std::sync::Arc;

/// The learned parameters of a controller.
#[derive(Clone, Debug, PartialEq)]
pub struct ControllerParameters {
    /// Per stage: weights, biases.
    pub votes: Vec<f32>,
    /// Per old module: `W_a`, `b`.
    pub actions: Vec<f32>,
    /// Per old module: gates, hidden units, outputs; weights before biases.
    pub maps: Vec<f32>,
}

/// One of the three groups of a controller's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterGroup {
    /// Votes.
    Votes,
    /// Transformed touches.
    Actions,
    /// Transformed maps.
    Maps,
}

impl ControllerParameters {
    /// The parameters of a group.
    pub fn get(&self, group: ParameterGroup) -> &[f32] {
        match group {
            ParameterGroup::Votes => &self.votes,
            ParameterGroup::Actions => &self.actions,
            ParameterGroup::Maps => &self.maps,
        }
    }

    /// The parameters of a group.
    pub fn get_mut(&mut self, group: ParameterGroup) -> &mut [f32] {
        match group {
            ParameterGroup::Votes => &mut self.votes,
            ParameterGroup::Actions => &mut self.actions,
            ParameterGroup::Maps => &mut self.maps,
        }
    }
}

/// A named tensor of a controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControllerTensor {
    /// `votes.layer1.weight`, `actions.0.bias`, `maps.0.gate.weight`, ...
    pub name: String,
    /// Rows, columns, ...
    pub shape: Vec<usize>,
    pub group: ParameterGroup,
    /// Within the group.
    pub range: Range<usize>,
}

/// Frozen modules, with the parameters of votes and transformations.
#[derive(Clone, Debug)]
pub struct Controller {
    old: Vec<Arc<Module>>,
    settings: VotingSettings,
    pub(crate) layout: Layout,
    pub(crate) parameters: ControllerParameters,
}

/// Standard deviation of initial vote weights.
const VOTE_DEVIATION: f32 = 0.001;
/// Initial vote weights and biases of the new module.
const NEW_MU: f32 = 0.01;
const NEW_BIAS: f32 = 0.1;
/// Standard deviation of initial weights of transformed touches.
const ACTION_DEVIATION: f32 = 0.01;
/// Initial weights and biases of transformed maps.
const MAP_DEVIATION: f32 = 0.001;
const MAP_BIAS: f32 = 0.01;

impl Controller {
    /// Frozen modules must have the same structure. `normal` returns draws from N(0, 1).
    pub fn new(old: Vec<Arc<Module>>, settings: VotingSettings, mut normal: impl FnMut() -> f32) -> Self {
        let structure = old.first().expect("a controller has an old module").structure();
        assert!(old.iter().all(|module| module.structure() == structure), "modules of one structure");
        let layout = Layout::new(structure, old.len(), &settings);
        let parameters = ControllerParameters {
            votes: initial_votes(&layout, &settings, &mut normal),
            actions: initial_actions(&layout, &settings, &mut normal),
            maps: initial_maps(&layout, &settings, &mut normal),
        };
        Self { old, settings, layout, parameters }
    }

    /// Oldest first.
    pub fn old(&self) -> &[Arc<Module>] {
        &self.old
    }

    pub fn settings(&self) -> &VotingSettings {
        &self.settings
    }

    pub fn structure(&self) -> &Structure {
        self.old[0].structure()
    }

    pub fn parameters(&self) -> &ControllerParameters {
        &self.parameters
    }

    /// Lengths must not change.
    pub fn parameters_mut(&mut self) -> &mut ControllerParameters {
        &mut self.parameters
    }

    /// Per stage.
    pub fn votes(&self) -> &[StageVotes] {
        &self.layout.votes
    }

    pub fn tensors(&self) -> Vec<ControllerTensor> {
        let mut tensors = Vec::new();
        let mut add = |name: String, shape: &[usize], group, range: Range<usize>| {
            debug_assert_eq!(shape.iter().product::<usize>(), range.len());
            tensors.push(ControllerTensor { name, shape: shape.to_vec(), group, range });
        };
        for (stage, votes) in self.structure().stages().iter().zip(&self.layout.votes) {
            let (v, n) = (votes.n_voters(), votes.n_activations);
            let (weight, bias) = match votes.is_by_unit() {
                true => (vec![v, v, n], vec![v, n]),
                false => (vec![v, v * n], vec![v]),
            };
            let name = format!("votes.{}", stage.name);
            add(format!("{name}.weight"), &weight, ParameterGroup::Votes, votes.weights.clone());
            add(format!("{name}.bias"), &bias, ParameterGroup::Votes, votes.biases.clone());
        }
        let n = self.layout.n_touch;
        for (old, range) in self.layout.actions.iter().enumerate() {
            let middle = range.start + n * n;
            add(format!("actions.{old}.weight"), &[n, n], ParameterGroup::Actions, range.start..middle);
            add(format!("actions.{old}.bias"), &[n], ParameterGroup::Actions, middle..range.end);
        }
        for (old, places) in self.layout.maps.iter().enumerate() {
            let (k_f, hidden) = (places.k_f, places.n_hidden);
            for (what, shape, range) in [
                ("gate.weight", &[k_f, n][..], places.gate_weights()),
                ("gate.bias", &[k_f], places.gate_biases()),
                ("hidden.weight", &[hidden, places.n_in()], places.hidden_weights()),
                ("hidden.bias", &[hidden], places.hidden_biases()),
                ("out.weight", &[k_f, MAP_PARTS * hidden], places.out_weights()),
                ("out.bias", &[k_f], places.out_biases()),
            ] {
                add(format!("maps.{old}.{what}"), shape, ParameterGroup::Maps, range);
            }
        }
        tensors
    }

    /// An old module's `W_a`, `[n_touch, n_touch]`, and `b`.
    pub(crate) fn action(&self, old: usize) -> (&[f32], &[f32]) {
        let n = self.layout.n_touch;
        self.parameters.actions[self.layout.actions[old].clone()].split_at(n * n)
    }
}

fn initial_votes(layout: &Layout, settings: &VotingSettings, normal: &mut impl FnMut() -> f32) -> Vec<f32> {
    let mut votes = vec![0.0; layout.n_vote_parameters];
    for (idx, stage) in layout.votes.iter().enumerate() {
        let later = usize::from(idx > 0);
        let n_voters = stage.n_voters();
        let start_of = |voter: usize| match voter + 1 == n_voters {
            true => (NEW_MU, NEW_BIAS),
            false => (settings.mu[later], settings.bias[later]),
        };
        let weights = votes[stage.weights.clone()].chunks_exact_mut(n_voters * stage.n_activations);
        for (voter, weights) in weights.enumerate() {
            weights.fill_with(|| (start_of(voter).0 + VOTE_DEVIATION * normal()).abs());
        }
        let biases = &mut votes[stage.biases.clone()];
        let n_each = biases.len() / n_voters;
        for (voter, biases) in biases.chunks_exact_mut(n_each).enumerate() {
            biases.fill(start_of(voter).1);
        }
    }
    votes
}

fn initial_actions(layout: &Layout, settings: &VotingSettings, normal: &mut impl FnMut() -> f32) -> Vec<f32> {
    let n = layout.n_touch;
    let mut actions = vec![0.0; layout.n_action_parameters()];
    for range in &layout.actions {
        let (weights, biases) = actions[range.clone()].split_at_mut(n * n);
        set_near_identity(weights, n, n, ACTION_DEVIATION, normal);
        biases.fill(settings.action_bias);
    }
    actions
}

fn initial_maps(layout: &Layout, settings: &VotingSettings, normal: &mut impl FnMut() -> f32) -> Vec<f32> {
    let mut maps = vec![0.0; layout.n_map_parameters()];
    for places in &layout.maps {
        let k_f = places.k_f;
        set_near_identity(&mut maps[places.gate_weights()], places.n_touch, k_f, ACTION_DEVIATION, normal);
        set_near_identity(&mut maps[places.hidden_weights()], places.n_in(), k_f, MAP_DEVIATION, normal);
        let n_out_in = MAP_PARTS * places.n_hidden;
        let out = &mut maps[places.out_weights()];
        set_near_identity(out, n_out_in, k_f, MAP_DEVIATION, normal);
        if settings.passes_negative_maps {
            // The outputs of CReS are relu(x), relu(-x), ...
            (0..k_f).for_each(|map| out[map * n_out_in + places.n_hidden + map] -= 1.0);
        }
        maps[places.hidden_biases()].fill(MAP_BIAS);
        maps[places.out_biases()].fill(MAP_BIAS);
    }
    maps
}

/// Noise, plus 1 on the first `n_ones` of the diagonal.
fn set_near_identity(
    weights: &mut [f32],
    n_in: usize,
    n_ones: usize,
    deviation: f32,
    normal: &mut impl FnMut() -> f32,
) {
    weights.fill_with(|| deviation * normal());
    let n_rows = weights.len() / n_in;
    (0..n_ones.min(n_in).min(n_rows)).for_each(|idx| weights[idx * n_in + idx] += 1.0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::composite::Voting;
    use crate::module::{LayerShape, ModuleShape};
    use crate::nonlinearity::Nonlinearity;

    /// The result of every draw.
    const NOISE: f32 = -16.0;

    fn controller(settings: VotingSettings, n_old: usize, k_f: usize) -> Controller {
        let layer = |nonlinearity, n_units| LayerShape { nonlinearity, n_units };
        let structure = Structure::new(ModuleShape {
            scene_len: 6,
            k_b: 1,
            k_f,
            convolutions: None,
            bottleneck: Some(layer(Nonlinearity::Crelu, 2)),
            layers: vec![layer(Nonlinearity::Cres, 3)],
        })
        .unwrap();
        let old = Arc::new(Module::new(structure.clone(), vec![0.0; structure.n_parameters()]));
        Controller::new(vec![old; n_old], settings, || NOISE)
    }

    #[track_caller]
    fn check_all(found: &[f32], wanted: f32) {
        assert!(found.iter().all(|number| (number - wanted).abs() < 1e-6), "{found:?} instead of {wanted}");
    }

    /// Each row belongs to a voter's vote: old modules and their transformed copies first, the new module last.
    #[test]
    fn votes_start_at_the_values_of_the_paper() {
        for voting in [Voting::Layer, Voting::Unit] {
            let settings =
                VotingSettings { mu: [0.005, 0.02], bias: [0.01, 0.5], ..VotingSettings::of(voting) };
            let controller = controller(settings, 2, 2);
            for (idx, stage) in controller.votes().iter().enumerate() {
                let (weights, biases) = (
                    &controller.parameters.votes[stage.weights.clone()],
                    &controller.parameters.votes[stage.biases.clone()],
                );
                let n_voters = stage.n_voters();
                assert_eq!(n_voters, if idx == 0 { 3 } else { 5 });
                let rows = weights.chunks_exact(weights.len() / n_voters);
                for (voter, (row, biases)) in
                    rows.zip(biases.chunks_exact(biases.len() / n_voters)).enumerate()
                {
                    // |mean - 16 * 0.001|
                    let (weight, bias) = match (voter + 1 == n_voters, idx) {
                        (true, _) => (0.006, 0.1),
                        (false, 0) => (0.011, 0.01),
                        (false, _) => (0.004, 0.5),
                    };
                    check_all(row, weight);
                    check_all(biases, bias);
                }
            }
        }
    }

    #[test]
    fn transformations_start_near_the_identity() {
        // Fewer maps than the paper's hidden units, and more.
        for (k_f, n_hidden) in [(2, 4), (5, 5)] {
            for settings in [VotingSettings::default(), VotingSettings::default().as_printed()] {
                let controller = controller(settings, 2, k_f);
                for tensor in controller.tensors() {
                    let one = |is_one: bool| f32::from(u8::from(is_one));
                    let wanted = |row: usize, col: usize| match tensor.name.replace(['0', '1'], "_").as_str()
                    {
                        "actions._.weight" => one(row == col) + 0.01 * NOISE,
                        "actions._.bias" => settings.action_bias,
                        "maps._.gate.weight" => one(row == col) + 0.01 * NOISE,
                        "maps._.gate.bias" => 0.0,
                        "maps._.hidden.weight" => one(row == col && row < k_f) + 0.001 * NOISE,
                        "maps._.hidden.bias" | "maps._.out.bias" => 0.01,
                        "maps._.out.weight" => {
                            let is_below = settings.passes_negative_maps && col == n_hidden + row;
                            one(row == col) - one(is_below) + 0.001 * NOISE
                        }
                        other => panic!("{other}"),
                    };
                    if tensor.group != ParameterGroup::Votes {
                        let numbers = &controller.parameters.get(tensor.group)[tensor.range.clone()];
                        let n_cols = tensor.shape.get(1).copied().unwrap_or(1);
                        for (at, &number) in numbers.iter().enumerate() {
                            check_all(&[number], wanted(at / n_cols, at % n_cols));
                        }
                    }
                }
            }
        }
    }
}
