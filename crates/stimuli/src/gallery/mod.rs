//! The built-in pictures, rendered when first used and kept in files.

mod chunk;
mod source;
mod store;

pub use source::open;
