//! Composites compared with PyTorch: logits, losses, gradients and ten updates from the same parameters
//! (`scripts/make_composite_golden.py`).

#![allow(clippy::unwrap_used)]

mod golden_file;

use golden_file::{
    Golden, N_STEPS, N_UPDATES, SCENE_LEN, Scenes, TOLERANCE, TOLERANCE_AFTER, check, in_our_order, structure,
};
use std::sync::Arc;
use touchstream_modules::composite::{
    CompositeBatch, CompositeHead, CompositeLearner, Controller, ControllerParameters, FrozenVisual, Voting,
    VotingSettings,
};
use touchstream_modules::module::{Candidates, FlattenedScale, MODULES, Module, VisualRows};
use touchstream_modules::{AdamSettings, Instructions};

const GOLDEN: &[u8] = include_bytes!("golden/composites.safetensors");
const N_OLD: usize = 2;
const RATE: f64 = 1e-2;

#[test]
fn composites_compute_and_learn_as_in_pytorch() {
    let golden = Golden::new(GOLDEN);
    for id in ["ems", "none-relu-small", "no-mult-symm-tanh", "conv-ems"] {
        for (voting, word) in [(Voting::Layer, "layer"), (Voting::Unit, "unit")] {
            for instructions in Instructions::all() {
                check_composite(&golden, id, voting, word, instructions);
            }
        }
    }
}

fn check_composite(golden: &Golden<'_>, id: &str, voting: Voting, word: &str, instructions: Instructions) {
    let [scenes, maps, touches, rewards] =
        ["scenes", "maps", "touches", "rewards"].map(|name| golden.numbers(name));
    let of = |what: &str| golden.numbers(&format!("{id}/{word}/{what}"));
    let name = |what: &str| format!("{what} of {id}, {word}, on {}", instructions.name());
    let kind = MODULES.iter().find(|kind| kind.id == id).unwrap();
    let units = if kind.is_convolutional() { 4 } else { 6 };
    let structure = structure(kind, units, FlattenedScale::OnePlace);
    let of_module = |what: &str| in_our_order(&structure, &of(what));
    let module = |parameters: Vec<f32>| Module::on(instructions, structure.clone(), parameters);
    let old: Vec<Arc<Module>> =
        (0..N_OLD).map(|idx| Arc::new(module(of_module(&format!("old{idx}"))))).collect();
    let settings =
        VotingSettings { vote_rate: 2.0, action_rate: 5e-3, map_rate: 3e-3, ..VotingSettings::of(voting) };
    let mut controller = Controller::new(old.clone(), settings, || 0.0);
    *controller.parameters_mut() =
        ControllerParameters { votes: of("votes"), actions: of("actions"), maps: of("maps") };
    let mut new = module(of_module("module"));
    let frozen = FrozenVisual::new(&old, scenes.chunks(SCENE_LEN));
    let history = Scenes { numbers: &scenes, maps: &maps };
    let mut visual = vec![VisualRows::new(&structure, N_STEPS); N_OLD + 1];
    let look = |new: &Module, visual: &mut [VisualRows]| {
        (0..N_OLD).for_each(|module| frozen.set(module, &history, &mut visual[module]));
        new.visual(&history, &mut visual[N_OLD]);
    };
    look(&new, &mut visual);

    let mut head = CompositeHead::new(&controller, 1);
    head.load(&controller, &new);
    let mut candidate = Candidates::new(1);
    let mut logits = Vec::new();
    for (step, touches) in touches.chunks(4).enumerate() {
        let (row, col) = candidate.coordinates_mut();
        (row[0], col[0]) = (touches[2], touches[3]);
        let of_module = |module: usize| visual[module].rows(step..step + 1);
        head.predict(&controller, &new, of_module, &touches[..2], &candidate);
        logits.extend([head.logits(0)[0], head.logits(1)[0]]);
    }
    check(&name("logits"), &logits, &of("logits"), TOLERANCE);

    let mut learner = CompositeLearner::new(&controller, AdamSettings::default(), N_STEPS);
    let mut gradient = vec![0.0; structure.n_parameters()];
    let (_, of_controller) =
        learner.add_gradient(&controller, &new, batch(&visual, &history, &touches, &rewards), &mut gradient);
    check(&name("the module's gradient"), &gradient, &of_module("module/gradient"), TOLERANCE);
    for (what, gradient) in
        [("votes", &of_controller.votes), ("actions", &of_controller.actions), ("maps", &of_controller.maps)]
    {
        check(&name(what), gradient, &of(&format!("{what}/gradient")), TOLERANCE);
    }

    let mut losses = Vec::new();
    for _ in 0..N_UPDATES {
        look(&new, &mut visual);
        losses.push(learner.learn(
            &mut controller,
            &mut new,
            RATE,
            batch(&visual, &history, &touches, &rewards),
        ));
    }
    check(&name("losses"), &losses, &of("losses"), TOLERANCE_AFTER);
    check(&name("the module after"), new.parameters(), &of_module("module/after"), TOLERANCE_AFTER);
    let ControllerParameters { votes, actions, maps } = controller.parameters();
    for (what, found) in [("votes", votes), ("actions", actions), ("maps", maps)] {
        check(&name(&format!("{what} after")), found, &of(&format!("{what}/after")), TOLERANCE_AFTER);
    }
}

fn batch<'a>(
    visual: &'a [VisualRows],
    history: &'a Scenes<'a>,
    touches: &'a [f32],
    rewards: &'a [f32],
) -> CompositeBatch<'a, Scenes<'a>> {
    CompositeBatch { visual, rows: 0..N_STEPS, history, touches, rewards }
}
