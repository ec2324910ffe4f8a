//! Extracts the part of a model that computes the requested values, as an ONNX file.
//!
//! The runtime optimizes graphs when it loads them and keeps only the names of declared outputs. Declaring exactly the
//! requested values lets it optimize everything else, and it need not support operators after them.

use std::collections::BTreeSet;

use touchstream_env::{did_you_mean, nearest};

use super::error::OnnxProblem;
use super::file::{Node, OnnxFile};
use super::input::ImageInput;
use super::settings::Layout;
use super::wire::{put_bytes, put_varint};

/// Number of names listed in an error.
const N_LISTED: usize = 6;

/// A model reduced to the requested values.
pub struct CutModel {
    /// An ONNX file with exactly the requested outputs.
    pub bytes: Vec<u8>,
    pub input: ImageInput,
}

/// The names of all values that the nodes of a model compute.
pub fn onnx_values(bytes: &[u8]) -> Result<Vec<String>, OnnxProblem> {
    Ok(OnnxFile::read(bytes)?.makers().into_keys().map(str::to_owned).collect())
}

/// The part of a model that computes a value from a screen, as an ONNX file.
pub fn cut_onnx(bytes: &[u8], value: &str) -> Result<Vec<u8>, OnnxProblem> {
    let file = OnnxFile::read(bytes)?;
    Ok(file.cut(&[file.value_named(value)?], None)?.bytes)
}

impl<'a> OnnxFile<'a> {
    /// The value with a name, or the first output of the node with that name.
    pub fn value_named(&self, asked: &str) -> Result<&'a str, OnnxProblem> {
        if let Some((&value, _)) = self.makers().get_key_value(asked) {
            return Ok(value);
        }
        let named = self.nodes.iter().find(|node| !node.name.is_empty() && node.name == asked);
        if let Some(&output) = named.and_then(|node| node.outputs.first()) {
            return Ok(output);
        }
        let not_computed = |what| Err(OnnxProblem::NotComputed { asked: asked.to_owned(), what });
        if self.inputs.iter().any(|input| input.name == asked) {
            return not_computed("the input");
        }
        if self.raw_weights.contains_key(asked) {
            return not_computed("a weight");
        }
        Err(self.no_such_node(asked))
    }

    /// Whether a value has no spatial positions left, because they were pooled.
    pub fn is_pooled(&self, value: &str) -> bool {
        let makers = self.makers();
        let mut value = value;
        while let Some(node) = makers.get(value).map(|&node_idx| &self.nodes[node_idx]) {
            match (node.operator, node.inputs.first()) {
                ("GlobalAveragePool" | "GlobalMaxPool" | "ReduceMean" | "ReduceMax", _) => return true,
                ("Flatten" | "Reshape" | "Squeeze" | "Identity" | "Dropout", Some(input)) => value = input,
                _ => return false,
            }
        }
        false
    }

    fn no_such_node(&self, asked: &str) -> OnnxProblem {
        let values: Vec<&str> = self.nodes.iter().flat_map(|node| node.outputs.iter().copied()).collect();
        let names = self.nodes.iter().map(|node| node.name).chain(values.iter().copied());
        let near = nearest(asked, names.filter(|name| !name.is_empty()));
        let mut listed: Vec<&str> = self.outputs.iter().map(|output| output.name).collect();
        listed.extend(
            values.iter().rev().filter(|value| !self.outputs.iter().any(|output| output.name == **value)),
        );
        listed.truncate(N_LISTED);
        OnnxProblem::NoSuchNode {
            asked: asked.to_owned(),
            suggestion: did_you_mean(near),
            candidates: match listed.as_slice() {
                [] => "it has no nodes at all".to_owned(),
                listed => format!("its last of {} are `{}`", values.len(), listed.join("`, `")),
            },
        }
    }

    /// The part of the model that computes these values from a screen.
    pub fn cut(&self, values: &[&'a str], layout: Option<Layout>) -> Result<CutModel, OnnxProblem> {
        let (nodes, read) = self.nodes_for(values);
        self.check_order(&nodes)?;
        if let Some(node) = nodes.iter().find(|node| draws_random_numbers(node)) {
            let (node, operator) = (node.display_name().to_owned(), node.qualified_operator());
            return Err(OnnxProblem::Random { node, operator });
        }
        let inputs: Vec<_> = self.inputs.iter().filter(|input| read.contains(input.name)).collect();
        let [input] = inputs.as_slice() else {
            let names = inputs.iter().map(|input| input.name.to_owned()).collect();
            return Err(OnnxProblem::Inputs { names });
        };
        let input = ImageInput::from_declared(input, layout)?;

        let weights = self.raw_weights.iter().filter(|(name, _)| read.contains(**name)).map(|(_, raw)| *raw);
        let mut graph = nodes.iter().map(|node| node.raw).chain(weights).collect::<Vec<_>>().concat();
        put_bytes(&mut graph, 11, &input_info(&input));
        for value in values {
            let mut output = Vec::new();
            put_bytes(&mut output, 1, value.as_bytes());
            put_bytes(&mut graph, 12, &output);
        }
        let mut bytes = Vec::new();
        put_varint(&mut bytes, 1, self.ir_version);
        self.raw_opset_imports.iter().for_each(|raw| bytes.extend_from_slice(raw));
        put_bytes(&mut bytes, 7, &graph);
        Ok(CutModel { bytes, input })
    }

    /// The nodes that the values depend on, in the file's order, and the names of all their inputs.
    fn nodes_for(&self, values: &[&'a str]) -> (Vec<&Node<'a>>, BTreeSet<&'a str>) {
        let makers = self.makers();
        let (mut read, mut kept) = (BTreeSet::new(), BTreeSet::new());
        let mut wanted = values.to_vec();
        while let Some(node_idx) = wanted.pop().map(|value| makers.get(value)) {
            let Some(&node_idx) = node_idx else { continue };
            if kept.insert(node_idx) {
                let node = &self.nodes[node_idx];
                let names = node.inputs.iter().chain(&node.inner_inputs).copied();
                wanted.extend(names.filter(|&name| read.insert(name)));
            }
        }
        (kept.into_iter().map(|node_idx| &self.nodes[node_idx]).collect(), read)
    }

    /// Checks that nodes only read earlier values and that each value is computed once; the runtime relies on it.
    fn check_order(&self, nodes: &[&Node<'a>]) -> Result<(), OnnxProblem> {
        let mut made: BTreeSet<&str> = self.inputs.iter().map(|input| input.name).collect();
        made.extend(self.raw_weights.keys());
        // An empty name denotes an omitted optional input.
        made.insert("");
        for node in nodes {
            if let Some(value) = node.inputs.iter().find(|input| !made.contains(**input)) {
                let (node, value) = (node.display_name().to_owned(), (*value).to_owned());
                return Err(OnnxProblem::Unordered { node, value });
            }
            for &output in node.outputs.iter().filter(|output| !output.is_empty()) {
                if !made.insert(output) {
                    return Err(OnnxProblem::MadeTwice { value: output.to_owned() });
                }
            }
        }
        Ok(())
    }
}

fn draws_random_numbers(node: &Node<'_>) -> bool {
    node.operator.starts_with("Random") || matches!(node.operator, "Bernoulli" | "Multinomial")
}

/// A `ValueInfoProto` of the input for one screen.
fn input_info(input: &ImageInput) -> Vec<u8> {
    let mut shape = Vec::new();
    for len in input.shape() {
        let mut axis = Vec::new();
        put_varint(&mut axis, 1, len as u64);
        put_bytes(&mut shape, 1, &axis);
    }
    let mut tensor = Vec::new();
    put_varint(&mut tensor, 1, 1);
    put_bytes(&mut tensor, 2, &shape);
    let mut kind = Vec::new();
    put_bytes(&mut kind, 1, &tensor);
    let mut info = Vec::new();
    put_bytes(&mut info, 1, input.name.as_bytes());
    put_bytes(&mut info, 2, &kind);
    info
}
