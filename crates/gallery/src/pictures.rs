//! The four kinds of pictures: portraits, object screens, scenes and templates.

use crate::background::draw_background;
use crate::camera::Camera;
use crate::catalogue::N_CLASSES;
use crate::compose::{Canvas, Occupancy, Place};
use crate::draw_keys::{Aspect, Kind, PictureKey};
use crate::light::Light;
use crate::march::Body;
use crate::palette::{Colour, byte_from_light};
use crate::pose::{OBJECT_POSE, PORTRAIT_POSE, PoseRange, SCENE_POSE};
use crate::shape::Shape;
use crate::silhouette::Silhouette;
use crate::still::Still;
use crate::texture::{TEMPLATE_COAT, draw_coat};
use touchstream_env::mask::Mask;
use touchstream_env::screen::BACKGROUND_GREY;
use touchstream_env::seed::{RandomStream, RunSeed};
use touchstream_env::stimuli::Split;

/// Every object of a scene keeps at least so many visible pixels.
pub const MIN_VISIBLE_PX: usize = 300;

/// A thing smaller than this is not put into a scene: a quarter of it may be hidden when room is short.
const MIN_LAID_PX: usize = 420;

/// A picture and what is on it.
pub struct Rendered {
    /// `[224, 224, 3]` RGB bytes.
    pub pixels: Box<[u8]>,
    /// The things that belong to a class, from the farthest to the nearest.
    pub objects: Vec<RenderedObject>,
}

/// One thing on a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderedObject {
    /// Its position in [`crate::class_names`].
    pub class: usize,
    /// Its visible pixels.
    pub mask: Mask,
}

/// One object of the class, large and near the middle, from any side, on a cluttered background.
pub fn portrait(seed: RunSeed, split: Split, class: usize, index: u32) -> Rendered {
    let key = PictureKey { seed, kind: Kind::Portrait, split, index };
    let class = class % N_CLASSES;
    let plan = Plan::alone(class, class, &PORTRAIT_POSE, &mut key.stream(Aspect::Form, class));
    rendered(&key, class, &plan)
}

/// One object of a random class anywhere on the screen, small or large, turned also within the picture.
pub fn object_screen(seed: RunSeed, split: Split, index: u32) -> Rendered {
    let key = PictureKey { seed, kind: Kind::Object, split, index };
    rendered(&key, 0, &plan_object_screen(&key))
}

/// What [`object_screen`] lists for the same arguments, without drawing the picture.
pub fn object_screen_outlines(seed: RunSeed, split: Split, index: u32) -> Vec<RenderedObject> {
    plan_object_screen(&PictureKey { seed, kind: Kind::Object, split, index }).objects()
}

/// Two to five objects of different classes. Nearer ones may hide a part of others, but each keeps at least
/// [`MIN_VISIBLE_PX`] visible pixels and two fifths of what it would show alone; masks do not overlap.
pub fn scene(seed: RunSeed, split: Split, index: u32) -> Rendered {
    let key = PictureKey { seed, kind: Kind::Scene, split, index };
    rendered(&key, 0, &plan_scene(&key))
}

/// What [`scene`] lists for the same arguments, without drawing the picture.
pub fn scene_outlines(seed: RunSeed, split: Split, index: u32) -> Vec<RenderedObject> {
    plan_scene(&PictureKey { seed, kind: Kind::Scene, split, index }).objects()
}

/// A clean three-quarter view on mid grey, `[side_px, side_px, 3]`: the button of a class, the same in every
/// run.
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

/// One thing with its place on the picture.
struct Placed {
    class: usize,
    /// Which coat is its own.
    slot: usize,
    still: Still,
    silhouette: Silhouette,
    place: Place,
}

/// What is on a picture and where, before anything is painted.
struct Plan {
    things: Vec<Placed>,
    occupancy: Occupancy,
}

impl Plan {
    fn empty() -> Self {
        Self { things: Vec::new(), occupancy: Occupancy::empty() }
    }

    fn add(&mut self, thing: Placed) {
        self.occupancy.lay(&thing.silhouette, thing.place);
        self.things.push(thing);
    }

    /// One thing, kept wholly on the screen.
    fn alone(class: usize, slot: usize, range: &PoseRange, form: &mut RandomStream) -> Self {
        let still = Still::draw(range, class, form);
        let silhouette = still.silhouette();
        let place = still.posed_place();
        let mut plan = Self::empty();
        plan.add(Placed { class, slot, still, silhouette, place });
        plan
    }

    fn objects(&self) -> Vec<RenderedObject> {
        let masks = self.occupancy.masks();
        self.things
            .iter()
            .zip(masks)
            .map(|(thing, mask)| RenderedObject { class: thing.class, mask })
            .collect()
    }
}

fn plan_object_screen(key: &PictureKey) -> Plan {
    let mut form = key.stream(Aspect::Form, 0);
    let class = draw_class(&mut form);
    Plan::alone(class, 0, &OBJECT_POSE, &mut form)
}

fn plan_scene(key: &PictureKey) -> Plan {
    let mut form = key.stream(Aspect::Form, 0);
    let n_things = form.between(2, 5) as usize;
    let mut order: [usize; N_CLASSES] = std::array::from_fn(|class| class);
    form.shuffle(&mut order);
    // The index decides the first thing's class: any 59 scenes in a row hold every class.
    let first = order.iter().position(|&class| class == key.index as usize % N_CLASSES);
    order.swap(0, first.unwrap_or(0));
    let mut plan = Plan::empty();
    for (slot, class) in order.into_iter().enumerate() {
        // Later things may find no room; a scene needs two, and the first two always find it.
        if plan.things.len() == n_things || (slot >= 8 && plan.things.len() >= 2) {
            break;
        }
        let n_tries = if slot == 0 { 32 } else { 1 };
        let Some((still, silhouette)) = draw_large_enough(class, n_tries, &mut form) else { continue };
        if let Some(place) = find_place(&plan.occupancy, &still, &silhouette, &mut form) {
            plan.add(Placed { class, slot, still, silhouette, place });
        }
    }
    plan
}

/// A thing of a scene, drawn until it is large enough to spare a hidden part; `None` after so many tries.
fn draw_large_enough(class: usize, n_tries: usize, form: &mut RandomStream) -> Option<(Still, Silhouette)> {
    let mut draw = || {
        let still = Still::draw(&SCENE_POSE, class, form);
        let silhouette = still.silhouette();
        (still, silhouette)
    };
    (0..n_tries).map(|_| draw()).find(|(_, silhouette)| silhouette.area_px() >= MIN_LAID_PX)
}

/// Each class as likely as the others.
fn draw_class(stream: &mut RandomStream) -> usize {
    stream.below(N_CLASSES as u32) as usize
}

/// A place where a thing leaves enough of everything visible: a random one, else a corner.
fn find_place(
    occupancy: &Occupancy,
    still: &Still,
    silhouette: &Silhouette,
    form: &mut RandomStream,
) -> Option<Place> {
    const N_TRIES: usize = 12;
    let (last_top, last_left) = still.last_place();
    let corners = [(0, 0), (0, last_left), (last_top, 0), (last_top, last_left)];
    let mut tries = [(0, 0); N_TRIES];
    for place in &mut tries {
        *place = (form.between(0, last_top as u32) as usize, form.between(0, last_left as u32) as usize);
    }
    let mut places = tries.into_iter().chain(corners);
    places.find(|&place| occupancy.leaves_visible(silhouette, place, MIN_VISIBLE_PX))
}

/// Paints a plan. `slot` tells portraits of different classes apart.
fn rendered(key: &PictureKey, slot: usize, plan: &Plan) -> Rendered {
    // The light has slots of its own behind those of the coats.
    let light = Light::draw(&mut key.stream(Aspect::Coat, slot + N_CLASSES));
    let mut background = key.stream(Aspect::Background, slot);
    let mut canvas = Canvas::new(draw_background(&mut background));
    for thing in &plan.things {
        if background.chance(0.5) {
            let (foot, half_width_px) = thing.still.foot(thing.place);
            canvas.cast_shadow(foot, half_width_px, background.in_range(0.2, 0.7));
        }
    }
    for thing in &plan.things {
        let coat = draw_coat(&mut key.stream(Aspect::Coat, thing.slot));
        let colours = thing.still.painted(&thing.silhouette, &coat, &light);
        canvas.lay(&thing.silhouette, &colours, thing.place);
    }
    Rendered { pixels: canvas.pixels(), objects: plan.objects() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn object_screens_show_every_class() {
        let mut counts = [0_u32; N_CLASSES];
        for index in 0..800 {
            let key = PictureKey { seed: RunSeed(5), kind: Kind::Object, split: Split::Train, index };
            counts[draw_class(&mut key.stream(Aspect::Form, 0))] += 1;
        }
        // 13.6 expected of each, with a standard deviation of 3.7.
        assert!(counts.iter().all(|&count| (1..=32).contains(&count)), "{counts:?}");
    }

    /// Coats are drawn without the class; portraits of different classes must not differ in their mean colour.
    #[test]
    fn colour_does_not_tell_the_class() {
        let mean_of = |class: usize| {
            let mut sum = Colour::default();
            for index in 0..400 {
                let key = PictureKey { seed: RunSeed(5), kind: Kind::Portrait, split: Split::Train, index };
                sum = sum + draw_coat(&mut key.stream(Aspect::Coat, class))[0].first;
            }
            sum * (1.0 / 400.0)
        };
        let means: Vec<Colour> = (0..N_CLASSES).map(mean_of).collect();
        let overall =
            means.iter().fold(Colour::default(), |sum, &mean| sum + mean) * (1.0 / N_CLASSES as f32);
        // The standard error of a mean is about 0.013 a channel.
        for (class, &mean) in means.iter().enumerate() {
            assert!((mean - overall).length() < 0.09, "class {class}: {mean:?} against {overall:?}");
        }
    }

    #[test]
    fn nothing_may_be_hidden_by_what_comes_on_top() {
        let mut form = RunSeed(5).stream(touchstream_env::seed::StreamName::new("test"), 0);
        let still = Still::draw(&SCENE_POSE, 25, &mut form);
        let silhouette = still.silhouette();
        let mut occupancy = Occupancy::empty();
        occupancy.lay(&silhouette, (20, 20));
        let leaves_visible = |place| occupancy.leaves_visible(&silhouette, place, MIN_VISIBLE_PX);
        // A mug is nearly convex: moved by a few pixels it still hides most of another.
        assert!(!leaves_visible((20, 20)) && !leaves_visible((26, 24)));
        assert!(leaves_visible(still.last_place()));
    }
}
