//! A module's structure: its stages, what each reads, and where its parameters stand.

use crate::nonlinearity::Nonlinearity;
use serde::{Deserialize, Serialize};

/// Units of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LayerShape {
    /// What each unit does with its sum.
    pub nonlinearity: Nonlinearity,
    /// How many.
    pub n_units: usize,
}

impl LayerShape {
    /// How many numbers the layer gives.
    pub const fn n_out(&self) -> usize {
        self.nonlinearity.n_parts() * self.n_units
    }
}

/// What a module is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleShape {
    /// Numbers of a scene vector.
    pub scene_len: usize,
    /// Screens and touches before the present ones that the module reads.
    pub k_b: usize,
    /// Rewards ahead that it predicts.
    pub k_f: usize,
    /// Convolutions over the spatial map of the present screen, instead of a bottleneck.
    pub convolutions: Option<Convolutions>,
    /// The layer that reads features alone; without it the first of `layers` reads features and touches together
    /// ("late bottleneck").
    pub bottleneck: Option<LayerShape>,
    /// The layers behind it; the first reads the touches too.
    pub layers: Vec<LayerShape>,
}

/// 1 x 1 convolutions: layers that are the same at every place of a spatial map. The first reads the map's channels and
/// all scene vectors, tiled onto every place; what the last gives at all places is flattened for the layers behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Convolutions {
    /// The spatial map that they read.
    pub map: MapShape,
    /// At least one.
    pub layers: Vec<LayerShape>,
    /// What a flattened number counts in the layer behind.
    pub flattened: FlattenedScale,
}

/// A spatial map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MapShape {
    /// Places, row by row.
    pub n_places: usize,
    /// Numbers of each.
    pub n_channels: usize,
}

/// What a flattened number counts in the layer behind.
///
/// Completes the paper, which does not say. Adam moves every weight by about the same, so the many thousand flattened numbers
/// together shake the layer behind at every update, the more the more each counts: as they are the module stays at chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlattenedScale {
    /// As it is.
    One,
    /// Divided by the root of the number of places.
    Root,
    /// Divided by the number of places.
    OnePlace,
}

impl Convolutions {
    /// Flattened numbers.
    pub fn n_flat(&self) -> usize {
        self.map.n_places.saturating_mul(self.layers.last().map_or(0, LayerShape::n_out))
    }

    /// What each of them counts.
    pub fn scale(&self) -> f32 {
        match self.flattened {
            FlattenedScale::One => 1.0,
            FlattenedScale::Root => 1.0 / (self.map.n_places as f32).sqrt(),
            FlattenedScale::OnePlace => 1.0 / self.map.n_places as f32,
        }
    }
}

/// A module that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    /// Nothing would be read.
    #[error("a scene vector needs at least one number")]
    NoScene,
    /// Nothing would be predicted.
    #[error("k_f is 0, but a module predicts at least the reward of this touch")]
    NoFuture,
    /// No layer reads the touches.
    #[error("a module needs at least one layer that reads the touches")]
    NoLayers,
    /// Nothing would be convolved.
    #[error("convolutions need at least one layer and a spatial map that is not empty")]
    NoMap,
    /// Two things in one place.
    #[error("convolutions are a module's bottleneck; it cannot have another one")]
    TwoBottlenecks,
    /// A layer without units.
    #[error("{stage} has no units")]
    NoUnits {
        /// Which.
        stage: String,
    },
    /// More than memory holds.
    #[error("the module would have more than {MAX_PARAMETERS} parameters")]
    TooLarge,
}

/// 16 GB with Adam's means.
const MAX_PARAMETERS: usize = 1 << 30;

impl ModuleShape {
    /// Numbers of all scene vectors that the module reads.
    pub const fn n_visual(&self) -> usize {
        (self.k_b + 1) * self.scene_len
    }

    /// Coordinates of all touches that it reads, the present one included.
    pub const fn n_touch(&self) -> usize {
        2 * (self.k_b + 1)
    }
}

/// One stage of a module: `W x + b`, then perhaps a nonlinearity.
///
/// Its inputs stand in the order: scene vectors (oldest first), numbers of the stage before, touches (oldest first).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// `conv1`, ..., `bottleneck`, `layer1`, `layer2`, ..., `readout`.
    pub name: String,
    /// Numbers that it reads of what is seen: scene vectors at the first stage or the first convolution. What the first
    /// stage behind convolutions reads of them is [`Flattened`].
    pub n_visual: usize,
    /// Numbers of the stage before that it reads; channels of the map for the first convolution.
    pub n_hidden: usize,
    /// Coordinates of touches that it reads; only one stage does.
    pub n_touch: usize,
    /// Sums that it makes.
    pub n_units: usize,
    /// The readout has none.
    pub nonlinearity: Option<Nonlinearity>,
    /// Where its `[n_units, n_in]` weights begin among all parameters.
    pub weight_start: usize,
    /// Where its `[n_units]` biases begin.
    pub bias_start: usize,
}

impl Stage {
    /// Numbers that it reads.
    pub fn n_in(&self) -> usize {
        self.n_visual + self.n_hidden + self.n_touch
    }

    /// Numbers that it gives.
    pub fn n_out(&self) -> usize {
        self.nonlinearity.map_or(1, Nonlinearity::n_parts) * self.n_units
    }

    /// Where its weights stand.
    pub fn weights(&self) -> std::ops::Range<usize> {
        self.weight_start..self.weight_start + self.n_units * self.n_in()
    }

    /// Where its biases stand.
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

/// The weights with which the first stage reads what convolutions give at all places, apart from the others:
/// `[n_places, n_channels, n_parts, n_units]`. Those of one number stand together, and those of all that a nonlinearity makes
/// of one sum: whoever knows which of them are 0 leaves their weights out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flattened {
    /// Places of the map.
    pub n_places: usize,
    /// Units of the last convolution.
    pub n_channels: usize,
    /// Numbers that its nonlinearity makes of each.
    pub n_parts: usize,
    /// Units of the first stage.
    pub n_units: usize,
    /// Where the weights begin among all parameters.
    pub weight_start: usize,
}

impl Flattened {
    /// Flattened numbers.
    pub fn n_flat(&self) -> usize {
        self.n_places * self.n_channels * self.n_parts
    }

    /// Where its weights stand.
    pub fn weights(&self) -> std::ops::Range<usize> {
        self.weight_start..self.weight_start + self.n_flat() * self.n_units
    }
}

/// What a stage reads.
struct Reads {
    n_visual: usize,
    n_hidden: usize,
    n_touch: usize,
}

/// A shape whose stages are laid out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Structure {
    shape: ModuleShape,
    convolutions: Vec<Stage>,
    flattened: Option<Flattened>,
    stages: Vec<Stage>,
    n_parameters: usize,
}

impl Structure {
    /// Lays out the stages of a shape.
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

    /// For the first stage behind convolutions.
    fn flatten(&mut self, convolutions: &Convolutions, behind: LayerShape) -> Result<(), ShapeError> {
        let last = convolutions.layers.last().ok_or(ShapeError::NoMap)?;
        let flattened = Flattened {
            n_places: convolutions.map.n_places,
            n_channels: last.n_units,
            n_parts: last.nonlinearity.n_parts(),
            n_units: behind.n_units,
            weight_start: self.n_parameters,
        };
        let n_weights = convolutions.n_flat().checked_mul(behind.n_units);
        self.take(n_weights)?;
        self.flattened = Some(flattened);
        Ok(())
    }

    /// So many more parameters, if they can be counted and are not too many.
    fn take(&mut self, n: Option<usize>) -> Result<(), ShapeError> {
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
        let sees = self.stages.is_empty() && self.convolutions.is_empty();
        let reads = Reads {
            n_visual: if sees { self.shape.n_visual() } else { 0 },
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
        self.take(n_in.and_then(|n_in| n_in.checked_mul(n_units)))?;
        let bias_start = self.n_parameters;
        self.take(Some(n_units))?;
        Ok(Stage { name, n_visual, n_hidden, n_touch, n_units, nonlinearity, weight_start, bias_start })
    }

    /// What it was made from.
    pub fn shape(&self) -> &ModuleShape {
        &self.shape
    }

    /// The convolutions, if there are any.
    pub fn convolutions(&self) -> &[Stage] {
        &self.convolutions
    }

    /// What the first stage reads of convolutions, if there are any.
    pub fn flattened(&self) -> Option<&Flattened> {
        self.flattened.as_ref()
    }

    /// From features, or from what convolutions make of them, to logits.
    pub fn stages(&self) -> &[Stage] {
        &self.stages
    }

    /// The stage that reads scene vectors.
    pub(crate) fn scene_stage(&self) -> &Stage {
        self.convolutions.first().unwrap_or(&self.stages[0])
    }

    /// The stage that reads the touches.
    pub fn touch_stage(&self) -> usize {
        usize::from(self.shape.bottleneck.is_some())
    }

    /// How many parameters there are in all.
    pub fn n_parameters(&self) -> usize {
        self.n_parameters
    }

    /// All tensors: name (`layer1.weight`), shape and place among the parameters, in order.
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

/// One tensor of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorPlace {
    /// For instance `layer1.weight`.
    pub name: String,
    /// Rows and columns, or a length.
    pub shape: Vec<usize>,
    /// Where it stands among the parameters.
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
