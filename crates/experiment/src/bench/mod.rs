//! What benchmarks measure with.

mod noise_scenes;
mod processor;

pub use noise_scenes::NoiseScenes;
pub use processor::Processor;
