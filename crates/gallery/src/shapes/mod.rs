//! The solids of the gallery, one function per class, each within about a unit sphere; `y` is up.
//!
//! Objects with a head or a bonnet face +x; objects with a face show it to +z.

pub(crate) mod buildings;
pub(crate) mod figures;
pub(crate) mod household;
pub(crate) mod mammals;
pub(crate) mod plants;
pub(crate) mod small_animals;
pub(crate) mod tools;
pub(crate) mod vehicles;
pub(crate) mod vessels;
