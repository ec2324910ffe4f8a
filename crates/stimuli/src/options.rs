//! Options for opening a source.

use crate::error::SourceError;
use crate::manifest::SplitCounts;
use crate::validation_part::ValidationPart;
use std::collections::BTreeMap;
use std::path::PathBuf;
use touchstream_env::seed::RunSeed;

/// How to open a source. `SourceOptions::default()` suits every source.
#[derive(Clone, Debug)]
pub struct SourceOptions {
    /// Names of the classes to use, in order; `None` for all classes in the source's own order.
    pub classes: Option<Vec<String>>,
    /// Whether to fail instead of skipping unusable files.
    pub strict: bool,
    /// Images to use as templates, by class name.
    pub template_files: BTreeMap<String, PathBuf>,
    /// How to choose the template of a class without such a file.
    pub template_rule: TemplateRule,
    /// How COCO's images are fitted to the screen.
    pub scene_fit: SceneFit,
    /// Folder for rendered images and facts about files; `None` caches nothing.
    pub cache_dir: Option<PathBuf>,
    /// Determines composed and rendered images.
    pub seed: RunSeed,
    /// Numbers of composed or rendered images.
    pub sizes: Sizes,
    /// The kinds of images that will be used.
    pub needs: Needs,
    /// Which half of the validation images to use; `None` for all.
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

/// How the template of a class is chosen. The paper does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum TemplateRule {
    /// A training image, for both splits: a template is part of the interface, not something to generalize over.
    #[default]
    Shared,
    /// An image of each split, where the source has several (folder and COCO).
    PerSplit,
}

/// How a scene's image is fitted to the screen. The paper does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum SceneFit {
    /// Stretched to a square, so that every object can be touched.
    #[default]
    Whole,
    /// Short side scaled to 256, centre crop of 224 as for other images: not stretched, but cut off at the sides.
    Crop,
}

/// How many images the gallery and the cut-outs make; `None` for the source's default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Sizes {
    /// Per class.
    pub portraits: Option<SplitCounts>,
    pub objects: Option<SplitCounts>,
    pub scenes: Option<SplitCounts>,
}

/// Maximum number of images of a kind.
const MAX_IMAGES: u32 = 1_000_000;

impl Sizes {
    pub(crate) fn check(&self) -> Result<(), SourceError> {
        for (what, counts) in [
            ("the number of portraits of a class", self.portraits),
            ("the number of localization screens", self.objects),
            ("the number of scenes", self.scenes),
        ] {
            for given in counts.iter().flat_map(|counts| [counts.train, counts.validation]) {
                if given > MAX_IMAGES {
                    return Err(SourceError::Size { what, expected: "at most 1,000,000", given });
                }
            }
        }
        Ok(())
    }
}

/// Which kinds of images will be used besides portraits. The gallery and the cut-outs do not prepare the others, and
/// report 0 of them; the content hash does not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// Whether localization screens are used.
    pub objects: bool,
    /// Whether scenes are used.
    pub scenes: bool,
    /// Whether to render all portraits when the source is opened instead of on first use; for long runs, which show all
    /// of them.
    pub portraits_now: bool,
}

impl Needs {
    pub const ALL: Self = Self { objects: true, scenes: true, portraits_now: false };
    pub const PORTRAITS: Self = Self { objects: false, scenes: false, portraits_now: false };
}
