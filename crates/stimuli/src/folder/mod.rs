//! A folder of images, sorted into splits and classes as ImageNet is.

mod layout;
mod source;

pub use source::open;
