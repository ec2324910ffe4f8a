//! Numbers that PyTorch computed, and what they are of: the same few steps of small modules (`scripts/make_module_golden.py`).

use safetensors::SafeTensors;
use touchstream_modules::module::{
    Convolutions, Flattened, FlattenedScale, LayerShape, MapShape, ModuleKind, ModuleShape, SceneHistory,
    ScreenHistory, Structure,
};

pub const SCENE_LEN: usize = 27;
pub const N_STEPS: usize = 8;
pub const N_UPDATES: usize = 10;
const N_PLACES: usize = 9;
const N_CHANNELS: usize = 10;

/// Relative to the largest value; rounding grows over ten updates.
pub const TOLERANCE: f32 = 1e-5;
pub const TOLERANCE_AFTER: f32 = 2e-4;

pub struct Golden<'a>(SafeTensors<'a>);

impl<'a> Golden<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(SafeTensors::deserialize(bytes).unwrap())
    }

    pub fn numbers(&self, name: &str) -> Vec<f32> {
        let tensor = self.0.tensor(name).unwrap();
        tensor.data().as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect()
    }
}

/// Numbers agree, to a part of the largest.
#[track_caller]
pub fn check(what: &str, found: &[f32], golden: &[f32], tolerance: f32) {
    assert_eq!(found.len(), golden.len(), "{what}");
    let largest = golden.iter().fold(0.0_f32, |largest, number| largest.max(number.abs()));
    for (idx, (found, golden)) in found.iter().zip(golden).enumerate() {
        assert!(
            (found - golden).abs() <= tolerance * largest,
            "{what}[{idx}] is {found}, PyTorch's {golden}"
        );
    }
}

/// A module of `units` units in the first layer and one more in each layer after it.
pub fn structure(kind: &ModuleKind, units: usize, flattened: FlattenedScale) -> Structure {
    let more = |n: usize| (units..units + n).collect::<Vec<_>>();
    structure_of(kind, &more(kind.convolutions.len()), &more(kind.default_depth()), flattened)
}

/// A module with the given units of each convolution and layer.
pub fn structure_of(
    kind: &ModuleKind,
    convolved: &[usize],
    layers: &[usize],
    flattened: FlattenedScale,
) -> Structure {
    let layer = |nonlinearity, n_units| LayerShape { nonlinearity, n_units };
    let shape = ModuleShape {
        scene_len: SCENE_LEN,
        k_b: 1,
        k_f: 2,
        convolutions: kind.is_convolutional().then(|| Convolutions {
            map: MapShape { n_places: N_PLACES, n_channels: N_CHANNELS },
            layers: kind.convolutions.iter().zip(convolved).map(|(&f, &n)| layer(f, n)).collect(),
            flattened,
        }),
        bottleneck: kind.bottleneck.map(|g| layer(g, layers[0])),
        layers: layers.iter().map(|&n| layer(kind.layers, n)).collect(),
    };
    Structure::new(shape).unwrap()
}

/// Parameters, or their gradient, in our order. In PyTorch's, the weights of flattened features are in the first layer's rows,
/// before those of touches, part by part.
pub fn in_our_order(structure: &Structure, theirs: &[f32]) -> Vec<f32> {
    let Some(&Flattened { n_places, n_channels, n_parts, n_units, weight_start }) = structure.flattened()
    else {
        return theirs.to_vec();
    };
    let (of_place, n_flat) = (n_channels * n_parts, n_places * n_channels * n_parts);
    let n_row = n_flat + structure.stages()[0].n_in();
    let mut ours = theirs[..weight_start].to_vec();
    let rows = &theirs[weight_start..][..n_units * n_row];
    for number in 0..n_flat {
        let (place, channel, part) = (number / of_place, number % of_place / n_parts, number % n_parts);
        let column = place * of_place + part * n_channels + channel;
        ours.extend(rows.chunks(n_row).map(|row| row[column]));
    }
    ours.extend(rows.chunks(n_row).flat_map(|row| &row[n_flat..]));
    ours.extend(&theirs[weight_start + rows.len()..]);
    ours
}

/// Each step shows a screen of its own.
#[derive(Clone, Copy)]
pub struct Scenes<'a> {
    pub numbers: &'a [f32],
    pub maps: &'a [f32],
}

impl SceneHistory for Scenes<'_> {
    fn scene(&self, step: usize, lag: usize) -> &[f32] {
        &self.numbers[(step + 1 - lag) * SCENE_LEN..][..SCENE_LEN]
    }
    fn copy_map(&self, step: usize, out: &mut [f32]) {
        out.copy_from_slice(&self.maps[step * out.len()..][..out.len()]);
    }
}

impl ScreenHistory for Scenes<'_> {
    fn screen(&self, step: usize, lag: usize) -> Option<usize> {
        Some(step + 1 - lag)
    }
}
