//! Templates: the buttons of match screens, chosen by file or made by the source, each made once.

use crate::class_names::find_class;
use crate::decode::{Upright, decode_rgb};
use crate::error::SourceError;
use crate::manifest::ContentFacts;
use crate::options::{SourceOptions, TemplateRule};
use crate::resize::template_from_picture;
use image::RgbImage;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use touchstream_env::screen::Template;
use touchstream_env::stimuli::{ClassIdx, Split, StimulusError};
use touchstream_files::read_picture_file;

/// The templates of a source.
#[derive(Debug)]
pub struct Templates {
    rule: TemplateRule,
    chosen: BTreeMap<usize, RgbImage>,
    made: Mutex<HashMap<(Split, ClassIdx, usize), Arc<Template>>>,
}

impl Templates {
    /// Reads the chosen files; what they hold becomes a fact of the source.
    pub fn open(
        options: &SourceOptions,
        classes: &[String],
        facts: &mut ContentFacts,
    ) -> Result<Self, SourceError> {
        let mut chosen = BTreeMap::new();
        for (name, file) in &options.template_files {
            let class = find_class(name, classes)?;
            let bytes = read_picture_file(file).map_err(SourceError::io(file))?;
            let picture = decode_rgb(&bytes, Upright::Turn).map_err(|error| SourceError::Template {
                class: classes[class].clone(),
                file: file.clone(),
                reason: error.to_string(),
            })?;
            facts.add(format!("template of {}", classes[class]), blake3::hash(&bytes).as_bytes());
            chosen.insert(class, picture);
        }
        // Where every class has its chosen file, no picture is left to choose by the rule.
        let rule = match chosen.len() == classes.len() {
            true => TemplateRule::Shared,
            false => options.template_rule,
        };
        facts.add("template rule", format!("{rule:?}"));
        Ok(Self { rule, chosen, made: Mutex::default() })
    }

    /// The template: from the chosen file, else as `make` gives its `[side_px, side_px, 3]` bytes from the split
    /// that the rule names.
    pub fn get(
        &self,
        split: Split,
        class: ClassIdx,
        side_px: usize,
        make: impl FnOnce(Split) -> Result<Box<[u8]>, StimulusError>,
    ) -> Result<Arc<Template>, StimulusError> {
        let from_split = match self.rule {
            TemplateRule::Shared => Split::Train,
            TemplateRule::PerSplit => split,
        };
        let key = (from_split, class, side_px);
        if let Some(template) = self.made.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(Arc::clone(template));
        }
        let pixels = match self.chosen.get(&class.get()) {
            Some(picture) => template_from_picture(picture, side_px),
            None => make(from_split)?,
        };
        let template = Arc::new(Template::new(side_px, pixels));
        self.made.lock().unwrap_or_else(PoisonError::into_inner).insert(key, Arc::clone(&template));
        Ok(template)
    }
}
