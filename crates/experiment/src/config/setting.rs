//! Declares each setting once: key, values and help. Struct fields, configuration keys, command-line options and pages
//! are generated from the declaration.

use super::choice::Choice;
use std::ffi::OsStr;
use std::num::NonZeroU32;
use std::path::PathBuf;
use touchstream_encoder::Layout;
use touchstream_stimuli::SplitCounts;

/// A group of settings.
pub trait Settings: Default + 'static {
    /// One row per setting, in the order of the fields.
    const SETTINGS: &'static [Setting<Self>];

    /// These settings; where one is missing, that of `below`.
    #[must_use]
    fn over(self, below: Self) -> Self;
}

pub struct Setting<S> {
    pub field: &'static str,
    /// The field's name with hyphens: configuration key and command-line option.
    pub key: &'static str,
    /// The placeholder in the help, such as `N` or `SEED`; empty for a flag.
    pub value_name: &'static str,
    /// The heading in the help; empty for none.
    pub heading: &'static str,
    /// What the setting does, and its default.
    pub help: &'static str,
    pub values: Values,
    /// Sets the value; a list is extended.
    pub set: fn(&mut S, &OsStr) -> Result<(), String>,
}

/// The kind of a setting's values.
#[derive(Clone, Copy, Debug)]
pub enum Values {
    /// A text or a number.
    One,
    /// A path.
    Path,
    /// A text that may begin with hyphens; several are collected.
    Many,
    /// Texts or numbers, separated by commas.
    List,
    Flag,
    /// One of some names, each with an explanation.
    Choice(fn() -> Vec<(&'static str, &'static str)>),
}

/// `learning-rate` for `learning_rate`.
pub(crate) const fn hyphenated<const LEN: usize>(field: &str) -> [u8; LEN] {
    let (bytes, mut key, mut idx) = (field.as_bytes(), [0; LEN], 0);
    while idx < LEN {
        key[idx] = if bytes[idx] == b'_' { b'-' } else { bytes[idx] };
        idx += 1;
    }
    key
}

pub trait Value: Sized {
    const VALUES: Values;

    /// Parses a value; a list is extended by it.
    fn read(text: &OsStr, before: Option<Self>) -> Result<Self, String>;
}

/// A field of a group; its value may be missing.
pub trait Field: Sized {
    const VALUES: Values;

    fn set(&mut self, text: &OsStr) -> Result<(), String>;

    /// This value, or `below` if it is missing.
    #[must_use]
    fn over(self, below: Self) -> Self;
}

impl<T: Value> Field for Option<T> {
    const VALUES: Values = T::VALUES;

    fn set(&mut self, text: &OsStr) -> Result<(), String> {
        *self = Some(T::read(text, self.take())?);
        Ok(())
    }

    fn over(self, below: Self) -> Self {
        self.or(below)
    }
}

impl Field for bool {
    const VALUES: Values = Values::Flag;

    fn set(&mut self, _text: &OsStr) -> Result<(), String> {
        *self = true;
        Ok(())
    }

    fn over(self, below: Self) -> Self {
        self || below
    }
}

impl Field for Vec<String> {
    const VALUES: Values = Values::Many;

    fn set(&mut self, text: &OsStr) -> Result<(), String> {
        self.push(utf8(text)?.to_owned());
        Ok(())
    }

    fn over(self, below: Self) -> Self {
        if self.is_empty() { below } else { self }
    }
}

fn utf8(text: &OsStr) -> Result<&str, String> {
    text.to_str().ok_or_else(|| "invalid UTF-8".to_owned())
}

macro_rules! parsed {
    ($($type:ty => $values:ident),*) => { $(
        impl Value for $type {
            const VALUES: Values = Values::$values;

            fn read(text: &OsStr, _before: Option<Self>) -> Result<Self, String> {
                utf8(text)?.parse().map_err(|error: <$type as std::str::FromStr>::Err| error.to_string())
            }
        }
    )* };
}

parsed!(String => One, f32 => One, f64 => One, bool => One);

macro_rules! counts {
    ($($type:ty),*) => { $(
        impl Value for $type {
            const VALUES: Values = Values::One;

            fn read(text: &OsStr, _before: Option<Self>) -> Result<Self, String> {
                utf8(text)?.parse().map_err(|_| "not a whole number of at least 0".to_owned())
            }
        }
    )* };
}

counts!(usize, u64);

impl Value for u32 {
    const VALUES: Values = Values::One;

    fn read(text: &OsStr, _before: Option<Self>) -> Result<Self, String> {
        ranged(text, 0)
    }
}

impl Value for NonZeroU32 {
    const VALUES: Values = Values::One;

    fn read(text: &OsStr, _before: Option<Self>) -> Result<Self, String> {
        Ok(Self::new(ranged(text, 1)?).unwrap_or(Self::MIN))
    }
}

fn ranged(text: &OsStr, least: u32) -> Result<u32, String> {
    let number: i64 = utf8(text)?.parse().map_err(|_| "not a whole number".to_owned())?;
    let found = u32::try_from(number).ok().filter(|number| *number >= least);
    found.ok_or_else(|| format!("{number} is not in {least}..={}", u32::MAX))
}

impl Value for PathBuf {
    const VALUES: Values = Values::Path;

    fn read(text: &OsStr, _before: Option<Self>) -> Result<Self, String> {
        Ok(text.into())
    }
}

impl<T: Value> Value for Vec<T> {
    const VALUES: Values = Values::List;

    fn read(text: &OsStr, before: Option<Self>) -> Result<Self, String> {
        let mut values = before.unwrap_or_default();
        values.push(T::read(text, None)?);
        Ok(values)
    }
}

/// Red, green, blue.
impl Value for [f32; 3] {
    const VALUES: Values = Values::One;

    fn read(text: &OsStr, _before: Option<Self>) -> Result<Self, String> {
        let text = utf8(text)?;
        let numbers: Vec<f32> = text.split(',').filter_map(|part| part.trim().parse().ok()).collect();
        match Self::try_from(numbers) {
            Ok(colour) if text.split(',').count() == 3 && colour.iter().all(|x| x.is_finite()) => Ok(colour),
            _ => Err(format!("`{text}` is not three numbers like 0.5,0.5,0.5")),
        }
    }
}

impl Value for Layout {
    const VALUES: Values = Values::One;

    fn read(text: &OsStr, _before: Option<Self>) -> Result<Self, String> {
        let text = utf8(text)?;
        Self::from_name(text).ok_or_else(|| format!("`{text}` is neither nchw nor nhwc"))
    }
}

impl Value for SplitCounts {
    const VALUES: Values = Values::One;

    fn read(text: &OsStr, _before: Option<Self>) -> Result<Self, String> {
        let text = utf8(text)?;
        let parts: Vec<Option<u32>> = text.split(',').map(|part| part.trim().parse().ok()).collect();
        match parts[..] {
            [Some(train), Some(validation)] => Ok(Self::new(train, validation)),
            _ => Err(format!("`{text}` is not two numbers like 200,50")),
        }
    }
}

macro_rules! chosen {
    ($($type:ty),* $(,)?) => { $(
        impl Value for $type {
            const VALUES: Values = Values::Choice(<$type>::names);

            fn read(text: &OsStr, _before: Option<Self>) -> Result<Self, String> {
                let name = utf8(text)?;
                Self::from_name(name).ok_or_else(|| Self::unknown(name))
            }
        }
    )* };
}

chosen!(
    super::choice::Preset,
    touchstream_agents::policy::Dist,
    touchstream_agents::policy::Explore,
    touchstream_agents::policy::VarianceOf,
    touchstream_modules::composite::Voting,
    touchstream_modules::module::FlattenedScale,
    touchstream_modules::module::InitialWeights,
    touchstream_stimuli::SceneFit,
    touchstream_stimuli::TemplateRule,
    touchstream_stimuli::ValidationPart,
);

/// Declares a group of settings: a struct, its table and `over`. A row has a field, its placeholder and its help;
/// `where` gives an option another name. Fields after `with` are nested groups.
macro_rules! settings {
    (
        $(#[$struct_meta:meta])*
        pub struct $name:ident {
            $( [$heading:expr] $(
                $(#[$meta:meta])* $field:ident: $type:ty = $value_name:literal, $help:literal $(where $option:literal)?;
            )* )*
        }
        with { $( $group:ident: $group_type:ty, )* }
    ) => {
        $(#[$struct_meta])*
        pub struct $name {
            $( $( #[doc = $help] $(#[$meta])* pub $field: $type, )* )*
            $( pub $group: $group_type, )*
        }

        impl $crate::config::Settings for $name {
            const SETTINGS: &'static [$crate::config::Setting<Self>] = &[ $( $(
                $crate::config::Setting {
                    field: stringify!($field),
                    key: $crate::config::setting::settings!(@key $field $($option)?),
                    value_name: $value_name,
                    heading: $heading,
                    help: $help,
                    values: <$type as $crate::config::setting::Field>::VALUES,
                    set: |settings, text| $crate::config::setting::Field::set(&mut settings.$field, text),
                },
            )* )* ];

            fn over(self, below: Self) -> Self {
                Self {
                    $( $( $field: $crate::config::setting::Field::over(self.$field, below.$field), )* )*
                    $( $group: $crate::config::Settings::over(self.$group, below.$group), )*
                }
            }
        }
    };
    (@key $field:ident $option:literal) => { $option };
    (@key $field:ident) => {{
        const FIELD: &str = stringify!($field);
        const KEY: [u8; FIELD.len()] = $crate::config::setting::hyphenated(FIELD);
        match std::str::from_utf8(&KEY) {
            Ok(key) => key,
            Err(_) => FIELD,
        }
    }};
}

pub(crate) use settings;
