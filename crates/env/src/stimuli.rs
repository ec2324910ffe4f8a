//! What the environment asks of a source of images: the first station of the walk.
//!
//! The environment knows this trait and nothing behind it: no files, no formats, no generators.

use crate::mask::Mask;
use crate::pixel_box::PixelBox;
use crate::screen::{Screen, Template};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// Which images: those to learn from, or those that learning never sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Split {
    /// To learn from.
    Train,
    /// To be judged on; never learned from.
    Validation,
}

impl Split {
    /// Both splits.
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

/// A class, as its position in [`Stimuli::classes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ClassIdx(pub u16);

impl ClassIdx {
    /// The position as a `usize`.
    pub fn get(self) -> usize {
        usize::from(self.0)
    }
}

/// One picture of a source that fills a whole screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Picture {
    /// One thing of a class, large and alone: shown by stimulus-response tasks and on sample screens.
    Portrait {
        /// What it shows.
        class: ClassIdx,
        /// In `0..n_portraits`.
        index: u32,
    },
    /// One object somewhere on a background, with a known box: shown by localization.
    Object {
        /// In `0..n_objects`.
        index: u32,
    },
    /// Several objects with known outlines: the match screen of scene tasks.
    Scene {
        /// In `0..n_scenes`.
        index: u32,
    },
}

/// The object of an [`Picture::Object`] screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoxedObject {
    /// What it is.
    pub class: ClassIdx,
    /// The smallest box around its visible pixels.
    pub bounds: PixelBox,
}

/// One object of a [`Picture::Scene`] screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// What it is.
    pub class: ClassIdx,
    /// Its pixels. May be a crowd; may overlap others.
    pub mask: Mask,
}

/// A 256-bit hash of everything that decides a source's pixels, boxes and masks.
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

/// A picture that was there when the source was opened and cannot be had now.
#[derive(Debug, thiserror::Error)]
#[error("{what}: {reason}")]
pub struct StimulusError {
    /// The file, or another name by which a person finds the picture.
    pub what: String,
    /// What went wrong, as a sentence without a full stop.
    pub reason: String,
}

/// A source of images with train and validation splits that share no picture.
///
/// Numbers, boxes and masks are known from the moment the source is open and never change, so trials are
/// drawn without touching a pixel. Pixels come when a screen is drawn. Every method gives the same answer for
/// the same arguments, on every thread.
///
/// A source that has no pictures of a kind answers 0 for their number; a task that needs them is refused
/// when the stream is opened.
pub trait Stimuli: Send + Sync {
    /// The source as a user names it on the command line, for instance `gallery`.
    fn name(&self) -> &str;

    /// Hash of everything that decides pixels, boxes and masks. Part of every result.
    fn content_hash(&self) -> ContentHash;

    /// Names of the classes; a task over `n` classes takes the first `n`.
    fn classes(&self) -> &[String];

    /// How many portraits of a class there are.
    fn n_portraits(&self, split: Split, class: ClassIdx) -> usize;

    /// How many localization screens there are.
    fn n_objects(&self, split: Split) -> usize;

    /// How many scenes there are.
    fn n_scenes(&self, split: Split) -> usize;

    /// The scene that a portrait was cut out of, where there is one; a trial does not show both.
    fn portrait_scene(&self, _split: Split, _class: ClassIdx, _index: u32) -> Option<u32> {
        None
    }

    /// The object of localization screen `index`, which is below `n_objects`.
    fn object(&self, split: Split, index: u32) -> BoxedObject;

    /// The objects of scene `index`, which is below `n_scenes`.
    fn instances(&self, split: Split, index: u32) -> &[Instance];

    /// Draws a picture over the whole screen.
    fn draw(&self, split: Split, picture: Picture, screen: &mut Screen) -> Result<(), StimulusError>;

    /// The button of a class on match screens, `side_px` high and wide.
    fn template(&self, split: Split, class: ClassIdx, side_px: usize)
    -> Result<Arc<Template>, StimulusError>;
}
