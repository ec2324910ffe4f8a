//! Composites against the printed equations and against differences, on both kinds of instructions; and what they mean.

#![allow(clippy::unwrap_used)]

mod case;
mod naive;

use case::{Case, Noise, Scenes};
use naive::composite::NaiveComposite;
use naive::cross_entropy;
use std::sync::Arc;
use touchstream_modules::composite::{
    CompositeBatch, CompositeHead, CompositeLearner, Controller, FrozenVisual, Voter, Voting, VotingSettings,
    voter_shares,
};
use touchstream_modules::module::{
    Batch, BatchSize, Candidates, Convolutions, FlattenedScale, HeadMemory, InitialWeights, LayerShape,
    Learner, MODULES, MapShape, Module, ModuleShape, VisualRows,
};
use touchstream_modules::{AdamSettings, Instructions};

/// A controller over some old modules, and a new one.
struct Composite {
    case: Case,
    instructions: Instructions,
    old: Vec<Vec<f32>>,
    new: Module,
    controller: Controller,
}

fn shape(id: &str, k_b: usize, k_f: usize) -> ModuleShape {
    let kind = MODULES.iter().find(|kind| kind.id == id).unwrap();
    let layer = |nonlinearity, n_units| LayerShape { nonlinearity, n_units };
    ModuleShape {
        scene_len: 21,
        k_b,
        k_f,
        convolutions: kind.is_convolutional().then(|| Convolutions {
            map: MapShape { n_places: 6, n_channels: 7 },
            layers: kind.convolutions.iter().map(|&f| layer(f, 3)).collect(),
            flattened: FlattenedScale::OnePlace,
        }),
        bottleneck: kind.bottleneck.map(|g| layer(g, 5)),
        layers: (0..kind.default_depth()).map(|idx| layer(kind.layers, 4 + idx)).collect(),
    }
}

impl Composite {
    fn new(
        id: &str,
        k_b: usize,
        k_f: usize,
        n_old: usize,
        settings: VotingSettings,
        instructions: Instructions,
    ) -> Self {
        let case = Case::new(shape(id, k_b, k_f), 5);
        let mut noise = Noise(17 + n_old as u64);
        // Squares of squares of convolutions grow large, and rounding with them.
        let spread = if case.shape().convolutions.is_some() { 1.0 } else { 2.0 };
        let mut draw = || {
            let mut parameters = InitialWeights::FanIn.draw(&case.structure, 1.0, || spread * noise.next());
            parameters.iter_mut().for_each(|parameter| *parameter += 0.1 * noise.next());
            parameters
        };
        let old: Vec<Vec<f32>> = (0..n_old).map(|_| draw()).collect();
        let module =
            |parameters: &Vec<f32>| Module::on(instructions, case.structure.clone(), parameters.clone());
        let new = module(&draw());
        let controller = Controller::new(
            old.iter().map(|parameters| Arc::new(module(parameters))).collect(),
            settings,
            || 2.0 * noise.next(),
        );
        Self { case, instructions, old, new, controller }
    }

    /// Everything that learns moved away from its special first values.
    fn stirred(mut self) -> Self {
        let mut noise = Noise(99);
        let parameters = self.controller.parameters_mut();
        parameters.votes.iter_mut().for_each(|x| *x += 0.3 * noise.next());
        parameters.actions.iter_mut().for_each(|x| *x += 0.2 * noise.next());
        parameters.maps.iter_mut().for_each(|x| *x += 0.2 * noise.next());
        self
    }

    fn naive(&self) -> NaiveComposite<'_> {
        let settings = *self.controller.settings();
        let parameters = self.controller.parameters();
        NaiveComposite::new(&self.case.structure, settings, &self.old, self.new.parameters(), parameters)
    }

    /// Of every module, old ones first.
    fn visual(&self) -> Vec<VisualRows> {
        let mut rows = vec![VisualRows::new(&self.case.structure, self.case.n_steps); self.old.len() + 1];
        let scenes = self.case.scenes.chunks(self.case.shape().scene_len);
        let frozen = FrozenVisual::new(self.controller.old(), scenes);
        for (module, rows) in rows.iter_mut().enumerate() {
            match module < self.old.len() {
                true => frozen.set(module, &self.case.history(), rows),
                false => self.new.visual(&self.case.history(), rows),
            }
        }
        rows
    }

    fn learner(&self) -> CompositeLearner {
        CompositeLearner::new(&self.controller, AdamSettings::default(), self.case.n_steps)
    }

    fn naive_loss(&self, naive: &NaiveComposite<'_>) -> f64 {
        let k_f = self.case.shape().k_f;
        let loss_of = |step: usize| {
            let (logits, _) =
                naive.logits_and_shares(&self.case.psi(step), &self.case.map(step), &self.case.touches(step));
            let rewards = &self.case.rewards[step * k_f..][..k_f];
            logits.iter().zip(rewards).map(|(z, r)| cross_entropy(*z, f64::from(*r))).sum::<f64>()
        };
        (0..self.case.n_steps).map(loss_of).sum::<f64>() / self.case.n_steps as f64
    }
}

/// All steps of a case.
fn batch_of<'a>(
    case: &'a Case,
    visual: &'a [VisualRows],
    history: &'a Scenes<'a>,
) -> CompositeBatch<'a, Scenes<'a>> {
    let (touches, rewards) = (&case.touches, &case.rewards);
    CompositeBatch { visual, rows: 0..case.n_steps, history, touches, rewards }
}

/// Kinds of modules, memories and horizons, numbers of old modules, ways of voting, with transformations and without.
fn composites() -> Vec<(String, Composite)> {
    let mut composites = Vec::new();
    let kinds = [
        ("ems", 1, 2),
        ("none-relu-small", 1, 2),
        ("no-mult-symm-tanh", 0, 1),
        ("no-symm", 2, 5),
        ("conv-ems", 1, 2),
    ];
    for (id, k_b, k_f) in kinds {
        for voting in [Voting::Layer, Voting::Unit] {
            for (n_old, actions, maps) in
                [(1, true, true), (3, true, true), (2, false, false), (2, true, false), (2, false, true)]
            {
                let settings = VotingSettings {
                    transforms_actions: actions,
                    transforms_maps: maps,
                    ..VotingSettings::of(voting)
                };
                for instructions in Instructions::all() {
                    let name = format!(
                        "{id}, {voting:?}, {n_old} old, actions {actions}, maps {maps}, {}",
                        instructions.name()
                    );
                    composites
                        .push((name, Composite::new(id, k_b, k_f, n_old, settings, instructions).stirred()));
                }
            }
        }
    }
    composites
}

fn close(found: f32, wanted: f64, tolerance: f64) -> bool {
    (f64::from(found) - wanted).abs() <= tolerance * wanted.abs().max(1.0)
}

/// Logits of candidates are those of the equations.
#[test]
fn maps_are_those_of_the_equations() {
    for (name, composite) in composites() {
        for n_candidates in [1, 8, 21] {
            check_logits(&name, &composite, n_candidates, composite.case.n_steps);
        }
    }
}

/// Groups of voters are of other sizes with every number of frozen modules, and candidates fill some tiles or end in one.
#[test]
fn any_number_of_modules_and_candidates_works() {
    for (n_old, n_candidates) in [(4, 64), (5, 65), (6, 70), (7, 16), (8, 128), (9, 33), (16, 48), (64, 20)] {
        for settings in [VotingSettings::default(), VotingSettings::default().without_transformations()] {
            for instructions in Instructions::all() {
                let name = format!("{n_old} old, {n_candidates} candidates, {}", instructions.name());
                let composite = Composite::new("ems", 1, 2, n_old, settings, instructions).stirred();
                check_logits(&name, &composite, n_candidates, 1);
            }
        }
    }
}

/// All nonlinearities, each as a polynomial of the touch, as a list of activations or unit by unit.
#[test]
fn all_kinds_of_modules_vote() {
    for kind in MODULES.iter().filter(|kind| kind.id != "conv-ems") {
        for voting in [Voting::Layer, Voting::Unit] {
            for instructions in Instructions::all() {
                let name = format!("{}, {voting:?}, {}", kind.id, instructions.name());
                let settings = VotingSettings::of(voting);
                let composite = Composite::new(kind.id, 1, 2, 2, settings, instructions).stirred();
                check_logits(&name, &composite, 37, 2);
            }
        }
    }
}

/// Compares the logits of the first steps.
#[track_caller]
fn check_logits(name: &str, composite: &Composite, n_candidates: usize, n_steps: usize) {
    let (case, k_b) = (&composite.case, composite.case.shape().k_b);
    let mut noise = Noise(n_candidates as u64);
    let mut candidates = Candidates::new(n_candidates);
    let (rows, cols) = candidates.coordinates_mut();
    rows.fill_with(|| noise.next());
    cols.fill_with(|| noise.next());
    let mut head = CompositeHead::new(&composite.controller, n_candidates);
    head.load(&composite.controller, &composite.new);
    let (visual, naive) = (composite.visual(), composite.naive());
    for step in 0..n_steps {
        let past: Vec<f32> = case.touches(step)[..2 * k_b].iter().map(|&x| x as f32).collect();
        let visual = |module: usize| visual[module].rows(step..step + 1);
        head.predict(&composite.controller, &composite.new, visual, &past, &candidates);
        for candidate in 0..n_candidates {
            let touches =
                past.iter().chain(&candidates.get(candidate)).map(|&x| f64::from(x)).collect::<Vec<_>>();
            let (logits, _) = naive.logits_and_shares(&case.psi(step), &case.map(step), &touches);
            for (map, &logit) in logits.iter().enumerate() {
                let found = head.logits(map)[candidate];
                assert!(close(found, logit, 2e-5), "{name}: {found} instead of {logit}");
            }
        }
    }
}

/// Loss, shares and the gradient of every parameter are those of the equations.
#[test]
fn gradients_match_finite_differences() {
    for (name, composite) in composites() {
        let (case, visual) = (&composite.case, composite.visual());
        let history = case.history();
        let batch = batch_of(case, &visual, &history);
        let mut learner = composite.learner();
        let mut gradient = vec![0.0; case.structure.n_parameters()];
        let (loss, of_controller) =
            learner.add_gradient(&composite.controller, &composite.new, batch, &mut gradient);
        let of_controller = of_controller.clone();
        let mut naive = composite.naive();
        assert!(close(loss, composite.naive_loss(&naive), 1e-5), "{name}: loss");
        for step in 0..case.n_steps {
            let (_, shares) = naive.logits_and_shares(&case.psi(step), &case.map(step), &case.touches(step));
            for (stage, shares) in shares.iter().enumerate() {
                let found = &learner.shares(stage, case.n_steps)[step * shares.len()..][..shares.len()];
                assert!(
                    found.iter().zip(shares).all(|(&f, &w)| close(f, w, 1e-5)),
                    "{name}: {found:?} {shares:?}"
                );
            }
        }
        type Part = for<'a, 'b> fn(&'b mut NaiveComposite<'a>) -> &'b mut Vec<f64>;
        let parts: [(&str, Part, &[f32]); 4] = [
            ("module", |naive| &mut naive.new, &gradient),
            ("votes", |naive| &mut naive.votes, &of_controller.votes),
            ("actions", |naive| &mut naive.actions, &of_controller.actions),
            ("maps", |naive| &mut naive.maps, &of_controller.maps),
        ];
        for (what, part, gradient) in parts {
            let step = gradient.len() / 60 + 1;
            for idx in (0..gradient.len()).step_by(step) {
                let middle = part(&mut naive)[idx];
                let mut at = |shift: f64| {
                    part(&mut naive)[idx] = middle + shift;
                    composite.naive_loss(&naive)
                };
                let difference = (at(1e-5) - at(-1e-5)) / 2e-5;
                part(&mut naive)[idx] = middle;
                let found = f64::from(gradient[idx]);
                assert!(
                    (found - difference).abs() < 2e-5 + 1e-3 * difference.abs(),
                    "{name}: {what} {idx}: {found} instead of {difference}",
                );
            }
        }
    }
}

/// With the whole vote on one old module, the composite equals that module: to the bit in learning, up to rounding in maps.
#[test]
fn a_composite_of_one_module_is_that_module() {
    for id in ["ems", "none-relu-small", "no-mult-symm-tanh"] {
        for voting in [Voting::Layer, Voting::Unit] {
            let mut composite = Composite::new(id, 1, 2, 3, VotingSettings::of(voting), Instructions::best());
            let votes: Vec<_> = composite.controller.votes().to_vec();
            for stage in votes {
                let parameters = &mut composite.controller.parameters_mut().votes;
                parameters[stage.weights.clone()].fill(0.0);
                let biases = &mut parameters[stage.biases.clone()];
                let n_each = biases.len() / stage.n_voters();
                for (voter, biases) in biases.chunks_mut(n_each).enumerate() {
                    biases.fill(if stage.voter(voter) == Voter::Old(1) { 1000.0 } else { 800.0 });
                }
            }
            let (case, visual) = (&composite.case, composite.visual());
            let history = case.history();
            let batch = batch_of(case, &visual, &history);
            let mut learner = composite.learner();
            let mut nothing = vec![0.0; case.structure.n_parameters()];
            learner.add_gradient(&composite.controller, &composite.new, batch, &mut nothing);

            let module = &composite.controller.old()[1];
            let mut alone = VisualRows::new(&case.structure, case.n_steps);
            module.visual(&history, &mut alone);
            let batch = Batch {
                visual: &alone,
                rows: 0..case.n_steps,
                history: &history,
                touches: &case.touches,
                rewards: &case.rewards,
            };
            let mut other =
                Learner::new(&case.structure, AdamSettings::default(), BatchSize::steps(case.n_steps));
            other.add_gradient(module, batch, &mut nothing);
            assert_eq!(learner.logits(case.n_steps), other.logits(case.n_steps), "{id}, {voting:?}");
            check_maps(&composite, module, &visual, &alone);
        }
    }
}

/// The composite's maps are one module's.
fn check_maps(composite: &Composite, module: &Module, visual: &[VisualRows], alone: &VisualRows) {
    let (case, n_candidates) = (&composite.case, 21);
    let mut candidates = Candidates::new(n_candidates);
    let (rows, cols) = candidates.coordinates_mut();
    let mut noise = Noise(5);
    rows.fill_with(|| noise.next());
    cols.fill_with(|| noise.next());
    let mut head = CompositeHead::new(&composite.controller, n_candidates);
    head.load(&composite.controller, &composite.new);
    let mut memory = HeadMemory::new(&case.structure, n_candidates);
    memory.load(module);
    for step in 0..case.n_steps {
        let past = &case.touches[step * case.shape().n_touch()..][..2 * case.shape().k_b];
        let of_module = |module: usize| visual[module].rows(step..step + 1);
        head.predict(&composite.controller, &composite.new, of_module, past, &candidates);
        module.predict(alone.rows(step..step + 1), past, &candidates, &mut memory);
        for map in 0..case.shape().k_f {
            for (&found, &wanted) in head.logits(map).iter().zip(memory.logits(map)) {
                assert!(close(found, f64::from(wanted), 1e-5), "{found} instead of {wanted}");
            }
        }
    }
}

/// At its first values a transformed map is the map, also below 0; as printed it is not.
#[test]
fn a_map_transformation_starts_as_the_identity() {
    let settings = VotingSettings::default();
    let as_printed = VotingSettings { passes_negative_maps: false, ..settings };
    for (settings, passes_negative) in [(settings, true), (as_printed, false)] {
        let mut composite = Composite::new("ems", 1, 2, 1, settings, Instructions::best());
        // All of the last vote on the transformed map, all before it on the old module.
        let votes: Vec<_> = composite.controller.votes().to_vec();
        for (idx, stage) in votes.iter().enumerate() {
            let wanted = if idx + 1 == votes.len() { Voter::Transformed(0) } else { Voter::Old(0) };
            let biases = &mut composite.controller.parameters_mut().votes[stage.biases.clone()];
            for (voter, bias) in biases.iter_mut().enumerate() {
                *bias = if stage.voter(voter) == wanted { 100.0 } else { 0.0 };
            }
        }
        let (case, naive) = (&composite.case, composite.naive());
        let alone = naive::NaiveModule { structure: &case.structure, parameters: naive.old[0].clone() };
        let mut n_negative = 0;
        for step in 0..case.n_steps {
            let plain = alone.logits(&case.psi(step), &case.map(step), &case.touches(step));
            let (transformed, _) =
                naive.logits_and_shares(&case.psi(step), &case.map(step), &case.touches(step));
            for (plain, transformed) in plain.into_iter().zip(transformed) {
                n_negative += usize::from(plain < -0.1);
                let expected = if plain < 0.0 && !passes_negative { 0.0 } else { plain };
                assert!((transformed - expected).abs() < 0.04, "{plain} became {transformed}");
            }
        }
        assert!(n_negative > 1, "nothing below 0 was tried");
    }
}

/// Learning changes everything except old modules.
#[test]
fn old_modules_do_not_change() {
    for voting in [Voting::Layer, Voting::Unit] {
        let mut composite = Composite::new("ems", 1, 2, 2, VotingSettings::of(voting), Instructions::best());
        let before = (composite.new.parameters().to_vec(), composite.controller.parameters().clone());
        let mut learner = composite.learner();
        for _ in 0..50 {
            let visual = composite.visual();
            let Composite { case, new, controller, .. } = &mut composite;
            let history = case.history();
            let batch = batch_of(case, &visual, &history);
            learner.learn(controller, new, 1e-3, batch);
        }
        for (module, old) in composite.controller.old().iter().zip(&composite.old) {
            assert_eq!(module.parameters(), old);
        }
        let (module, parameters) = before;
        assert!(
            composite.new.parameters().iter().zip(&module).filter(|(a, b)| a != b).count() > module.len() / 2
        );
        let after = composite.controller.parameters();
        assert!(
            after.votes != parameters.votes
                && after.actions != parameters.actions
                && after.maps != parameters.maps
        );
        assert_eq!(composite.instructions, Instructions::best());
    }
}

/// Decay is for the new module's weights. Votes and transformations start at values that mean something.
#[test]
fn only_the_new_module_decays() {
    let after_one_update = |weight_decay| {
        let settings = VotingSettings::of(Voting::Layer);
        let mut composite = Composite::new("ems", 1, 2, 2, settings, Instructions::best());
        let visual = composite.visual();
        let Composite { case, new, controller, .. } = &mut composite;
        let adam = AdamSettings { weight_decay, ..AdamSettings::default() };
        let history = case.history();
        let batch = batch_of(case, &visual, &history);
        CompositeLearner::new(controller, adam, case.n_steps).learn(controller, new, 1e-3, batch);
        composite
    };
    let (plain, decayed) = (after_one_update(0.0), after_one_update(10.0));
    assert_eq!(plain.controller.parameters(), decayed.controller.parameters());
    let norm = |composite: &Composite| composite.new.parameters().iter().map(|x| x * x).sum::<f32>();
    let ratio = norm(&decayed) / norm(&plain);
    assert!((ratio - 0.99 * 0.99).abs() < 1e-3, "{ratio}");
}

/// Votes are counted over all steps that were learned from, stage by stage, until the count is cleared.
#[test]
fn all_votes_are_counted() {
    for voting in [Voting::Layer, Voting::Unit] {
        let mut composite =
            Composite::new("ems", 1, 2, 2, VotingSettings::of(voting), Instructions::best()).stirred();
        let mut learner = composite.learner();
        let (n_steps, n_stages) = (composite.case.n_steps, composite.controller.votes().len());
        let mut sums: Vec<f64> = vec![0.0; learner.tally().sums.len()];
        for _ in 0..3 {
            let visual = composite.visual();
            let Composite { case, new, controller, .. } = &mut composite;
            let history = case.history();
            let batch = batch_of(case, &visual, &history);
            learner.learn(controller, new, 1e-2, batch);
            for step in 0..n_steps {
                let of_step = (0..n_stages).flat_map(|stage| {
                    let shares = learner.shares(stage, n_steps);
                    shares[step * shares.len() / n_steps..(step + 1) * shares.len() / n_steps].to_vec()
                });
                sums.iter_mut().zip(of_step).for_each(|(sum, share)| *sum += f64::from(share));
            }
        }
        assert_eq!(learner.tally().n_steps, 3 * n_steps as u64);
        let means = learner.tally().means().unwrap();
        for (mean, sum) in means.iter().zip(&sums) {
            assert!((mean - sum / (3 * n_steps) as f64).abs() < 1e-12, "{voting:?}: {mean}");
        }
        for (stage, shares) in
            composite.controller.votes().iter().zip(voter_shares(&means, composite.controller.votes()))
        {
            assert_eq!(shares.len(), stage.n_voters());
            assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-5, "{voting:?}: {shares:?}");
        }
        learner.tally_mut().clear();
        assert_eq!(learner.tally().means(), None);
    }
}
