//! Settings of a controller under a preset.

use super::Preset;
use touchstream_analysis::{InitialValues, VotingMethod};
use touchstream_modules::composite::{Voting, VotingSettings};

pub fn voting_settings(voting: Voting, preset: Preset, has_transformations: bool) -> VotingSettings {
    let settings = VotingSettings::of(voting);
    let settings = if preset == Preset::Paper { settings.as_printed() } else { settings };
    if has_transformations { settings } else { settings.without_transformations() }
}

/// The controller settings of a method.
pub fn settings_of_method(method: VotingMethod, preset: Preset) -> VotingSettings {
    let voting = if method.by_unit { Voting::Unit } else { Voting::Layer };
    let settings = voting_settings(voting, preset, method.has_transformations);
    match method.initial {
        Some(InitialValues { mu, bias }) => VotingSettings { mu, bias, ..settings },
        None => settings,
    }
}

/// The initial values of a controller under a preset.
pub fn initial_values(preset: Preset) -> InitialValues {
    let VotingSettings { mu, bias, .. } = voting_settings(Voting::Layer, preset, true);
    InitialValues { mu, bias }
}
