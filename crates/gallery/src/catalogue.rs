//! The table of all classes: a name, a solid, and parameters of the ray marcher.

use crate::combine::Surface;
use crate::shape::Shape;
use crate::shapes::{
    buildings, figures, household, mammals, plants, small_animals, tools, vehicles, vessels,
};
use crate::vec3::Vec3;
use std::sync::LazyLock;

pub const N_CLASSES: usize = 59;

pub(crate) struct ClassRow {
    pub name: &'static str,
    pub solid: fn(Vec3, &Shape) -> Surface,
    /// Every instance is within this distance of the origin, before stretching.
    pub radius: f32,
    /// The share of the computed distance that a ray may safely advance.
    pub step: f32,
    /// Minimum angle between the view and the plane of a flat object; edge-on it would be unrecognizable.
    pub edge_on_deg: f32,
}

const fn row(
    name: &'static str,
    solid: fn(Vec3, &Shape) -> Surface,
    radius: f32,
    step: f32,
    edge_on_deg: f32,
) -> ClassRow {
    ClassRow { name, solid, radius, step, edge_on_deg }
}

/// All classes. A task with `n` classes takes the first `n`, so the first four and the next four are chosen to look very
/// different. Results depend on the order.
#[rustfmt::skip]
pub(crate) const CATALOGUE: [ClassRow; N_CLASSES] = [
    row("terrier", mammals::terrier, 1.13, 0.9, 0.0),
    row("butterfly", small_animals::butterfly, 1.06, 0.85, 30.0),
    row("race-car", vehicles::race_car, 1.09, 0.9, 0.0),
    row("panda", mammals::panda, 1.09, 0.9, 0.0),
    row("teapot", household::teapot, 0.97, 0.9, 0.0),
    row("helicopter", vessels::helicopter, 1.10, 0.9, 0.0),
    row("palm-tree", plants::palm_tree, 1.04, 0.85, 0.0),
    row("bicycle", vehicles::bicycle, 1.02, 0.95, 25.0),
    row("elephant", mammals::elephant, 1.17, 0.9, 0.0),
    row("giraffe", mammals::giraffe, 1.06, 0.9, 0.0),
    row("rabbit", mammals::rabbit, 1.03, 0.9, 0.0),
    row("duck", small_animals::duck, 0.88, 0.9, 0.0),
    row("fish", small_animals::fish, 1.01, 0.85, 25.0),
    row("octopus", small_animals::octopus, 1.05, 0.9, 0.0),
    row("snail", small_animals::snail, 0.99, 0.75, 20.0),
    row("turtle", small_animals::turtle, 0.95, 0.85, 0.0),
    row("spider", small_animals::spider, 1.03, 0.9, 0.0),
    row("bus", vehicles::bus, 0.91, 0.95, 0.0),
    row("truck", vehicles::truck, 1.05, 0.95, 0.0),
    row("locomotive", vehicles::locomotive, 1.11, 0.95, 0.0),
    row("tank", vehicles::tank, 1.07, 0.95, 0.0),
    row("biplane", vessels::biplane, 1.01, 0.9, 0.0),
    row("rocket", vessels::rocket, 1.03, 0.85, 0.0),
    row("sailboat", vessels::sailboat, 0.94, 0.85, 20.0),
    row("hot-air-balloon", vessels::balloon, 0.97, 0.8, 0.0),
    row("mug", household::mug, 0.79, 0.95, 0.0),
    row("wine-glass", household::wine_glass, 0.96, 0.9, 0.0),
    row("bottle", household::bottle, 0.96, 0.95, 0.0),
    row("chair", household::chair, 1.12, 0.9, 0.0),
    row("table", household::table, 1.10, 0.9, 0.0),
    row("sofa", household::sofa, 1.00, 0.95, 0.0),
    row("desk-lamp", household::desk_lamp, 0.93, 0.9, 0.0),
    row("umbrella", household::umbrella, 0.94, 0.8, 0.0),
    row("stepladder", household::stepladder, 1.10, 0.85, 0.0),
    row("padlock", household::padlock, 0.86, 0.95, 20.0),
    row("watering-can", household::watering_can, 1.07, 0.9, 0.0),
    row("windmill", buildings::windmill, 1.05, 0.9, 0.0),
    row("house", buildings::house, 1.01, 0.95, 0.0),
    row("castle", buildings::castle, 1.12, 0.9, 0.0),
    row("lighthouse", buildings::lighthouse, 1.05, 0.9, 0.0),
    row("bridge", buildings::bridge, 1.05, 0.85, 20.0),
    row("conifer", plants::conifer, 1.01, 0.95, 0.0),
    row("cactus", plants::cactus, 0.99, 0.9, 30.0),
    row("mushroom", plants::mushroom, 0.88, 0.85, 0.0),
    row("potted-flower", plants::potted_flower, 0.98, 0.85, 20.0),
    row("banana", plants::banana, 0.86, 0.85, 20.0),
    row("cherries", plants::cherries, 1.14, 0.85, 20.0),
    row("carrot", plants::carrot, 1.07, 0.85, 0.0),
    row("person", figures::person, 1.04, 0.9, 0.0),
    row("robot", figures::robot, 0.99, 0.95, 0.0),
    row("snowman", figures::snowman, 0.96, 0.95, 0.0),
    row("guitar", tools::guitar, 1.04, 0.95, 30.0),
    row("dumbbell", tools::dumbbell, 0.91, 0.95, 25.0),
    row("spring", tools::spring, 1.01, 0.8, 0.0),
    row("gear", tools::gear, 0.87, 0.85, 25.0),
    row("crown", tools::crown, 0.91, 0.8, 0.0),
    row("anchor", tools::anchor, 0.97, 0.9, 25.0),
    row("hammer", tools::hammer, 1.01, 0.9, 20.0),
    row("spectacles", tools::spectacles, 0.99, 0.95, 0.0),
];

static NAMES: LazyLock<[&str; N_CLASSES]> = LazyLock::new(|| CATALOGUE.map(|row| row.name));

/// The names of all classes, in order, lower case with hyphens.
pub fn class_names() -> &'static [&'static str] {
    &*NAMES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::portable_maths::sin_cos;
    use crate::vec3::v;
    use touchstream_env::seed::{RunSeed, StreamName};

    /// Points spread over the unit ball's surface by the golden angle.
    fn directions(n: usize) -> impl Iterator<Item = Vec3> {
        (0..n).map(move |idx| {
            let y = 1.0 - 2.0 * (idx as f32 + 0.5) / n as f32;
            let (sin, cos) = sin_cos(idx as f32 * 2.399_963);
            let across = (1.0 - y * y).sqrt();
            v(across * cos, y, across * sin)
        })
    }

    fn shapes() -> Vec<Shape> {
        let mut stream = RunSeed(1).stream(StreamName::new("test"), 0);
        let extremes = [(-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)];
        let corners = extremes.map(|(a, b)| Shape { a, b, ..Shape::TYPICAL });
        corners.into_iter().chain([Shape::TYPICAL, Shape::draw(&mut stream)]).collect()
    }

    #[test]
    fn every_solid_is_within_its_bounding_sphere() {
        for row in &CATALOGUE {
            let touches = |shape: &Shape, radius: f32| {
                directions(2000).any(|direction| (row.solid)(direction * radius, shape).distance <= 0.0)
            };
            for shape in shapes() {
                assert!(!touches(&shape, row.radius), "{} leaves a ball of {}", row.name, row.radius);
            }
        }
    }

    #[test]
    fn every_solid_has_an_inside_and_known_parts() {
        for row in &CATALOGUE {
            let cells =
                (-24..24).flat_map(|x| (-24..24).flat_map(move |y| (-24..24).map(move |z| (x, y, z))));
            let mut n_inside = 0;
            for (x, y, z) in cells {
                let p = v(x as f32 + 0.5, y as f32 + 0.5, z as f32 + 0.5) * (1.0 / 24.0);
                let surface = (row.solid)(p, &Shape::TYPICAL);
                assert!(surface.distance.is_finite() && usize::from(surface.part) < crate::combine::N_PARTS);
                n_inside += usize::from(surface.distance < 0.0);
            }
            assert!(n_inside > 100, "{}: {n_inside} of 110592 cells are inside", row.name);
        }
    }

    /// A ray may go `step * distance`: there must be nothing that near.
    #[test]
    fn steps_are_safe() {
        for row in &CATALOGUE {
            let mut n_wrong = 0;
            for (idx, direction) in directions(400).enumerate() {
                let p = direction * (row.radius * (idx % 20) as f32 / 20.0);
                let reach = (row.solid)(p, &Shape::TYPICAL).distance * row.step;
                if reach > 0.0 {
                    let inside =
                        |towards: Vec3| (row.solid)(p + towards * reach, &Shape::TYPICAL).distance < -0.01;
                    n_wrong += directions(40).filter(|&towards| inside(towards)).count();
                }
            }
            assert!(n_wrong <= 8, "{}: {n_wrong} steps end inside", row.name);
        }
    }
}
