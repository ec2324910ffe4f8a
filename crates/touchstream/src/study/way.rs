//! Settings of the controller of a switch method, under a preset.

use crate::train_words::{PresetWord, VotingWord};
use touchstream_analysis::{InitialValues, VotingMethod};
use touchstream_mind::composite::VotingSettings;

/// How the controller of a method votes.
pub fn settings_of_method(method: VotingMethod, preset: PresetWord) -> VotingSettings {
    let voting = if method.by_unit { VotingWord::Unit } else { VotingWord::Layer };
    let settings = voting.settings(preset, method.has_transformations);
    match method.initial {
        Some(InitialValues { mu, bias }) => VotingSettings { mu, bias, ..settings },
        None => settings,
    }
}
