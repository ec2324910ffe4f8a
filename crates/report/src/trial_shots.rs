//! Images of one trial: its screens, their true reward maps, and the touches of a perfect agent.

use crate::trial_label::trial_label;
use touchstream_env::reward_map::RewardMap;
use touchstream_env::screen::Screen;
use touchstream_env::stimuli::StimulusError;
use touchstream_env::stream::Stream;
use touchstream_env::touch::Touch;

/// The steps of a trial, and its label.
#[derive(Clone, Debug)]
pub struct TrialShots {
    /// `dog: touch left`
    pub label: String,
    pub shots: Vec<Shot>,
}

/// A step of a trial.
#[derive(Clone, Debug)]
pub struct Shot {
    pub screen: Screen,
    /// The true reward map.
    pub map: RewardMap,
    /// A best touch; `None` if all touches earn the same.
    pub best_touch: Option<Touch>,
    /// The reward of the touch that was executed.
    pub reward: f32,
}

/// Plays the current trial to its end with perfect touches, and records screens and maps.
pub fn shoot_trial(stream: &mut Stream) -> Result<TrialShots, StimulusError> {
    let trial = stream.trial_index();
    let (mut shots, mut label) = (Vec::new(), String::new());
    while stream.trial_index() == trial {
        let (mut screen, mut map) = (Screen::grey(), RewardMap::zeros());
        stream.draw(&mut screen)?;
        stream.reward_map(&mut map);
        if stream.is_last_step() {
            label = trial_label(stream, &map);
        }
        let best = middle_of_the_best(&map);
        let reward = stream.touch(best);
        let highest = map.best();
        let is_flat = map.values().iter().all(|&value| value == highest);
        shots.push(Shot { screen, map, best_touch: (!is_flat).then_some(best), reward });
    }
    Ok(TrialShots { label, shots })
}

/// The best touch that is nearest to the mean position of all best touches: inside a template rather than at its edge.
fn middle_of_the_best(map: &RewardMap) -> Touch {
    let best = map.best();
    let all_best = || Touch::all().filter(|&touch| map.at(touch) == best);
    let n_best = all_best().count().max(1);
    let mean = |coordinate: fn(Touch) -> usize| all_best().map(coordinate).sum::<usize>() / n_best;
    let (row, col) = (mean(Touch::row), mean(Touch::col));
    let distance = |touch: &Touch| touch.row().abs_diff(row).pow(2) + touch.col().abs_diff(col).pow(2);
    all_best().min_by_key(distance).unwrap_or_else(|| map.best_touch())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use touchstream_env::plain_stimuli::PlainStimuli;
    use touchstream_env::schedule::Schedule;
    use touchstream_env::seed::RunSeed;
    use touchstream_env::stimuli::Split;
    use touchstream_env::task::paper_tasks;

    #[test]
    fn perfect_touches_earn_everything_in_every_task() {
        for task in paper_tasks() {
            let schedule = Schedule::single(task.clone());
            let stimuli = Arc::new(PlainStimuli::new(8));
            let (mut stream, _) = Stream::open(schedule, stimuli, Split::Train, RunSeed(2)).unwrap();
            for _ in 0..5 {
                let TrialShots { shots, .. } = shoot_trial(&mut stream).unwrap();
                assert_eq!(shots.len() as u64, task.steps_per_trial());
                assert_eq!(shots.last().map(|shot| shot.reward), Some(1.0), "{}", task.id());
            }
        }
    }
}
