//! Options of images, shared by all commands and configurations.

use super::choice::by_name_if_any;
use super::setting::settings;
use crate::error::{Context, Result, bail};
use crate::watch::{Event, Watch, WorkProgress};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::env;
use std::path::PathBuf;
use touchstream_env::seed::RunSeed;
use touchstream_stimuli::{
    Manifest, Needs, Opened, SceneFit, Sizes, SourceOptions, SourceSpec, SplitCounts, TemplateRule,
    ValidationPart, open,
};

/// The images that a result was made with.
#[derive(Clone, Debug, Serialize)]
pub struct DataFacts {
    pub source: String,
    pub content_hash: String,
}

impl DataFacts {
    pub fn of(manifest: &Manifest) -> Self {
        Self { source: manifest.source.clone(), content_hash: manifest.content_hash.clone() }
    }
}

settings! {
    /// Which images of a source are used.
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
    pub struct ImageOptions {
        ["Images"]
        classes: Option<Vec<String>> = "A,B,...", "The classes and their order: names or wnids, separated by commas";
        #[serde(skip)]
        strict: bool = "", "Stop at the first unusable file, instead of reporting and skipping it";
        templates: Vec<String> = "CLASS=FILE", "The image file of a class's template on match screens; may be given several times" where "template";
        #[serde(with = "by_name_if_any")]
        template_rule: Option<TemplateRule> = "RULE", "Which image is the template of a class without a chosen one [default: shared]";
        #[serde(with = "by_name_if_any")]
        scene_fit: Option<SceneFit> = "FIT", "Which part of a COCO image fills the screen [default: whole]";
        portraits: Option<SplitCounts> = "TRAIN,VAL", "Portraits per class of gallery and cut-outs, for training and validation [default: gallery 200,50, cut-outs 100,25]";
        objects: Option<SplitCounts> = "TRAIN,VAL", "Localization screens of gallery and cut-outs [default: 900,150]";
        scenes: Option<SplitCounts> = "TRAIN,VAL", "Scenes of gallery and cut-outs [default: gallery 400,100, cut-outs 300,60]";
        #[serde(with = "by_name_if_any")]
        validation_part: Option<ValidationPart> = "PART", "Use half of the validation images: one half to choose settings, the other to evaluate them [default: all]";
        data_seed: Option<u64> = "SEED", "Seed of the images of gallery and cut-outs [default: 0]";
        #[serde(skip)]
        cache: Option<PathBuf> = "DIR", "Folder for rendered images, file indices, features and installed weights [default: $TOUCHSTREAM_CACHE, else the user's cache]";
    }
    with {}
}

impl ImageOptions {
    /// Opens a source and reports skipped files.
    pub fn open(&self, spec: &SourceSpec, needs: Needs, watch: &dyn Watch) -> Result<Opened> {
        let opened = self.open_quietly(spec, needs, watch)?;
        let skipped = &opened.manifest.skipped;
        if !skipped.is_empty() {
            let skipped: Vec<String> = skipped.iter().map(ToString::to_string).collect();
            watch.on(Event::FilesSkipped { source: spec, skipped: &skipped });
        }
        opened.manifest.notes.iter().for_each(|note| watch.on(Event::Note(note)));
        Ok(opened)
    }

    pub fn open_quietly(&self, spec: &SourceSpec, needs: Needs, watch: &dyn Watch) -> Result<Opened> {
        let options = self.options(needs)?;
        open(spec, &options, &WorkProgress(watch)).with_context(|| format!("cannot open {spec}"))
    }

    /// The given cache folder, or else the user's.
    pub fn cache_dir(&self) -> Option<PathBuf> {
        self.cache.clone().or_else(default_cache_dir)
    }

    fn options(&self, needs: Needs) -> Result<SourceOptions> {
        let mut template_files = BTreeMap::new();
        for template in &self.templates {
            match template.split_once('=') {
                Some((class, file)) if !class.is_empty() && !file.is_empty() => {
                    template_files.insert(class.to_owned(), PathBuf::from(file));
                }
                _ => bail!(Settings, "--template takes CLASS=FILE, not `{template}`"),
            }
        }
        Ok(SourceOptions {
            classes: self.classes.clone(),
            strict: self.strict,
            template_files,
            template_rule: self.template_rule.unwrap_or_default(),
            scene_fit: self.scene_fit.unwrap_or_default(),
            cache_dir: self.cache_dir(),
            seed: RunSeed(self.data_seed.unwrap_or(0)),
            sizes: Sizes { portraits: self.portraits, objects: self.objects, scenes: self.scenes },
            needs,
            validation_part: self.validation_part,
        })
    }
}

/// `$TOUCHSTREAM_CACHE`, `$XDG_CACHE_HOME/touchstream` or `~/.cache/touchstream`.
pub fn default_cache_dir() -> Option<PathBuf> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("TOUCHSTREAM_CACHE")
        .or_else(|| set("XDG_CACHE_HOME").map(|folder| folder.join("touchstream")))
        .or_else(|| set("HOME").map(|home| home.join(".cache").join("touchstream")))
}
