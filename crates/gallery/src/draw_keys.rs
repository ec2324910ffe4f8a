//! Assigns random streams to images.

use touchstream_env::seed::{RandomStream, RunSeed, StreamName};
use touchstream_env::stimuli::Split;

#[derive(Clone, Copy, Debug)]
pub(crate) enum DrawKind {
    Portrait,
    Object,
    Scene,
}

/// What a random stream determines. Only the form depends on the class.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Aspect {
    Form,
    Coat,
    Background,
}

const STREAM_NAMES: [[StreamName; 3]; 3] = [
    [
        StreamName::new("gallery/portrait/form"),
        StreamName::new("gallery/portrait/coat"),
        StreamName::new("gallery/portrait/background"),
    ],
    [
        StreamName::new("gallery/object/form"),
        StreamName::new("gallery/object/coat"),
        StreamName::new("gallery/object/background"),
    ],
    [
        StreamName::new("gallery/scene/form"),
        StreamName::new("gallery/scene/coat"),
        StreamName::new("gallery/scene/background"),
    ],
];

/// Identifies one image.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ImageKey {
    pub seed: RunSeed,
    pub kind: DrawKind,
    pub split: Split,
    pub index: u32,
}

impl ImageKey {
    /// The random stream for an aspect; `slot` distinguishes the objects of an image, and portraits of different classes.
    pub(crate) fn stream(&self, aspect: Aspect, slot: usize) -> RandomStream {
        let split_bit = match self.split {
            Split::Train => 0,
            Split::Validation => 1_u64 << 63,
        };
        let name = STREAM_NAMES[self.kind as usize][aspect as usize];
        self.seed.stream(name, split_bit | (slot as u64 & 0xffff) << 32 | u64::from(self.index))
    }
}
