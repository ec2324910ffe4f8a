//! Which random numbers belong to which picture.

use touchstream_env::seed::{RandomStream, RunSeed, StreamName};
use touchstream_env::stimuli::Split;

/// The kinds of pictures the gallery draws.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Portrait,
    Object,
    Scene,
}

/// What the numbers decide. Form knows the class; coat and background do not.
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

/// One picture of one run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PictureKey {
    pub seed: RunSeed,
    pub kind: Kind,
    pub split: Split,
    pub index: u32,
}

impl PictureKey {
    /// The numbers for an aspect; `slot` tells things of one picture, or portraits of classes, apart.
    pub(crate) fn stream(&self, aspect: Aspect, slot: usize) -> RandomStream {
        let split_bit = match self.split {
            Split::Train => 0,
            Split::Validation => 1_u64 << 63,
        };
        let name = STREAM_NAMES[self.kind as usize][aspect as usize];
        self.seed.stream(name, split_bit | (slot as u64 & 0xffff) << 32 | u64::from(self.index))
    }
}
