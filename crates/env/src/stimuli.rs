//! The interface between the environment and a source of images, the trait [`Stimuli`].

use crate::mask::Mask;
use crate::pixel_box::PixelBox;
use crate::screen::{Screen, Template};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// Training or validation images; each image belongs to exactly one split.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Split {
    /// Images to learn from.
    Train,
    /// Images for evaluation only.
    Validation,
}

impl Split {
    pub const ALL: [Self; 2] = [Self::Train, Self::Validation];

    /// `train` or `validation`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Validation => "validation",
        }
    }
}

impl fmt::Display for Split {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A class of a source, as an index into [`Stimuli::classes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ClassIdx(pub u16);

impl ClassIdx {
    pub fn get(self) -> usize {
        usize::from(self.0)
    }
}

/// One image of a source that fills a whole screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ImageId {
    /// One large object of a class: shown by stimulus-response tasks and on sample screens.
    Portrait {
        class: ClassIdx,
        /// Below [`Stimuli::n_portraits`].
        index: u32,
    },
    /// One object with a known bounding box on a background: shown by localization.
    Object {
        /// Below [`Stimuli::n_objects`].
        index: u32,
    },
    /// Several objects with known masks: the match screen of scene tasks.
    Scene {
        /// Below [`Stimuli::n_scenes`].
        index: u32,
    },
}

/// The object of an [`ImageId::Object`] screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoxedObject {
    pub class: ClassIdx,
    /// The bounding box of the object's visible pixels.
    pub bounds: PixelBox,
}

/// One object of an [`ImageId::Scene`] screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    pub class: ClassIdx,
    /// The object's pixels. It may be a group of objects, and may overlap other instances.
    pub mask: Mask,
}

/// A 256-bit hash of everything that determines a source's pixels, boxes and masks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContentHash(pub [u8; 32]);

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// An image that cannot be read, although it was there when the source was opened.
#[derive(Debug, thiserror::Error)]
#[error("{what}: {reason}")]
pub struct StimulusError {
    /// The file, or another description of the image.
    pub what: String,
    /// What went wrong, without a full stop.
    pub reason: String,
}

/// A source of images, with training and validation splits that share no image.
///
/// Numbers of images, boxes and masks are known once the source is open and never change, so trials are drawn without
/// reading pixels; pixels are produced when a screen is drawn. Every method is deterministic, on every thread.
///
/// If a source lacks a kind of image, the corresponding `n_...` returns 0; opening a stream with a task that needs it
/// is an error.
pub trait Stimuli: Send + Sync {
    /// The source as written on the command line, for instance `gallery`.
    fn name(&self) -> &str;

    /// Hash of everything that determines pixels, boxes and masks; recorded with every result.
    fn content_hash(&self) -> ContentHash;

    /// Names of the classes; a task with `n` classes takes the first `n`.
    fn classes(&self) -> &[String];

    /// Number of portraits of a class.
    fn n_portraits(&self, split: Split, class: ClassIdx) -> usize;

    fn n_objects(&self, split: Split) -> usize;

    fn n_scenes(&self, split: Split) -> usize;

    /// The scene that a portrait was cropped from, if any; a trial never shows both.
    fn portrait_scene(&self, _split: Split, _class: ClassIdx, _index: u32) -> Option<u32> {
        None
    }

    /// The object of localization screen `index`, which is below `n_objects`.
    fn object(&self, split: Split, index: u32) -> BoxedObject;

    /// The objects of scene `index`, which is below `n_scenes`.
    fn instances(&self, split: Split, index: u32) -> &[Instance];

    /// Draws an image over the whole screen.
    fn draw(&self, split: Split, image: ImageId, screen: &mut Screen) -> Result<(), StimulusError>;

    /// The image that represents a class on match screens, `side_px` high and wide.
    fn template(&self, split: Split, class: ClassIdx, side_px: usize)
    -> Result<Arc<Template>, StimulusError>;
}
