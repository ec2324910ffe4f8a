//! The stage that reads the touch: pre-activations of all voters' units as linear functions of the current touch.

use crate::composite::controller::Controller;
use crate::linear::products::add_products;
use crate::linear::{Stacked, Weights};
use crate::module::{Module, Stage};

/// `middle + row_slope * row + col_slope * col`
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TouchUnit {
    pub middle: f32,
    pub row_slope: f32,
    pub col_slope: f32,
}

/// The units of all voters.
#[derive(Clone, Debug)]
pub(crate) struct TouchStage {
    /// `[n_voters, n_units]`; slopes change with parameters, middles with every screen.
    units: Vec<TouchUnit>,
    /// Past touches, transformed for one old module.
    moved: Vec<f32>,
    /// Weights of the stage before and biases of all modules, `[n_modules * n_units, n_hidden]`: one product instead of many.
    hidden_weights: Vec<f32>,
    biases: Vec<f32>,
    /// The pre-activations without touches, `[n_modules, n_units]`.
    from_hidden: Vec<f32>,
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl TouchStage {
    pub fn new(controller: &Controller) -> Self {
        let structure = controller.structure();
        let touch_stage = structure.touch_stage();
        let stage = &structure.stages()[touch_stage];
        let n_all_units = (controller.old().len() + 1) * stage.n_units;
        let mut new = Self {
            units: vec![TouchUnit::default(); controller.votes()[touch_stage].n_voters() * stage.n_units],
            moved: vec![0.0; structure.shape().n_touch()],
            hidden_weights: vec![0.0; n_all_units * stage.n_hidden],
            biases: vec![0.0; n_all_units],
            from_hidden: vec![0.0; n_all_units],
        };
        // Old modules are frozen: loaded once.
        for (idx, module) in controller.old().iter().enumerate() {
            new.load_module(stage, idx, module);
        }
        new
    }

    fn load_module(&mut self, stage: &Stage, idx: usize, module: &Module) {
        let (n_units, n_hidden) = (stage.n_units, stage.n_hidden);
        self.biases[idx * n_units..][..n_units].copy_from_slice(module.biases(stage));
        let rows = self.hidden_weights[idx * n_units * n_hidden..].chunks_exact_mut(n_hidden.max(1));
        let weights = module.weights(stage);
        for (unit, row) in rows.take(n_units).enumerate() {
            row.copy_from_slice(weights.columns(stage.n_visual, n_hidden).row(unit));
        }
    }

    pub fn units(&self) -> &[TouchUnit] {
        &self.units
    }

    /// Loads the parameters and computes the slopes.
    pub fn load(&mut self, controller: &Controller, new: &Module) {
        let touch_stage = new.structure().touch_stage();
        let (stage, votes) = (&new.structure().stages()[touch_stage], &controller.votes()[touch_stage]);
        self.load_module(stage, controller.old().len(), new);
        let (n_units, n_touch) = (stage.n_units, stage.n_touch);
        for module_idx in 0..=controller.old().len() {
            let module = controller.old().get(module_idx).map_or(new, |module| module);
            let weights = module.weights(stage).columns(stage.n_in() - n_touch, n_touch);
            let units = &mut self.units[votes.of_module(module_idx) * n_units..][..n_units];
            for (row, unit) in units.iter_mut().enumerate() {
                let row = weights.row(row);
                (unit.row_slope, unit.col_slope) = (row[n_touch - 2], row[n_touch - 1]);
            }
            if module_idx < controller.layout.actions.len() {
                let (matrix, _) = controller.action(module_idx);
                let slope = |row: &[f32], column: usize| -> f32 {
                    let column = matrix.iter().skip(column).step_by(n_touch);
                    row.iter().zip(column).map(|(weight, a)| weight * a).sum()
                };
                let units = &mut self.units[votes.transformed(module_idx) * n_units..][..n_units];
                for (row, unit) in units.iter_mut().enumerate() {
                    let row = weights.row(row);
                    (unit.row_slope, unit.col_slope) = (slope(row, n_touch - 2), slope(row, n_touch - 1));
                }
            }
        }
    }

    /// Computes the middles for a screen and past touches. `bottleneck` is the composite of the stage before, if there is one;
    /// `visual` returns each module's row of the first stage.
    pub fn set<'v>(
        &mut self,
        controller: &Controller,
        new: &Module,
        bottleneck: &[f32],
        visual: &impl Fn(usize) -> &'v [f32],
        past_touches: &[f32],
    ) {
        let touch_stage = new.structure().touch_stage();
        let (stage, votes) = (&new.structure().stages()[touch_stage], &controller.votes()[touch_stage]);
        let (n_units, n_touch) = (stage.n_units, stage.n_touch);
        if touch_stage > 0 {
            self.from_hidden.copy_from_slice(&self.biases);
            let weights = Weights::whole(&self.hidden_weights, stage.n_hidden);
            let inputs = Stacked::whole(bottleneck, stage.n_hidden);
            add_products(new.instructions(), weights, inputs, &mut self.from_hidden);
        } else {
            let modules = self.from_hidden.chunks_exact_mut(n_units).enumerate();
            modules.for_each(|(idx, from_hidden)| from_hidden.copy_from_slice(visual(idx)));
        }
        for (module_idx, from_hidden) in self.from_hidden.chunks_exact(n_units).enumerate() {
            let module = controller.old().get(module_idx).map_or(new, |module| module);
            let touch_weights = module.weights(stage).columns(stage.n_in() - n_touch, n_touch);
            let units = &mut self.units[votes.of_module(module_idx) * n_units..][..n_units];
            for (row, (unit, from_hidden)) in units.iter_mut().zip(from_hidden).enumerate() {
                let past = &touch_weights.row(row)[..n_touch - 2];
                unit.middle = from_hidden + dot(past, past_touches);
            }
            if module_idx < controller.layout.actions.len() {
                let (matrix, biases) = controller.action(module_idx);
                for ((moved, row), bias) in
                    self.moved.iter_mut().zip(matrix.chunks_exact(n_touch)).zip(biases)
                {
                    *moved = bias + dot(&row[..n_touch - 2], past_touches);
                }
                let units = &mut self.units[votes.transformed(module_idx) * n_units..][..n_units];
                for (row, (unit, from_hidden)) in units.iter_mut().zip(from_hidden).enumerate() {
                    unit.middle = from_hidden + dot(touch_weights.row(row), &self.moved);
                }
            }
        }
    }
}
