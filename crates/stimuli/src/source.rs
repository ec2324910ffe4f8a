//! The implementation of [`Stimuli`] that all sources share; only rendering differs.

use crate::manifest::{ClassCounts, ContentFacts, Manifest, Skipped, SplitCounts};
use crate::open::Opened;
use crate::templates::Templates;
use std::sync::Arc;
use touchstream_env::screen::{Screen, Template};
use touchstream_env::stimuli::{
    BoxedObject, ClassIdx, ContentHash, ImageId, Instance, Split, Stimuli, StimulusError,
};

/// Makes the pixels of one kind of source.
pub trait Render: Send + Sync {
    /// The bytes of a screen, `[224, 224, RGB]`.
    fn screen(&self, split: Split, image: ImageId) -> Result<Arc<[u8]>, StimulusError>;

    /// The bytes of a class's template, `[side_px, side_px, RGB]`.
    fn template(&self, split: Split, class: ClassIdx, side_px: usize) -> Result<Box<[u8]>, StimulusError>;

    /// The scene that a portrait was cropped from, if any.
    fn portrait_scene(&self, _split: Split, _class: ClassIdx, _index: u32) -> Option<u32> {
        None
    }
}

/// The contents of a source, as found when it was opened.
#[derive(Default)]
pub struct Contents {
    pub name: String,
    pub classes: Vec<String>,
    /// `[class]`
    pub portraits: Vec<SplitCounts>,
    /// `[split][index]`
    pub objects: [Vec<BoxedObject>; 2],
    /// `[split][scene]`: the objects of each scene.
    pub scenes: [Vec<Vec<Instance>>; 2],
    pub skipped: Vec<Skipped>,
    pub notes: Vec<String>,
}

impl Contents {
    /// Makes the source; `facts` and the classes determine its pixels.
    pub fn open(
        self,
        mut facts: ContentFacts,
        templates: Templates,
        renderer: impl Render + 'static,
    ) -> Opened {
        let Self { name, classes, portraits, objects, scenes, skipped, notes } = self;
        facts.add("classes", classes.join("\n"));
        let hash = facts.hash();
        let class_counts = classes.iter().zip(&portraits);
        let manifest = Manifest {
            source: name.clone(),
            content_hash: hash.to_string(),
            classes: class_counts
                .map(|(name, &portraits)| ClassCounts { name: name.clone(), portraits })
                .collect(),
            objects: SplitCounts::of_lists(&objects),
            scenes: SplitCounts::of_lists(&scenes),
            skipped,
            notes,
        };
        let source = Source { name, hash, classes, portraits, objects, scenes, templates, renderer };
        Opened { stimuli: Arc::new(source), manifest }
    }
}

struct Source<R> {
    name: String,
    hash: ContentHash,
    classes: Vec<String>,
    portraits: Vec<SplitCounts>,
    objects: [Vec<BoxedObject>; 2],
    scenes: [Vec<Vec<Instance>>; 2],
    templates: Templates,
    renderer: R,
}

impl<R: Render> Stimuli for Source<R> {
    fn name(&self) -> &str {
        &self.name
    }

    fn content_hash(&self) -> ContentHash {
        self.hash
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn n_portraits(&self, split: Split, class: ClassIdx) -> usize {
        self.portraits[class.get()].of(split) as usize
    }

    fn n_objects(&self, split: Split) -> usize {
        self.objects[split as usize].len()
    }

    fn n_scenes(&self, split: Split) -> usize {
        self.scenes[split as usize].len()
    }

    fn portrait_scene(&self, split: Split, class: ClassIdx, index: u32) -> Option<u32> {
        self.renderer.portrait_scene(split, class, index)
    }

    fn object(&self, split: Split, index: u32) -> BoxedObject {
        self.objects[split as usize][index as usize]
    }

    fn instances(&self, split: Split, index: u32) -> &[Instance] {
        &self.scenes[split as usize][index as usize]
    }

    fn draw(&self, split: Split, image: ImageId, screen: &mut Screen) -> Result<(), StimulusError> {
        screen.copy_from(&self.renderer.screen(split, image)?);
        Ok(())
    }

    fn template(
        &self,
        split: Split,
        class: ClassIdx,
        side_px: usize,
    ) -> Result<Arc<Template>, StimulusError> {
        self.templates.get(split, class, side_px, |split| self.renderer.template(split, class, side_px))
    }
}

/// Lists of pairs as pairs of lists, for each split.
pub fn unzip_splits<A, B>(pairs: [Vec<(A, B)>; 2]) -> ([Vec<A>; 2], [Vec<B>; 2]) {
    let [train, validation] = pairs.map(|pairs| pairs.into_iter().unzip());
    ([train.0, validation.0], [train.1, validation.1])
}
