//! EMS, its 23 ablations and the convolutional EMS as one table (the paper's section "Efficient Neural Modules" and its
//! supplement).

use crate::nonlinearity::Nonlinearity::{self, Crelu, Cres, Elu, Relu, ReluSq, Sigmoid, Sq, Tanh};

/// One of the paper's modules.
#[derive(Debug, PartialEq, Eq)]
pub struct ModuleKind {
    /// Unique name.
    pub id: &'static str,
    pub paper_name: &'static str,
    /// The nonlinearities of 1 x 1 convolutions over the spatial map, in place of a bottleneck.
    pub convolutions: &'static [Nonlinearity],
    /// The nonlinearity of an early bottleneck; `None`: late bottleneck.
    pub bottleneck: Option<Nonlinearity>,
    /// The nonlinearity of the other layers.
    pub layers: Nonlinearity,
    pub size: Size,
}

/// The width of a module; the number of units depends on the paradigm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Size {
    /// The width of EMS.
    Small,
    /// Units of the paper's medium modules.
    Medium,
    /// Units of the paper's large modules.
    Large,
}

impl Size {
    /// `small`, `medium` or `large`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Small => "small",
            Self::Medium => "medium",
            Self::Large => "large",
        }
    }
}

const fn early(
    id: &'static str,
    paper_name: &'static str,
    bottleneck: Nonlinearity,
    layers: Nonlinearity,
) -> ModuleKind {
    ModuleKind { id, paper_name, convolutions: &[], bottleneck: Some(bottleneck), layers, size: Size::Small }
}

const fn late(id: &'static str, paper_name: &'static str, layers: Nonlinearity, size: Size) -> ModuleKind {
    ModuleKind { id, paper_name, convolutions: &[], bottleneck: None, layers, size }
}

/// The supplement's "single tanh and two CReS convolutions".
const CONV_EMS: ModuleKind = ModuleKind {
    id: "conv-ems",
    paper_name: "Conv-EMS",
    convolutions: &[Tanh, Cres, Cres],
    bottleneck: None,
    layers: Cres,
    size: Size::Small,
};

/// EMS and its ablations, 24 in all, then the convolutional EMS.
#[rustfmt::skip]
pub const MODULES: [ModuleKind; 25] = [
    early("ems", "EMS", Crelu, Cres),
    early("partial-symm", "Partial symm", Crelu, ReluSq),
    early("no-symm", "No symm", Relu, ReluSq),
    early("no-symm-partial-mult", "No symm/partial mult", Relu, Sq),
    early("no-mult-symm-relu", "No mult/symm ReLU", Relu, Relu),
    early("no-mult-symm-tanh", "No mult/symm tanh", Tanh, Tanh),
    early("no-mult-symm-sigmoid", "No mult/symm sig", Sigmoid, Sigmoid),
    early("no-mult-symm-elu", "No mult/symm eLU", Elu, Elu),
    early("no-mult-symm-crelu", "No mult/symm CReLU", Crelu, Crelu),
    late("none-relu-small", "None ReLU (small)", Relu, Size::Small),
    late("none-relu-medium", "None ReLU (medium)", Relu, Size::Medium),
    late("none-relu-large", "None ReLU (large)", Relu, Size::Large),
    late("none-tanh-small", "None tanh (small)", Tanh, Size::Small),
    late("none-tanh-medium", "None tanh (medium)", Tanh, Size::Medium),
    late("none-tanh-large", "None tanh (large)", Tanh, Size::Large),
    late("none-sigmoid-small", "None sig (small)", Sigmoid, Size::Small),
    late("none-sigmoid-medium", "None sig (medium)", Sigmoid, Size::Medium),
    late("none-sigmoid-large", "None sig (large)", Sigmoid, Size::Large),
    late("none-elu-small", "None eLU (small)", Elu, Size::Small),
    late("none-elu-medium", "None eLU (medium)", Elu, Size::Medium),
    late("none-elu-large", "None eLU (large)", Elu, Size::Large),
    late("none-crelu-small", "None CReLU (small)", Crelu, Size::Small),
    late("none-crelu-medium", "None CReLU (medium)", Crelu, Size::Medium),
    late("none-crelu-large", "None CReLU (large)", Crelu, Size::Large),
    CONV_EMS,
];

/// Layers after an early bottleneck. Completes the paper, which does not state the number.
pub const N_EARLY_LAYERS: usize = 2;
/// Layers of a late module.
pub const N_LATE_LAYERS: usize = 3;

impl ModuleKind {
    pub fn find(id: &str) -> Option<&'static Self> {
        MODULES.iter().find(|kind| kind.id == id)
    }

    /// Whether it reads spatial maps.
    pub fn is_convolutional(&self) -> bool {
        !self.convolutions.is_empty()
    }

    /// Stages before the layer that reads the touches.
    pub fn n_early_stages(&self) -> usize {
        self.convolutions.len() + usize::from(self.bottleneck.is_some())
    }

    /// Default number of layers, without bottleneck or convolutions.
    pub fn default_depth(&self) -> usize {
        if self.n_early_stages() > 0 { N_EARLY_LAYERS } else { N_LATE_LAYERS }
    }
}
