//! The built-in pictures, rendered when first used and kept in files.

pub mod chunk;
mod source;
mod store;

pub(crate) use source::open;
