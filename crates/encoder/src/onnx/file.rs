//! Parses an ONNX file: its graph of nodes, weights and inputs, in place.
//!
//! Field numbers are those of `onnx.proto`. The runtime has its own parser; this one lists nodes for users, cuts the
//! graph at the requested nodes, and rejects files on which the runtime would recurse indefinitely.

use std::collections::{BTreeMap, BTreeSet};

use super::error::OnnxProblem;
use super::wire::{Field, WireError, fields};

/// Maximum nesting of graphs within nodes (`If`, `Loop`) and of sequence types.
const MAX_NESTING: usize = 8;

/// The parts of an ONNX file that determine features.
pub struct OnnxFile<'a> {
    pub ir_version: u64,
    /// Operator set versions, as encoded in the file.
    pub raw_opset_imports: Vec<&'a [u8]>,
    /// In the file's order, which is topological.
    pub nodes: Vec<Node<'a>>,
    /// Weights by name, as encoded in the file.
    pub raw_weights: BTreeMap<&'a str, &'a [u8]>,
    /// Without weights, which old files list as inputs, too.
    pub inputs: Vec<ValueInfo<'a>>,
    /// The outputs that the model declares.
    pub outputs: Vec<ValueInfo<'a>>,
    /// Declared shapes of other values.
    pub value_infos: Vec<ValueInfo<'a>>,
}

/// An operator with its inputs and outputs.
pub struct Node<'a> {
    pub name: &'a str,
    pub operator: &'a str,
    pub domain: &'a str,
    pub inputs: Vec<&'a str>,
    pub outputs: Vec<&'a str>,
    /// Names that graphs within this node read, including some that they compute themselves.
    pub inner_inputs: BTreeSet<&'a str>,
    pub raw: &'a [u8],
}

/// A name, an element type and a shape, where declared.
pub struct ValueInfo<'a> {
    pub name: &'a str,
    /// A value of `TensorProto.DataType`; 1 is float32.
    pub element: Option<u64>,
    /// `None` for axes without a fixed length.
    pub shape: Option<Vec<Option<usize>>>,
}

impl<'a> OnnxFile<'a> {
    pub fn read(bytes: &'a [u8]) -> Result<Self, OnnxProblem> {
        let (mut ir_version, mut graph, mut raw_opset_imports) = (None, None, Vec::new());
        for field in fields(bytes) {
            let field = field?;
            match field.number {
                1 => ir_version = Some(field.varint()?),
                7 => graph = Some(field.bytes()?),
                8 => raw_opset_imports.push(field.raw),
                _ => {}
            }
        }
        let (Some(ir_version), Some(graph)) = (ir_version, graph) else {
            return Err(OnnxProblem::Damaged("it is not an ONNX file: it contains no graph".to_owned()));
        };
        let mut file = Self {
            ir_version,
            raw_opset_imports,
            nodes: Vec::new(),
            raw_weights: BTreeMap::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            value_infos: Vec::new(),
        };
        for field in fields(graph) {
            file.read_graph_field(field?)?;
        }
        file.inputs.retain(|input| !file.raw_weights.contains_key(input.name));
        Ok(file)
    }

    fn read_graph_field(&mut self, field: Field<'a>) -> Result<(), OnnxProblem> {
        match field.number {
            1 => self.nodes.push(Node::read(field)?),
            5 => {
                let tensor = field.bytes()?;
                refuse_external_data(tensor)?;
                self.raw_weights.insert(text_of(tensor, 8)?, field.raw);
            }
            11 => self.inputs.push(ValueInfo::read(field.bytes()?)?),
            12 => self.outputs.push(ValueInfo::read(field.bytes()?)?),
            13 => self.value_infos.push(ValueInfo::read(field.bytes()?)?),
            _ => {}
        }
        Ok(())
    }

    /// For each value, the index in `nodes` of the node that computes it.
    pub fn makers(&self) -> BTreeMap<&'a str, usize> {
        let nodes = self.nodes.iter().enumerate();
        let made =
            nodes.flat_map(|(node_idx, node)| node.outputs.iter().map(move |&output| (output, node_idx)));
        made.filter(|(output, _)| !output.is_empty()).collect()
    }
}

impl<'a> Node<'a> {
    fn read(field: Field<'a>) -> Result<Self, OnnxProblem> {
        let mut node = Self {
            name: "",
            operator: "",
            domain: "",
            inputs: Vec::new(),
            outputs: Vec::new(),
            inner_inputs: BTreeSet::new(),
            raw: field.raw,
        };
        for field in fields(field.bytes()?) {
            let field = field?;
            match field.number {
                1 => node.inputs.push(field.text()?),
                2 => node.outputs.push(field.text()?),
                3 => node.name = field.text()?,
                4 => node.operator = field.text()?,
                5 => read_attribute(field.bytes()?, MAX_NESTING, &mut node.inner_inputs)?,
                7 => node.domain = field.text()?,
                _ => {}
            }
        }
        Ok(node)
    }

    /// The node's name, or the name of its first output if it has none.
    pub fn display_name(&self) -> &'a str {
        match (self.name, self.outputs.first()) {
            ("", Some(output)) => output,
            (name, _) => name,
        }
    }

    /// The operator, with its domain unless that is ONNX's own.
    pub fn qualified_operator(&self) -> String {
        match self.domain {
            "" | "ai.onnx" => self.operator.to_owned(),
            domain => format!("{domain}.{}", self.operator),
        }
    }
}

/// Collects the inputs of graphs within an attribute, and rejects weights outside the file.
fn read_attribute<'a>(
    attribute: &'a [u8],
    levels_left: usize,
    inner_inputs: &mut BTreeSet<&'a str>,
) -> Result<(), OnnxProblem> {
    for field in fields(attribute) {
        let field = field?;
        match field.number {
            5 => refuse_external_data(field.bytes()?)?,
            6 => read_inner_graph(field.bytes()?, levels_left, inner_inputs)?,
            _ => {}
        }
    }
    Ok(())
}

fn read_inner_graph<'a>(
    graph: &'a [u8],
    levels_left: usize,
    inner_inputs: &mut BTreeSet<&'a str>,
) -> Result<(), OnnxProblem> {
    let levels_left = levels_left.checked_sub(1).ok_or_else(too_deep)?;
    for field in fields(graph) {
        let field = field?;
        match field.number {
            1 => {
                for field in fields(field.bytes()?) {
                    let field = field?;
                    match field.number {
                        1 => drop(inner_inputs.insert(field.text()?)),
                        5 => read_attribute(field.bytes()?, levels_left, inner_inputs)?,
                        _ => {}
                    }
                }
            }
            5 => refuse_external_data(field.bytes()?)?,
            11..=13 => {
                let value = ValueInfo::read(field.bytes()?)?;
                if field.number == 12 {
                    inner_inputs.insert(value.name);
                }
            }
            _ => {}
        }
    }
    Ok(())
}

impl<'a> ValueInfo<'a> {
    fn read(message: &'a [u8]) -> Result<Self, OnnxProblem> {
        let mut value = Self { name: "", element: None, shape: None };
        for field in fields(message) {
            let field = field?;
            match field.number {
                1 => value.name = field.text()?,
                2 => value.read_type(field.bytes()?, MAX_NESTING)?,
                _ => {}
            }
        }
        Ok(value)
    }

    fn read_type(&mut self, message: &'a [u8], levels_left: usize) -> Result<(), OnnxProblem> {
        let levels_left = levels_left.checked_sub(1).ok_or_else(too_deep)?;
        for field in fields(message) {
            let field = field?;
            match field.number {
                1 => self.read_tensor_type(field.bytes()?)?,
                4 => {
                    for field in fields(field.bytes()?) {
                        let field = field?;
                        if field.number == 1 {
                            // Parsed only to check its depth: a sequence has no shape.
                            Self { name: "", element: None, shape: None }
                                .read_type(field.bytes()?, levels_left)?;
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn read_tensor_type(&mut self, message: &'a [u8]) -> Result<(), WireError> {
        for field in fields(message) {
            let field = field?;
            match field.number {
                1 => self.element = Some(field.varint()?),
                2 => {
                    let axes = fields(field.bytes()?).filter(|axis| !axis.is_ok_and(|axis| axis.number != 1));
                    self.shape = Some(axes.map(|axis| axis_len(axis?.bytes()?)).collect::<Result<_, _>>()?);
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// The length of an axis. Some exporters write 0 or -1 if it is not fixed.
fn axis_len(message: &[u8]) -> Result<Option<usize>, WireError> {
    let mut len = None;
    for field in fields(message) {
        let field = field?;
        if field.number == 1 {
            len = u32::try_from(field.varint()?).ok().filter(|&len| len > 0).map(|len| len as usize);
        }
    }
    Ok(len)
}

fn refuse_external_data(tensor: &[u8]) -> Result<(), OnnxProblem> {
    let (mut is_external, mut location) = (false, "");
    for field in fields(tensor) {
        let field = field?;
        match field.number {
            13 if text_of(field.bytes()?, 1)? == "location" => location = text_of(field.bytes()?, 2)?,
            14 => is_external = field.varint()? == 1,
            _ => {}
        }
    }
    match is_external {
        true => Err(OnnxProblem::ExternalData { location: location.to_owned() }),
        false => Ok(()),
    }
}

/// The text of the last field with this number, or an empty string.
fn text_of(message: &[u8], number: u64) -> Result<&str, WireError> {
    let mut text = "";
    for field in fields(message) {
        let field = field?;
        if field.number == number {
            text = field.text()?;
        }
    }
    Ok(text)
}

fn too_deep() -> OnnxProblem {
    OnnxProblem::Damaged(format!("graphs or types within it nest more than {MAX_NESTING} deep"))
}
