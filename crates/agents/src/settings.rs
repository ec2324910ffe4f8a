//! Settings of an agent: module, inputs, predictions, policy and learning.

use crate::feature_source::SceneShape;
use crate::paper;
use crate::policy::{Dist, Explore, PolicySettings, VarianceOf};
use crate::touch_scale::TouchScale;
use serde::{Deserialize, Serialize};
use touchstream_env::task::{Paradigm, Task};
use touchstream_env::{did_you_mean, nearest};
use touchstream_modules::AdamSettings;
use touchstream_modules::module::{
    BatchSize, Convolutions, FlattenedScale, InitialWeights, LayerShape, MODULES, ModuleKind, ModuleShape,
    ShapeError, Stage, Structure,
};

/// A module and its widths.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModuleChoice {
    /// Id in [`MODULES`].
    pub id: String,
    /// Units of each stage except the readout; convolutions or the bottleneck first.
    pub units: Vec<usize>,
}

impl ModuleChoice {
    /// A module with the paper's width for a task.
    pub fn of_paper(id: &str, task: &Task) -> Result<Self, SettingsError> {
        let kind = find_module(id)?;
        let n_stages = kind.default_depth() + kind.n_early_stages();
        Ok(Self { id: id.into(), units: vec![paper::units(task.paradigm(), kind); n_stages] })
    }
}

fn one() -> usize {
    1
}

/// Settings of an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentSettings {
    /// Module and widths.
    pub module: ModuleChoice,
    /// Number of past screens and touches in the input.
    pub k_b: usize,
    /// Number of predicted rewards: of this touch and the `k_f - 1` touches after it.
    pub k_f: usize,
    /// Older settings lack this field; they used 1.
    #[serde(default = "TouchScale::one")]
    pub touch_scale: TouchScale,
    /// Candidate touches per step.
    pub n_candidates: usize,
    /// Steps between two updates.
    pub batch_steps: usize,
    /// Number of touches per step that are trained on: the executed one and counterfactual ones. More than 1 is beyond
    /// the paper.
    #[serde(default = "one")]
    pub n_targets: usize,
    /// Share of features that are set to 0 at each training step, rounded to the nearest 256th. Beyond the paper.
    #[serde(default)]
    pub dropout: f64,
    /// Adam's learning rate.
    pub learning_rate: f64,
    /// Adam's constants.
    pub adam: AdamSettings,
    /// Distribution of initial weights.
    pub initial_weights: InitialWeights,
    /// Scale of flattened features; `None` for [`FlattenedScale::OnePlace`], or for `One` with the paper's initial
    /// weights.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flattened: Option<FlattenedScale>,
    pub policy: PolicySettings,
}

/// Invalid settings.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SettingsError {
    #[error("there is no module `{id}`{}", did_you_mean(*.nearest))]
    NoSuchModule { id: String, nearest: Option<&'static str> },
    #[error("units: {id} needs at least {min} widths ({what}), not {found}")]
    TooFewStages {
        id: String,
        min: usize,
        found: usize,
        /// What they are for, such as bottleneck and layers.
        what: &'static str,
    },
    #[error("{id} reads spatial maps, but the features have only scene vectors")]
    NoMaps { id: String },
    /// The module's shape is invalid.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    #[error("{field}: {found} is not {range}")]
    OutOfRange { field: &'static str, found: String, range: String },
}

/// Finds a module by its id.
pub fn find_module(id: &str) -> Result<&'static ModuleKind, SettingsError> {
    ModuleKind::find(id).ok_or_else(|| SettingsError::NoSuchModule {
        id: id.into(),
        nearest: nearest(id, MODULES.iter().map(|kind| kind.id)),
    })
}

/// Maximum number of activations of a layer in a batch (1 GB).
const MAX_ACTIVATIONS: usize = 1 << 28;

/// The sampling temperature of localization and scenes.
const FINE_TEMPERATURE: f32 = 0.01;
/// Learning rate of localization and scenes. Departs from the paper's 1e-4; with 1e-3 learning is slower (measured).
const FINE_LEARNING_RATE: f64 = 3e-4;
const FINE_BATCH: usize = 16;

impl AgentSettings {
    /// The defaults for a module on a task.
    pub fn for_task(module: &str, task: &Task) -> Result<Self, SettingsError> {
        let kind = find_module(module)?;
        let needs_fine_touches =
            matches!(task.paradigm(), Paradigm::Localization) || paper::shows_scenes(task.paradigm());
        let (dist, batch_steps, learning_rate) = match needs_fine_touches {
            true => (Dist::Boltzmann { temperature: FINE_TEMPERATURE }, FINE_BATCH, FINE_LEARNING_RATE),
            false => (Dist::Identity, 8, paper::learning_rate(kind, task)),
        };
        Ok(Self {
            module: ModuleChoice::of_paper(module, task)?,
            k_b: 1,
            k_f: 2,
            touch_scale: TouchScale::of_task(task),
            n_candidates: 256,
            batch_steps,
            n_targets: 1,
            dropout: 0.0,
            learning_rate,
            adam: AdamSettings::default(),
            initial_weights: InitialWeights::FanIn,
            flattened: None,
            policy: PolicySettings { dist, ..PolicySettings::default() },
        })
    }

    /// The defaults with touch coordinates from -1 to 1.
    pub fn normalized(module: &str, task: &Task) -> Result<Self, SettingsError> {
        Ok(Self { touch_scale: TouchScale::ONE, ..Self::for_task(module, task)? })
    }

    /// The values printed in the paper for a module on a task.
    pub fn as_printed(module: &str, task: &Task) -> Result<Self, SettingsError> {
        let ours = Self::for_task(module, task)?;
        Ok(Self {
            batch_steps: 16,
            learning_rate: paper::learning_rate(find_module(module)?, task),
            touch_scale: TouchScale::PIXELS,
            initial_weights: InitialWeights::Paper,
            policy: PolicySettings { variance_of: VarianceOf::Distributions, ..ours.policy },
            ..ours
        })
    }

    /// Checks that these settings are supported in combination with a controller.
    pub fn check_composable(&self) -> Result<(), SettingsError> {
        let refuse = |field, found: String, range: &str| {
            Err(SettingsError::OutOfRange { field, found, range: range.into() })
        };
        if self.n_targets != 1 {
            let range = "1, the only value supported with voting";
            return refuse("targets", self.n_targets.to_string(), range);
        }
        if self.dropout != 0.0 {
            let range = "0, the only value supported with voting";
            return refuse("dropout", self.dropout.to_string(), range);
        }
        Ok(())
    }

    pub(crate) fn batch_size(&self) -> BatchSize {
        BatchSize { n_steps: self.batch_steps, n_touches: self.n_targets }
    }

    /// Checks the settings, and returns the module's structure for features of this shape.
    pub fn check(&self, scenes: SceneShape) -> Result<Structure, SettingsError> {
        let refuse = |field, found: String, range: &str| {
            Err(SettingsError::OutOfRange { field, found, range: range.to_owned() })
        };
        if !(1..=1 << 16).contains(&self.n_candidates) {
            return refuse("candidates", self.n_candidates.to_string(), "in 1..=65536");
        }
        if self.batch_steps < self.k_f || self.batch_steps > 1 << 16 {
            let range = "between k_f and 65536: all rewards of a step must be known when it is learned";
            return refuse("batch", self.batch_steps.to_string(), range);
        }
        if !(1..=self.n_candidates + 1).contains(&self.n_targets) {
            let range = format!("in 1..={}, the candidates plus one", self.n_candidates + 1);
            return refuse("targets", self.n_targets.to_string(), &range);
        }
        if self.dropout != 0.0 && !(0.004..=0.9).contains(&self.dropout) {
            return refuse("dropout", self.dropout.to_string(), "0 or in 0.004..=0.9");
        }
        if self.k_b > 64 || self.k_f > 64 {
            return refuse("k-b, k-f", format!("{}, {}", self.k_b, self.k_f), "at most 64 each");
        }
        let TouchScale(scale) = self.touch_scale;
        if !(1e-3..=1e3).contains(&scale) {
            return refuse("touch-scale", scale.to_string(), "in 0.001..=1000");
        }
        if !(self.learning_rate > 0.0 && self.learning_rate.is_finite()) {
            return refuse("learning-rate", self.learning_rate.to_string(), "a number above 0");
        }
        let AdamSettings { beta1, beta2, epsilon, weight_decay } = self.adam;
        if !((0.0..1.0).contains(&beta1) && (0.0..1.0).contains(&beta2)) {
            return refuse("adam.beta1, adam.beta2", format!("{beta1}, {beta2}"), "in 0..1");
        }
        if !(epsilon > 0.0 && epsilon.is_finite()) {
            return refuse("adam.epsilon", epsilon.to_string(), "a number above 0");
        }
        if !(weight_decay >= 0.0 && weight_decay * self.learning_rate < 1.0) {
            return refuse(
                "weight-decay",
                weight_decay.to_string(),
                "at least 0 and below 1 / learning rate",
            );
        }
        if let Dist::Boltzmann { temperature } = self.policy.dist
            && !(temperature >= 1e-6 && temperature.is_finite())
        {
            return refuse("temperature", temperature.to_string(), "at least 1e-6");
        }
        if let Explore::EpsilonGreedy { epsilon } = self.policy.explore
            && !(0.0..=1.0).contains(&epsilon)
        {
            return refuse("epsilon", epsilon.to_string(), "in 0..=1");
        }
        let structure = Structure::new(self.shape(scenes)?)?;
        if self.max_layer_activations(&structure) > MAX_ACTIVATIONS {
            let (field, found) = match self.n_targets {
                1 => ("batch", self.batch_steps.to_string()),
                n => ("batch, targets", format!("{}, {n}", self.batch_steps)),
            };
            return refuse(field, found, "small enough for the widest layer's activations to fit into 1 GB");
        }
        Ok(structure)
    }

    /// Activations or inputs of the largest layer in a batch.
    fn max_layer_activations(&self, structure: &Structure) -> usize {
        let n_steps = self.batch_steps.max(64);
        let n_rows = n_steps.saturating_mul(self.n_targets);
        // Features are stored once per step, activations once per touch.
        let of_stage = |stage: &Stage| {
            let of_touch = (stage.n_hidden + stage.n_touch).max(stage.n_out()).saturating_mul(n_rows);
            of_touch.max(stage.n_visual.saturating_mul(n_steps))
        };
        let of_stages = structure.stages().iter().map(of_stage);
        let n_places = structure.shape().convolutions.as_ref().map_or(0, |shape| shape.map.n_places);
        let of_convolution = |stage: &Stage| {
            stage.n_hidden.max(stage.n_out()).saturating_mul(n_places).saturating_mul(n_steps)
        };
        of_stages.chain(structure.convolutions().iter().map(of_convolution)).max().unwrap_or(0)
    }

    fn shape(&self, scenes: SceneShape) -> Result<ModuleShape, SettingsError> {
        let kind = find_module(&self.module.id)?;
        let (n_early, n_convolutions) = (kind.n_early_stages(), kind.convolutions.len());
        let min = n_early + 1;
        let what = match (kind.is_convolutional(), n_early) {
            (true, _) => "convolutions and at least one layer",
            (false, 0) => "at least one layer",
            (false, _) => "a bottleneck and at least one layer",
        };
        let units = &self.module.units;
        if units.len() < min {
            let (id, found) = (self.module.id.clone(), units.len());
            return Err(SettingsError::TooFewStages { id, min, found, what });
        }
        let layer = |nonlinearity, &n_units: &usize| LayerShape { nonlinearity, n_units };
        let bottleneck = kind.bottleneck.map(|nonlinearity| layer(nonlinearity, &units[0]));
        let convolutions = match kind.is_convolutional() {
            false => None,
            true => {
                let layers = kind.convolutions.iter().zip(&units[..n_convolutions]);
                Some(Convolutions {
                    map: scenes.map.ok_or_else(|| SettingsError::NoMaps { id: self.module.id.clone() })?,
                    layers: layers.map(|(&nonlinearity, n_units)| layer(nonlinearity, n_units)).collect(),
                    flattened: self.flattened.unwrap_or(match self.initial_weights {
                        InitialWeights::FanIn => FlattenedScale::OnePlace,
                        InitialWeights::Paper => FlattenedScale::One,
                    }),
                })
            }
        };
        let layers = units[n_early..].iter().map(|n_units| layer(kind.layers, n_units)).collect();
        let (scene_len, k_b, k_f) = (scenes.scene_len, self.k_b, self.k_f);
        Ok(ModuleShape { scene_len, k_b, k_f, convolutions, bottleneck, layers })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstream_env::task::find_task;
    use touchstream_modules::module::MapShape;

    #[test]
    fn fine_touches_are_learned_otherwise_unless_as_printed() {
        let of = |task: &str, settings: fn(&str, &Task) -> Result<AgentSettings, SettingsError>| {
            settings("conv-ems", &find_task(task).unwrap()).unwrap()
        };
        for task in ["localization", "coco-mts"] {
            let (ours, printed) = (of(task, AgentSettings::for_task), of(task, AgentSettings::as_printed));
            assert_eq!((ours.learning_rate, ours.batch_steps), (3e-4, 16), "{task}");
            assert_eq!((printed.learning_rate, printed.batch_steps), (1e-4, 16), "{task}");
            assert_eq!(ours.policy.dist, Dist::Boltzmann { temperature: 0.01 });
            assert_eq!(printed.policy.variance_of, VarianceOf::Distributions);
            let scenes = SceneShape { scene_len: 4, map: Some(MapShape { n_places: 9, n_channels: 2 }) };
            let scale = |settings: &AgentSettings| {
                settings.check(scenes).unwrap().shape().convolutions.as_ref().unwrap().scale()
            };
            assert_eq!((scale(&ours), scale(&printed)), (1.0 / 9.0, 1.0));
            let asked = |flattened| AgentSettings { flattened: Some(flattened), ..printed.clone() };
            assert_eq!(scale(&asked(FlattenedScale::Root)), 1.0 / 3.0);
            assert_eq!(scale(&asked(FlattenedScale::OnePlace)), 1.0 / 9.0);
            let without = ours.check(SceneShape::without_maps(4)).unwrap_err();
            assert!(without.to_string().contains("conv-ems reads spatial maps"), "{without}");
        }
        let scales = |task: &str| {
            [AgentSettings::for_task, AgentSettings::normalized, AgentSettings::as_printed]
                .map(|settings| of(task, settings).touch_scale.0)
        };
        assert_eq!([scales("localization"), scales("mts-4way-2shown")], [[24.0, 1.0, 111.5]; 2]);
        assert_eq!(scales("sr-4way-quadrant"), [1.0, 1.0, 111.5]);
        let plain = AgentSettings::for_task("ems", &find_task("sr-2way").unwrap()).unwrap();
        assert_eq!((plain.learning_rate, plain.batch_steps, plain.policy.dist), (1e-3, 8, Dist::Identity));
    }

    /// Features need memory once per step, activations once per touch.
    #[test]
    fn batches_that_memory_cannot_hold_are_refused() {
        let scenes = SceneShape { scene_len: 4096, map: Some(MapShape { n_places: 196, n_channels: 512 }) };
        let with = |change: fn(&mut AgentSettings)| {
            let mut settings =
                AgentSettings::for_task("conv-ems", &find_task("localization").unwrap()).unwrap();
            change(&mut settings);
            settings.check(scenes).map(|_| ()).map_err(|error| error.to_string())
        };
        assert_eq!(with(|settings| settings.n_targets = 257), Ok(()));
        let wide = with(|settings| {
            (settings.module.units, settings.batch_steps) = (vec![1000, 1, 1, 1, 1], 65_536);
        });
        assert!(wide.unwrap_err().starts_with("batch: 65536 is not small enough"));
        let many = with(|settings| (settings.batch_steps, settings.n_targets) = (16_384, 257));
        assert!(many.unwrap_err().starts_with("batch, targets: 16384, 257 is not small enough"));
    }
}
