//! Runs a model: the input is a screen, the outputs are the requested values.

use std::sync::Arc;

use rten::{
    LoadError, LoadErrorKind, Model, ModelOptions, NodeId, RunError, RunOptions, ThreadPool, Value,
    ValueOrView,
};
use rten_tensor::{AsView as _, Tensor, TensorView};
use touchstream_env::screen::Screen;

use super::caught_panics::without_panics;
use super::error::OnnxProblem;
use super::file::OnnxFile;
use super::input::ImageInput;
use super::pixels::InputMaker;
use super::settings::{Layout, Preprocessing};

/// A loaded model that computes the requested values from a screen.
pub struct Runner {
    model: Model,
    input_id: NodeId,
    output_ids: Vec<NodeId>,
    values: Vec<String>,
    input_maker: InputMaker,
}

/// Whether the runtime may optimize the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rewriting {
    /// Optimize, unless this merges two requested values, such as `x` and `Identity(x)`.
    WherePossible,
    Never,
}

impl Runner {
    /// Loads the part of a model that computes these values, which must be different.
    pub fn load(
        file: &OnnxFile<'_>,
        values: &[&str],
        preprocessing: &Preprocessing,
        rewriting: Rewriting,
    ) -> Result<Self, OnnxProblem> {
        let cut = file.cut(values, preprocessing.layout)?;
        let mut options = ModelOptions::with_all_ops();
        options.enable_optimization(rewriting == Rewriting::WherePossible).prepack_weights(true);
        let loaded = without_panics(|| options.load(cut.bytes))?;
        let model = match loaded {
            Ok(model) => model,
            Err(error) if rewriting == Rewriting::WherePossible && failed_rewriting(&error) => {
                return Self::load(file, values, preprocessing, Rewriting::Never);
            }
            Err(error) => return Err(problem_from_load_error(&error, file)),
        };
        let output_ids: Result<_, _> = values.iter().map(|value| model.node_id(value)).collect();
        Ok(Self {
            input_id: model.node_id(&cut.input.name).map_err(refused)?,
            output_ids: output_ids.map_err(refused)?,
            model,
            values: values.iter().map(|&value| value.to_owned()).collect(),
            input_maker: InputMaker::new(cut.input, preprocessing),
        })
    }

    /// The values for one screen, in the order of the request.
    pub fn run(&self, screen: &Screen, lane: Option<Arc<ThreadPool>>) -> Result<Vec<Value>, OnnxProblem> {
        let shape = self.input_maker.shape();
        let input = Tensor::from_data(&shape[..], self.input_maker.input_from_screen(screen));
        let options = RunOptions::default().with_thread_pool(lane);
        let inputs = vec![(self.input_id, input.into())];
        without_panics(|| self.model.run(inputs, &self.output_ids, Some(options)))?.map_err(refused)
    }

    /// Computes some values from values that were computed before, of which none or some may be needed.
    pub fn run_part<'a>(
        &self,
        known: impl Iterator<Item = (&'a str, &'a Value)>,
        wanted: &[&str],
    ) -> Result<Vec<Value>, OnnxProblem> {
        let id_of = |name: &str| self.model.node_id(name).map_err(refused);
        let known: Vec<(NodeId, ValueOrView<'_>)> = known
            .map(|(name, value)| Ok((id_of(name)?, value.into())))
            .collect::<Result<_, OnnxProblem>>()?;
        let wanted: Vec<NodeId> = wanted.iter().map(|name| id_of(name)).collect::<Result<_, _>>()?;
        without_panics(|| self.model.run(known, &wanted, None))?.map_err(refused)
    }

    /// The name and value of the model's input for one screen.
    pub fn input_value(&self, screen: &Screen) -> (String, Value) {
        let shape = self.input_maker.shape();
        let input = Tensor::from_data(&shape[..], self.input_maker.input_from_screen(screen));
        (self.input().name.clone(), input.into())
    }

    /// Names of the values, in the order of the request.
    pub fn values(&self) -> &[String] {
        &self.values
    }

    /// The input that screens are converted to.
    pub fn input(&self) -> &ImageInput {
        self.input_maker.input()
    }

    pub fn layout(&self) -> Layout {
        self.input().layout
    }
}

/// A value as floats.
pub fn floats<'a>(node: &str, value: &'a Value) -> Result<TensorView<'a, f32>, OnnxProblem> {
    match value {
        Value::FloatTensor(tensor) => Ok(tensor.view()),
        other => Err(OnnxProblem::NotFloat { node: node.to_owned(), kind: other.dtype().to_string() }),
    }
}

fn refused(error: RunError) -> OnnxProblem {
    OnnxProblem::Refused(error.to_string())
}

fn failed_rewriting(error: &LoadError) -> bool {
    matches!(error.kind(), LoadErrorKind::OptimizeError | LoadErrorKind::ShapeInferenceFailed)
}

fn problem_from_load_error(error: &LoadError, file: &OnnxFile<'_>) -> OnnxProblem {
    let message = error.to_string();
    let is_unsupported = message.contains("operator not supported");
    let node = file.nodes.iter().find(|node| {
        let is_named = error.node().is_none_or(|name| name == node.name);
        is_named && message.contains(&format!("{} operator", node.operator))
    });
    match node {
        Some(node) if is_unsupported => OnnxProblem::Unsupported {
            operator: node.qualified_operator(),
            node: node.display_name().to_owned(),
        },
        _ => OnnxProblem::Refused(message),
    }
}
