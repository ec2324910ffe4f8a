//! Options of the command line, one per row of a table of settings.

use anyhow::{Context, Result};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser, ValueParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use std::ffi::OsStr;
use std::ops::Deref;
use std::path::PathBuf;
use touchstream_encoder::EncoderSpec;
use touchstream_experiment::config::{
    Choice, EncoderOptions, ImageOptions, RawConfig, STREAM, Setting, Settings, Values, default_cache_dir,
};
use touchstream_stimuli::SourceSpec;

/// A group of settings from the command line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Typed<S>(pub S);

impl<S> Deref for Typed<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.0
    }
}

/// The rows that are options. Only `train` has options for streams, and declares them itself.
fn rows<S: Settings>() -> impl Iterator<Item = &'static Setting<S>> {
    S::SETTINGS.iter().filter(|setting| setting.heading != STREAM)
}

impl<S: Settings + Send + Sync> Args for Typed<S> {
    fn augment_args(command: Command) -> Command {
        // Options after this group get its heading.
        let heading = rows::<S>().next().map_or("", |setting| setting.heading);
        let command = if heading.is_empty() { command } else { command.next_help_heading(heading) };
        rows::<S>().fold(command, |command, setting| command.arg(arg_of(setting)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<S: Settings> FromArgMatches for Typed<S> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut settings = S::default();
        for setting in rows::<S>() {
            let set = |settings: &mut S, text: &OsStr| {
                (setting.set)(settings, text)
                    .map_err(|error| clap::Error::raw(clap::error::ErrorKind::InvalidValue, error))
            };
            match setting.values {
                Values::Flag if matches.get_flag(setting.field) => set(&mut settings, OsStr::new(""))?,
                Values::Flag => {}
                _ => {
                    for text in matches.get_raw(setting.field).into_iter().flatten() {
                        set(&mut settings, text)?;
                    }
                }
            }
        }
        Ok(Self(settings))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn arg_of<S: Settings>(setting: &'static Setting<S>) -> Arg {
    let heading = Some(setting.heading).filter(|heading| !heading.is_empty());
    let mut arg = Arg::new(setting.field).long(setting.key).help(setting.help).help_heading(heading);
    if !setting.value_name.is_empty() {
        arg = arg.value_name(setting.value_name);
    }
    // Checked here, so that the error names the option.
    let checked =
        move |text: &str| (setting.set)(&mut S::default(), OsStr::new(text)).map(|()| text.to_owned());
    match setting.values {
        // A negative number is an invalid value, not another option.
        Values::One => arg.value_parser(checked).allow_negative_numbers(true),
        Values::Path => arg.value_parser(ValueParser::path_buf()),
        Values::Many => {
            arg.value_parser(checked).action(ArgAction::Append).allow_hyphen_values(setting.field == "more")
        }
        Values::List => arg.value_parser(checked).action(ArgAction::Append).value_delimiter(','),
        Values::Flag => arg.action(ArgAction::SetTrue),
        Values::Choice(names) => arg.value_parser(PossibleValuesParser::new(
            names().into_iter().map(|(name, about)| PossibleValue::new(name).help(about)),
        )),
    }
}

/// Reads a choice by its name.
pub fn choice<T: Choice + Send + Sync>() -> impl TypedValueParser<Value = T> {
    let names = T::names().into_iter().map(|(name, about)| PossibleValue::new(name).help(about));
    PossibleValuesParser::new(names).try_map(|name| T::from_name(&name).ok_or_else(|| T::unknown(&name)))
}

/// The help text of a setting of runs.
pub fn help_of(field: &str) -> &'static str {
    RawConfig::SETTINGS.iter().find(|setting| setting.field == field).map_or("", |setting| setting.help)
}

#[derive(Args, Clone)]
pub struct CacheArg {
    /// The cache folder [default: $TOUCHSTREAM_CACHE, else the user's cache]
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
}

impl CacheArg {
    pub fn folder(&self) -> Option<PathBuf> {
        self.cache.clone().or_else(default_cache_dir)
    }

    pub fn needed_folder(&self) -> Result<PathBuf> {
        self.folder()
            .context("there is no cache folder: neither --cache nor TOUCHSTREAM_CACHE nor HOME is set")
    }
}

/// All settings of a run.
#[derive(Args, Clone)]
pub struct RunSettings {
    #[command(flatten)]
    run: Typed<RawConfig>,
    #[command(flatten)]
    pub images: Typed<ImageOptions>,
    #[command(flatten)]
    encoder_options: Typed<EncoderOptions>,
}

impl RunSettings {
    pub fn config(&self) -> RawConfig {
        let (images, encoder_options) = (self.images.0.clone(), self.encoder_options.0.clone());
        RawConfig { images, encoder_options, ..self.run.0.clone() }
    }
}

#[derive(Args, Clone, Debug, Default, PartialEq)]
#[command(next_help_heading = "Encoder")]
pub struct EncoderArgs {
    /// What turns screens into features: compact, vgg16 or onnx:FILE
    #[arg(long, value_name = "ENCODER", default_value_t)]
    pub encoder: EncoderSpec,
    #[command(flatten)]
    pub how: Typed<EncoderOptions>,
}

#[derive(Args, Clone, Debug, PartialEq)]
pub struct SourceArgs {
    /// Where images come from: gallery, folder:PATH, coco:PATH or cutouts:PATH
    #[arg(long, value_name = "SOURCE", default_value = "gallery")]
    pub data: SourceSpec,
    #[command(flatten)]
    pub how: Typed<ImageOptions>,
}
