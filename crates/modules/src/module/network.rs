//! A module: a structure with its parameters.

use crate::arithmetic::Instructions;
use crate::large_memory::AlignedNumbers;
use crate::linear::Weights;
use crate::module::structure::{Flattened, Stage, Structure};
use std::sync::Arc;

/// A network that predicts `k_f` rewards of a touch from features and touches.
#[derive(Clone, Debug)]
pub struct Module {
    structure: Arc<Structure>,
    parameters: AlignedNumbers,
    instructions: Instructions,
}

impl Module {
    /// `parameters` are in the order of [`Structure::tensors`].
    pub fn new(structure: Structure, parameters: Vec<f32>) -> Self {
        Self::on(Instructions::best(), structure, parameters)
    }

    /// The same on the given instruction set.
    pub fn on(instructions: Instructions, structure: Structure, parameters: Vec<f32>) -> Self {
        assert_eq!(parameters.len(), structure.n_parameters(), "number of parameters");
        Self { structure: Arc::new(structure), parameters: AlignedNumbers::from(&*parameters), instructions }
    }

    pub fn structure(&self) -> &Structure {
        &self.structure
    }

    pub(crate) fn shared_structure(&self) -> Arc<Structure> {
        Arc::clone(&self.structure)
    }

    /// All weights and biases, in the order of [`Structure::tensors`].
    pub fn parameters(&self) -> &[f32] {
        &self.parameters
    }

    pub fn parameters_mut(&mut self) -> &mut [f32] {
        &mut self.parameters
    }

    pub fn instructions(&self) -> Instructions {
        self.instructions
    }

    pub(crate) fn weights(&self, stage: &Stage) -> Weights<'_> {
        Weights::whole(&self.parameters[stage.weights()], stage.n_in())
    }

    /// `[n_places, n_channels, n_parts, n_units]`
    pub(crate) fn flattened_weights(&self, flattened: &Flattened) -> &[f32] {
        &self.parameters[flattened.weights()]
    }

    pub(crate) fn biases(&self, stage: &Stage) -> &[f32] {
        &self.parameters[stage.biases()]
    }
}
