//! The layers of the compact encoder, from pixels to spatial map and scene vector.
//!
//! `scripts/compact_network.py` is the same network in PyTorch.

use crate::MAP_SIDE;
use crate::compact::weights::Weights;
use crate::convolution::im2col::{Convolution, ConvolutionShape, Onto};
use crate::encoder::Features;
use crate::image_input::ColourScale;
use touchstream_env::screen::Screen;
use touchstream_env::touch::SCREEN_SIDE_PX;

/// Channels of the spatial map.
pub const MAP_CHANNELS: usize = 128;
/// Length of the scene vector, `[7 rows, 7 columns, 64 channels]`.
pub const SCENE_LEN: usize = 7 * 7 * 64;

/// Each layer halves the number of rows and columns.
const DOWN: [(&str, ConvolutionShape); 4] = [
    ("down1", ConvolutionShape { kernel_side: 3, stride: 2, n_in: 3, n_out: 16 }),
    ("down2", ConvolutionShape { kernel_side: 3, stride: 2, n_in: 16, n_out: 32 }),
    ("down3", ConvolutionShape { kernel_side: 3, stride: 2, n_in: 32, n_out: 64 }),
    ("down4", ConvolutionShape { kernel_side: 3, stride: 2, n_in: 64, n_out: MAP_CHANNELS }),
];
const BLOCKS: [&str; 3] = ["block1", "block2", "block3"];
const REDUCE: ConvolutionShape =
    ConvolutionShape { kernel_side: 1, stride: 1, n_in: MAP_CHANNELS, n_out: 64 };
const SPATIAL: ConvolutionShape = ConvolutionShape { kernel_side: 3, stride: 1, n_in: 64, n_out: 64 };
const EXPAND: ConvolutionShape =
    ConvolutionShape { kernel_side: 1, stride: 1, n_in: 64, n_out: MAP_CHANNELS };
const SCENE1: ConvolutionShape =
    ConvolutionShape { kernel_side: 3, stride: 2, n_in: MAP_CHANNELS, n_out: 160 };
const SCENE2: ConvolutionShape = ConvolutionShape { kernel_side: 1, stride: 1, n_in: 160, n_out: 64 };

pub struct Network {
    down: [Convolution; DOWN.len()],
    blocks: [Block; BLOCKS.len()],
    scene1: Convolution,
    scene2: Convolution,
}

/// `x + expand(spatial(reduce(x)))`, with a ReLU after each convolution and after the sum.
struct Block {
    reduce: Convolution,
    spatial: Convolution,
    expand: Convolution,
}

/// Work buffers, which only grow at the first screen.
#[derive(Default)]
pub struct Scratch {
    x: Vec<f32>,
    y: Vec<f32>,
    patches: Vec<f32>,
}

impl Network {
    /// Each convolution reads `NAME.weight`, `[side, side, in, out]`, and `NAME.bias`, `[out]`.
    pub fn new(weights: &Weights<'_>) -> Self {
        let convolution = |name: &str, shape: ConvolutionShape| {
            let ConvolutionShape { kernel_side, n_in, n_out, .. } = shape;
            let matrix = weights.get(&format!("{name}.weight"), &[kernel_side, kernel_side, n_in, n_out]);
            Convolution::new(shape, &matrix, &weights.get(&format!("{name}.bias"), &[n_out]))
        };
        let block = |name: &str| Block {
            reduce: convolution(&format!("{name}_reduce"), REDUCE),
            spatial: convolution(&format!("{name}_spatial"), SPATIAL),
            expand: convolution(&format!("{name}_expand"), EXPAND),
        };
        Self {
            down: DOWN.map(|(name, shape)| convolution(name, shape)),
            blocks: BLOCKS.map(block),
            scene1: convolution("scene1", SCENE1),
            scene2: convolution("scene2", SCENE2),
        }
    }

    pub fn forward(&self, screen: &Screen, scratch: &mut Scratch, features: &mut Features) {
        let Scratch { x, y, patches } = scratch;
        normalise(screen.pixels(), x);
        let mut side = SCREEN_SIDE_PX;
        for (convolution, (_, shape)) in self.down.iter().zip(DOWN) {
            let side_out = shape.side_out(side);
            y.resize(side_out * side_out * shape.n_out, 0.0);
            convolution.forward(x, side, patches, Onto::Fresh, y);
            relu(y);
            std::mem::swap(x, y);
            side = side_out;
        }
        features.map.copy_from_slice(x);
        let map = &mut features.map;
        for block in &self.blocks {
            x.resize(side * side * REDUCE.n_out, 0.0);
            block.reduce.forward(map, side, patches, Onto::Fresh, x);
            relu(x);
            y.resize(side * side * SPATIAL.n_out, 0.0);
            block.spatial.forward(x, side, patches, Onto::Fresh, y);
            relu(y);
            block.expand.forward(y, side, patches, Onto::Sum, map);
            relu(map);
        }
        debug_assert_eq!(side, MAP_SIDE);
        let side_out = SCENE1.side_out(side);
        x.resize(side_out * side_out * SCENE1.n_out, 0.0);
        self.scene1.forward(map, side, patches, Onto::Fresh, x);
        relu(x);
        self.scene2.forward(x, side_out, patches, Onto::Fresh, &mut features.scene);
        relu(&mut features.scene);
    }
}

/// Bytes `[224, 224, RGB]` as the network's input, in the same order.
fn normalise(pixels: &[u8], x: &mut Vec<f32>) {
    let scale = ColourScale::imagenet();
    x.resize(pixels.len(), 0.0);
    for (pixel, x) in pixels.as_chunks::<3>().0.iter().zip(x.as_chunks_mut::<3>().0) {
        *x = std::array::from_fn(|colour| scale.apply(colour, f32::from(pixel[colour])));
    }
}

fn relu(x: &mut [f32]) {
    for x in x {
        *x = x.max(0.0);
    }
}
