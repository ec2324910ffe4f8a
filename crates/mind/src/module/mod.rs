//! Modules: from features and touches to predicted rewards, and back.

mod head;
mod initial;
mod learner;
mod network;
mod structure;
mod table;
mod visual;

pub(crate) use head::blocks;
pub use head::{Candidates, HeadMemory};
pub use initial::InitialWeights;
pub use learner::{Batch, Learner};
pub(crate) use learner::{StageGradient, give_gradient};
pub use network::Module;
pub use structure::{LayerShape, ModuleShape, ShapeError, Stage, Structure, TensorPlace};
pub use table::{MODULES, ModuleKind, N_EARLY_LAYERS, N_LATE_LAYERS, Size};
pub use visual::{SceneHistory, ScreenHistory, VisualRows};
