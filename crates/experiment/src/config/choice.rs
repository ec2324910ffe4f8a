//! Settings with a fixed set of values, by name.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::mem::discriminant;
use touchstream_agents::policy::{Dist, Explore, VarianceOf};
use touchstream_env::stimuli::Split;
use touchstream_modules::composite::Voting;
use touchstream_modules::module::{FlattenedScale, InitialWeights};
use touchstream_stimuli::{SceneFit, TemplateRule, ValidationPart};

/// A type with named values.
pub trait Choice: Copy + 'static {
    /// Each value with its name and an explanation. A value with a parameter has the parameter's default.
    const CHOICES: &'static [(Self, &'static str, &'static str)];

    fn from_name(name: &str) -> Option<Self> {
        Self::CHOICES.iter().find(|(_, known, _)| *known == name).map(|(value, ..)| *value)
    }

    /// The name of a value, without its parameter.
    fn name(self) -> &'static str {
        let is_same = |(value, ..): &&(Self, _, _)| discriminant(value) == discriminant(&self);
        Self::CHOICES.iter().find(is_same).map_or("", |(_, name, _)| name)
    }

    fn all() -> impl Iterator<Item = Self> {
        Self::CHOICES.iter().map(|(value, ..)| *value)
    }

    /// Each name with its explanation.
    fn names() -> Vec<(&'static str, &'static str)> {
        Self::CHOICES.iter().map(|(_, name, about)| (*name, *about)).collect()
    }

    /// The error for an unknown name.
    fn unknown(name: &str) -> String {
        let names: Vec<String> = Self::CHOICES.iter().map(|(_, known, _)| format!("`{known}`")).collect();
        match &names[..] {
            [one, other] => format!("unknown variant `{name}`, expected {one} or {other}"),
            _ => format!("unknown variant `{name}`, expected one of {}", names.join(", ")),
        }
    }
}

/// A set of defaults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    #[default]
    Default,
    /// As `Default`, with touch coordinates from -1 to 1 on every task: the reading closest to the paper's results.
    Normalized,
    /// The values that the paper prints.
    Paper,
}

impl Choice for Preset {
    const CHOICES: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Default, "default", "Our settings"),
        (Self::Normalized, "normalized", "Our settings, with touch coordinates from -1 to 1 on every task"),
        (Self::Paper, "paper", "The values that the paper prints"),
    ];
}

impl Choice for Voting {
    const CHOICES: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Layer, "layer", "One vote per layer of a module"),
        (Self::Unit, "unit", "One vote per unit of a module"),
    ];
}

impl Choice for FlattenedScale {
    const CHOICES: &'static [(Self, &'static str, &'static str)] = &[
        (Self::One, "one", "Unscaled"),
        (Self::Root, "root", "Divided by the root of the number of positions"),
        (Self::OnePlace, "place", "Divided by the number of positions"),
    ];
}

impl Choice for InitialWeights {
    const CHOICES: &'static [(Self, &'static str, &'static str)] =
        &[(Self::FanIn, "fan-in", "N(0, 1 / inputs)"), (Self::Paper, "paper", "N(0, 0.01)")];
}

impl Choice for Dist {
    const CHOICES: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Identity, "identity", "Proportional to the map minus its minimum"),
        (Self::Boltzmann { temperature: 0.01 }, "boltzmann", "Softmax of the map divided by a temperature"),
    ];
}

impl Choice for VarianceOf {
    const CHOICES: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Maps, "maps", "The predicted rewards"),
        (Self::Distributions, "distributions", "The distributions"),
    ];
}

impl Choice for Explore {
    const CHOICES: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Sample, "sample", "Drawn from the distribution"),
        (Self::EpsilonGreedy { epsilon: 0.1 }, "epsilon-greedy", "The best; with probability epsilon, any"),
        (Self::Greedy, "greedy", "The best"),
    ];
}

impl Choice for TemplateRule {
    const CHOICES: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Shared, "shared", "One image of the training split, for both splits"),
        (Self::PerSplit, "per-split", "The first image of each split"),
    ];
}

impl Choice for SceneFit {
    const CHOICES: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Whole, "whole", "The whole image, stretched to a square"),
        (Self::Crop, "crop", "Short side to 256, centre crop 224"),
    ];
}

impl Choice for ValidationPart {
    const CHOICES: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Choice, "choice", "Every second image, from the first"),
        (Self::Final, "final", "The other images"),
    ];
}

impl Choice for Split {
    const CHOICES: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Train, "train", "Images to learn from"),
        (Self::Validation, "validation", "Images that learning never sees"),
    ];
}

/// An optional choice by its name, for `serde(with)`.
pub mod by_name_if_any {
    use super::{Choice, Deserialize, Deserializer, Serializer};

    pub fn serialize<T: Choice, S: Serializer>(value: &Option<T>, serializer: S) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => serializer.serialize_str(value.name()),
            None => serializer.serialize_none(),
        }
    }

    pub fn deserialize<'de, T: Choice, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
        let name = Option::<String>::deserialize(deserializer)?;
        let found =
            |name: String| T::from_name(&name).ok_or_else(|| serde::de::Error::custom(T::unknown(&name)));
        name.map(found).transpose()
    }
}
