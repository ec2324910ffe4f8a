//! An agent that learns in WebAssembly: `scripts/web-check` builds this and calls `train` from Node.
#![allow(unsafe_code)] // Names of exported functions must be kept.
#![allow(clippy::unwrap_used)]

#[path = "../tests/pixel_scenes/mod.rs"]
mod pixel_scenes;

use touchstream_agents::{AgentSettings, Evaluator, FeatureSource, Remap};
use touchstream_env::seed::RunSeed;
use touchstream_env::task::find_task;

const TASK: &str = "sr-2way";

/// Trains EMS on plain coloured screens and returns its mean reward over 200 validation trials.
#[unsafe(no_mangle)]
pub extern "C" fn train(n_steps: u32, seed: u32) -> f64 {
    let seed = RunSeed(u64::from(seed));
    let (mut stream, mut validation, scenes) = pixel_scenes::world(TASK, seed.0);
    let settings = AgentSettings::for_task("ems", &find_task(TASK).unwrap()).unwrap();
    let mut agent = Remap::new(settings, scenes.shape(), seed).unwrap();
    while agent.n_steps() < u64::from(n_steps) {
        agent.play(&mut stream, &scenes).unwrap();
    }
    let settings = agent.settings();
    let mut evaluator = Evaluator::new(agent.skill(), settings, seed);
    evaluator.evaluate(agent.skill(), &settings.policy, &mut validation, &scenes, 200).unwrap().reward
}
