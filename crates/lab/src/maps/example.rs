//! The trials that are looked at, and a module's reward map for them.

use touchstream_agent::{CandidateTouches, NoScene, Scenes};
use touchstream_env::reward_map::RewardMap;
use touchstream_env::screen::Screen;
use touchstream_env::stimuli::StimulusError;
use touchstream_env::stream::Stream;
use touchstream_env::touch::{SCREEN_SIDE_PX, Touch};
use touchstream_mind::module::{SceneHistory, ScreenHistory};
use touchstream_mind::{Skill, set_sigmoids};

/// One trial, standing at its last step: what is shown, what was shown and touched before, and what is true. As in a
/// stream, the trials before it are remembered too.
#[derive(Clone)]
pub struct Example {
    /// The screens of the trial, the present one last.
    pub screens: Vec<Screen>,
    /// What each touch of the last screen earns.
    pub truth: RewardMap,
    /// Numbers of the screens so far, oldest first.
    scene_ids: Vec<u32>,
    /// The touches before the last step, in centred coordinates.
    touches: Vec<[f32; 2]>,
}

/// So many trials are searched for different ones.
const SEARCHED: u64 = 200;

/// The first trials of a stream whose true maps differ, at most `n`; filled up with others where there are not enough.
pub fn choose_examples(
    stream: &Stream,
    scenes: &impl Scenes,
    n: usize,
) -> Result<Vec<Example>, ExampleError> {
    let mut stream = stream.clone();
    let (mut chosen, mut spare): (Vec<Example>, Vec<Example>) = (Vec::new(), Vec::new());
    let mut remembered = Remembered::default();
    // So that every example has something before it, as all but the first trial of a stream have.
    Example::of_trial(&mut stream, scenes, &mut remembered)?;
    for _ in 0..SEARCHED {
        if chosen.len() == n {
            break;
        }
        let example = Example::of_trial(&mut stream, scenes, &mut remembered)?;
        let is_new = chosen.iter().all(|other| other.truth != example.truth);
        if is_new {
            chosen.push(example);
        } else if spare.len() < n {
            spare.push(example);
        }
    }
    let n_missing = n - chosen.len();
    chosen.extend(spare.into_iter().take(n_missing));
    Ok(chosen)
}

/// Why a trial cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum ExampleError {
    /// It has no features.
    #[error(transparent)]
    NoScene(#[from] NoScene),
    /// It cannot be drawn.
    #[error(transparent)]
    Stimulus(#[from] StimulusError),
}

/// What was shown and touched at the steps before, across trials: as much as any module reads back.
#[derive(Clone, Default)]
struct Remembered {
    scene_ids: Vec<u32>,
    touches: Vec<[f32; 2]>,
}

impl Example {
    /// Plays the stream's present trial up to its last step: every touch before it is the best one, or the middle of
    /// the screen where nothing can be earned. Leaves the stream at the next trial.
    fn of_trial(
        stream: &mut Stream,
        scenes: &impl Scenes,
        remembered: &mut Remembered,
    ) -> Result<Self, ExampleError> {
        let mut screens = Vec::new();
        let mut truth = RewardMap::zeros();
        loop {
            let mut screen = Screen::grey();
            stream.draw(&mut screen)?;
            screens.push(screen);
            let recipe = stream.recipe();
            remembered.scene_ids.push(scenes.index_of(&recipe).ok_or(NoScene { screen: recipe })?);
            stream.reward_map(&mut truth);
            let example = stream.is_last_step().then(|| remembered.clone());
            let touch = match truth.best() > 0.0 {
                true => truth.best_touch(),
                false => {
                    Touch::new(SCREEN_SIDE_PX / 2, SCREEN_SIDE_PX / 2).expect("the middle is on the screen")
                }
            };
            stream.touch(touch);
            remembered.touches.push(touchstream_agent::centred_from_touch(touch));
            if let Some(Remembered { scene_ids, touches }) = example {
                return Ok(Self { screens, truth, scene_ids, touches });
            }
        }
    }

    /// The predicted reward of this touch, on a grid of `side` x `side` touches.
    pub fn predicted(&self, skill: &Skill, scenes: &impl Scenes, side: usize) -> Vec<f32> {
        let shape = skill.structure().shape();
        let zeros = vec![0.0; shape.scene_len];
        let mut past_touches = vec![0.0; 2 * shape.k_b];
        let kept = &self.touches[self.touches.len().saturating_sub(shape.k_b)..];
        let start = past_touches.len() - 2 * kept.len();
        past_touches[start..].copy_from_slice(kept.as_flattened());
        let mut candidates = CandidateTouches::new(side * side);
        // The middles of the grid's cells.
        let pixel = |cell: usize| (2 * cell + 1) * SCREEN_SIDE_PX / (2 * side);
        let grid = (0..side * side).map(|idx| Touch::new(pixel(idx / side), pixel(idx % side)));
        candidates.set(grid.map(|touch| touch.expect("cells are on the screen")));
        let mut memory = skill.memory(side * side, 1);
        skill.look(&ExampleHistory { example: self, scenes, zeros: &zeros }, &mut memory);
        skill.predict(0, &past_touches, candidates.centred(), &mut memory);
        let mut predicted = vec![0.0; side * side];
        set_sigmoids(skill.instructions(), memory.logits(0), &mut predicted);
        predicted
    }
}

/// The screens of an example, and those before it.
struct ExampleHistory<'a, S> {
    example: &'a Example,
    scenes: &'a S,
    zeros: &'a [f32],
}

impl<S> Clone for ExampleHistory<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for ExampleHistory<'_, S> {}

impl<S: Scenes> SceneHistory for ExampleHistory<'_, S> {
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

impl<S: Scenes> ScreenHistory for ExampleHistory<'_, S> {
    fn screen(&self, _step: usize, lag: usize) -> Option<usize> {
        let ids = &self.example.scene_ids;
        ids.len().checked_sub(lag + 1).map(|idx| ids[idx] as usize)
    }
}
