//! The solids of the gallery, one function a class: each within about a unit ball, `y` up.
//!
//! Things with a head or a bonnet look along +x; things with a face turn it to +z.

pub(crate) mod buildings;
pub(crate) mod figures;
pub(crate) mod household;
pub(crate) mod mammals;
pub(crate) mod plants;
pub(crate) mod small_animals;
pub(crate) mod tools;
pub(crate) mod vehicles;
pub(crate) mod vessels;
