//! A module's structure: its stages, their inputs, and the layout of the parameters.

use crate::nonlinearity::Nonlinearity;
use serde::{Deserialize, Serialize};

/// A layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LayerShape {
    pub nonlinearity: Nonlinearity,
    pub n_units: usize,
}

impl LayerShape {
    /// Activations.
    pub const fn n_out(&self) -> usize {
        self.nonlinearity.n_parts() * self.n_units
    }
}

/// Sizes and layers of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleShape {
    /// Length of a scene vector.
    pub scene_len: usize,
    /// Number of past screens and touches in the input.
    pub k_b: usize,
    /// Number of rewards ahead that are predicted.
    pub k_f: usize,
    /// Over the spatial map of the current screen, in place of a bottleneck.
    pub convolutions: Option<Convolutions>,
    /// Reads features only. Without it the first of `layers` reads features and touches ("late bottleneck").
    pub bottleneck: Option<LayerShape>,
    /// The first reads the touches, too.
    pub layers: Vec<LayerShape>,
}

/// 1 x 1 convolutions: layers with the same weights at every place of a spatial map. The first reads the map's channels and,
/// at every place, all scene vectors; the activations of the last at all places are flattened and read by the first layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Convolutions {
    pub map: MapShape,
    pub layers: Vec<LayerShape>,
    /// The scale of the flattened features.
    pub flattened: FlattenedScale,
}

/// A spatial map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MapShape {
    /// Ordered row by row.
    pub n_places: usize,
    pub n_channels: usize,
}

/// The scale of flattened features.
///
/// Completes the paper, which does not state one. Adam changes all weights by similar amounts, so with thousands of flattened
/// features each update changes the next layer's pre-activations a lot: unscaled, the module stays at chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlattenedScale {
    /// Unscaled.
    One,
    /// Divided by the root of the number of places.
    Root,
    /// Divided by the number of places.
    OnePlace,
}

impl Convolutions {
    /// Flattened features.
    pub fn n_flat(&self) -> usize {
        self.map.n_places.saturating_mul(self.layers.last().map_or(0, LayerShape::n_out))
    }

    /// The factor of flattened features.
    pub fn scale(&self) -> f32 {
        match self.flattened {
            FlattenedScale::One => 1.0,
            FlattenedScale::Root => 1.0 / (self.map.n_places as f32).sqrt(),
            FlattenedScale::OnePlace => 1.0 / self.map.n_places as f32,
        }
    }
}

/// An invalid shape.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    /// `scene_len` is 0.
    #[error("scene vectors must have at least one feature")]
    NoScene,
    /// `k_f` is 0.
    #[error("k_f is 0, but a module predicts at least the reward of this touch")]
    NoFuture,
    /// `layers` is empty.
    #[error("a module needs at least one layer that reads the touches")]
    NoLayers,
    /// The map or the list of layers is empty.
    #[error("convolutions need at least one layer and a spatial map that is not empty")]
    NoMap,
    /// Both convolutions and a bottleneck.
    #[error("a module cannot have both convolutions and a bottleneck")]
    TwoBottlenecks,
    #[error("{stage} has no units")]
    NoUnits { stage: String },
    /// Too many parameters.
    #[error("the module would have more than {MAX_PARAMETERS} parameters")]
    TooLarge,
}

/// 16 GB, including Adam's moments.
const MAX_PARAMETERS: usize = 1 << 30;

impl ModuleShape {
    /// Length of all scene vectors in the input.
    pub const fn n_visual(&self) -> usize {
        (self.k_b + 1) * self.scene_len
    }

    /// Coordinates of all touches in the input, including the current one.
    pub const fn n_touch(&self) -> usize {
        2 * (self.k_b + 1)
    }
}

/// One stage of a module: `W x + b`, with a nonlinearity except in the readout.
///
/// The order of inputs: scene vectors (oldest first), activations of the stage before, touches (oldest first).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// `conv1`, ..., `bottleneck`, `layer1`, `layer2`, ..., `readout`.
    pub name: String,
    /// Features in the input: scene vectors, at the first stage or the first convolution. The inputs of the first stage after
    /// convolutions are [`Flattened`].
    pub n_visual: usize,
    /// Activations of the stage before in the input; for the first convolution, channels of the map.
    pub n_hidden: usize,
    /// Touch coordinates in the input; 0 except at one stage.
    pub n_touch: usize,
    pub n_units: usize,
    /// `None` for the readout.
    pub nonlinearity: Option<Nonlinearity>,
    /// Start of the weights, `[n_units, n_in]`, among all parameters.
    pub weight_start: usize,
    /// Start of the biases, `[n_units]`.
    pub bias_start: usize,
}

impl Stage {
    /// Length of the input.
    pub fn n_in(&self) -> usize {
        self.n_visual + self.n_hidden + self.n_touch
    }

    /// Activations.
    pub fn n_out(&self) -> usize {
        self.nonlinearity.map_or(1, Nonlinearity::n_parts) * self.n_units
    }

    /// Range of the weights.
    pub fn weights(&self) -> std::ops::Range<usize> {
        self.weight_start..self.weight_start + self.n_units * self.n_in()
    }

    /// Range of the biases.
    pub fn biases(&self) -> std::ops::Range<usize> {
        self.bias_start..self.bias_start + self.n_units
    }

    fn tensors(&self) -> [TensorPlace; 2] {
        let place =
            |part: &str, shape, range| TensorPlace { name: format!("{}.{part}", self.name), shape, range };
        [
            place("weight", vec![self.n_units, self.n_in()], self.weights()),
            place("bias", vec![self.n_units], self.biases()),
        ]
    }
}

/// The weights of flattened features in the first stage: `[n_places, n_channels, n_parts, n_units]`. Weights of all parts of
/// one unit are adjacent, so that those of parts that are 0 can be skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flattened {
    /// Places of the map.
    pub n_places: usize,
    /// Units of the last convolution.
    pub n_channels: usize,
    /// Activations per unit.
    pub n_parts: usize,
    /// Units of the first stage.
    pub n_units: usize,
    /// Start of the weights among all parameters.
    pub weight_start: usize,
}

impl Flattened {
    /// Flattened features.
    pub fn n_flat(&self) -> usize {
        self.n_places * self.n_channels * self.n_parts
    }

    /// Range of the weights.
    pub fn weights(&self) -> std::ops::Range<usize> {
        self.weight_start..self.weight_start + self.n_flat() * self.n_units
    }
}

/// The inputs of a stage.
struct Reads {
    n_visual: usize,
    n_hidden: usize,
    n_touch: usize,
}

/// A valid shape with the layout of its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Structure {
    shape: ModuleShape,
    convolutions: Vec<Stage>,
    flattened: Option<Flattened>,
    stages: Vec<Stage>,
    n_parameters: usize,
}

impl Structure {
    pub fn new(shape: ModuleShape) -> Result<Self, ShapeError> {
        if shape.scene_len == 0 {
            return Err(ShapeError::NoScene);
        }
        if shape.k_f == 0 {
            return Err(ShapeError::NoFuture);
        }
        if shape.layers.is_empty() {
            return Err(ShapeError::NoLayers);
        }
        let mut structure =
            Self { convolutions: Vec::new(), flattened: None, stages: Vec::new(), n_parameters: 0, shape };
        let ModuleShape { convolutions, bottleneck, layers, k_f, .. } = structure.shape.clone();
        if let Some(convolutions) = &convolutions {
            if bottleneck.is_some() {
                return Err(ShapeError::TwoBottlenecks);
            }
            structure.convolve(convolutions)?;
            structure.flatten(convolutions, layers[0])?;
        }
        if let Some(layer) = bottleneck {
            structure.push("bottleneck".into(), Some(layer.nonlinearity), layer.n_units)?;
        }
        for (idx, layer) in layers.iter().enumerate() {
            structure.push(format!("layer{}", idx + 1), Some(layer.nonlinearity), layer.n_units)?;
        }
        structure.push("readout".into(), None, k_f)?;
        Ok(structure)
    }

    fn convolve(&mut self, convolutions: &Convolutions) -> Result<(), ShapeError> {
        let Convolutions { map, layers, .. } = convolutions;
        if layers.is_empty() || map.n_places == 0 || map.n_channels == 0 {
            return Err(ShapeError::NoMap);
        }
        let mut n_hidden = map.n_channels;
        for (idx, layer) in layers.iter().enumerate() {
            let n_visual = if idx == 0 { self.shape.n_visual() } else { 0 };
            let reads = Reads { n_visual, n_hidden, n_touch: 0 };
            let stage =
                self.lay_out(format!("conv{}", idx + 1), reads, Some(layer.nonlinearity), layer.n_units)?;
            n_hidden = stage.n_out();
            self.convolutions.push(stage);
        }
        Ok(())
    }

    /// Lays out the weights of flattened features in `next`.
    fn flatten(&mut self, convolutions: &Convolutions, next: LayerShape) -> Result<(), ShapeError> {
        let last = convolutions.layers.last().ok_or(ShapeError::NoMap)?;
        let flattened = Flattened {
            n_places: convolutions.map.n_places,
            n_channels: last.n_units,
            n_parts: last.nonlinearity.n_parts(),
            n_units: next.n_units,
            weight_start: self.n_parameters,
        };
        let n_weights = convolutions.n_flat().checked_mul(next.n_units);
        self.add_parameters(n_weights)?;
        self.flattened = Some(flattened);
        Ok(())
    }

    /// Adds `n` parameters; `None` if their number overflowed.
    fn add_parameters(&mut self, n: Option<usize>) -> Result<(), ShapeError> {
        let n_parameters = n.and_then(|n| self.n_parameters.checked_add(n));
        self.n_parameters = n_parameters.filter(|&n| n <= MAX_PARAMETERS).ok_or(ShapeError::TooLarge)?;
        Ok(())
    }

    fn push(
        &mut self,
        name: String,
        nonlinearity: Option<Nonlinearity>,
        n_units: usize,
    ) -> Result<(), ShapeError> {
        let is_first = self.stages.is_empty() && self.convolutions.is_empty();
        let reads = Reads {
            n_visual: if is_first { self.shape.n_visual() } else { 0 },
            n_hidden: self.stages.last().map_or(0, Stage::n_out),
            n_touch: if self.stages.len() == self.touch_stage() { self.shape.n_touch() } else { 0 },
        };
        let stage = self.lay_out(name, reads, nonlinearity, n_units)?;
        self.stages.push(stage);
        Ok(())
    }

    fn lay_out(
        &mut self,
        name: String,
        reads: Reads,
        nonlinearity: Option<Nonlinearity>,
        n_units: usize,
    ) -> Result<Stage, ShapeError> {
        if n_units == 0 {
            return Err(ShapeError::NoUnits { stage: name });
        }
        let Reads { n_visual, n_hidden, n_touch } = reads;
        let weight_start = self.n_parameters;
        let n_in = n_visual.checked_add(n_hidden + n_touch);
        self.add_parameters(n_in.and_then(|n_in| n_in.checked_mul(n_units)))?;
        let bias_start = self.n_parameters;
        self.add_parameters(Some(n_units))?;
        Ok(Stage { name, n_visual, n_hidden, n_touch, n_units, nonlinearity, weight_start, bias_start })
    }

    pub fn shape(&self) -> &ModuleShape {
        &self.shape
    }

    /// Empty without convolutions.
    pub fn convolutions(&self) -> &[Stage] {
        &self.convolutions
    }

    /// `None` without convolutions.
    pub fn flattened(&self) -> Option<&Flattened> {
        self.flattened.as_ref()
    }

    /// All stages except convolutions; the last is the readout.
    pub fn stages(&self) -> &[Stage] {
        &self.stages
    }

    /// The stage that reads scene vectors.
    pub(crate) fn scene_stage(&self) -> &Stage {
        self.convolutions.first().unwrap_or(&self.stages[0])
    }

    /// Index of the stage that reads the touches.
    pub fn touch_stage(&self) -> usize {
        usize::from(self.shape.bottleneck.is_some())
    }

    pub fn n_parameters(&self) -> usize {
        self.n_parameters
    }

    /// All tensors, in the order of the parameters.
    pub fn tensors(&self) -> impl Iterator<Item = TensorPlace> {
        let of_flattened = self.flattened.iter().map(|flattened| TensorPlace {
            name: "flattened.weight".into(),
            shape: vec![flattened.n_places, flattened.n_channels, flattened.n_parts, flattened.n_units],
            range: flattened.weights(),
        });
        let (convolutions, stages) = (&self.convolutions, &self.stages);
        let of_convolutions = convolutions.iter().flat_map(Stage::tensors);
        of_convolutions.chain(of_flattened).chain(stages.iter().flat_map(Stage::tensors))
    }
}

/// A tensor of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorPlace {
    /// `layer1.weight`, ...
    pub name: String,
    /// Rows and columns, or a length.
    pub shape: Vec<usize>,
    /// Range among the parameters.
    pub range: std::ops::Range<usize>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(nonlinearity: Nonlinearity, n_units: usize) -> LayerShape {
        LayerShape { nonlinearity, n_units }
    }

    #[test]
    fn tensors_of_ems_are_those_of_the_equations() {
        let shape = ModuleShape {
            scene_len: 4096,
            k_b: 1,
            k_f: 2,
            convolutions: None,
            bottleneck: Some(layer(Nonlinearity::Crelu, 8)),
            layers: vec![layer(Nonlinearity::Cres, 8); 2],
        };
        let structure = Structure::new(shape).unwrap();
        let tensors: Vec<_> = structure.tensors().map(|place| (place.name, place.shape)).collect();
        let expected = [
            ("bottleneck.weight", vec![8, 8192]),
            ("bottleneck.bias", vec![8]),
            ("layer1.weight", vec![8, 16 + 4]),
            ("layer1.bias", vec![8]),
            ("layer2.weight", vec![8, 32]),
            ("layer2.bias", vec![8]),
            ("readout.weight", vec![2, 32]),
            ("readout.bias", vec![2]),
        ];
        assert_eq!(tensors, expected.map(|(name, shape)| (name.to_owned(), shape)));
        let mut end = 0;
        for place in structure.tensors() {
            assert_eq!(place.range.start, end);
            assert_eq!(place.range.len(), place.shape.iter().product::<usize>());
            end = place.range.end;
        }
        assert_eq!(end, structure.n_parameters());
    }

    #[test]
    fn a_late_bottleneck_reads_everything_at_once() {
        let shape = ModuleShape {
            scene_len: 10,
            k_b: 2,
            k_f: 1,
            convolutions: None,
            bottleneck: None,
            layers: vec![layer(Nonlinearity::Crelu, 3), layer(Nonlinearity::Relu, 5)],
        };
        let shapes: Vec<_> = Structure::new(shape).unwrap().tensors().map(|place| place.shape).collect();
        assert_eq!(shapes, [vec![3, 36], vec![3], vec![5, 6], vec![5], vec![1, 5], vec![1]]);
    }

    #[test]
    fn convolutions_read_map_and_tiled_scenes_and_are_flattened() {
        let shape = ModuleShape {
            scene_len: 4096,
            k_b: 1,
            k_f: 2,
            convolutions: Some(Convolutions {
                map: MapShape { n_places: 196, n_channels: 512 },
                layers: vec![
                    layer(Nonlinearity::Tanh, 128),
                    layer(Nonlinearity::Cres, 128),
                    layer(Nonlinearity::Cres, 128),
                ],
                flattened: FlattenedScale::OnePlace,
            }),
            bottleneck: None,
            layers: vec![layer(Nonlinearity::Cres, 128); 2],
        };
        let structure = Structure::new(shape.clone()).unwrap();
        let tensors: Vec<_> = structure.tensors().map(|place| (place.name, place.shape)).collect();
        let expected = [
            ("conv1.weight", vec![128, 8192 + 512]),
            ("conv1.bias", vec![128]),
            ("conv2.weight", vec![128, 128]),
            ("conv2.bias", vec![128]),
            ("conv3.weight", vec![128, 512]),
            ("conv3.bias", vec![128]),
            ("flattened.weight", vec![196, 128, 4, 128]),
            ("layer1.weight", vec![128, 4]),
            ("layer1.bias", vec![128]),
            ("layer2.weight", vec![128, 512]),
            ("layer2.bias", vec![128]),
            ("readout.weight", vec![2, 512]),
            ("readout.bias", vec![2]),
        ];
        assert_eq!(tensors, expected.map(|(name, shape)| (name.to_owned(), shape)));
        let two = ModuleShape { bottleneck: Some(layer(Nonlinearity::Crelu, 8)), ..shape.clone() };
        assert_eq!(Structure::new(two).unwrap_err(), ShapeError::TwoBottlenecks);
        let mut empty = shape;
        empty.convolutions.as_mut().unwrap().map.n_channels = 0;
        assert_eq!(Structure::new(empty).unwrap_err(), ShapeError::NoMap);
    }

    #[test]
    fn impossible_shapes_are_refused() {
        let good = ModuleShape {
            scene_len: 4,
            k_b: 0,
            k_f: 1,
            convolutions: None,
            bottleneck: Some(layer(Nonlinearity::Relu, 2)),
            layers: vec![layer(Nonlinearity::Relu, 2)],
        };
        let refuse = |shape: ModuleShape| Structure::new(shape).unwrap_err().to_string();
        assert!(refuse(ModuleShape { scene_len: 0, ..good.clone() }).contains("scene vector"));
        assert!(refuse(ModuleShape { k_f: 0, ..good.clone() }).contains("k_f is 0"));
        assert!(refuse(ModuleShape { layers: Vec::new(), ..good.clone() }).contains("at least one layer"));
        let empty = ModuleShape { layers: vec![layer(Nonlinearity::Relu, 0)], ..good.clone() };
        assert_eq!(refuse(empty), "layer1 has no units");
        assert!(refuse(ModuleShape { scene_len: usize::MAX / 8, ..good }).contains("more than"));
    }
}
