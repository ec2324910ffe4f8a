//! The runs that are missing for a verdict.

use crate::counted::count;
use crate::paper::MIN_SEEDS;
use std::fmt;

const N_EXAMPLES: usize = 3;

/// Missing runs.
#[derive(Debug, Default)]
pub(crate) struct Missing {
    n_runs: usize,
    places: Vec<String>,
}

impl Missing {
    /// Notes that `place` has `n_there` runs and needs [`MIN_SEEDS`].
    pub fn need(&mut self, n_there: usize, place: impl fmt::Display) {
        let n_missing = MIN_SEEDS.saturating_sub(n_there);
        if n_missing > 0 {
            self.n_runs += n_missing;
            self.places.push(format!("{n_missing} of {place}"));
        }
    }

    pub fn is_none(&self) -> bool {
        self.n_runs == 0
    }
}

impl fmt::Display for Missing {
    /// `5 more runs are needed: 3 of ems on sr-2way, 2 of no-symm on sr-2way`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let are = if self.n_runs == 1 { "is" } else { "are" };
        write!(f, "{} {are} needed: {}", count(self.n_runs, "more run"), first_of(&self.places, "place"))
    }
}

/// `a, b, c and 2 more places`: the first few names, and the number of the others.
pub(crate) fn first_of(all: &[String], what: &str) -> String {
    let first = all[..all.len().min(N_EXAMPLES)].join(", ");
    match all.len().saturating_sub(N_EXAMPLES) {
        0 => first,
        n_more => format!("{first} and {}", count(n_more, &format!("more {what}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_places_are_named_and_the_others_counted() {
        let mut missing = Missing::default();
        missing.need(3, "a");
        assert!(missing.is_none());
        missing.need(2, "b");
        assert_eq!(missing.to_string(), "1 more run is needed: 1 of b");
        ["c", "d", "e", "f"].iter().for_each(|place| missing.need(0, place));
        assert_eq!(missing.to_string(), "13 more runs are needed: 1 of b, 3 of c, 3 of d and 2 more places");
    }
}
