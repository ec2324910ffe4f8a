//! Cut-outs: objects with transparency, composed on backgrounds.

mod composition;
mod layout;
mod source;
mod sprite;

pub use source::open;
