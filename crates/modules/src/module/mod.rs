//! Modules: from features and touches to predicted rewards, with the backward pass.

mod batch_pass;
mod convolution;
mod gradient;
mod head;
mod initial;
mod learner;
mod network;
mod structure;
mod table;
mod visual;

pub use batch_pass::{Batch, BatchSize};
pub(crate) use convolution::ConvolutionGradient;
pub(crate) use gradient::{StageGradient, VisualInputs, emit_gradient};
pub use head::{Candidates, HeadMemory};
pub use initial::InitialWeights;
pub use learner::Learner;
pub use network::Module;
pub use structure::{
    Convolutions, Flattened, FlattenedScale, LayerShape, MapShape, ModuleShape, ShapeError, Stage, Structure,
    TensorPlace,
};
pub use table::{MODULES, ModuleKind, N_EARLY_LAYERS, N_LATE_LAYERS, Size};
pub use visual::{SceneHistory, ScreenHistory, VisualRows};
