//! Which images: the options that every command with images shares.

use crate::progress_bar::TerminalProgress;
use crate::say::warn_user;
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::env;
use std::path::PathBuf;
use touchstream_env::seed::RunSeed;
use touchstream_env::stimuli::Split;
use touchstream_stimuli::{
    Manifest, Needs, Opened, SceneFit, Sizes, SourceOptions, SourceSpec, SplitCounts, TemplateRule,
    ValidationPart, open,
};

#[derive(Args, Clone, Debug, PartialEq)]
pub struct SourceArgs {
    /// Where images come from: gallery, folder:PATH, coco:PATH or cutouts:PATH
    #[arg(long, value_name = "SOURCE", default_value = "gallery")]
    pub data: SourceSpec,
    #[command(flatten)]
    pub how: OpenArgs,
}

impl Default for SourceArgs {
    fn default() -> Self {
        Self { data: SourceSpec::Gallery, how: OpenArgs::default() }
    }
}

/// Which images a result was made with; part of every result.
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

#[derive(Args, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[command(next_help_heading = "Images")]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct OpenArgs {
    /// Which classes, in which order: names or wnids, separated by commas
    #[arg(long, value_name = "A,B,...", value_delimiter = ',')]
    pub classes: Option<Vec<String>>,
    /// Stop at the first file that cannot be used, instead of naming it and going on
    #[arg(long)]
    #[serde(skip)]
    pub strict: bool,
    /// The image file of a class's template on match screens; may be given several times
    #[arg(long = "template", value_name = "CLASS=FILE")]
    pub templates: Vec<String>,
    /// Which picture is a class's template where none is chosen [default: shared]
    #[arg(long, value_name = "RULE")]
    pub template_rule: Option<TemplateRuleWord>,
    /// Which part of COCO's images fills the screen [default: whole]
    #[arg(long, value_name = "FIT")]
    pub scene_fit: Option<SceneFitWord>,
    /// Portraits a class that gallery and cut-outs make, for training and validation [default: gallery 200,50,
    /// cut-outs 100,25]
    #[arg(long, value_name = "TRAIN,VAL", value_parser = parse_counts)]
    pub portraits: Option<SplitCounts>,
    /// Localization screens that gallery and cut-outs make [default: 900,150]
    #[arg(long, value_name = "TRAIN,VAL", value_parser = parse_counts)]
    pub objects: Option<SplitCounts>,
    /// Scenes that gallery and cut-outs make [default: gallery 400,100, cut-outs 300,60]
    #[arg(long, value_name = "TRAIN,VAL", value_parser = parse_counts)]
    pub scenes: Option<SplitCounts>,
    /// Half of the validation pictures only: one to choose settings on, or the other to judge them on [default: all]
    #[arg(long, value_name = "PART")]
    pub validation_part: Option<ValidationPartWord>,
    /// Seed of the pictures that gallery and cut-outs make [default: 0]
    #[arg(long, value_name = "SEED")]
    pub data_seed: Option<u64>,
    /// Folder for rendered pictures, facts about files, features and installed weights [default: $TOUCHSTREAM_CACHE, else the user's cache]
    #[arg(long, value_name = "DIR")]
    #[serde(skip)]
    pub cache: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TemplateRuleWord {
    /// One picture of the training split, for both splits
    Shared,
    /// The first picture of each split
    PerSplit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SceneFitWord {
    /// All of the image, stretched to a square
    Whole,
    /// Short side to 256, centre crop 224
    Crop,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ValidationPartWord {
    /// Every second picture, from the first
    Choice,
    /// The others
    Final,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SplitWord {
    /// Those to learn from
    Train,
    /// Those that learning never sees
    Validation,
}

impl From<SplitWord> for Split {
    fn from(word: SplitWord) -> Self {
        match word {
            SplitWord::Train => Self::Train,
            SplitWord::Validation => Self::Validation,
        }
    }
}

impl OpenArgs {
    /// Opens a source for what is needed of it, with progress on the terminal, and names what was skipped.
    pub fn open(&self, spec: &SourceSpec, needs: Needs) -> Result<Opened> {
        let opened = self.open_quietly(spec, needs)?;
        let n_skipped = opened.manifest.skipped.len();
        if n_skipped > 0 {
            warn_user!("skipped {n_skipped} of {spec}; `touchstream data {spec}` names them, for example");
            for skipped in opened.manifest.skipped.iter().take(3) {
                warn_user!("  {skipped}");
            }
        }
        opened.manifest.notes.iter().for_each(|note| warn_user!("note: {note}"));
        Ok(opened)
    }

    /// Opens a source without a word about what was skipped.
    pub fn open_quietly(&self, spec: &SourceSpec, needs: Needs) -> Result<Opened> {
        let options = self.options(needs)?;
        open(spec, &options, &TerminalProgress::default()).with_context(|| format!("cannot open {spec}"))
    }

    /// The cache folder: the one that was named, else the user's.
    pub fn cache_dir(&self) -> Option<PathBuf> {
        self.cache.clone().or_else(default_cache_dir)
    }

    fn options(&self, needs: Needs) -> Result<SourceOptions> {
        let mut template_files = BTreeMap::new();
        for word in &self.templates {
            match word.split_once('=') {
                Some((class, file)) if !class.is_empty() && !file.is_empty() => {
                    template_files.insert(class.to_owned(), PathBuf::from(file));
                }
                _ => bail!("--template takes CLASS=FILE, not `{word}`"),
            }
        }
        Ok(SourceOptions {
            classes: self.classes.clone(),
            strict: self.strict,
            template_files,
            template_rule: match self.template_rule {
                Some(TemplateRuleWord::PerSplit) => TemplateRule::PerSplit,
                Some(TemplateRuleWord::Shared) | None => TemplateRule::Shared,
            },
            scene_fit: match self.scene_fit {
                Some(SceneFitWord::Crop) => SceneFit::Crop,
                Some(SceneFitWord::Whole) | None => SceneFit::Whole,
            },
            cache_dir: self.cache_dir(),
            seed: RunSeed(self.data_seed.unwrap_or(0)),
            sizes: Sizes { portraits: self.portraits, objects: self.objects, scenes: self.scenes },
            needs,
            validation_part: self.validation_part.map(|word| match word {
                ValidationPartWord::Choice => ValidationPart::Choice,
                ValidationPartWord::Final => ValidationPart::Final,
            }),
        })
    }
}

fn parse_counts(word: &str) -> Result<SplitCounts, String> {
    let parts: Vec<Option<u32>> = word.split(',').map(|part| part.trim().parse().ok()).collect();
    match parts[..] {
        [Some(train), Some(validation)] => Ok(SplitCounts::new(train, validation)),
        _ => Err(format!("`{word}` is not two numbers like 200,50")),
    }
}

/// `$TOUCHSTREAM_CACHE`, `$XDG_CACHE_HOME/touchstream` or `~/.cache/touchstream`.
pub fn default_cache_dir() -> Option<PathBuf> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("TOUCHSTREAM_CACHE")
        .or_else(|| set("XDG_CACHE_HOME").map(|folder| folder.join("touchstream")))
        .or_else(|| set("HOME").map(|home| home.join(".cache").join("touchstream")))
}
