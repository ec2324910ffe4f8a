//! What a model could be asked for: its values with their shapes.

use std::path::Path;

use rten_tensor::Layout as _;
use touchstream_env::screen::Screen;

use super::error::{OnnxError, OnnxProblem};
use super::file::OnnxFile;
use super::input::said_shape;
use super::model::read_model;
use super::runner::{Rewriting, Runner, floats};
use super::settings::{Layout, Preprocessing};
use super::spatial::SpatialValues;

/// An ONNX model from outside: what can be asked for as scene vector and as map.
#[derive(Clone, Debug)]
pub struct OnnxModelInfo {
    /// The inputs and the shapes they are declared with, `x [?, 3, 224, 224]`.
    pub inputs: Vec<String>,
    /// What the model itself calls its outputs.
    pub outputs: Vec<String>,
    /// Values of float nodes in the order they are computed.
    pub values: Vec<OnnxValue>,
    /// Why the model could not be run to find shapes; those below are then what the file tells.
    pub not_run: Option<String>,
}

/// A value that can be asked for by its name.
#[derive(Clone, Debug)]
pub struct OnnxValue {
    /// The name.
    pub name: String,
    /// The operator that makes it.
    pub operator: String,
    /// The shape for one screen, where known.
    pub shape: Option<Vec<usize>>,
    /// Rows (and columns) that this value would have as a map, if it can be one.
    pub map_side: Option<usize>,
}

impl OnnxModelInfo {
    /// Reads a model and, if the runtime can, runs it once to find all shapes.
    pub fn read(file: &Path, preprocessing: &Preprocessing) -> Result<Self, OnnxError> {
        Self::read_file(file, preprocessing).map_err(OnnxError::at(file))
    }

    fn read_file(path: &Path, preprocessing: &Preprocessing) -> Result<Self, OnnxProblem> {
        preprocessing.check().map_err(OnnxProblem::Preprocessing)?;
        let bytes = read_model(path)?;
        let file = OnnxFile::read(&bytes)?;
        let (shapes, not_run) = match shapes_by_running(&file, preprocessing) {
            Ok(shapes) => (shapes, None),
            Err(problem) => (shapes_as_told(&file), Some(problem.to_string())),
        };
        let input_said = |input: &super::file::ValueInfo<'_>| match &input.shape {
            Some(shape) => format!("{} {}", input.name, said_shape(shape)),
            None => input.name.to_owned(),
        };
        Ok(Self {
            inputs: file.inputs.iter().map(input_said).collect(),
            outputs: file.outputs.iter().map(|output| output.name.to_owned()).collect(),
            values: shapes,
            not_run,
        })
    }

    /// Values that can be the spatial map.
    pub fn map_candidates(&self) -> impl Iterator<Item = &OnnxValue> {
        self.values.iter().filter(|value| value.map_side.is_some())
    }
}

/// Values of all nodes with the operators that make them.
fn values_of<'a>(file: &OnnxFile<'a>) -> Vec<(&'a str, String)> {
    let nodes = file.nodes.iter().filter(|node| node.operator != "Constant");
    let values = nodes.flat_map(|node| node.outputs.iter().map(|&output| (output, node.said_operator())));
    values.filter(|(name, _)| !name.is_empty()).collect()
}

fn shapes_by_running(
    file: &OnnxFile<'_>,
    preprocessing: &Preprocessing,
) -> Result<Vec<OnnxValue>, OnnxProblem> {
    let values = values_of(file);
    let names: Vec<&str> = values.iter().map(|&(name, _)| name).collect();
    let runner = Runner::load(file, &names, preprocessing, Rewriting::Never)?;
    let outputs = runner.run(&Screen::grey(), None)?;
    let mut found = Vec::new();
    for ((name, operator), output) in values.into_iter().zip(&outputs) {
        if let Ok(floats) = floats(name, output) {
            let shape = floats.shape().to_vec();
            found.push(OnnxValue::new(name, operator, Some(shape), runner.layout()));
        }
    }
    Ok(found)
}

fn shapes_as_told(file: &OnnxFile<'_>) -> Vec<OnnxValue> {
    let told_shape = |name: &str| {
        let mut told = file.told_values.iter().chain(&file.outputs);
        let shape = told.find(|value| value.name == name)?.shape.clone()?;
        // The first axis holds screens, of which there is one.
        shape.into_iter().enumerate().map(|(axis, len)| if axis == 0 { Some(1) } else { len }).collect()
    };
    let values = values_of(file).into_iter();
    values.map(|(name, operator)| OnnxValue::new(name, operator, told_shape(name), Layout::Nchw)).collect()
}

impl OnnxValue {
    fn new(name: &str, operator: String, shape: Option<Vec<usize>>, layout: Layout) -> Self {
        let spatial = shape.as_deref().and_then(|shape| SpatialValues::from_shape(shape, layout));
        Self { name: name.to_owned(), operator, shape, map_side: spatial.map(|values| values.side) }
    }
}
