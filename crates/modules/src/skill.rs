//! A skill: one module that learns, alone or together with frozen ones under a controller.

use crate::adam::AdamSettings;
use crate::arithmetic::Instructions;
use crate::composite::{CompositeBatch, CompositeHead, CompositeLearner, Controller, FrozenVisual};
use crate::module::{
    Batch, BatchSize, Candidates, HeadMemory, Learner, Module, SceneHistory, ScreenHistory, Structure,
    VisualRows,
};
use std::ops::Range;
use std::sync::Arc;

/// What an agent predicts reward maps with: one module, or a composite.
#[derive(Clone, Debug)]
pub struct Skill {
    module: Module,
    composed: Option<Composed>,
}

#[derive(Clone, Debug)]
struct Composed {
    controller: Controller,
    frozen: Arc<FrozenVisual>,
}

/// The buffers of prediction; allocated once.
#[derive(Clone, Debug)]
pub struct SkillMemory {
    /// Per module, old ones first: pre-activations from features.
    visual: Vec<VisualRows>,
    head: Head,
}

#[derive(Clone, Debug)]
enum Head {
    Alone(Box<HeadMemory>),
    Composed(Box<CompositeHead>),
}

/// The buffers of learning, with Adam's state.
#[derive(Clone, Debug)]
pub enum SkillLearner {
    Alone(Box<Learner>),
    Composed(Box<CompositeLearner>),
}

/// A batch of steps.
#[derive(Clone, Copy)]
pub struct SkillBatch<'a, H> {
    /// Features; step 0 is the first of the rows.
    pub history: &'a H,
    /// `[n_steps, n_touches, 2 (k_b + 1)]`: each touch after the `k_b` before it.
    pub touches: &'a [f32],
    /// `[n_steps, n_touches, k_f]`: rewards of this touch, the next, ...
    pub rewards: &'a [f32],
}

impl Skill {
    /// A single module.
    pub fn alone(module: Module) -> Self {
        Self { module, composed: None }
    }

    /// A new module and the controller's frozen ones; `frozen` has the visual features of all screens.
    pub fn composed(module: Module, controller: Controller, frozen: Arc<FrozenVisual>) -> Self {
        assert_eq!(module.structure(), controller.structure(), "modules of one structure");
        Self { module, composed: Some(Composed { controller, frozen }) }
    }

    /// The new module.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// `None` for a single module.
    pub fn controller(&self) -> Option<&Controller> {
        self.composed.as_ref().map(|composed| &composed.controller)
    }

    pub fn structure(&self) -> &Structure {
        self.module.structure()
    }

    pub fn instructions(&self) -> Instructions {
        self.module.instructions()
    }

    /// Buffers for predictions of `n_candidates` at up to `n_rows` steps between two updates.
    pub fn memory(&self, n_candidates: usize, n_rows: usize) -> SkillMemory {
        let n_modules = 1 + self.controller().map_or(0, |controller| controller.old().len());
        let head = match &self.composed {
            None => Head::Alone(Box::new(HeadMemory::new(self.structure(), n_candidates))),
            Some(composed) => {
                Head::Composed(Box::new(CompositeHead::new(&composed.controller, n_candidates)))
            }
        };
        SkillMemory { visual: vec![VisualRows::new(self.structure(), n_rows); n_modules], head }
    }

    /// Composites learn from one touch per step only.
    pub fn learner(&self, settings: AdamSettings, size: BatchSize) -> SkillLearner {
        match &self.composed {
            None => SkillLearner::Alone(Box::new(Learner::new(self.structure(), settings, size))),
            Some(composed) => {
                assert_eq!(size.n_touches, 1, "a composite learns from one touch of a step");
                let learner = CompositeLearner::new(&composed.controller, settings, size.n_steps);
                SkillLearner::Composed(Box::new(learner))
            }
        }
    }

    /// Loads the current weights and computes the visual features of all rows. Must be called before predictions for these
    /// steps, and after each update.
    pub fn precompute_visual(&self, history: &impl ScreenHistory, memory: &mut SkillMemory) {
        let (new, old) = memory.visual.split_last_mut().expect("there is always a new module");
        self.module.visual(history, new);
        match (&self.composed, &mut memory.head) {
            (None, Head::Alone(head)) => head.load(&self.module),
            (Some(Composed { controller, frozen }), Head::Composed(head)) => {
                old.iter_mut().enumerate().for_each(|(module, rows)| frozen.set(module, history, rows));
                head.load(controller, &self.module);
            }
            _ => panic!("memory of another skill"),
        }
    }

    /// Predicts the logits of all candidates at one of the rows. `past_touches` are `[2 k_b]`, oldest first.
    pub fn predict(
        &self,
        row: usize,
        past_touches: &[f32],
        candidates: &Candidates,
        memory: &mut SkillMemory,
    ) {
        let SkillMemory { visual, head } = memory;
        let of_module = |module: usize| visual[module].rows(row..row + 1);
        match (&self.composed, head) {
            (None, Head::Alone(head)) => self.module.predict(of_module(0), past_touches, candidates, head),
            (Some(composed), Head::Composed(head)) => {
                head.predict(&composed.controller, &self.module, of_module, past_touches, candidates);
            }
            _ => panic!("memory of another skill"),
        }
    }

    /// One update from some of the rows. Returns the loss before it: the mean over steps of the sum over maps.
    pub fn learn(
        &mut self,
        learner: &mut SkillLearner,
        learning_rate: f64,
        memory: &SkillMemory,
        rows: Range<usize>,
        batch: SkillBatch<'_, impl SceneHistory>,
    ) -> f32 {
        let SkillBatch { history, touches, rewards } = batch;
        match (&mut self.composed, learner) {
            (None, SkillLearner::Alone(learner)) => {
                let batch = Batch { visual: &memory.visual[0], rows, history, touches, rewards };
                learner.learn(&mut self.module, learning_rate, batch)
            }
            (Some(composed), SkillLearner::Composed(learner)) => {
                let batch = CompositeBatch { visual: &memory.visual, rows, history, touches, rewards };
                learner.learn(&mut composed.controller, &mut self.module, learning_rate, batch)
            }
            _ => panic!("learner of another skill"),
        }
    }
}

impl SkillMemory {
    /// The logits of one of the `k_f` maps, `[n_candidates]`.
    pub fn logits(&self, map: usize) -> &[f32] {
        match &self.head {
            Head::Alone(head) => head.logits(map),
            Head::Composed(head) => head.logits(map),
        }
    }
}
