//! Visual features of frozen modules: computed once per screen. Convolutions read the current and the past screens
//! together, so theirs are computed once per step.

use crate::module::{Module, SceneHistory, ScreenHistory, VisualRows};
use std::sync::Arc;

/// The contribution of every screen, at every lag, to the first stage's pre-activations of frozen modules.
#[derive(Clone, Debug)]
pub struct FrozenVisual {
    /// Per module, `[n_screens, n_lags, n_units]`; empty for convolutional modules.
    of_modules: Vec<Vec<f32>>,
    modules: Vec<Arc<Module>>,
    n_lags: usize,
    n_units: usize,
}

/// The same screen at all lags.
#[derive(Clone, Copy)]
struct OneScreen<'a>(&'a [f32]);

impl SceneHistory for OneScreen<'_> {
    fn scene(&self, _step: usize, _lag: usize) -> &[f32] {
        self.0
    }
    fn copy_map(&self, _step: usize, _out: &mut [f32]) {
        unreachable!("features of convolutions are not kept per screen")
    }
}

impl FrozenVisual {
    /// `scenes` are the scene vectors of all screens, in the order of their indices.
    pub fn new<'a>(modules: &[Arc<Module>], scenes: impl Iterator<Item = &'a [f32]> + Clone) -> Self {
        let structure = modules[0].structure();
        let (n_lags, n_units) = (structure.shape().k_b + 1, structure.stages()[0].n_units);
        if structure.shape().convolutions.is_some() {
            return Self { of_modules: Vec::new(), modules: modules.to_vec(), n_lags, n_units };
        }
        let mut row = VisualRows::new(structure, 1);
        let of_module = |module: &Arc<Module>| {
            let mut of_screens = Vec::new();
            for scene in scenes.clone() {
                module.visual(&OneScreen(scene), &mut row);
                (0..n_lags).for_each(|lag| of_screens.extend_from_slice(row.of_lag(lag)));
            }
            of_screens
        };
        let of_modules = modules.iter().map(of_module).collect();
        Self { of_modules, modules: modules.to_vec(), n_lags, n_units }
    }

    /// Sets all rows as [`Module::visual`] would for a frozen module.
    pub fn set(&self, module: usize, history: &impl ScreenHistory, rows: &mut VisualRows) {
        let frozen = &self.modules[module];
        if frozen.structure().shape().convolutions.is_some() {
            return frozen.visual(history, rows);
        }
        let biases = frozen.biases(&frozen.structure().stages()[0]);
        let of_screens = &self.of_modules[module];
        rows.set(biases, |row, lag, out| match history.screen(row, lag) {
            Some(screen) => {
                let at = (screen * self.n_lags + lag) * self.n_units;
                out.copy_from_slice(&of_screens[at..at + self.n_units]);
            }
            None => out.fill(0.0),
        });
    }
}
