//! Products with a layer's weights: of a few steps' inputs, of many candidates, backwards, and into the weights.

pub(crate) mod candidates;
pub(crate) mod cres_products;
mod distinct_rows;
pub(crate) mod input_gradient;
pub(crate) mod matrix_product;
mod operands;
pub(crate) mod polynomial_readout;
mod polynomial_terms;
pub(crate) mod products;
pub(crate) mod touch_polynomial;
pub(crate) mod touch_units;
pub(crate) mod weight_update;

pub(crate) use distinct_rows::DistinctRows;
pub(crate) use operands::{InputRows, Stacked, Weights};
