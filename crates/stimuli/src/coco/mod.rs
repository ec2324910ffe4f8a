//! COCO: photographs of scenes with object masks.
//!
//! Parsers of external data are public for tests and fuzzing: [`json`], [`rle`], [`polygon`].

pub mod json;
mod layout;
pub mod polygon;
mod portraits;
pub mod rle;
mod scenes;
mod source;
mod split;

pub use source::open;
