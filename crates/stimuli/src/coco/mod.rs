//! COCO: photographs of scenes with the outlines of their objects.
//!
//! What reads bytes from outside is public, for tests and fuzzing: [`json`], [`rle`], [`polygon`].

pub mod json;
mod layout;
pub mod polygon;
mod portraits;
pub mod rle;
mod scenes;
mod source;
mod split;

pub use source::open;
