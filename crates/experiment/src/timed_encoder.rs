//! An encoder with a stopwatch.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use touchstream_encoder::{EncodeError, Encoder, FeatureShape, Features};
use touchstream_env::screen::Screen;
use touchstream_env::stimuli::ContentHash;

/// An encoder that measures the time it takes.
pub struct TimedEncoder<'a> {
    encoder: &'a dyn Encoder,
    spent: Mutex<Duration>,
}

impl<'a> TimedEncoder<'a> {
    pub fn new(encoder: &'a dyn Encoder) -> Self {
        Self { encoder, spent: Mutex::default() }
    }

    pub fn spent(&self) -> Duration {
        *self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Encoder for TimedEncoder<'_> {
    fn name(&self) -> &str {
        self.encoder.name()
    }

    fn content_hash(&self) -> ContentHash {
        self.encoder.content_hash()
    }

    fn shape(&self) -> FeatureShape {
        self.encoder.shape()
    }

    fn batch_size(&self) -> usize {
        self.encoder.batch_size()
    }

    fn encode(&self, screens: &[Screen], out: &mut [Features]) -> Result<(), EncodeError> {
        let begun = Instant::now();
        let encoded = self.encoder.encode(screens, out);
        *self.spent.lock().unwrap_or_else(PoisonError::into_inner) += begun.elapsed();
        encoded
    }
}
