//! All modules beside PyTorch: logits, losses, gradients and ten updates from the same weights
//! (`scripts/make_module_golden.py`).

#![allow(clippy::unwrap_used)]

mod golden_file;

use golden_file::{Golden, check};
use touchstream_mind::module::{
    Batch, BatchSize, Candidates, Convolutions, FlattenedScale, HeadMemory, LayerShape, Learner, MODULES,
    MapShape, Module, ModuleKind, ModuleShape, SceneHistory, Size, Structure, VisualRows,
};
use touchstream_mind::{AdamSettings, Instructions};

const GOLDEN: &[u8] = include_bytes!("golden/modules.safetensors");
const SCENE_LEN: usize = 27;
const N_PLACES: usize = 9;
const N_CHANNELS: usize = 10;
const N_STEPS: usize = 8;
const N_UPDATES: usize = 10;
const LEARNING_RATE: f64 = 1e-2;

/// Of the largest number; what ten updates make of rounding besides.
const TOLERANCE: f32 = 1e-5;
const TOLERANCE_AFTER: f32 = 2e-4;

#[derive(Clone, Copy)]
struct Scenes<'a> {
    numbers: &'a [f32],
    maps: &'a [f32],
}

impl SceneHistory for Scenes<'_> {
    fn scene(&self, step: usize, lag: usize) -> &[f32] {
        &self.numbers[(step + 1 - lag) * SCENE_LEN..][..SCENE_LEN]
    }
    fn copy_map(&self, step: usize, out: &mut [f32]) {
        out.copy_from_slice(&self.maps[step * out.len()..][..out.len()]);
    }
}

/// Goldens of a module: what flattened numbers count is a choice where there are any.
fn goldens_of(kind: &ModuleKind) -> Vec<(String, FlattenedScale)> {
    use FlattenedScale::{One, OnePlace, Root};
    let mut goldens = vec![(kind.id.to_owned(), OnePlace)];
    if kind.is_convolutional() {
        goldens.extend(
            [("root", Root), ("one", One)].map(|(word, scale)| (format!("{}/{word}", kind.id), scale)),
        );
    }
    goldens
}

fn structure(kind: &ModuleKind, flattened: FlattenedScale) -> Structure {
    let units = match (kind.bottleneck, kind.size) {
        _ if kind.is_convolutional() => 5,
        (Some(_), _) => 7,
        (None, Size::Small) => 6,
        (None, Size::Medium) => 9,
        (None, Size::Large) => 12,
    };
    let layer = |nonlinearity, n_units| LayerShape { nonlinearity, n_units };
    let shape = ModuleShape {
        scene_len: SCENE_LEN,
        k_b: 1,
        k_f: 2,
        convolutions: kind.is_convolutional().then(|| Convolutions {
            map: MapShape { n_places: N_PLACES, n_channels: N_CHANNELS },
            layers: kind.convolutions.iter().enumerate().map(|(idx, &f)| layer(f, units + idx)).collect(),
            flattened,
        }),
        bottleneck: kind.bottleneck.map(|g| layer(g, units)),
        layers: (0..kind.default_depth()).map(|idx| layer(kind.layers, units + idx)).collect(),
    };
    Structure::new(shape).unwrap()
}

#[test]
fn modules_compute_and_learn_as_in_pytorch() {
    let golden = Golden::new(GOLDEN);
    for kind in &MODULES {
        for (id, flattened) in goldens_of(kind) {
            for instructions in Instructions::all() {
                check_module(&golden, &id, &structure(kind, flattened), instructions);
            }
        }
    }
}

fn check_module(golden: &Golden<'_>, id: &str, structure: &Structure, instructions: Instructions) {
    let [scenes, maps, touches, rewards] =
        ["scenes", "maps", "touches", "rewards"].map(|name| golden.numbers(name));
    let of = |what: &str| golden.numbers(&format!("{id}/{what}"));
    let name = |what: &str| format!("{what} of {id} on {}", instructions.name());
    let mut module = Module::on(instructions, structure.clone(), of("parameters"));
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
    check(&name("gradient"), &gradient, &of("gradient"), TOLERANCE);

    let mut losses = Vec::new();
    for _ in 0..N_UPDATES {
        module.visual(&history, &mut rows);
        losses.push(learner.learn(&mut module, LEARNING_RATE, batch(&rows, &history, &touches, &rewards)));
    }
    check(&name("losses"), &losses, &of("losses"), TOLERANCE_AFTER);
    check(&name("weights after ten updates"), module.parameters(), &of("after"), TOLERANCE_AFTER);
}

fn batch<'a>(
    visual: &'a VisualRows,
    history: &'a Scenes<'a>,
    touches: &'a [f32],
    rewards: &'a [f32],
) -> Batch<'a, Scenes<'a>> {
    Batch { visual, rows: 0..N_STEPS, history, touches, rewards }
}
