//! Lists a model's values with their shapes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rten::Value;
use rten_tensor::Layout as _;
use serde::Serialize;
use touchstream_env::screen::Screen;

use super::error::{OnnxError, OnnxProblem};
use super::file::{Node, OnnxFile};
use super::input::format_shape;
use super::model::read_model;
use super::runner::{Rewriting, Runner, floats};
use super::settings::{Layout, Preprocessing};
use super::spatial::SpatialValues;
use super::trial_run::try_listing;

/// The inputs and values of an ONNX model.
#[derive(Clone, Debug, Serialize)]
pub struct OnnxModelInfo {
    /// The inputs with their declared shapes, such as `x [?, 3, 224, 224]`.
    pub inputs: Vec<String>,
    /// The outputs that the model declares.
    pub outputs: Vec<String>,
    /// Float values in the order of computation.
    pub values: Vec<OnnxValue>,
    /// Why the model could not be run to determine shapes; shapes are then as declared in the file.
    pub not_run: Option<String>,
}

/// A value that can be used as scene vector or map.
#[derive(Clone, Debug, Serialize)]
pub struct OnnxValue {
    pub name: String,
    /// The operator that computes it.
    pub operator: String,
    /// The shape for one screen, if known.
    pub shape: Option<Vec<usize>>,
    pub can_be_map: bool,
    /// Number of rows, and of columns, if the value can be a spatial map; resampled to 14.
    pub map_side: Option<usize>,
}

impl OnnxModelInfo {
    /// Reads a model and, if possible, runs it once to determine all shapes.
    pub fn read(file: &Path, preprocessing: &Preprocessing) -> Result<Self, OnnxError> {
        Self::read_file(file, preprocessing).map_err(OnnxError::at(file))
    }

    fn read_file(path: &Path, preprocessing: &Preprocessing) -> Result<Self, OnnxProblem> {
        preprocessing.check().map_err(OnnxProblem::Preprocessing)?;
        let bytes = read_model(path)?;
        let file = OnnxFile::read(&bytes)?;
        let shapes = try_listing(path, preprocessing, &file, bytes.len())
            .and_then(|()| shapes_by_running(&file, preprocessing));
        let (shapes, not_run) = match shapes {
            Ok(shapes) => (shapes, None),
            Err(problem) => (declared_shapes(&file), Some(problem.to_string())),
        };
        let describe = |input: &super::file::ValueInfo<'_>| match &input.shape {
            Some(shape) => format!("{} {}", input.name, format_shape(shape)),
            None => input.name.to_owned(),
        };
        Ok(Self {
            inputs: file.inputs.iter().map(describe).collect(),
            outputs: file.outputs.iter().map(|output| output.name.to_owned()).collect(),
            values: shapes,
            not_run,
        })
    }
}

/// The outputs of all nodes, with their operators.
fn values_of<'a>(file: &OnnxFile<'a>) -> Vec<(&'a str, String)> {
    let nodes = file.nodes.iter().filter(|node| node.operator != "Constant");
    let values =
        nodes.flat_map(|node| node.outputs.iter().map(|&output| (output, node.qualified_operator())));
    values.filter(|(name, _)| !name.is_empty()).collect()
}

/// Nodes that are run at once. Their outputs are dropped when no later node reads them.
const N_AT_ONCE: usize = 64;

fn shapes_by_running(
    file: &OnnxFile<'_>,
    preprocessing: &Preprocessing,
) -> Result<Vec<OnnxValue>, OnnxProblem> {
    let values = values_of(file);
    let names: Vec<&str> = values.iter().map(|&(name, _)| name).collect();
    let runner = Runner::load(file, &names, preprocessing, Rewriting::Never)?;
    let (input_name, input) = runner.input_value(&Screen::grey());
    let last_reader = last_readers(file);
    let mut live: BTreeMap<&str, Value> = BTreeMap::from([(input_name.as_str(), input)]);
    let mut found = Vec::new();
    let nodes: Vec<(usize, &Node<'_>)> = file.nodes.iter().enumerate().collect();
    for part in nodes.chunks(N_AT_ONCE) {
        let computed = part.iter().filter(|(_, node)| node.operator != "Constant");
        let wanted: Vec<(&str, &Node<'_>)> = computed
            .flat_map(|(_, node)| node.outputs.iter().map(move |&output| (output, *node)))
            .filter(|(output, _)| !output.is_empty())
            .collect();
        let read: BTreeSet<&str> =
            part.iter().flat_map(|(_, node)| node.inputs.iter().chain(&node.inner_inputs)).copied().collect();
        let known = live.iter().filter(|(name, _)| read.contains(**name)).map(|(&name, value)| (name, value));
        let names: Vec<&str> = wanted.iter().map(|&(name, _)| name).collect();
        let outputs = runner.run_part(known, &names)?;
        for (&(name, node), output) in wanted.iter().zip(&outputs) {
            if let Ok(floats) = floats(name, output) {
                let shape = floats.shape().to_vec();
                found.push(OnnxValue::new(name, node.qualified_operator(), Some(shape), runner.layout()));
            }
        }
        live.extend(names.into_iter().zip(outputs));
        let end = part.last().map_or(0, |(idx, _)| *idx);
        live.retain(|name, _| last_reader.get(name).is_some_and(|&reader| reader > end));
    }
    Ok(found)
}

/// For each value, the index of the last node that reads it.
fn last_readers<'a>(file: &OnnxFile<'a>) -> BTreeMap<&'a str, usize> {
    let nodes = file.nodes.iter().enumerate();
    nodes
        .flat_map(|(idx, node)| node.inputs.iter().chain(&node.inner_inputs).map(move |&name| (name, idx)))
        .collect()
}

fn declared_shapes(file: &OnnxFile<'_>) -> Vec<OnnxValue> {
    let declared_shape = |name: &str| {
        let mut declared = file.value_infos.iter().chain(&file.outputs);
        let shape = declared.find(|value| value.name == name)?.shape.clone()?;
        // The first axis is the batch, here of one screen.
        shape.into_iter().enumerate().map(|(axis, len)| if axis == 0 { Some(1) } else { len }).collect()
    };
    let values = values_of(file).into_iter();
    values
        .map(|(name, operator)| OnnxValue::new(name, operator, declared_shape(name), Layout::Nchw))
        .collect()
}

impl OnnxValue {
    fn new(name: &str, operator: String, shape: Option<Vec<usize>>, layout: Layout) -> Self {
        let spatial = shape.as_deref().and_then(|shape| SpatialValues::from_shape(shape, layout));
        let (can_be_map, map_side) = (spatial.is_some(), spatial.map(|values| values.side));
        Self { name: name.to_owned(), operator, shape, can_be_map, map_side }
    }
}
