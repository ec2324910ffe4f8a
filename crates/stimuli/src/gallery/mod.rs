//! The built-in images, rendered on first use and cached in files.

pub mod chunk;
mod source;
mod store;

pub(crate) use source::open;
