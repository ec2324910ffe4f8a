//! All modules compared with PyTorch: logits, losses, gradients and ten updates from the same weights
//! (`scripts/make_module_golden.py`).

#![allow(clippy::unwrap_used)]

mod golden_file;

use golden_file::{
    Golden, N_STEPS, N_UPDATES, Scenes, TOLERANCE, TOLERANCE_AFTER, check, in_our_order, structure,
    structure_of,
};
use touchstream_modules::module::{
    Batch, BatchSize, Candidates, FlattenedScale, HeadMemory, Learner, MODULES, Module, ModuleKind, Size,
    Structure, VisualRows,
};
use touchstream_modules::{AdamSettings, Instructions};

const GOLDEN: &[u8] = include_bytes!("golden/modules.safetensors");
const LEARNING_RATE: f64 = 1e-2;

/// The goldens of a module. Convolutional ones have a scale of flattened features, and other kernels with 128 units.
fn goldens_of(kind: &ModuleKind) -> Vec<(String, Structure)> {
    use FlattenedScale::{One, OnePlace, Root};
    let small = |flattened| structure(kind, units_of(kind), flattened);
    let mut goldens = vec![(kind.id.to_owned(), small(OnePlace))];
    if kind.is_convolutional() {
        let more = [
            ("root", small(Root)),
            ("one", small(One)),
            ("128-behind", structure_of(kind, &[5, 4, 3], &[128, 3], OnePlace)),
            ("128-convolved", structure_of(kind, &[5, 4, 128], &[3, 4], OnePlace)),
        ];
        goldens.extend(more.map(|(word, structure)| (format!("{}/{word}", kind.id), structure)));
    }
    goldens
}

/// Each size another.
fn units_of(kind: &ModuleKind) -> usize {
    match (kind.bottleneck, kind.size) {
        _ if kind.is_convolutional() => 5,
        (Some(_), _) => 7,
        (None, Size::Small) => 6,
        (None, Size::Medium) => 9,
        (None, Size::Large) => 12,
    }
}

#[test]
fn modules_compute_and_learn_as_in_pytorch() {
    let golden = Golden::new(GOLDEN);
    for kind in &MODULES {
        for (id, structure) in goldens_of(kind) {
            for instructions in Instructions::all() {
                check_module(&golden, &id, &structure, instructions);
            }
        }
    }
}

fn check_module(golden: &Golden<'_>, id: &str, structure: &Structure, instructions: Instructions) {
    let [scenes, maps, touches, rewards] =
        ["scenes", "maps", "touches", "rewards"].map(|name| golden.numbers(name));
    let of = |what: &str| golden.numbers(&format!("{id}/{what}"));
    let of_parameters = |what: &str| in_our_order(structure, &of(what));
    let name = |what: &str| format!("{what} of {id} on {}", instructions.name());
    let mut module = Module::on(instructions, structure.clone(), of_parameters("parameters"));
    let history = Scenes { numbers: &scenes, maps: &maps };
    let mut rows = VisualRows::new(structure, N_STEPS);
    module.visual(&history, &mut rows);

    let mut logits = Vec::new();
    let mut memory = HeadMemory::new(structure, 1);
    memory.load(&module);
    let mut candidate = Candidates::new(1);
    for (step, touches) in touches.chunks(4).enumerate() {
        let (row, col) = candidate.coordinates_mut();
        (row[0], col[0]) = (touches[2], touches[3]);
        module.predict(rows.rows(step..step + 1), &touches[..2], &candidate, &mut memory);
        logits.extend([memory.logits(0)[0], memory.logits(1)[0]]);
    }
    check(&name("logits"), &logits, &of("logits"), TOLERANCE);

    let mut learner = Learner::new(structure, AdamSettings::default(), BatchSize::steps(N_STEPS));
    let mut gradient = vec![0.0; structure.n_parameters()];
    learner.add_gradient(&module, batch(&rows, &history, &touches, &rewards), &mut gradient);
    check(&name("gradient"), &gradient, &of_parameters("gradient"), TOLERANCE);

    let mut losses = Vec::new();
    for _ in 0..N_UPDATES {
        module.visual(&history, &mut rows);
        losses.push(learner.learn(&mut module, LEARNING_RATE, batch(&rows, &history, &touches, &rewards)));
    }
    check(&name("losses"), &losses, &of("losses"), TOLERANCE_AFTER);
    check(&name("weights after ten updates"), module.parameters(), &of_parameters("after"), TOLERANCE_AFTER);
}

fn batch<'a>(
    visual: &'a VisualRows,
    history: &'a Scenes<'a>,
    touches: &'a [f32],
    rewards: &'a [f32],
) -> Batch<'a, Scenes<'a>> {
    Batch { visual, rows: 0..N_STEPS, history, touches, rewards }
}
