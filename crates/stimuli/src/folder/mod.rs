//! A folder of images, sorted by split and class as ImageNet is.

mod layout;
mod source;

pub use source::open;
