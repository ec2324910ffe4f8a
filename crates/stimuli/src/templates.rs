//! The templates of a source, from chosen files or made by the source; each is made once.

use crate::class_names::find_class;
use crate::decode::{Upright, decode_rgb};
use crate::error::SourceError;
use crate::manifest::ContentFacts;
use crate::options::{SourceOptions, TemplateRule};
use crate::pixels::RgbImage;
use crate::resize::template_from_image;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use touchstream_env::screen::Template;
use touchstream_env::stimuli::{ClassIdx, Split, StimulusError};
use touchstream_files::read_image_file;

#[derive(Debug)]
pub struct Templates {
    rule: TemplateRule,
    chosen: BTreeMap<usize, RgbImage>,
    made: Mutex<HashMap<(Split, ClassIdx, usize), Arc<Template>>>,
}

impl Templates {
    /// Reads the chosen files; their contents become facts of the source.
    pub fn open(
        options: &SourceOptions,
        classes: &[String],
        facts: &mut ContentFacts,
    ) -> Result<Self, SourceError> {
        let mut chosen = BTreeMap::new();
        for (name, file) in &options.template_files {
            let class = find_class(name, classes)?;
            let bytes = read_image_file(file).map_err(SourceError::io(file))?;
            let image = decode_rgb(&bytes, Upright::Turn).map_err(|error| SourceError::Template {
                class: classes[class].clone(),
                file: file.clone(),
                reason: error.to_string(),
            })?;
            facts.add(format!("template of {}", classes[class]), blake3::hash(&bytes).as_bytes());
            chosen.insert(class, image);
        }
        // If every class has a chosen file, the rule has no effect.
        let rule = match chosen.len() == classes.len() {
            true => TemplateRule::Shared,
            false => options.template_rule,
        };
        facts.add("template rule", format!("{rule:?}"));
        Ok(Self { rule, chosen, made: Mutex::default() })
    }

    /// A template: from the chosen file, else from the `[side_px, side_px, RGB]` bytes that `make` returns for the
    /// split that the rule selects.
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
            Some(image) => template_from_image(image, side_px),
            None => make(from_split)?,
        };
        let template = Arc::new(Template::new(side_px, pixels));
        self.made.lock().unwrap_or_else(PoisonError::into_inner).insert(key, Arc::clone(&template));
        Ok(template)
    }
}
