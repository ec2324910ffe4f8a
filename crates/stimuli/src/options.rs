//! What a user may choose about a source.

use crate::error::SourceError;
use crate::manifest::SplitCounts;
use crate::validation_part::ValidationPart;
use std::collections::BTreeMap;
use std::path::PathBuf;
use touchstream_env::seed::RunSeed;

/// How to open a source. `SourceOptions::default()` suits every source.
#[derive(Clone, Debug)]
pub struct SourceOptions {
    /// Which classes, in which order, by name; `None` for all in the source's own order.
    pub classes: Option<Vec<String>>,
    /// Whether anything that would be skipped is an error instead.
    pub strict: bool,
    /// Image files chosen as templates, by class name.
    pub template_files: BTreeMap<String, PathBuf>,
    /// Which picture becomes the template of a class without a chosen file.
    pub template_rule: TemplateRule,
    /// Which part of COCO's images fills the screen.
    pub scene_fit: SceneFit,
    /// Where facts about files and rendered pictures are kept between runs; `None` keeps nothing.
    pub cache_dir: Option<PathBuf>,
    /// Decides composed and generated pictures.
    pub seed: RunSeed,
    /// How many pictures to compose or generate.
    pub sizes: Sizes,
    /// Which kinds of pictures will be asked for.
    pub needs: Needs,
    /// Half of the validation pictures only; `None` for all.
    pub validation_part: Option<ValidationPart>,
}

impl Default for SourceOptions {
    fn default() -> Self {
        Self {
            classes: None,
            strict: false,
            template_files: BTreeMap::new(),
            template_rule: TemplateRule::Shared,
            scene_fit: SceneFit::Whole,
            cache_dir: None,
            seed: RunSeed(0),
            sizes: Sizes::default(),
            needs: Needs::ALL,
            validation_part: None,
        }
    }
}

/// Which picture becomes the template of a class. The paper is silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum TemplateRule {
    /// One of the training split for both splits: a template is part of the interface, not a thing to
    /// generalise over.
    #[default]
    Shared,
    /// Each split has its own, where the source has pictures to choose from (folder and COCO).
    PerSplit,
}

/// Which part of a scene's image fills the screen. The paper is silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum SceneFit {
    /// All of it, stretched to a square: every object can be touched.
    #[default]
    Whole,
    /// Short side to 256, centre crop 224, as other images: nothing is stretched, what lies at the sides is lost.
    Crop,
}

/// How many pictures the gallery and the cut-outs make; `None` for the source's default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Sizes {
    /// Portraits of each class.
    pub portraits: Option<SplitCounts>,
    /// Localization screens.
    pub objects: Option<SplitCounts>,
    /// Scenes.
    pub scenes: Option<SplitCounts>,
}

/// The most pictures of a kind that can be asked for.
const MAX_PICTURES: u32 = 1_000_000;

impl Sizes {
    /// An error if more pictures are asked for than any source should make.
    pub(crate) fn check(&self) -> Result<(), SourceError> {
        for (what, counts) in [
            ("the number of portraits of a class", self.portraits),
            ("the number of localization screens", self.objects),
            ("the number of scenes", self.scenes),
        ] {
            for given in counts.iter().flat_map(|counts| [counts.train, counts.validation]) {
                if given > MAX_PICTURES {
                    return Err(SourceError::Size { what, expected: "at most 1,000,000", given });
                }
            }
        }
        Ok(())
    }
}

/// Which kinds of pictures will be asked for, besides portraits. The gallery and the cut-outs answer 0 for the
/// number of those not needed, and spare the work; the content hash does not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// Localization screens.
    pub objects: bool,
    /// Scenes.
    pub scenes: bool,
    /// The pixels of all portraits, too, made when the source is opened and not when each is first drawn: for long
    /// runs, which will see them all.
    pub portraits_now: bool,
}

impl Needs {
    /// Every kind.
    pub const ALL: Self = Self { objects: true, scenes: true, portraits_now: false };
    /// Portraits alone.
    pub const PORTRAITS: Self = Self { objects: false, scenes: false, portraits_now: false };
}
