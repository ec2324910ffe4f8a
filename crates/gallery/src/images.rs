//! The four kinds of images: portraits, object screens, scenes and templates.

use crate::background::draw_background;
use crate::camera::Camera;
use crate::catalogue::N_CLASSES;
use crate::compose::{Canvas, Occupancy, PixelPos};
use crate::draw_keys::{Aspect, DrawKind, ImageKey};
use crate::light::Light;
use crate::march::Body;
use crate::palette::{Colour, byte_from_light};
use crate::pose::{OBJECT_POSE, PORTRAIT_POSE, PoseRange, SCENE_POSE};
use crate::posed_object::PosedObject;
use crate::shape::Shape;
use crate::silhouette::Silhouette;
use crate::texture::{TEMPLATE_COAT, draw_coat};
use touchstream_env::mask::Mask;
use touchstream_env::screen::BACKGROUND_GREY;
use touchstream_env::seed::{RandomStream, RunSeed};
use touchstream_env::stimuli::Split;

/// Minimum number of visible pixels of an object in a scene.
pub const MIN_VISIBLE_PX: usize = 300;

/// Minimum number of pixels of an object that is added to a scene, so that a part of it may be hidden.
const MIN_LAID_PX: usize = 420;

/// An image and its objects.
pub struct Rendered {
    /// `[224, 224, 3]` RGB bytes.
    pub pixels: Box<[u8]>,
    /// From the farthest to the nearest.
    pub objects: Vec<RenderedObject>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderedObject {
    /// Index in [`crate::class_names`].
    pub class: usize,
    /// The visible pixels.
    pub mask: Mask,
}

/// One large object of a class near the centre, seen from any side, on a cluttered background.
pub fn portrait(seed: RunSeed, split: Split, class: usize, index: u32) -> Rendered {
    let key = ImageKey { seed, kind: DrawKind::Portrait, split, index };
    let class = class % N_CLASSES;
    let plan = Plan::alone(class, class, &PORTRAIT_POSE, &mut key.stream(Aspect::Form, class));
    rendered(&key, class, &plan)
}

/// One object of a random class at any position and size, seen from any side and rotated in the image plane.
pub fn object_screen(seed: RunSeed, split: Split, index: u32) -> Rendered {
    let key = ImageKey { seed, kind: DrawKind::Object, split, index };
    rendered(&key, 0, &plan_object_screen(&key))
}

/// Two to five objects of different classes. They may partly hide each other, but each keeps at least
/// [`MIN_VISIBLE_PX`] visible pixels and two fifths of its own; masks do not overlap.
pub fn scene(seed: RunSeed, split: Split, index: u32) -> Rendered {
    let key = ImageKey { seed, kind: DrawKind::Scene, split, index };
    rendered(&key, 0, &plan_scene(&key))
}

/// A three-quarter view of a class on mid grey, `[side_px, side_px, RGB]`; the same in every run.
pub fn template(class: usize, side_px: usize) -> Box<[u8]> {
    const FINER: usize = 3;
    let body = Body::new(class, Shape::TYPICAL);
    let camera = Camera::looking(32.0, 20.0, 0.0, body.radius * 4.5);
    let fine_side = side_px * FINER;
    let middle = fine_side as f32 * 0.5;
    let frame = body.extent(&camera).framed(fine_side as f32 * 0.94, middle, middle);
    let silhouette = Silhouette::trace(&body, &camera, &frame, (fine_side, fine_side));
    let colours = silhouette.painted(&body, &camera, &frame, &TEMPLATE_COAT, &Light::TEMPLATE);
    let grey = f32::from(BACKGROUND_GREY) / 255.0;
    let behind = Colour { x: grey, y: grey, z: grey };
    let behind = behind.scaled(behind);
    let mut pixels = Vec::with_capacity(side_px * side_px * 3);
    for row in 0..side_px {
        for col in 0..side_px {
            let mut sum = Colour::default();
            for (dy, dx) in (0..FINER * FINER).map(|idx| (idx / FINER, idx % FINER)) {
                let idx = (row * FINER + dy) * fine_side + col * FINER + dx;
                sum = sum + behind + (colours[idx] - behind) * silhouette.coverage[idx];
            }
            let mean = sum * (1.0 / (FINER * FINER) as f32);
            pixels.extend([mean.x, mean.y, mean.z].map(byte_from_light));
        }
    }
    pixels.into_boxed_slice()
}

/// One object and its position in the image.
struct Placed {
    class: usize,
    /// Selects the object's random stream for its coat.
    slot: usize,
    posed: PosedObject,
    silhouette: Silhouette,
    place: PixelPos,
}

/// The objects of an image and their positions, before painting.
struct Plan {
    objects: Vec<Placed>,
    occupancy: Occupancy,
}

impl Plan {
    fn empty() -> Self {
        Self { objects: Vec::new(), occupancy: Occupancy::empty() }
    }

    fn add(&mut self, object: Placed) {
        self.occupancy.lay(&object.silhouette, object.place);
        self.objects.push(object);
    }

    /// One object, completely on the screen.
    fn alone(class: usize, slot: usize, range: &PoseRange, form: &mut RandomStream) -> Self {
        let posed = PosedObject::draw(range, class, form);
        let silhouette = posed.silhouette();
        let place = posed.posed_place();
        let mut plan = Self::empty();
        plan.add(Placed { class, slot, posed, silhouette, place });
        plan
    }

    fn rendered_objects(&self) -> Vec<RenderedObject> {
        let masks = self.occupancy.masks();
        self.objects
            .iter()
            .zip(masks)
            .map(|(object, mask)| RenderedObject { class: object.class, mask })
            .collect()
    }
}

fn plan_object_screen(key: &ImageKey) -> Plan {
    let mut form = key.stream(Aspect::Form, 0);
    let class = draw_class(&mut form);
    Plan::alone(class, 0, &OBJECT_POSE, &mut form)
}

fn plan_scene(key: &ImageKey) -> Plan {
    let mut form = key.stream(Aspect::Form, 0);
    let n_objects = form.between(2, 5) as usize;
    let mut order: [usize; N_CLASSES] = std::array::from_fn(|class| class);
    form.shuffle(&mut order);
    // The index determines the first object's class: any 59 consecutive scenes contain every class.
    let first = order.iter().position(|&class| class == key.index as usize % N_CLASSES);
    order.swap(0, first.unwrap_or(0));
    let mut plan = Plan::empty();
    for (slot, class) in order.into_iter().enumerate() {
        // Later objects may not fit; a scene needs two, and the first two always fit.
        if plan.objects.len() == n_objects || (slot >= 8 && plan.objects.len() >= 2) {
            break;
        }
        let n_tries = if slot == 0 { 32 } else { 1 };
        let Some((posed, silhouette)) = draw_large_enough(class, n_tries, &mut form) else { continue };
        if let Some(place) = find_place(&plan.occupancy, &posed, &silhouette, &mut form) {
            plan.add(Placed { class, slot, posed, silhouette, place });
        }
    }
    plan
}

/// Draws an object until it is large enough to be partly hidden; `None` after `n_tries` attempts.
fn draw_large_enough(
    class: usize,
    n_tries: usize,
    form: &mut RandomStream,
) -> Option<(PosedObject, Silhouette)> {
    let mut draw = || {
        let posed = PosedObject::draw(&SCENE_POSE, class, form);
        let silhouette = posed.silhouette();
        (posed, silhouette)
    };
    (0..n_tries).map(|_| draw()).find(|(_, silhouette)| silhouette.area_px() >= MIN_LAID_PX)
}

fn draw_class(stream: &mut RandomStream) -> usize {
    stream.below(N_CLASSES as u32) as usize
}

/// A position at which everything stays sufficiently visible: a random one, else a corner.
fn find_place(
    occupancy: &Occupancy,
    posed: &PosedObject,
    silhouette: &Silhouette,
    form: &mut RandomStream,
) -> Option<PixelPos> {
    const N_TRIES: usize = 12;
    let (last_top, last_left) = posed.last_place();
    let corners = [(0, 0), (0, last_left), (last_top, 0), (last_top, last_left)];
    let mut tries = [(0, 0); N_TRIES];
    for place in &mut tries {
        *place = (form.between(0, last_top as u32) as usize, form.between(0, last_left as u32) as usize);
    }
    let mut places = tries.into_iter().chain(corners);
    places.find(|&place| occupancy.leaves_visible(silhouette, place, MIN_VISIBLE_PX))
}

/// Paints a plan. `slot` distinguishes portraits of different classes.
fn rendered(key: &ImageKey, slot: usize, plan: &Plan) -> Rendered {
    // The light's slots follow those of the coats.
    let light = Light::draw(&mut key.stream(Aspect::Coat, slot + N_CLASSES));
    let mut background = key.stream(Aspect::Background, slot);
    let mut canvas = Canvas::new(draw_background(&mut background));
    for object in &plan.objects {
        if background.chance(0.5) {
            let (foot, half_width_px) = object.posed.foot(object.place);
            canvas.cast_shadow(foot, half_width_px, background.in_range(0.2, 0.7));
        }
    }
    for object in &plan.objects {
        let coat = draw_coat(&mut key.stream(Aspect::Coat, object.slot));
        let colours = object.posed.painted(&object.silhouette, &coat, &light);
        canvas.lay(&object.silhouette, &colours, object.place);
    }
    Rendered { pixels: canvas.pixels(), objects: plan.rendered_objects() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn object_screens_show_every_class() {
        let mut counts = [0_u32; N_CLASSES];
        for index in 0..800 {
            let key = ImageKey { seed: RunSeed(5), kind: DrawKind::Object, split: Split::Train, index };
            counts[draw_class(&mut key.stream(Aspect::Form, 0))] += 1;
        }
        // 13.6 expected of each, with a standard deviation of 3.7.
        assert!(counts.iter().all(|&count| (1..=32).contains(&count)), "{counts:?}");
    }

    /// Coats are drawn without the class; portraits of different classes must not differ in their mean colour.
    #[test]
    fn colour_does_not_reveal_the_class() {
        let mean_of = |class: usize| {
            let mut sum = Colour::default();
            for index in 0..400 {
                let key = ImageKey { seed: RunSeed(5), kind: DrawKind::Portrait, split: Split::Train, index };
                sum = sum + draw_coat(&mut key.stream(Aspect::Coat, class))[0].first;
            }
            sum * (1.0 / 400.0)
        };
        let means: Vec<Colour> = (0..N_CLASSES).map(mean_of).collect();
        let overall =
            means.iter().fold(Colour::default(), |sum, &mean| sum + mean) * (1.0 / N_CLASSES as f32);
        // The standard error of a mean is about 0.013 per channel.
        for (class, &mean) in means.iter().enumerate() {
            assert!((mean - overall).length() < 0.09, "class {class}: {mean:?} against {overall:?}");
        }
    }

    #[test]
    fn objects_on_top_leave_enough_visible() {
        let mut form = RunSeed(5).stream(touchstream_env::seed::StreamName::new("test"), 0);
        let posed = PosedObject::draw(&SCENE_POSE, 25, &mut form);
        let silhouette = posed.silhouette();
        let mut occupancy = Occupancy::empty();
        occupancy.lay(&silhouette, (20, 20));
        let leaves_visible = |place| occupancy.leaves_visible(&silhouette, place, MIN_VISIBLE_PX);
        // A mug is nearly convex: moved by a few pixels it still hides most of another.
        assert!(!leaves_visible((20, 20)) && !leaves_visible((26, 24)));
        assert!(leaves_visible(posed.last_place()));
    }
}
