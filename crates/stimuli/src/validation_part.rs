//! Splits the validation images into two halves: one for choosing settings, the other for evaluating the choice.

use serde::{Deserialize, Serialize};
use std::sync::Arc;
use touchstream_env::screen::{Screen, Template};
use touchstream_env::stimuli::{
    BoxedObject, ClassIdx, ContentHash, ImageId, Instance, Split, Stimuli, StimulusError,
};

/// A half of the validation images.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ValidationPart {
    /// Every second image, from the first; for choosing settings.
    Choice,
    /// The other images; for evaluating the chosen settings.
    Final,
}

impl ValidationPart {
    pub fn name(self) -> &'static str {
        match self {
            Self::Choice => "choice",
            Self::Final => "final",
        }
    }

    fn first(self) -> u32 {
        match self {
            Self::Choice => 0,
            Self::Final => 1,
        }
    }

    /// The number of images in this half, out of `n`.
    pub fn n_of(self, n: usize) -> usize {
        (n + 1 - self.first() as usize) / 2
    }
}

/// A source that shows only one half of its validation images. Training images and templates stay the same.
pub struct HalfValidated {
    all: Arc<dyn Stimuli>,
    part: ValidationPart,
    hash: ContentHash,
}

impl HalfValidated {
    pub fn new(all: Arc<dyn Stimuli>, part: ValidationPart) -> Self {
        let words = format!("{} validation {}", all.content_hash(), part.name());
        let hash = ContentHash(*blake3::hash(words.as_bytes()).as_bytes());
        Self { all, part, hash }
    }

    fn n(&self, split: Split, n: usize) -> usize {
        match split {
            Split::Train => n,
            Split::Validation => self.part.n_of(n),
        }
    }

    /// The index of an image in the whole source.
    fn at(&self, split: Split, index: u32) -> u32 {
        match split {
            Split::Train => index,
            Split::Validation => 2 * index + self.part.first(),
        }
    }
}

impl Stimuli for HalfValidated {
    fn name(&self) -> &str {
        self.all.name()
    }

    fn content_hash(&self) -> ContentHash {
        self.hash
    }

    fn classes(&self) -> &[String] {
        self.all.classes()
    }

    fn n_portraits(&self, split: Split, class: ClassIdx) -> usize {
        self.n(split, self.all.n_portraits(split, class))
    }

    fn n_objects(&self, split: Split) -> usize {
        self.n(split, self.all.n_objects(split))
    }

    fn n_scenes(&self, split: Split) -> usize {
        self.n(split, self.all.n_scenes(split))
    }

    fn portrait_scene(&self, split: Split, class: ClassIdx, index: u32) -> Option<u32> {
        let scene = self.all.portrait_scene(split, class, self.at(split, index))?;
        match split {
            Split::Train => Some(scene),
            // A scene of the other half is never shown.
            Split::Validation => (scene % 2 == self.part.first()).then_some(scene / 2),
        }
    }

    fn object(&self, split: Split, index: u32) -> BoxedObject {
        self.all.object(split, self.at(split, index))
    }

    fn instances(&self, split: Split, index: u32) -> &[Instance] {
        self.all.instances(split, self.at(split, index))
    }

    fn draw(&self, split: Split, image: ImageId, screen: &mut Screen) -> Result<(), StimulusError> {
        let image = match image {
            ImageId::Portrait { class, index } => ImageId::Portrait { class, index: self.at(split, index) },
            ImageId::Object { index } => ImageId::Object { index: self.at(split, index) },
            ImageId::Scene { index } => ImageId::Scene { index: self.at(split, index) },
        };
        self.all.draw(split, image, screen)
    }

    fn template(
        &self,
        split: Split,
        class: ClassIdx,
        side_px: usize,
    ) -> Result<Arc<Template>, StimulusError> {
        self.all.template(split, class, side_px)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::open::open;
    use crate::options::{Sizes, SourceOptions};
    use crate::spec::SourceSpec;
    use crate::{Needs, SplitCounts};
    use touchstream_files::NoProgress;

    #[test]
    fn halves_are_disjoint_and_complete() {
        let counts = |train, validation| Some(SplitCounts::new(train, validation));
        let sizes = Sizes { portraits: counts(3, 5), objects: counts(3, 5), scenes: counts(2, 3) };
        let options = SourceOptions {
            sizes,
            needs: Needs { objects: true, scenes: true, ..Needs::PORTRAITS },
            ..SourceOptions::default()
        };
        let all = open(&SourceSpec::Gallery, &options, &NoProgress).unwrap().stimuli;
        let halves = [ValidationPart::Choice, ValidationPart::Final]
            .map(|part| HalfValidated::new(Arc::clone(&all), part));
        let [choice, last] = &halves;
        assert!(choice.content_hash() != last.content_hash() && choice.content_hash() != all.content_hash());
        let class = ClassIdx(1);
        assert_eq!(halves.each_ref().map(|half| half.n_portraits(Split::Validation, class)), [3, 2]);
        assert_eq!(halves.each_ref().map(|half| half.n_scenes(Split::Validation)), [2, 1]);
        assert_eq!(halves.each_ref().map(|half| half.n_objects(Split::Train)), [3, 3]);
        let drawn = |stimuli: &dyn Stimuli, split, image| {
            let mut screen = Screen::grey();
            stimuli.draw(split, image, &mut screen).unwrap();
            screen.pixels().to_vec()
        };
        let object = |index| ImageId::Object { index };
        for index in 0..5 {
            let half = &halves[index as usize % 2];
            let whole = drawn(all.as_ref(), Split::Validation, object(index));
            assert_eq!(drawn(half, Split::Validation, object(index / 2)), whole, "{index}");
            assert_eq!(half.object(Split::Validation, index / 2), all.object(Split::Validation, index));
        }
        assert_eq!(
            drawn(choice, Split::Train, object(2)),
            drawn(all.as_ref(), Split::Train, object(2)),
            "training images stay"
        );
    }
}
