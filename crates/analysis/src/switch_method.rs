//! Methods of learning a second task, by name: `scratch`, `layer`, `unit-plain`, `layer-shuffled`, `fine-tuning`,
//! `old-alone`, `layer-mu-0.005-0.02-bias-0.1-0.5`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// How a second task is learned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SwitchMethod {
    /// A new module alone: the baseline of all gains.
    Scratch,
    /// A new module and votes over it and the old module.
    Voting(VotingMethod),
    /// The old module continues learning.
    FineTuning,
    /// The old module is evaluated; nothing learns.
    OldAlone,
}

/// The variant of Dynamic Neural Voting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VotingMethod {
    /// Unit voting; otherwise layer voting.
    pub by_unit: bool,
    /// Whether transformed copies of the old module also vote.
    pub has_transformations: bool,
    /// Control: the old module's weights are permuted within each tensor, so that any gain that remains is not
    /// transfer.
    pub is_shuffled: bool,
    /// The controller's initial values; `None` for those of the preset.
    pub initial: Option<InitialValues>,
}

/// Initial values of a controller: `[first stage, later stages]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InitialValues {
    /// Mean of the initial weights of votes.
    pub mu: [f32; 2],
    pub bias: [f32; 2],
}

impl SwitchMethod {
    pub const LAYER: Self = Self::Voting(VotingMethod::LAYER);
    pub const UNIT: Self = Self::Voting(VotingMethod::UNIT);
    pub const LAYER_PLAIN: Self =
        Self::Voting(VotingMethod { has_transformations: false, ..VotingMethod::LAYER });
    pub const UNIT_PLAIN: Self =
        Self::Voting(VotingMethod { has_transformations: false, ..VotingMethod::UNIT });
    pub const LAYER_SHUFFLED: Self = Self::Voting(VotingMethod { is_shuffled: true, ..VotingMethod::LAYER });
    pub const UNIT_SHUFFLED: Self = Self::Voting(VotingMethod { is_shuffled: true, ..VotingMethod::UNIT });

    /// The voting method; `None` for methods without votes.
    pub fn voting(self) -> Option<VotingMethod> {
        match self {
            Self::Voting(voting) => Some(voting),
            Self::Scratch | Self::FineTuning | Self::OldAlone => None,
        }
    }
}

impl VotingMethod {
    const LAYER: Self = Self { by_unit: false, has_transformations: true, is_shuffled: false, initial: None };
    const UNIT: Self = Self { by_unit: true, ..Self::LAYER };

    /// Layer voting with the given initial values.
    pub fn layer_from(initial: InitialValues) -> Self {
        Self { initial: Some(initial), ..Self::LAYER }
    }
}

/// The name is not that of a method.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "methods: there is no method `{name}`; there are scratch, layer, unit, layer-plain, unit-plain, layer-shuffled, \
     unit-shuffled, fine-tuning, old-alone, and layer-mu-A-B-bias-C-D for a controller's initial values"
)]
pub struct UnknownSwitchMethod {
    name: String,
}

impl FromStr for SwitchMethod {
    type Err = UnknownSwitchMethod;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "scratch" => Ok(Self::Scratch),
            "fine-tuning" => Ok(Self::FineTuning),
            "old-alone" => Ok(Self::OldAlone),
            _ => voting(name).map(Self::Voting).ok_or_else(|| UnknownSwitchMethod { name: name.to_owned() }),
        }
    }
}

/// `layer` or `unit`, followed by `-plain`, initial values and `-shuffled`, each of them optional.
fn voting(name: &str) -> Option<VotingMethod> {
    let (voting, rest) = match (name.strip_prefix("layer"), name.strip_prefix("unit")) {
        (Some(rest), _) => (VotingMethod::LAYER, rest),
        (_, Some(rest)) => (VotingMethod::UNIT, rest),
        (None, None) => return None,
    };
    let (rest, has_transformations) = rest.strip_prefix("-plain").map_or((rest, true), |rest| (rest, false));
    let (rest, is_shuffled) = rest.strip_suffix("-shuffled").map_or((rest, false), |rest| (rest, true));
    let initial = if rest.is_empty() { None } else { Some(initial_values(rest)?) };
    Some(VotingMethod { has_transformations, is_shuffled, initial, ..voting })
}

/// `-mu-0.01-0.02-bias-0.1-0.5`.
fn initial_values(text: &str) -> Option<InitialValues> {
    let (mu, bias) = text.strip_prefix("-mu-")?.split_once("-bias-")?;
    let pair = |text: &str| {
        let (first, later) = text.split_once('-')?;
        let number = |text: &str| text.parse::<f32>().ok().filter(|number| number.is_finite());
        Some([number(first)?, number(later)?])
    };
    Some(InitialValues { mu: pair(mu)?, bias: pair(bias)? })
}

impl fmt::Display for SwitchMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let VotingMethod { by_unit, has_transformations, is_shuffled, initial } = match self {
            Self::Scratch => return f.pad("scratch"),
            Self::FineTuning => return f.pad("fine-tuning"),
            Self::OldAlone => return f.pad("old-alone"),
            Self::Voting(voting) => voting,
        };
        f.write_str(if *by_unit { "unit" } else { "layer" })?;
        f.write_str(if *has_transformations { "" } else { "-plain" })?;
        if let Some(InitialValues { mu: [mu0, mu1], bias: [bias0, bias1] }) = initial {
            write!(f, "-mu-{mu0}-{mu1}-bias-{bias0}-{bias1}")?;
        }
        f.write_str(if *is_shuffled { "-shuffled" } else { "" })
    }
}

impl Ord for SwitchMethod {
    fn cmp(&self, other: &Self) -> Ordering {
        self.to_string().cmp(&other.to_string())
    }
}

impl PartialOrd for SwitchMethod {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Eq for SwitchMethod {}

impl Serialize for SwitchMethod {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for SwitchMethod {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_written() {
        #[track_caller]
        fn check(name: &str, wanted: SwitchMethod) {
            assert_eq!(name.parse(), Ok(wanted));
            assert_eq!(wanted.to_string(), name);
        }
        check("scratch", SwitchMethod::Scratch);
        check("fine-tuning", SwitchMethod::FineTuning);
        check("old-alone", SwitchMethod::OldAlone);
        check("layer", SwitchMethod::LAYER);
        check("unit-plain", SwitchMethod::UNIT_PLAIN);
        check("unit-shuffled", SwitchMethod::UNIT_SHUFFLED);
        let initial = InitialValues { mu: [0.005, 0.02], bias: [0.1, 0.5] };
        check("layer-mu-0.005-0.02-bias-0.1-0.5", SwitchMethod::Voting(VotingMethod::layer_from(initial)));
        let all = VotingMethod {
            has_transformations: false,
            is_shuffled: true,
            ..VotingMethod::layer_from(initial)
        };
        check("layer-plain-mu-0.005-0.02-bias-0.1-0.5-shuffled", SwitchMethod::Voting(all));
    }

    #[test]
    fn other_names_are_refused() {
        let refused =
            ["", "layers", "layer-mu-1-2", "layer-mu-1-inf-bias-0-1", "unit-", "layer-shuffled-plain"];
        for name in refused {
            let error = name.parse::<SwitchMethod>().unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("methods: there is no method `{name}`; there are scratch,")),
                "{error}"
            );
        }
    }
}
