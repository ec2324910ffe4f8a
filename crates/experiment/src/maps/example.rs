//! The trials whose reward maps are shown, and a module's predictions for them.

use crate::maps::grid::{MAP_LEN, best_touch, grid_touches, levels_of};
use touchstream_agents::{CandidateTouches, FeatureSource, MissingFeatures, TouchScale};
use touchstream_env::reward_map::RewardMap;
use touchstream_env::screen::Screen;
use touchstream_env::stimuli::StimulusError;
use touchstream_env::stream::Stream;
use touchstream_env::task::Paradigm;
use touchstream_env::touch::{SCREEN_SIDE_PX, Touch};
use touchstream_modules::module::{SceneHistory, ScreenHistory};
use touchstream_modules::{Skill, set_sigmoids};
use touchstream_report::trial_label::trial_label;

/// One trial at the first step that is shown. This is its last step, or for localization, which has two steps on one
/// screen, the step of the first corner. Like an agent in a stream, it has a history of earlier screens and touches.
#[derive(Clone)]
pub struct Example {
    /// `dog: touch left`; empty until the trial is chosen.
    pub label: String,
    /// The screens of the trial, each once, the current one last.
    pub screens: Vec<Screen>,
    /// The stream at the first step that is shown.
    start: Stream,
    /// Number of steps that are shown, from there to the end of the trial.
    n_maps: usize,
    /// Indices of the screens up to the trial's last, oldest first.
    scene_ids: Vec<u32>,
    /// The touches before the first step that is shown.
    touches: Vec<Touch>,
    /// The scale on which modules read touches.
    scale: TouchScale,
}

/// The settings of a module that maps depend on.
#[derive(Clone, Copy, Debug)]
pub struct Outlook {
    /// The scale on which it reads touches.
    pub scale: TouchScale,
    /// Number of predicted rewards. The first touch of localization is shown only if its effect on the next reward is
    /// predicted (`k_f > 1`).
    pub k_f: usize,
}

/// Number of trials that are searched for trials with different maps.
const SEARCHED: u64 = 200;

/// The first trials of a stream whose true maps differ, at most `n`; if there are fewer, trials with equal maps are
/// added.
pub fn choose_examples(
    stream: &Stream,
    scenes: &impl FeatureSource,
    outlook: Outlook,
    n: usize,
) -> Result<Vec<Example>, ExampleError> {
    let mut stream = stream.clone();
    let (mut chosen, mut spare): (Vec<Example>, Vec<Example>) = (Vec::new(), Vec::new());
    let mut truths: Vec<RewardMap> = Vec::new();
    let mut remembered = Remembered { scene_ids: Vec::new(), touches: Vec::new(), outlook };
    // The first trial is skipped, so that every example has a history, as almost all trials of a stream have.
    Example::of_trial(&mut stream, scenes, &mut remembered)?;
    for _ in 0..SEARCHED {
        if chosen.len() == n {
            break;
        }
        let example = Example::of_trial(&mut stream, scenes, &mut remembered)?;
        let truth = example.truth(&[]);
        if !truths.contains(&truth) {
            truths.push(truth);
            chosen.push(example);
        } else if spare.len() < n {
            spare.push(example);
        }
    }
    let n_missing = n - chosen.len();
    chosen.extend(spare.into_iter().take(n_missing));
    for example in &mut chosen {
        example.label = trial_label(&example.start, &example.truth(&[]));
    }
    Ok(chosen)
}

/// Why a trial cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum ExampleError {
    /// The features of a screen are missing.
    #[error(transparent)]
    MissingFeatures(#[from] MissingFeatures),
    /// A screen cannot be drawn.
    #[error(transparent)]
    Stimulus(#[from] StimulusError),
}

/// Screens and touches of earlier steps, across trials.
#[derive(Clone)]
struct Remembered {
    scene_ids: Vec<u32>,
    touches: Vec<Touch>,
    outlook: Outlook,
}

impl Example {
    /// Plays the stream's current trial with the best touch at each step, or the middle of the screen if no touch is
    /// rewarded. Leaves the stream at the next trial.
    fn of_trial(
        stream: &mut Stream,
        scenes: &impl FeatureSource,
        remembered: &mut Remembered,
    ) -> Result<Self, ExampleError> {
        let is_localization = matches!(stream.bound_task().task().paradigm(), Paradigm::Localization);
        let shows_every_step = is_localization && remembered.outlook.k_f > 1;
        let (mut screens, mut last_recipe) = (Vec::new(), None);
        let (mut start, mut n_maps) = (None, 0);
        let mut truth = RewardMap::zeros();
        loop {
            let (recipe, is_last) = (stream.recipe(), stream.is_last_step());
            if last_recipe.replace(recipe) != Some(recipe) {
                let mut screen = Screen::grey();
                stream.draw(&mut screen)?;
                screens.push(screen);
            }
            remembered.scene_ids.push(scenes.index_of(&recipe).ok_or(MissingFeatures { screen: recipe })?);
            if is_last || shows_every_step {
                start.get_or_insert_with(|| (stream.clone(), remembered.touches.clone()));
                n_maps += 1;
            }
            stream.reward_map(&mut truth);
            let touch = match truth.best() > 0.0 {
                true => truth.best_touch(),
                false => {
                    Touch::new(SCREEN_SIDE_PX / 2, SCREEN_SIDE_PX / 2).expect("the middle is on the screen")
                }
            };
            stream.touch(touch);
            remembered.touches.push(touch);
            if is_last {
                break;
            }
        }
        let (start, touches) = start.expect("the last step is looked at");
        let (scene_ids, scale) = (remembered.scene_ids.clone(), remembered.outlook.scale);
        Ok(Self { label: String::new(), screens, start, n_maps, scene_ids, touches, scale })
    }

    /// Number of maps: one for each step that is shown.
    pub fn n_maps(&self) -> usize {
        self.n_maps
    }

    /// The true reward map after these touches at the steps that are shown.
    pub fn truth(&self, touches: &[Touch]) -> RewardMap {
        let (mut stream, mut truth) = (self.start.clone(), RewardMap::zeros());
        for &touch in touches {
            stream.touch(touch);
        }
        stream.reward_map(&mut truth);
        truth
    }

    /// The predicted maps, `[n_maps, MAP_SIDE, MAP_SIDE]` in 255ths. At each step the map of the reward at the trial's
    /// end is shown, given that earlier touches were those with the highest predicted reward.
    pub fn predicted(&self, skill: &Skill, scenes: &impl FeatureSource) -> Vec<u8> {
        let shape = skill.structure().shape();
        let zeros = vec![0.0; shape.scene_len];
        let mut candidates = CandidateTouches::new(MAP_LEN, self.scale);
        candidates.set(grid_touches());
        let mut memory = skill.memory(MAP_LEN, 1);
        let (mut touches, mut levels) = (self.touches.clone(), Vec::new());
        for n_ahead in (0..self.n_maps).rev() {
            let mut past_touches = vec![0.0; 2 * shape.k_b];
            let kept = &touches[touches.len().saturating_sub(shape.k_b)..];
            let start = past_touches.len() - 2 * kept.len();
            for (out, &touch) in past_touches[start..].as_chunks_mut::<2>().0.iter_mut().zip(kept) {
                *out = self.scale.centred_from_touch(touch);
            }
            let ids = &self.scene_ids[..self.scene_ids.len() - n_ahead];
            skill.precompute_visual(&ExampleHistory { ids, scenes, zeros: &zeros }, &mut memory);
            skill.predict(0, &past_touches, candidates.centred(), &mut memory);
            let mut predicted = vec![0.0; MAP_LEN];
            set_sigmoids(skill.instructions(), memory.logits(n_ahead), &mut predicted);
            let of_map = levels_of(&predicted);
            touches.push(best_touch(&of_map));
            levels.extend(of_map);
        }
        levels
    }
}

/// The screens of an example up to a step, and those before it.
struct ExampleHistory<'a, S> {
    ids: &'a [u32],
    scenes: &'a S,
    zeros: &'a [f32],
}

impl<S> Clone for ExampleHistory<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for ExampleHistory<'_, S> {}

impl<S: FeatureSource> SceneHistory for ExampleHistory<'_, S> {
    fn scene(&self, step: usize, lag: usize) -> &[f32] {
        self.screen(step, lag).map_or(self.zeros, |screen| self.scenes.scene(screen as u32))
    }
    fn copy_map(&self, step: usize, out: &mut [f32]) {
        match self.screen(step, 0) {
            Some(screen) => self.scenes.copy_map(screen as u32, out),
            None => out.fill(0.0),
        }
    }
}

impl<S: FeatureSource> ScreenHistory for ExampleHistory<'_, S> {
    fn screen(&self, _step: usize, lag: usize) -> Option<usize> {
        self.ids.len().checked_sub(lag + 1).map(|idx| self.ids[idx] as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use touchstream_agents::AgentSettings;
    use touchstream_agents::SceneShape;
    use touchstream_env::pixel_box::PixelBox;
    use touchstream_env::plain_stimuli::PlainStimuli;
    use touchstream_env::schedule::Schedule;
    use touchstream_env::seed::{RunSeed, StreamName};
    use touchstream_env::stimuli::Split;
    use touchstream_env::task::find_task;
    use touchstream_env::trial::{ScreenRecipe, Trial};
    use touchstream_modules::module::Module;

    /// All screens have the same features.
    struct Blind;

    impl FeatureSource for Blind {
        fn shape(&self) -> SceneShape {
            SceneShape::without_maps(4)
        }
        fn copy_map(&self, _index: u32, out: &mut [f32]) {
            out.fill(0.0);
        }
        fn index_of(&self, _screen: &ScreenRecipe) -> Option<u32> {
            Some(0)
        }
        fn scenes(&self) -> &[f32] {
            &[0.0; 4]
        }
        fn n_screens(&self) -> usize {
            1
        }
    }

    fn examples(task: &str, scale: TouchScale) -> Vec<Example> {
        let (schedule, stimuli) =
            (Schedule::single(find_task(task).unwrap()), Arc::new(PlainStimuli::new(4)));
        let (stream, _) = Stream::open(schedule, stimuli, Split::Validation, RunSeed(1)).unwrap();
        choose_examples(&stream, &Blind, Outlook { scale, k_f: 2 }, 3).unwrap()
    }

    /// A module that predicts these rewards for this touch and the next, regardless of the touch.
    fn skill(task: &str, rewards: [f32; 2]) -> Skill {
        let settings = AgentSettings::for_task("ems", &find_task(task).unwrap()).unwrap();
        let structure = settings.check(SceneShape::without_maps(4)).unwrap();
        let mut parameters = vec![0.0; structure.n_parameters()];
        let readout = structure.stages().last().unwrap().biases();
        parameters[readout].copy_from_slice(&rewards.map(|reward| (reward / (1.0 - reward)).ln()));
        Skill::alone(Module::new(structure, parameters))
    }

    #[test]
    fn both_corners_of_localization_are_looked_at() {
        for example in examples("localization", TouchScale::ONE) {
            assert_eq!((example.n_maps(), example.screens.len()), (2, 1));
            let Trial::Localization { bounds, .. } = *example.start.trial() else {
                panic!("no localization")
            };
            let [first, last] = bounds.corners();
            assert_eq!((example.truth(&[]).at(first), example.truth(&[first]).at(last)), (1.0, 1.0));
            let middle = Touch::new(112, 112).unwrap();
            let second = example.truth(&[middle]);
            for touch in Touch::all().step_by(499) {
                assert_eq!(second.at(touch), PixelBox::spanned_by(middle, touch).iou(bounds));
            }
            // For the first corner the second reward is shown, for the second corner the first.
            let levels = example.predicted(&skill("localization", [0.2, 0.6]), &Blind);
            assert_eq!(levels.len(), 2 * MAP_LEN);
            // A flat map is one level lower everywhere except at its best cell.
            let are =
                |levels: &[u8], level: u8| levels[0] == level && levels[1..] == [level - 1; MAP_LEN - 1];
            assert!(are(&levels[..MAP_LEN], 153) && are(&levels[MAP_LEN..], 51));
        }
    }

    #[test]
    fn of_match_tasks_the_match_screen_is_looked_at() {
        for task in ["coco-mts", "mts-2way-stationary"] {
            for example in examples(task, TouchScale::ONE) {
                assert_eq!((example.n_maps(), example.screens.len()), (1, 2));
                assert!(example.truth(&[]).best() > 0.0);
                let levels = example.predicted(&skill(task, [0.2, 0.6]), &Blind);
                assert_eq!((levels[0], &levels[1..]), (51, &[50; MAP_LEN - 1][..]));
            }
        }
    }

    /// Modules that are the same function at two touch scales have the same maps, with past touches in the input.
    #[test]
    fn touches_are_read_on_the_scale_of_the_module() {
        let levels = |scale: TouchScale| -> Vec<Vec<u8>> {
            let settings = AgentSettings::for_task("ems", &find_task("localization").unwrap()).unwrap();
            let structure = settings.check(SceneShape::without_maps(4)).unwrap();
            let mut random = RunSeed(1).stream(StreamName::new("test/maps"), 0);
            let normal = || 3.0 * random.normal_pair().0;
            let parameters = settings.initial_weights.draw(&structure, scale.0, normal);
            let skill = Skill::alone(Module::new(structure, parameters));
            examples("localization", scale).iter().map(|example| example.predicted(&skill, &Blind)).collect()
        };
        let (one, fine) = (levels(TouchScale::ONE), levels(TouchScale::FINE));
        for (one, fine) in one.iter().flatten().zip(fine.iter().flatten()) {
            assert!(one.abs_diff(*fine) <= 1, "{one} and {fine}");
        }
        assert!(one[0].iter().any(|level| level.abs_diff(one[0][0]) > 20), "the maps are flat");
    }
}
