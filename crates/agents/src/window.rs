//! The recent steps of an agent: screen, touch and reward of each.

use crate::dropout::Dropout;
use crate::feature_source::{FeatureSource, MissingFeatures};
use crate::touch_scale::TouchScale;
use touchstream_env::stream::Stream;
use touchstream_env::touch::Touch;
use touchstream_modules::module::{SceneHistory, ScreenHistory};

/// Consecutive steps: `k_b` past steps, which are only inputs, then the rows, whose rewards the agent predicts or
/// learns.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Window {
    k_b: usize,
    scale: TouchScale,
    /// Screen index of each step; `None` before the first step.
    screens: Vec<Option<u32>>,
    /// Touch coordinates; the middle of the screen before the first touch.
    touches: Vec<[f32; 2]>,
    rewards: Vec<f32>,
    /// The scene vector before the first screen.
    zeros: Vec<f32>,
    /// `None` without dropout.
    dropped: Option<DroppedScenes>,
}

/// Scene vectors after dropout.
#[derive(Clone, Debug, PartialEq)]
struct DroppedScenes {
    dropout: Dropout,
    /// Number of screens shown since the start.
    n_shown: u64,
    /// For each step, how many screens were shown before it.
    steps: Vec<u64>,
    /// `[n_steps, scene_len]`
    scenes: Vec<f32>,
}

impl DroppedScenes {
    /// Copies the next screen's scene vector with dropout.
    fn show(&mut self, slot: usize, scene: &[f32]) {
        let kept = &mut self.scenes[slot * scene.len()..][..scene.len()];
        kept.copy_from_slice(scene);
        self.dropout.drop_in_scene(self.n_shown, kept);
        self.steps[slot] = self.n_shown;
        self.n_shown += 1;
    }
}

impl Window {
    pub fn new(k_b: usize, n_rows: usize, scene_len: usize, scale: TouchScale) -> Self {
        let n = k_b + n_rows;
        let (screens, touches) = (vec![None; n], vec![[0.0; 2]; n]);
        Self {
            k_b,
            scale,
            screens,
            touches,
            rewards: vec![0.0; n],
            zeros: vec![0.0; scene_len],
            dropped: None,
        }
    }

    pub fn with_dropout(mut self, dropout: Option<Dropout>) -> Self {
        let (n, scene_len) = (self.screens.len(), self.zeros.len());
        self.dropped = dropout.map(|dropout| DroppedScenes {
            dropout,
            n_shown: 0,
            steps: vec![0; n],
            scenes: vec![0.0; n * scene_len],
        });
        self
    }

    pub fn n_rows(&self) -> usize {
        self.screens.len() - self.k_b
    }

    pub fn clear(&mut self) {
        self.screens.fill(None);
        self.touches.fill([0.0; 2]);
        self.rewards.fill(0.0);
    }

    /// Removes the oldest `n` steps, so that the last `n` rows can be filled again.
    pub fn advance(&mut self, n: usize) {
        self.screens.copy_within(n.., 0);
        self.touches.copy_within(n.., 0);
        self.rewards.copy_within(n.., 0);
        if let Some(DroppedScenes { steps, scenes, .. }) = &mut self.dropped {
            steps.copy_within(n.., 0);
            scenes.copy_within(n * self.zeros.len().., 0);
        }
    }

    /// Sets the screens that the stream is going to show, from row `first_row` on. They do not depend on touches.
    pub fn look_ahead(
        &mut self,
        first_row: usize,
        stream: &Stream,
        scenes: &dyn FeatureSource,
    ) -> Result<(), MissingFeatures> {
        let mut scout = stream.clone();
        let anywhere = Touch::new(0, 0).expect("the corner is on the screen");
        for slot in self.k_b + first_row..self.screens.len() {
            let screen = scout.recipe();
            let number = scenes.index_of(&screen).ok_or(MissingFeatures { screen })?;
            self.screens[slot] = Some(number);
            if let Some(dropped) = &mut self.dropped {
                dropped.show(slot, scenes.scene(number));
            }
            scout.touch(anywhere);
        }
        Ok(())
    }

    pub fn record(&mut self, row: usize, touch: Touch, reward: f32) {
        self.touches[self.k_b + row] = self.scale.centred_from_touch(touch);
        self.rewards[self.k_b + row] = reward;
    }

    /// The touches before a row, oldest first, `[2 k_b]`.
    pub fn past_touches(&self, row: usize) -> &[f32] {
        self.touches[row..row + self.k_b].as_flattened()
    }

    /// The touches up to and including a row, oldest first, `[2 (k_b + 1)]`.
    pub fn touches(&self, row: usize) -> &[f32] {
        self.touches[row..=row + self.k_b].as_flattened()
    }

    /// Rewards of a row and the rows after it, `[n]`.
    pub fn rewards(&self, row: usize, n: usize) -> &[f32] {
        &self.rewards[self.k_b + row..][..n]
    }

    pub fn history<'a>(&'a self, scenes: &'a dyn FeatureSource) -> WindowHistory<'a> {
        self.history_from(0, scenes)
    }

    /// The rows from `first_row` on.
    pub fn history_from<'a>(&'a self, first_row: usize, scenes: &'a dyn FeatureSource) -> WindowHistory<'a> {
        WindowHistory { window: self, scenes, vectors: scenes.scenes(), first_row }
    }

    /// Screens, touches and rewards of the oldest `n` steps.
    pub fn oldest(&self, n: usize) -> (&[Option<u32>], &[[f32; 2]], &[f32]) {
        (&self.screens[..n], &self.touches[..n], &self.rewards[..n])
    }

    /// Restores the oldest steps of an agent that has played `n_played` steps.
    pub fn set_oldest(
        &mut self,
        n_played: u64,
        scenes: &dyn FeatureSource,
        screens: &[Option<u32>],
        touches: &[[f32; 2]],
        rewards: &[f32],
    ) {
        if let Some(dropped) = &mut self.dropped {
            for (slot, screen) in screens.iter().enumerate() {
                if let Some(screen) = screen {
                    dropped.n_shown = (n_played + slot as u64).saturating_sub(screens.len() as u64);
                    dropped.show(slot, scenes.scene(*screen));
                }
            }
            dropped.n_shown = n_played;
        }
        self.screens[..screens.len()].copy_from_slice(screens);
        self.touches[..touches.len()].copy_from_slice(touches);
        self.rewards[..rewards.len()].copy_from_slice(rewards);
    }
}

/// Features of the window's rows.
#[derive(Clone, Copy)]
pub(crate) struct WindowHistory<'a> {
    window: &'a Window,
    scenes: &'a dyn FeatureSource,
    /// The scene vectors of all screens: kernels read rows often, and not through the vtable.
    vectors: &'a [f32],
    first_row: usize,
}

impl WindowHistory<'_> {
    fn slot(&self, step: usize, lag: usize) -> usize {
        self.window.k_b + self.first_row + step - lag
    }

    fn number(&self, step: usize, lag: usize) -> Option<u32> {
        self.window.screens[self.slot(step, lag)]
    }
}

impl SceneHistory for WindowHistory<'_> {
    fn scene(&self, step: usize, lag: usize) -> &[f32] {
        let zeros = &self.window.zeros;
        match (self.number(step, lag), &self.window.dropped) {
            (None, _) => zeros,
            (Some(screen), None) => &self.vectors[screen as usize * zeros.len()..][..zeros.len()],
            (Some(_), Some(dropped)) => &dropped.scenes[self.slot(step, lag) * zeros.len()..][..zeros.len()],
        }
    }
    fn copy_map(&self, step: usize, out: &mut [f32]) {
        let Some(screen) = self.number(step, 0) else { return out.fill(0.0) };
        self.scenes.copy_map(screen, out);
        if let Some(dropped) = &self.window.dropped {
            dropped.dropout.drop_in_map(dropped.steps[self.slot(step, 0)], out);
        }
    }
    fn shown_before(&self, step: usize) -> Option<usize> {
        if self.window.dropped.is_some() {
            // With dropout, equal screens have different features at each step.
            return None;
        }
        (0..step).find(|&earlier| self.number(earlier, 0) == self.number(step, 0))
    }
}

impl ScreenHistory for WindowHistory<'_> {
    fn screen(&self, step: usize, lag: usize) -> Option<usize> {
        self.number(step, lag).map(|screen| screen as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature_source::SceneShape;
    use touchstream_env::trial::ScreenRecipe;

    fn touch(row: usize) -> Touch {
        Touch::new(row, 0).unwrap()
    }

    /// The same features for all screens.
    struct ConstantFeatures;

    impl FeatureSource for ConstantFeatures {
        fn shape(&self) -> SceneShape {
            SceneShape::without_maps(4)
        }
        fn index_of(&self, _screen: &ScreenRecipe) -> Option<u32> {
            None
        }
        fn scenes(&self) -> &[f32] {
            &[0.0; 5 * 4]
        }
        fn copy_map(&self, _index: u32, _out: &mut [f32]) {}
        fn n_screens(&self) -> usize {
            5
        }
    }

    /// A window after two past steps and five rows, of which two were carried over and three are new.
    fn played() -> Window {
        let mut window = Window::new(2, 5, 4, TouchScale(6.0));
        for row in 0..5 {
            window.screens[2 + row] = Some(row as u32);
            window.record(row, touch(10 * row), row as f32 / 10.0);
        }
        window
    }

    fn rows_of(touches: &[f32]) -> Vec<f32> {
        touches.chunks(2).map(|touch| touch[0]).collect()
    }

    #[test]
    fn rewards_of_a_row_start_with_its_own() {
        let window = played();
        assert_eq!(window.rewards(0, 3), [0.0, 0.1, 0.2]);
        assert_eq!(window.rewards(2, 2), [0.2, 0.3]);
    }

    #[test]
    fn touches_are_ordered_oldest_first() {
        let window = played();
        let centred = |row: usize| TouchScale(6.0).centred_from_touch(touch(row))[0];
        assert_eq!(rows_of(window.past_touches(0)), [0.0, 0.0]);
        assert_eq!(rows_of(window.past_touches(3)), [centred(10), centred(20)]);
        assert_eq!(rows_of(window.touches(3)), [centred(10), centred(20), centred(30)]);
    }

    #[test]
    fn screens_that_are_shown_again_are_found() {
        let scenes = ConstantFeatures;
        let mut window = played();
        window.screens = [None, None, None, None, Some(4), Some(3), Some(4)].to_vec();
        let shown = |first_row: usize, n: usize| -> Vec<_> {
            let history = window.history_from(first_row, &scenes);
            (0..n).map(|step| history.shown_before(step)).collect()
        };
        assert_eq!(shown(0, 5), [None, Some(0), None, None, Some(2)]);
        assert_eq!(shown(3, 2), [None, None]);
    }

    #[test]
    fn advancing_makes_rows_past_steps() {
        let mut window = played();
        let (screens, rewards) = (window.screens.clone(), window.rewards.clone());
        window.advance(3);
        assert_eq!(window.screens[..4], screens[3..]);
        assert_eq!(window.rewards[..4], rewards[3..]);
        // Row 0 is now the step that was row 3.
        assert_eq!(window.rewards(0, 2), [0.3, 0.4]);
        let (kept_screens, kept_touches, kept_rewards) = window.oldest(4);
        let mut other = Window::new(2, 5, 4, TouchScale(6.0));
        other.set_oldest(4, &ConstantFeatures, kept_screens, kept_touches, kept_rewards);
        assert_eq!(other.oldest(4), window.oldest(4));
    }
}
