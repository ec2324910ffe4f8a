//! Every module against the printed equations and against differences, on all kinds of instructions.

#![allow(clippy::unwrap_used)]

mod case;
mod naive;

use case::{Case, Noise, Scenes};
use naive::{NaiveModule, cross_entropy};
use touchstream_modules::module::{
    Batch, BatchSize, Candidates, Convolutions, FlattenedScale, HeadMemory, LayerShape, Learner, MODULES,
    MapShape, ModuleShape, SceneHistory, VisualRows,
};
use touchstream_modules::{AdamSettings, Instructions, Nonlinearity};

impl Case {
    fn naive(&self) -> NaiveModule<'_> {
        let parameters = self.parameters.iter().map(|&parameter| f64::from(parameter)).collect();
        NaiveModule { structure: &self.structure, parameters }
    }

    fn batch<'a>(&'a self, visual: &'a VisualRows, history: &'a Scenes<'a>) -> Batch<'a, Scenes<'a>> {
        Batch { visual, rows: 0..self.n_steps, history, touches: &self.touches, rewards: &self.rewards }
    }

    fn naive_loss(&self, naive: &NaiveModule<'_>) -> f64 {
        let k_f = self.shape().k_f;
        let loss_of = |step: usize| {
            let logits = naive.logits(&self.psi(step), &self.map(step), &self.touches(step));
            let rewards = &self.rewards[step * k_f..][..k_f];
            logits.iter().zip(rewards).map(|(z, r)| cross_entropy(*z, f64::from(*r))).sum::<f64>()
        };
        (0..self.n_steps).map(loss_of).sum::<f64>() / self.n_steps as f64
    }
}

/// All modules, small, and EMS, a late one and the convolutional one with other memories and horizons.
fn shapes() -> Vec<(String, ModuleShape)> {
    let mut shapes = Vec::new();
    for kind in &MODULES {
        for (k_b, k_f) in [(0, 1), (1, 2), (2, 3), (3, 1)] {
            if (k_b, k_f) != (1, 2) && !["ems", "none-relu-small", "conv-ems"].contains(&kind.id) {
                continue;
            }
            let layer = |nonlinearity, n_units| LayerShape { nonlinearity, n_units };
            let shape = ModuleShape {
                scene_len: 43,
                k_b,
                k_f,
                convolutions: kind.is_convolutional().then(|| Convolutions {
                    map: MapShape { n_places: 10, n_channels: 19 },
                    layers: kind.convolutions.iter().enumerate().map(|(idx, &f)| layer(f, 5 + idx)).collect(),
                    flattened: FlattenedScale::OnePlace,
                }),
                bottleneck: kind.bottleneck.map(|g| layer(g, 9)),
                layers: (0..kind.default_depth()).map(|idx| layer(kind.layers, 7 + 2 * idx)).collect(),
            };
            shapes.push((format!("{} k_b {k_b} k_f {k_f}", kind.id), shape));
        }
    }
    shapes.extend(even_shapes());
    shapes.extend(wide_shapes());
    shapes
}

/// Even widths, which small modules predict in registers: groups of four, of six and of both, one to three maps.
fn even_shapes() -> Vec<(String, ModuleShape)> {
    let layer = |nonlinearity, n_units| LayerShape { nonlinearity, n_units };
    let early = MODULES.iter().filter_map(|kind| Some((kind, kind.bottleneck?)));
    let shapes = early.flat_map(|(kind, bottleneck)| {
        [(1, [3, 4]), (2, [7, 6]), (2, [8, 16]), (3, [5, 10])].map(|(k_f, units)| {
            let shape = ModuleShape {
                scene_len: 21,
                k_b: 1,
                k_f,
                convolutions: None,
                bottleneck: Some(layer(bottleneck, 3)),
                layers: units.map(|n_units| layer(kind.layers, n_units)).to_vec(),
            };
            (format!("{} of {units:?}, k_f {k_f}", kind.id), shape)
        })
    });
    shapes.collect()
}

/// As wide as modules of the paper's sizes: every loop goes round more than once, with a rest.
fn wide_shapes() -> Vec<(String, ModuleShape)> {
    let layer = |nonlinearity, n_units| LayerShape { nonlinearity, n_units };
    let wide = |name: &str, bottleneck: Option<usize>, units: [usize; 2]| {
        let kind = MODULES.iter().find(|kind| kind.id == name).unwrap();
        let shape = ModuleShape {
            scene_len: 2100,
            k_b: 1,
            k_f: 2,
            convolutions: None,
            bottleneck: bottleneck.and_then(|n| kind.bottleneck.map(|g| layer(g, n))),
            layers: units.map(|n_units| layer(kind.layers, n_units)).to_vec(),
        };
        (format!("wide {name}"), shape)
    };
    use FlattenedScale::{One, OnePlace};
    let convolved = |n_places: usize, convolutions: &[usize], behind: usize, flattened| {
        let nonlinearities = [Nonlinearity::Tanh, Nonlinearity::Cres, Nonlinearity::Cres];
        ModuleShape {
            scene_len: 30,
            k_b: 1,
            k_f: 2,
            convolutions: Some(Convolutions {
                map: MapShape { n_places, n_channels: 20 },
                layers: nonlinearities.iter().zip(convolutions).map(|(&f, &n)| layer(f, n)).collect(),
                flattened,
            }),
            bottleneck: None,
            layers: vec![layer(Nonlinearity::Cres, behind), layer(Nonlinearity::Cres, 5)],
        }
    };
    vec![
        // More flattened features than one pass of the loops takes, and unscaled convolutions.
        ("wide conv-ems".into(), convolved(70, &[5, 15], 6, One)),
        // 128 units that read CReS: after convolutions, in a convolution with few and with many places, and both.
        ("wide conv-ems, 128 behind".into(), convolved(5, &[3, 7], 128, One)),
        ("wide conv-ems, 128 convolved".into(), convolved(3, &[3, 5, 128], 4, One)),
        ("wide conv-ems, 128 convolved, many places".into(), convolved(67, &[2, 3, 128], 1, OnePlace)),
        ("wide conv-ems, 128 everywhere".into(), convolved(1, &[2, 3, 128], 128, One)),
        // A last convolution of one part.
        ("wide conv-ems, tanh alone".into(), convolved(4, &[5], 7, One)),
        wide("ems", Some(33), [70, 131]),
        wide("ems", Some(33), [70, 130]),
        wide("none-relu-small", None, [150, 140]),
        wide("none-tanh-small", None, [150, 140]),
        wide("none-crelu-small", None, [150, 140]),
    ]
}

/// Logits of candidates are those of the equations, to 1e-5 of the largest.
#[test]
fn maps_are_those_of_the_equations() {
    for (name, shape) in shapes() {
        let is_wide = name.starts_with("wide");
        for n_candidates in if is_wide { &[150][..] } else { &[1, 8, 30, 57] }.iter().copied() {
            let case = Case::new(shape.clone(), if is_wide { 1 } else { 5 });
            let mut noise = Noise(n_candidates as u64);
            let mut candidates = Candidates::new(n_candidates);
            let (rows, cols) = candidates.coordinates_mut();
            rows.fill_with(|| noise.next());
            cols.fill_with(|| noise.next());
            for instructions in Instructions::all() {
                let module = case.module(instructions);
                let mut memory = HeadMemory::new(&case.structure, n_candidates);
                memory.load(&module);
                let visual = case.visual(&module);
                for step in 0..case.n_steps {
                    let past: Vec<f32> = case.touches(step).iter().map(|&x| x as f32).collect();
                    let past = &past[..2 * shape.k_b];
                    module.predict(visual.rows(step..step + 1), past, &candidates, &mut memory);
                    for candidate in 0..n_candidates {
                        let present = candidates.get(candidate);
                        let touches: Vec<f64> = past.iter().chain(&present).map(|&x| f64::from(x)).collect();
                        let logits = case.naive().logits(&case.psi(step), &case.map(step), &touches);
                        for (map, logit) in logits.iter().enumerate() {
                            let found = f64::from(memory.logits(map)[candidate]);
                            assert!(
                                (found - logit).abs() < 1e-5 * logit.abs().max(1.0),
                                "{name}, {}: {found} instead of {logit}",
                                instructions.name(),
                            );
                        }
                    }
                }
            }
        }
    }
}

/// Wider registers change how fast it goes and nothing else: predicted maps and learned weights have the same bits.
#[test]
fn instructions_that_round_alike_give_the_same_bits() {
    for (name, shape) in shapes() {
        let case = Case::new(shape.clone(), 5);
        let mut noise = Noise(3);
        let mut candidates = Candidates::new(57);
        let (rows, cols) = candidates.coordinates_mut();
        rows.fill_with(|| noise.next());
        cols.fill_with(|| noise.next());
        let bits = |instructions: Instructions| {
            let mut module = case.module(instructions);
            let visual = case.visual(&module);
            let mut learner = Learner::new(&case.structure, AdamSettings::default(), BatchSize::steps(5));
            learner.learn(&mut module, 1e-3, case.batch(&visual, &case.history()));
            let mut memory = HeadMemory::new(&case.structure, 57);
            memory.load(&module);
            let visual = case.visual(&module);
            module.predict(visual.rows(0..1), &vec![0.3; 2 * shape.k_b], &candidates, &mut memory);
            let logits = (0..shape.k_f).flat_map(|map| memory.logits(map).to_vec());
            logits.chain(module.parameters().iter().copied()).map(f32::to_bits).collect::<Vec<u32>>()
        };
        let best = Instructions::best();
        for other in Instructions::all().filter(|other| other.rounding() == best.rounding()) {
            assert!(bits(other) == bits(best), "{name}: {} and {}", other.name(), best.name());
        }
    }
}

/// Steps of a history in some order, without information about repeated screens.
#[derive(Clone, Copy)]
struct Picked<'a> {
    of: Scenes<'a>,
    pick: fn(usize) -> usize,
}

impl SceneHistory for Picked<'_> {
    fn scene(&self, step: usize, lag: usize) -> &[f32] {
        self.of.scene((self.pick)(step), lag)
    }
    fn copy_map(&self, step: usize, out: &mut [f32]) {
        self.of.copy_map((self.pick)(step), out);
    }
}

/// Also where the first step that shows a map is not learned from, and where the steps before showed others.
#[test]
fn repeated_maps_contribute_to_the_gradient_each_time() {
    for (name, shape) in shapes().into_iter().filter(|(name, _)| name.contains("conv-ems")) {
        let case = Case::new(shape, 6);
        let module = case.module(Instructions::best());
        let (mut shared, mut unshared) = (case.visual(&module), VisualRows::new(&case.structure, 6));
        let history = case.history();
        let picked = |pick| Picked { of: history, pick };
        module.visual(&picked(|step| 5 - step), &mut shared);
        module.visual(&history, &mut shared);
        module.visual(&picked(|step| step), &mut unshared);
        let n_touch = case.touches.len() / 6;
        let n_reward = case.rewards.len() / 6;
        let gradient_of = |visual: &VisualRows| {
            let mut learner = Learner::new(&case.structure, AdamSettings::default(), BatchSize::steps(8));
            let mut gradient = vec![0.0; case.structure.n_parameters()];
            let history = picked(|step| step + 1);
            let (touches, rewards) = (&case.touches[n_touch..], &case.rewards[n_reward..]);
            let batch = Batch { visual, rows: 1..6, history: &history, touches, rewards };
            learner.add_gradient(&module, batch, &mut gradient);
            gradient
        };
        for (one, other) in gradient_of(&shared).iter().zip(gradient_of(&unshared)) {
            assert!((one - other).abs() < 1e-5 + 1e-4 * other.abs(), "{name}: {one} instead of {other}");
        }
        // What was shared before is not when other screens are shown.
        let mut fresh = VisualRows::new(&case.structure, 6);
        for visual in [&mut shared, &mut fresh] {
            module.visual(&picked(|step| 5 - step), visual);
        }
        assert_eq!(shared.rows(0..6), fresh.rows(0..6), "{name}");
    }
}

/// The gradient of every parameter matches finite differences of the loss, and is added to the buffer.
#[test]
fn gradients_match_finite_differences() {
    for (name, shape) in shapes() {
        let case = Case::new(shape, 6);
        let mut naive = case.naive();
        for instructions in Instructions::all() {
            let module = case.module(instructions);
            let mut learner = Learner::new(&case.structure, AdamSettings::default(), BatchSize::steps(8));
            let visual = case.visual(&module);
            let history = case.history();
            let batch = case.batch(&visual, &history);
            let before: Vec<f32> = Noise(5).vector(case.structure.n_parameters());
            let mut gradient = before.clone();
            let loss = learner.add_gradient(&module, batch, &mut gradient);
            assert!((f64::from(loss) - case.naive_loss(&naive)).abs() < 1e-5, "{name}: loss");
            // Every parameter of narrow tensors, some of wide ones.
            let step = if gradient.len() > 10_000 { gradient.len() / 97 } else { 3 };
            let n_last = if gradient.len() > 10_000 { 20 } else { 300 };
            for idx in (0..gradient.len()).filter(|idx| idx % step == 0 || gradient.len() - idx < n_last) {
                let middle = naive.parameters[idx];
                let mut at = |shift: f64| {
                    naive.parameters[idx] = middle + shift;
                    case.naive_loss(&naive)
                };
                let (above, below) = (at(1e-5), at(-1e-5));
                let difference = (above - below) / 2e-5;
                naive.parameters[idx] = middle;
                let found = f64::from(gradient[idx] - before[idx]);
                assert!(
                    (found - difference).abs() < 2e-5 + 1e-3 * difference.abs(),
                    "{name}, {}: parameter {idx}: {found} instead of {difference}",
                    instructions.name(),
                );
            }
        }
    }
}

/// Several touches of a step give the same update as several steps with one touch each.
#[test]
fn touches_of_a_step_are_learned_together() {
    const N_TOUCHES: usize = 3;
    for (name, shape) in shapes() {
        let case = Case::new(shape, 4);
        let module = case.module(Instructions::best());
        let (visual, history) = (case.visual(&module), case.history());
        let (n_touch, k_f) = (case.shape().n_touch(), case.shape().k_f);
        let n = case.structure.n_parameters();
        let mut noise = Noise(11);
        let touches = noise.vector(case.n_steps * N_TOUCHES * n_touch);
        let rewards: Vec<f32> =
            noise.vector(case.n_steps * N_TOUCHES * k_f).iter().map(|x| x.abs()).collect();
        let size = BatchSize { n_steps: 5, n_touches: N_TOUCHES };
        let mut gradient = vec![0.0; n];
        let batch = Batch { touches: &touches, rewards: &rewards, ..case.batch(&visual, &history) };
        let loss = Learner::new(&case.structure, AdamSettings::default(), size).add_gradient(
            &module,
            batch,
            &mut gradient,
        );
        let (mut expected, mut expected_loss) = (vec![0.0; n], 0.0);
        let mut learner = Learner::new(&case.structure, AdamSettings::default(), BatchSize::steps(4));
        for which in 0..N_TOUCHES {
            let of_step = |numbers: &[f32], len: usize| -> Vec<f32> {
                numbers.chunks(len).skip(which).step_by(N_TOUCHES).flatten().copied().collect()
            };
            let (touches, rewards) = (of_step(&touches, n_touch), of_step(&rewards, k_f));
            let batch = Batch { touches: &touches, rewards: &rewards, ..case.batch(&visual, &history) };
            expected_loss += learner.add_gradient(&module, batch, &mut expected) / N_TOUCHES as f32;
        }
        assert!((loss - expected_loss).abs() < 1e-5, "{name}: loss {loss} instead of {expected_loss}");
        for (idx, (found, sum)) in gradient.iter().zip(&expected).enumerate() {
            let mean = sum / N_TOUCHES as f32;
            assert!((found - mean).abs() < 1e-6 + 1e-4 * mean.abs(), "{name}: {idx}: {found}, not {mean}");
        }
    }
}

/// Updates fused with the gradient are Adam on the gradient, with and without decay.
#[test]
fn updates_are_adam_on_the_gradient() {
    for (name, shape) in shapes() {
        let case = Case::new(shape, 6);
        for (instructions, weight_decay) in Instructions::all().flat_map(|known| [(known, 0.0), (known, 5.0)])
        {
            let mut module = case.module(instructions);
            let settings = AdamSettings { weight_decay, ..AdamSettings::default() };
            let mut learner = Learner::new(&case.structure, settings, BatchSize::steps(6));
            let mut other = learner.clone();
            let mut expected: Vec<f64> = case.parameters.iter().map(|&x| f64::from(x)).collect();
            let (mut mean, mut square) = (vec![0.0; expected.len()], vec![0.0; expected.len()]);
            for update in 1..=3 {
                let visual = case.visual(&module);
                let history = case.history();
                let batch = case.batch(&visual, &history);
                let mut gradient = vec![0.0; expected.len()];
                other.add_gradient(&module, batch.clone(), &mut gradient);
                learner.learn(&mut module, 0.01, batch);
                for (idx, &g) in gradient.iter().enumerate() {
                    let g = f64::from(g);
                    mean[idx] = 0.9 * mean[idx] + 0.1 * g;
                    square[idx] = 0.999 * square[idx] + 0.001 * g * g;
                    let (m, v) = (
                        mean[idx] / (1.0 - 0.9_f64.powi(update)),
                        square[idx] / (1.0 - 0.999_f64.powi(update)),
                    );
                    expected[idx] -= 0.01 * (m / (v.sqrt() + 1e-8) + weight_decay * expected[idx]);
                    let found = f64::from(module.parameters()[idx]);
                    assert!(
                        (found - expected[idx]).abs() < 1e-5,
                        "{name}: update {update} of parameter {idx}"
                    );
                    expected[idx] = found;
                }
            }
            assert_eq!(learner.state().n_updates, 3);
        }
    }
}
