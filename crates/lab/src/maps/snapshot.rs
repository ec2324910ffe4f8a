//! Predicted maps at one moment of learning, small enough to be kept.

use crate::maps::example::Example;
use touchstream_agent::Scenes;
use touchstream_mind::Skill;

/// Rows and columns of a kept map.
pub const MAP_SIDE: usize = 112;

/// Predicted rewards of all examples, in 255ths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapSnapshot {
    /// Steps learned.
    pub step: u64,
    /// Which of the stream's tasks was being learned, from 1; the examples are of that task.
    pub lesson: u64,
    /// `[n_examples, MAP_SIDE, MAP_SIDE]`
    pub levels: Vec<u8>,
}

impl MapSnapshot {
    /// What a skill predicts now.
    pub fn take(step: u64, lesson: u64, skill: &Skill, examples: &[Example], scenes: &impl Scenes) -> Self {
        let maps = examples.iter().flat_map(|example| example.predicted(skill, scenes, MAP_SIDE));
        Self { step, lesson, levels: maps.map(|reward| (reward * 255.0).round() as u8).collect() }
    }

    /// The map of one example, `[MAP_SIDE, MAP_SIDE]` in [0, 1].
    pub fn map(&self, example: usize) -> Vec<f32> {
        let n = MAP_SIDE * MAP_SIDE;
        self.levels[example * n..][..n].iter().map(|&level| f32::from(level) / 255.0).collect()
    }
}

/// When maps are kept, if nobody says otherwise: at the start, then each time twice as late, and at the end.
pub fn snapshot_steps(n_steps: u64, n: usize) -> Vec<u64> {
    let mut steps: Vec<u64> = (0..n.saturating_sub(1)).map(|halvings| n_steps >> halvings).collect();
    steps.push(0);
    steps.sort_unstable();
    steps.dedup();
    steps
}

#[test]
fn steps_double_and_reach_both_ends() {
    assert_eq!(snapshot_steps(1000, 5), [0, 125, 250, 500, 1000]);
    assert_eq!(snapshot_steps(1, 8), [0, 1]);
}
