//! Ways of learning a second task, as they are typed: `scratch`, `layer`, `unit-plain`, `layer-shuffled`, `fine-tuning`,
//! `old-alone`, `layer-mu-0.005-0.02-bias-0.1-0.5`.

use crate::train_words::{PresetWord, VotingWord};
use anyhow::{Result, bail};
use std::fmt::Display;
use touchstream_lab::switching::Variant;
use touchstream_mind::composite::VotingSettings;

/// A way of going on to another task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Way {
    /// Something learns.
    Learns(Variant),
    /// The old module as it is.
    OldAlone,
}

/// All plain names, for answers to wrong ones.
const NAMES: &str = "scratch, layer, unit, layer-plain, unit-plain, layer-shuffled, unit-shuffled, fine-tuning, old-alone, and \
                     layer-mu-A-B-bias-C-D for a controller's initial values";

/// The way that a word names, under a preset.
pub fn way_of(word: &str, preset: PresetWord) -> Result<Way> {
    let learns = |variant| Ok(Way::Learns(variant));
    match word {
        "scratch" => return learns(Variant::Scratch),
        "fine-tuning" => return learns(Variant::FineTuning),
        "old-alone" => return Ok(Way::OldAlone),
        _ => {}
    }
    let (voting, rest) = match (word.strip_prefix("layer"), word.strip_prefix("unit")) {
        (Some(rest), _) => (VotingWord::Layer, rest),
        (_, Some(rest)) => (VotingWord::Unit, rest),
        _ => bail!("ways: there is no way `{word}`; there are {NAMES}"),
    };
    let (rest, is_plain) = rest.strip_prefix("-plain").map_or((rest, false), |rest| (rest, true));
    let (rest, is_shuffled) = rest.strip_suffix("-shuffled").map_or((rest, false), |rest| (rest, true));
    let mut settings = voting.settings(preset, !is_plain);
    if !rest.is_empty() {
        let Some((mu, bias)) = initial_values(rest) else {
            bail!("ways: there is no way `{word}`; there are {NAMES}");
        };
        settings = VotingSettings { mu, bias, ..settings };
    }
    learns(if is_shuffled { Variant::Shuffled(settings) } else { Variant::Voting(settings) })
}

/// `-mu-0.01-0.02-bias-0.1-0.5`: of the first stage and those behind it.
fn initial_values(word: &str) -> Option<([f32; 2], [f32; 2])> {
    let (mu, bias) = word.strip_prefix("-mu-")?.split_once("-bias-")?;
    let pair = |word: &str| {
        let (first, later) = word.split_once('-')?;
        let number = |word: &str| word.parse::<f32>().ok().filter(|number| number.is_finite());
        Some([number(first)?, number(later)?])
    };
    Some((pair(mu)?, pair(bias)?))
}

/// The way that starts a controller with these values.
pub fn way_with_initial_values([mu0, mu1]: [impl Display; 2], [bias0, bias1]: [impl Display; 2]) -> String {
    format!("layer-mu-{mu0}-{mu1}-bias-{bias0}-{bias1}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstream_mind::composite::Voting;

    #[test]
    fn words_are_ways_or_are_answered() {
        let way = |word: &str| way_of(word, PresetWord::Default);
        let layer = VotingSettings::of(Voting::Layer);
        assert_eq!(way("layer").unwrap(), Way::Learns(Variant::Voting(layer)));
        let plain = VotingSettings::of(Voting::Unit).without_transformations();
        assert_eq!(way("unit-plain").unwrap(), Way::Learns(Variant::Voting(plain)));
        assert_eq!(way("layer-shuffled").unwrap(), Way::Learns(Variant::Shuffled(layer)));
        assert_eq!(way("old-alone").unwrap(), Way::OldAlone);
        let word = way_with_initial_values([0.005, 0.02], [0.1, 0.5]);
        let swept = VotingSettings { mu: [0.005, 0.02], bias: [0.1, 0.5], ..layer };
        assert_eq!(way(&word).unwrap(), Way::Learns(Variant::Voting(swept)));
        for wrong in ["layers", "layer-mu-1-2", "layer-mu-a-b-bias-1-2", "plain", ""] {
            assert!(way(wrong).unwrap_err().to_string().contains("there is no way"), "{wrong}");
        }
        let printed = way_of("layer", PresetWord::Paper).unwrap();
        assert_eq!(printed, Way::Learns(Variant::Voting(layer.as_printed())));
    }
}
