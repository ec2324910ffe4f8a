//! Modules with noise for weights, and noise to learn from. Each test uses some of it.

#![allow(dead_code)]

use touchstream_modules::Instructions;
use touchstream_modules::module::{InitialWeights, Module, ModuleShape, SceneHistory, Structure, VisualRows};

/// Numbers that are as good as random, in (-1, 1).
pub struct Noise(pub u64);

impl Noise {
    pub fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 40) as f32 / (1_u64 << 23) as f32) - 1.0
    }

    pub fn vector(&mut self, n: usize) -> Vec<f32> {
        (0..n).map(|_| self.next()).collect()
    }
}

/// Features of steps one after another: the scene vector of step `s` and lag `l` is number `s - l`, the map number `s`. Some
/// steps show one map.
#[derive(Clone, Copy)]
pub struct Scenes<'a> {
    pub numbers: &'a [f32],
    pub len: usize,
    pub k_b: usize,
    pub maps: &'a [f32],
}

impl SceneHistory for Scenes<'_> {
    fn scene(&self, step: usize, lag: usize) -> &[f32] {
        &self.numbers[first_with_scene(step + self.k_b - lag) * self.len..][..self.len]
    }
    fn copy_map(&self, step: usize, out: &mut [f32]) {
        out.copy_from_slice(&self.maps[step * out.len()..][..out.len()]);
    }
    fn shown_before(&self, step: usize) -> Option<usize> {
        first_with_map(step)
    }
}

/// The place of a screen's scene vector: every third screen is the one two before it.
fn first_with_scene(screen: usize) -> usize {
    if screen % 3 == 2 { screen - 2 } else { screen }
}

/// The first step that shows the same map, if it is an earlier one: neighbours as in localization, and others.
fn first_with_map(step: usize) -> Option<usize> {
    [None, Some(0), None, Some(0), None, Some(2)].get(step).copied().flatten()
}

/// A module, and steps to learn from.
pub struct Case {
    pub structure: Structure,
    pub parameters: Vec<f32>,
    pub scenes: Vec<f32>,
    pub maps: Vec<f32>,
    pub touches: Vec<f32>,
    pub rewards: Vec<f32>,
    pub n_steps: usize,
}

impl Case {
    pub fn new(shape: ModuleShape, n_steps: usize) -> Self {
        let mut noise = Noise(shape.scene_len as u64 * 31 + n_steps as u64);
        let structure = Structure::new(shape).unwrap();
        // Wide enough that every nonlinearity is used on both sides, and biases that are not 0.
        let mut parameters = InitialWeights::FanIn.draw(&structure, 1.0, || 2.0 * noise.next());
        parameters.iter_mut().for_each(|parameter| *parameter += 0.05 * noise.next());
        let shape = structure.shape();
        let map_len = map_len(shape);
        let mut case = Self {
            scenes: noise.vector((n_steps + shape.k_b) * shape.scene_len),
            touches: noise.vector(n_steps * shape.n_touch()),
            rewards: noise.vector(n_steps * shape.k_f).iter().map(|x| x.abs()).collect(),
            maps: noise.vector(n_steps * map_len),
            parameters,
            n_steps,
            structure,
        };
        let ModuleShape { scene_len, k_b, .. } = *case.shape();
        for screen in 0..n_steps + k_b {
            let first = first_with_scene(screen) * scene_len;
            case.scenes.copy_within(first..first + scene_len, screen * scene_len);
        }
        for (step, first) in (0..n_steps).filter_map(|step| Some((step, first_with_map(step)?))) {
            case.maps.copy_within(first * map_len..(first + 1) * map_len, step * map_len);
        }
        case
    }

    pub fn shape(&self) -> &ModuleShape {
        self.structure.shape()
    }

    pub fn history(&self) -> Scenes<'_> {
        let ModuleShape { scene_len, k_b, .. } = *self.shape();
        Scenes { numbers: &self.scenes, len: scene_len, k_b, maps: &self.maps }
    }

    /// The map of a step.
    pub fn map(&self, step: usize) -> Vec<f64> {
        let n = map_len(self.shape());
        self.maps[step * n..][..n].iter().map(|&x| f64::from(x)).collect()
    }

    pub fn module(&self, instructions: Instructions) -> Module {
        Module::on(instructions, self.structure.clone(), self.parameters.clone())
    }

    pub fn psi(&self, step: usize) -> Vec<f64> {
        let lags = (0..=self.shape().k_b).rev();
        let history = self.history();
        lags.flat_map(|lag| history.scene(step, lag).iter().map(|&x| f64::from(x)).collect::<Vec<_>>())
            .collect()
    }

    pub fn touches(&self, step: usize) -> Vec<f64> {
        let n = self.shape().n_touch();
        self.touches[step * n..][..n].iter().map(|&x| f64::from(x)).collect()
    }

    pub fn visual(&self, module: &Module) -> VisualRows {
        let mut visual = VisualRows::new(&self.structure, self.n_steps);
        module.visual(&self.history(), &mut visual);
        visual
    }
}

fn map_len(shape: &ModuleShape) -> usize {
    shape
        .convolutions
        .as_ref()
        .map_or(0, |convolutions| convolutions.map.n_places * convolutions.map.n_channels)
}

impl touchstream_modules::module::ScreenHistory for Scenes<'_> {
    fn screen(&self, step: usize, lag: usize) -> Option<usize> {
        Some(step + self.k_b - lag)
    }
}
