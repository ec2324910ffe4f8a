//! The match screens of a task as a list: all of them, or a fixed number drawn in advance.
//!
//! No screen is reserved for a sample class: a trial takes any screen that shows the classes it needs, uniformly.
//! Otherwise the match screen alone would reveal the answer.

use crate::seed::{RunSeed, StreamName};
use crate::stimuli::{ClassIdx, Split};
use crate::task::{Extent, SlotOrder, Task, TemplateLayout};
use crate::trial::draw::{Shown, arrange, choose_shown};
use crate::trial::drawn::{Placement, Placements};
use crate::trial::placement_choice::PlacementPool;
use std::collections::{HashMap, HashSet};

/// Random streams for the classes on a screen, one stream per block of screens; by split.
const CLASSES: [StreamName; 2] =
    [StreamName::new("match-pool/classes/train"), StreamName::new("match-pool/classes/validation")];
/// Random streams for the templates' positions, one stream per screen of a set of classes; by split.
const PLACES: [StreamName; 2] =
    [StreamName::new("match-pool/places/train"), StreamName::new("match-pool/places/validation")];

/// How often a screen that is already in the pool is redrawn.
const MAX_REDRAWS: usize = 64;

/// The match screens of one task on one split.
pub(crate) struct MatchPool {
    screens: Vec<Placements>,
    /// For each sample class, as an index among the task's: the screens that it can be paired with.
    of_class: Vec<Vec<Entry>>,
    is_all: bool,
}

/// A screen that a sample can be paired with.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    screen_idx: u32,
    pub rewarded_slot: u8,
}

/// What determines the possible screens.
#[derive(Clone, Copy)]
pub(crate) struct MatchScreens<'a> {
    pub task: &'a Task,
    pub layout: &'a TemplateLayout,
    pub classes: &'a [ClassIdx],
}

impl MatchPool {
    pub fn new(of: MatchScreens<'_>, pool: PlacementPool, split: Split) -> Self {
        let n_wanted = (pool.n.get() as usize).max(of.classes.len());
        match of.all(n_wanted) {
            Some(screens) => Self::of_screens(of, screens, true),
            None => Self::of_screens(of, of.draw(n_wanted, RunSeed(pool.seed), split), false),
        }
    }

    fn of_screens(of: MatchScreens<'_>, screens: Vec<Placements>, is_all: bool) -> Self {
        let entries = |class: usize| {
            let entry = |(screen_idx, screen)| {
                of.rewarded_slot(screen, class).map(|rewarded_slot| Entry { screen_idx, rewarded_slot })
            };
            (0..).zip(&screens).filter_map(entry).collect()
        };
        let of_class = (0..of.classes.len()).map(entries).collect();
        Self { screens, of_class, is_all }
    }

    pub fn screens(&self) -> &[Placements] {
        &self.screens
    }

    /// Whether the pool contains every possible screen of the task.
    pub fn is_all(&self) -> bool {
        self.is_all
    }

    /// The screens that a sample class can be paired with; never empty.
    pub fn entries(&self, class: usize) -> &[Entry] {
        &self.of_class[class]
    }

    pub fn screen(&self, entry: Entry) -> Placements {
        self.screens[entry.screen_idx as usize]
    }
}

impl MatchScreens<'_> {
    /// Every screen that a trial can show, sorted, if there are at most `max_screens`.
    pub fn all(self, max_screens: usize) -> Option<Vec<Placements>> {
        let n_slots = self.layout.slots.len();
        let n_orders = match self.layout.order {
            SlotOrder::Fixed => 1,
            SlotOrder::Shuffled => {
                (0..n_slots).fold(1, |n: usize, slot| n.saturating_mul(self.classes.len() - slot))
            }
        };
        let n_places = |n: usize, extent: Extent| n.saturating_mul(extent.n_values() as usize);
        let n_all = self.layout.slots.iter().flat_map(|slot| [slot.top, slot.left]).fold(n_orders, n_places);
        // Under class reversal, some screens lack a class and its reverse; they are removed below.
        if n_all > max_screens.saturating_mul(16) {
            return None;
        }
        let mut screens = Vec::with_capacity(n_all);
        self.complete(&mut Vec::with_capacity(n_slots), &mut screens);
        screens.retain(|screen| (0..self.classes.len()).any(|c| self.rewarded_slot(screen, c).is_some()));
        screens.sort_unstable();
        (screens.len() <= max_screens).then_some(screens)
    }

    /// Adds all screens whose first templates are those in `begun`.
    fn complete(self, begun: &mut Vec<Placement>, screens: &mut Vec<Placements>) {
        let slot_idx = begun.len();
        let Some(slot) = self.layout.slots.get(slot_idx) else {
            screens.push(Placements::new(begun.iter().copied()));
            return;
        };
        let classes = match self.layout.order {
            SlotOrder::Fixed => &self.classes[slot_idx..=slot_idx],
            SlotOrder::Shuffled => self.classes,
        };
        for &class in classes {
            if begun.iter().any(|placement| placement.class == class) {
                continue;
            }
            for top in slot.top.min..=slot.top.max {
                for left in slot.left.min..=slot.left.max {
                    begun.push(Placement { class, top: top as u8, left: left as u8 });
                    self.complete(begun, screens);
                    begun.pop();
                }
            }
        }
    }

    /// Draws `n` different screens, or fewer if there are not enough.
    ///
    /// Screens are drawn in blocks of one per class. The screens of a block show the same classes shifted by one, so
    /// that in a complete block every class is on equally many screens, and a screen is equally likely for each of the
    /// classes it shows. If `n` is not a multiple of the number of classes, the last block is incomplete, and some
    /// classes are on a few screens more than others. Under class reversal, each screen of a block shows its class and
    /// the class that is rewarded for it.
    ///
    /// The positions on the k-th screen with a given set of classes depend on the set and k, not on the task: tasks
    /// that show the same classes, such as a task and its class reversal, show the same screens.
    fn draw(self, n: usize, seed: RunSeed, split: Split) -> Vec<Placements> {
        let n_classes = self.classes.len();
        let is_reversed = self.task.rewarded_class(0, n_classes) != 0;
        let (mut screens, mut seen) = (Vec::with_capacity(n), HashSet::with_capacity(n));
        let mut n_of_set: HashMap<Shown, u64> = HashMap::new();
        for idx in 0..n {
            let (block, class) = (idx / n_classes, idx % n_classes);
            let mut random = seed.stream(CLASSES[split as usize], block as u64);
            let mut shown = match is_reversed {
                true => {
                    let rewarded_class = self.task.rewarded_class(class, n_classes);
                    choose_shown(self.layout, n_classes, class, rewarded_class, &mut random)
                }
                false => self.shifted(choose_shown(self.layout, n_classes, 0, 0, &mut random), class),
            };
            if self.layout.order == SlotOrder::Shuffled {
                shown.as_mut_slice().sort_unstable_by_key(|&class| self.classes[usize::from(class)]);
            }
            let n_before = n_of_set.entry(shown).or_default();
            let place = self.set_number(shown).wrapping_add(*n_before);
            *n_before += 1;
            let mut random = seed.stream(PLACES[split as usize], place);
            let mut screen = arrange(self.layout, self.classes, shown, &mut random).0;
            for _ in 0..MAX_REDRAWS {
                if !seen.contains(&screen) {
                    break;
                }
                screen = arrange(self.layout, self.classes, shown, &mut random).0;
            }
            if seen.insert(screen) {
                screens.push(screen);
            }
        }
        screens.sort_unstable();
        screens
    }

    /// A number for a set of shown classes; the numbers of different sets are far apart.
    fn set_number(self, mut shown: Shown) -> u64 {
        let mixed = |number: u64, &class: &u16| {
            let class = u64::from(self.classes[usize::from(class)].0);
            (number ^ (class + 1)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
        };
        shown.as_mut_slice().iter().fold(0, mixed)
    }

    fn shifted(self, mut shown: Shown, n_steps: usize) -> Shown {
        if self.layout.order == SlotOrder::Shuffled {
            let shift = |class: u16| (usize::from(class) + n_steps) % self.classes.len();
            shown.as_mut_slice().iter_mut().for_each(|class| *class = shift(*class) as u16);
        }
        shown
    }

    /// The slot of the rewarded template, if a sample class can be paired with a screen: the screen must show that
    /// class and the one rewarded for it.
    fn rewarded_slot(self, screen: &Placements, class: usize) -> Option<u8> {
        let rewarded_class = self.task.rewarded_class(class, self.classes.len());
        let slot_of =
            |class: usize| screen.as_slice().iter().position(|shown| shown.class == self.classes[class]);
        slot_of(class)?;
        slot_of(rewarded_class).map(|slot| slot as u8)
    }
}
