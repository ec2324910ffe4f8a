use std::time::Instant;
use touchstream_mind::AdamSettings;
use touchstream_mind::module::*;

#[derive(Clone, Copy)]
struct Scenes<'a>(&'a [f32], &'a [usize]);
impl SceneHistory for Scenes<'_> {
    fn scene(&self, step: usize, lag: usize) -> &[f32] {
        let at = self.1[step + 1 - lag];
        &self.0[at * 4096..][..4096]
    }
}

fn main() {
    for (id, n) in [("ems", 8), ("ems", 32), ("none-relu-small", 512), ("no-mult-symm-tanh", 32)] {
        let kind = ModuleKind::find(id).unwrap();
        let layer = |nonlinearity| LayerShape { nonlinearity, n_units: n };
        let shape = ModuleShape {
            scene_len: 4096,
            k_b: 1,
            k_f: 2,
            bottleneck: kind.bottleneck.map(layer),
            layers: vec![layer(kind.layers); kind.default_depth()],
        };
        let structure = Structure::new(shape).unwrap();
        let mut seed = 1u64;
        let mut noise = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 40) as f32 / (1u64 << 23) as f32 - 1.0
        };
        let parameters = InitialWeights::FanIn.draw(&structure, &mut noise);
        let mut module = Module::new(structure.clone(), parameters);
        let scenes: Vec<f32> = (0..1000 * 4096).map(|_| noise() * 0.03).collect();
        let mut learner = Learner::new(&structure, AdamSettings::default(), 32);
        let mut memory = HeadMemory::new(&structure, 512);
        let mut candidates = Candidates::new(512);
        let n0 = structure.stages()[0].n_units;
        let mut visual = vec![0.0; 33 * n0];
        let touches: Vec<f32> = (0..128).map(|_| noise()).collect();
        let rewards: Vec<f32> = (0..64).map(|_| noise().abs()).collect();
        let n_blocks = if n == 512 { 8 } else { 800 };
        let mut times = [0.0; 3];
        for block in 0..n_blocks {
            let order: Vec<usize> = (0..34).map(|i| (block * 7919 + i * 31) % 1000).collect();
            let history = Scenes(&scenes, &order);
            let t = Instant::now();
            module.visual(&history, &mut visual);
            times[0] += t.elapsed().as_secs_f64();
            let t = Instant::now();
            for step in 0..32 {
                let (r, c) = candidates.coordinates_mut();
                r[step] = 0.1;
                c[step] = 0.2;
                module.predict(&visual[step * n0..][..n0], &touches[..2], &candidates, &mut memory);
            }
            times[1] += t.elapsed().as_secs_f64();
            let t = Instant::now();
            let batch =
                Batch { visual: &visual[..32 * n0], history: &history, touches: &touches, rewards: &rewards };
            learner.learn(&mut module, 1e-3, batch);
            times[2] += t.elapsed().as_secs_f64();
        }
        let steps = (n_blocks * 32) as f64;
        let total: f64 = times.iter().sum();
        println!(
            "{id}-{n}: {:.0} steps/s; us a step: visual {:.2} predict {:.2} learn {:.2}; predict {:.1} GMAC/s",
            steps / total,
            times[0] / steps * 1e6,
            times[1] / steps * 1e6,
            times[2] / steps * 1e6,
            steps
                * 512.0
                * structure.stages()[structure.touch_stage() + 1..]
                    .iter()
                    .map(|s| s.n_in() * s.n_units)
                    .sum::<usize>() as f64
                / times[1]
                / 1e9
        );
    }
}
