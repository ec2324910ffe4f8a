//! Assigns each module and each method a colour, the same in all figures of a page.

use std::collections::{BTreeMap, BTreeSet};
use touchstream_analysis::{MAIN_MODULES, PresetFindings};

/// Methods with fixed colours, up to the size of the palette.
const WAYS: [&str; 8] =
    ["scratch", "layer", "unit", "layer-plain", "layer-shuffled", "fine-tuning", "old-alone", "unit-plain"];

/// The line style of each name on a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Styles {
    idx_of: BTreeMap<String, usize>,
}

impl Styles {
    /// Names in the table have their index there; other names get the free indices, in order.
    fn new(table: &[&str], there: &BTreeSet<&str>) -> Self {
        let place = |name: &str| table.iter().position(|known| *known == name);
        let mut idx_of: BTreeMap<String, usize> =
            there.iter().filter_map(|name| Some(((*name).to_owned(), place(name)?))).collect();
        let taken: BTreeSet<usize> = idx_of.values().copied().collect();
        let free = (0..).filter(|idx| !taken.contains(idx));
        let others = there.iter().filter(|name| place(name).is_none());
        idx_of.extend(others.zip(free).map(|(name, idx)| ((*name).to_owned(), idx)));
        Self { idx_of }
    }

    /// The style of a name; 0 for a name that is not on the page.
    pub fn of(&self, name: &str) -> usize {
        self.idx_of.get(name).copied().unwrap_or(0)
    }

    /// All names, ordered by style.
    pub fn names(&self) -> Vec<String> {
        let n_places = self.idx_of.values().map(|idx| idx + 1).max().unwrap_or(0);
        let mut names = vec![String::new(); n_places];
        self.idx_of.iter().for_each(|(name, &idx)| names[idx].clone_from(name));
        names
    }
}

/// The styles of modules and methods on a page.
pub struct Colours {
    pub modules: Styles,
    pub ways: Styles,
}

impl Colours {
    pub fn of(presets: &[PresetFindings]) -> Self {
        let tasks = presets.iter().flat_map(|preset| &preset.modules.tasks);
        let modules = tasks.flat_map(|task| &task.modules).map(|module| module.module.as_str());
        let rates = presets.iter().flat_map(|preset| &preset.learning_rates).map(|one| one.module.as_str());
        let switches = || presets.iter().flat_map(|preset| &preset.switching);
        let ways: Vec<String> =
            switches().flat_map(|switch| &switch.ways).map(|way| way.way.to_string()).collect();
        Self {
            modules: Styles::new(&MAIN_MODULES.map(|(module, _)| module), &modules.chain(rates).collect()),
            ways: Styles::new(&WAYS, &ways.iter().map(String::as_str).collect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_place_and_no_other_has_it() {
        #[track_caller]
        fn check(there: &[&str], wanted: &[&str]) {
            assert_eq!(Styles::new(&WAYS, &there.iter().copied().collect()).names(), wanted);
        }
        check(&[], &[]);
        check(&["unit", "layer", "scratch"], &["scratch", "layer", "unit"]);
        // The index of a missing name stays free, or is used for a custom name.
        check(&["unit", "layer"], &["", "layer", "unit"]);
        check(&["unit", "layer", "mine", "yours"], &["mine", "layer", "unit", "yours"]);
        let styles = Styles::new(&WAYS, &["layer", "unit"].into());
        assert_eq!((styles.of("layer"), styles.of("unit")), (1, 2));
    }
}
