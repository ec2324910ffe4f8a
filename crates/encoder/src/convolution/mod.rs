//! Convolutions over channels-last activations, for networks whose weights never change.

mod activations;
mod band;
pub(crate) mod im2col;
#[cfg(test)]
mod naive;
mod stem;
mod winograd;
mod winograd_tile;

pub(crate) use activations::Activations;
pub(crate) use stem::StemConvolution;
pub(crate) use winograd::{BandMemory, Outputs, WinogradConvolution};
