//! The trials that are looked at, and a module's reward map for them.

use touchstream_agent::{CandidateTouches, NoScene, Scenes};
use touchstream_env::reward_map::RewardMap;
use touchstream_env::screen::Screen;
use touchstream_env::stimuli::StimulusError;
use touchstream_env::stream::Stream;
use touchstream_env::touch::{SCREEN_SIDE_PX, Touch};
use touchstream_mind::module::{HeadMemory, Module, SceneHistory};
use touchstream_mind::set_sigmoids;

/// One trial, standing at its last step: what is shown, what was shown and touched before, and what is true.
pub struct Example {
    /// The screens of the trial, the present one last.
    pub screens: Vec<Screen>,
    /// What each touch of the last screen earns.
    pub truth: RewardMap,
    /// Numbers of the screens, oldest first.
    scene_ids: Vec<u32>,
    /// The touches before the last, in centred coordinates.
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
    for _ in 0..SEARCHED {
        if chosen.len() == n {
            break;
        }
        let example = Example::of_trial(&mut stream, scenes)?;
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

impl Example {
    /// Plays the stream's present trial up to its last step: every touch before it is the best one, or the middle of
    /// the screen where nothing can be earned. Leaves the stream at the next trial.
    fn of_trial(stream: &mut Stream, scenes: &impl Scenes) -> Result<Self, ExampleError> {
        let mut example = Self {
            screens: Vec::new(),
            truth: RewardMap::zeros(),
            scene_ids: Vec::new(),
            touches: Vec::new(),
        };
        loop {
            let mut screen = Screen::grey();
            stream.draw(&mut screen)?;
            example.screens.push(screen);
            let recipe = stream.recipe();
            example.scene_ids.push(scenes.index_of(&recipe).ok_or(NoScene { screen: recipe })?);
            stream.reward_map(&mut example.truth);
            let is_last = stream.is_last_step();
            let touch = match example.truth.best() > 0.0 {
                true => example.truth.best_touch(),
                false => {
                    Touch::new(SCREEN_SIDE_PX / 2, SCREEN_SIDE_PX / 2).expect("the middle is on the screen")
                }
            };
            stream.touch(touch);
            if is_last {
                return Ok(example);
            }
            example.touches.push(touchstream_agent::centred_from_touch(touch));
        }
    }

    /// The predicted reward of this touch, on a grid of `side` x `side` touches.
    pub fn predicted(&self, module: &Module, scenes: &impl Scenes, side: usize) -> Vec<f32> {
        let structure = module.structure();
        let shape = structure.shape();
        let zeros = vec![0.0; shape.scene_len];
        let history = ExampleHistory { example: self, scenes, zeros: &zeros };
        let mut visual = vec![0.0; structure.stages()[0].n_units];
        module.visual(&history, &mut visual);
        let mut past_touches = vec![0.0; 2 * shape.k_b];
        let kept = &self.touches[self.touches.len().saturating_sub(shape.k_b)..];
        let start = past_touches.len() - 2 * kept.len();
        past_touches[start..].copy_from_slice(kept.as_flattened());
        let mut candidates = CandidateTouches::new(side * side);
        // The middles of the grid's cells.
        let pixel = |cell: usize| (2 * cell + 1) * SCREEN_SIDE_PX / (2 * side);
        let grid = (0..side * side).map(|idx| Touch::new(pixel(idx / side), pixel(idx % side)));
        candidates.set(grid.map(|touch| touch.expect("cells are on the screen")));
        let mut head = HeadMemory::new(structure, side * side);
        head.load(module);
        module.predict(&visual, &past_touches, candidates.centred(), &mut head);
        let mut predicted = vec![0.0; side * side];
        set_sigmoids(module.instructions(), head.logits(0), &mut predicted);
        predicted
    }
}

/// The example's own screens; nothing before its trial.
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
    fn scene(&self, _step: usize, lag: usize) -> &[f32] {
        let ids = &self.example.scene_ids;
        match ids.len().checked_sub(1 + lag) {
            Some(at) => self.scenes.scene(ids[at]),
            None => self.zeros,
        }
    }
}
