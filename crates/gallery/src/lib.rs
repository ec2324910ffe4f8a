//! The built-in images: 59 classes of things, ray-marched from signed distance fields, the first station of the
//! walk.
//!
//! Pure computation: no files, no clock, no threads. Every picture is a function of seed, split, kind and
//! index. Colour, texture, light and background are drawn without knowing the class; only form tells it.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod background;
mod camera;
mod catalogue;
mod combine;
mod compose;
mod draw_keys;
mod light;
mod march;
mod noise;
mod palette;
mod pictures;
mod portable_maths;
mod pose;
mod primitives;
mod shape;
mod shapes;
mod silhouette;
mod still;
mod texture;
mod vec3;

pub use catalogue::{N_CLASSES, class_names};
pub use pictures::{
    MIN_VISIBLE_PX, Rendered, RenderedObject, object_screen, object_screen_outlines, portrait, scene,
    scene_outlines, template,
};

/// Bumped whenever any pixel changes: part of the source's content hash.
pub const GENERATOR_VERSION: u32 = 1;
