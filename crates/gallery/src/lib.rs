//! The built-in images: 59 classes of objects, ray-marched from signed distance fields.
//!
//! Pure computation: no files, no clock, no threads. Every image is a function of seed, split, kind and index. Colour,
//! texture, light and background do not depend on the class; only shape reveals it.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod background;
mod camera;
mod catalogue;
mod combine;
mod compose;
mod draw_keys;
mod images;
mod light;
mod march;
mod noise;
mod palette;
mod portable_maths;
mod pose;
mod posed_object;
mod primitives;
mod shape;
mod shapes;
mod silhouette;
mod texture;
mod vec3;

pub use catalogue::{N_CLASSES, class_names};
pub use images::{MIN_VISIBLE_PX, Rendered, RenderedObject, object_screen, portrait, scene, template};

/// Must be raised whenever any pixel changes; part of the source's content hash.
pub const GENERATOR_VERSION: u32 = 1;
