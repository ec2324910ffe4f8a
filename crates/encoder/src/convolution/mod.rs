//! Convolutions over channels-last activations, for networks whose weights never change.

mod activations;
pub(crate) mod im2col;
#[cfg(test)]
mod naive;
mod point_product;
mod stem;
mod tile_blocks;
mod tile_rows;
mod winograd;
mod winograd_tile;
mod winograd_transforms;

pub(crate) use activations::Activations;
pub(crate) use stem::StemConvolution;
pub(crate) use tile_rows::Outputs;
pub(crate) use winograd::{BandMemory, WinogradConvolution};
