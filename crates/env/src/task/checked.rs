//! A validated task.

use crate::shape::Shape;
use crate::task::definition::{
    ClassChoice, Extent, MatchScreen, Paradigm, Region, SlotOrder, TaskSpec, TemplateLayout,
};
use crate::task::transformation::{TouchTransform, Transformation};
use crate::touch::SCREEN_SIDE_PX;

/// Maximum number of templates on a match screen.
pub const MAX_SLOTS: usize = 16;

/// Maximum number of classes of a task.
pub const MAX_CLASSES: usize = 1000;

/// Maximum number of rewarded regions of a task, and of corners of a region.
pub const MAX_REGIONS: usize = 1000;

/// Maximum number of transformations of a task.
pub const MAX_TRANSFORMATIONS: usize = 16;

const MAX_ID_CHARS: usize = 100;

/// A task whose fields are consistent. Made by [`Task::check`].
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    spec: TaskSpec,
    touch_transform: TouchTransform,
}

/// What is wrong with a task, and in which field.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{field}`: {reason}")]
pub struct TaskError {
    /// The field's path in a task file, for instance `match-to-sample.slots[1].top`.
    pub field: String,
    pub reason: String,
}

impl TaskError {
    pub(crate) fn new(field: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { field: field.into(), reason: reason.into() }
    }
}

impl Task {
    /// Validates a task; errors name the field.
    pub fn check(spec: TaskSpec) -> Result<Self, TaskError> {
        check_id(&spec.id)?;
        check_classes(&spec.classes)?;
        match &spec.paradigm {
            Paradigm::StimulusResponse { regions } => check_regions(regions, &spec.classes)?,
            Paradigm::MatchToSample(MatchScreen::Templates(layout)) => check_layout(layout, &spec.classes)?,
            Paradigm::MatchToSample(MatchScreen::Scene) | Paradigm::Localization => {}
        }
        check_transformations(&spec)?;
        let touch_transform = TouchTransform::new(&spec.transformations);
        Ok(Self { spec, touch_transform })
    }

    pub fn spec(&self) -> &TaskSpec {
        &self.spec
    }

    /// The task's name, such as `sr-2way`.
    pub fn id(&self) -> &str {
        &self.spec.id
    }

    /// What the task shows and rewards.
    pub fn paradigm(&self) -> &Paradigm {
        &self.spec.paradigm
    }

    /// Number of screens, and of touches, per trial.
    pub fn steps_per_trial(&self) -> u64 {
        self.spec.paradigm.steps_per_trial()
    }

    /// The combined effect of the task's rotations and squeezes on touches.
    pub fn touch_transform(&self) -> TouchTransform {
        self.touch_transform
    }

    /// The same task with one more transformation, `+name` added to its id.
    pub fn with(&self, transformation: Transformation) -> Result<Self, TaskError> {
        let mut spec = self.spec.clone();
        spec.id = format!("{}+{}", spec.id, transformation.name());
        spec.title = format!("{}, {}", spec.title, transformation.name().replace('-', " "));
        spec.transformations.push(transformation);
        Self::check(spec)
    }

    /// Number of classes; `None` for all classes of the source.
    pub fn n_classes(&self) -> Option<usize> {
        n_classes(&self.spec.classes)
    }

    /// The class (of `n_classes`) whose template or region is rewarded when `class` is shown.
    pub fn rewarded_class(&self, class: usize, n_classes: usize) -> usize {
        let is_reversal = |t: &&Transformation| **t == Transformation::ClassReversal;
        let n_reversals = self.spec.transformations.iter().filter(is_reversal).count();
        if n_reversals % 2 == 1 { n_classes - 1 - class } else { class }
    }

    /// Number of classes of the source that are skipped, because earlier versions of the task use them.
    pub fn n_classes_skipped(&self) -> usize {
        let is_new = |t: &&Transformation| **t == Transformation::NewClasses;
        self.spec.transformations.iter().filter(is_new).count() * self.n_classes().unwrap_or(0)
    }
}

pub(crate) fn n_classes(classes: &ClassChoice) -> Option<usize> {
    match classes {
        ClassChoice::First(n) => Some(*n),
        ClassChoice::Named(names) => Some(names.len()),
        ClassChoice::All => None,
    }
}

/// Accepts ids that can be file and folder names.
pub(crate) fn check_id(id: &str) -> Result<(), TaskError> {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-+._".contains(c);
    let starts_well = id.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
    if starts_well && id.chars().all(is_plain) && id.len() <= MAX_ID_CHARS {
        return Ok(());
    }
    Err(TaskError::new(
        "id",
        format!(
            "an id has 1 to {MAX_ID_CHARS} characters out of a-z 0-9 - + . _ and starts with a letter or digit"
        ),
    ))
}

fn check_classes(classes: &ClassChoice) -> Result<(), TaskError> {
    if let Some(n) = n_classes(classes)
        && !(1..=MAX_CLASSES).contains(&n)
    {
        return Err(TaskError::new("classes", format!("a task has 1 to {MAX_CLASSES} classes, not {n}")));
    }
    if let ClassChoice::Named(names) = classes {
        for (idx, name) in names.iter().enumerate() {
            if names[..idx].contains(name) {
                return Err(TaskError::new(format!("classes[{idx}]"), format!("`{name}` is named twice")));
            }
        }
    }
    Ok(())
}

fn check_regions(regions: &[Region], classes: &ClassChoice) -> Result<(), TaskError> {
    let Some(n_classes) = n_classes(classes) else {
        return Err(TaskError::new(
            "classes",
            "a stimulus-response task needs a number of classes or their names, because each region belongs to a class",
        ));
    };
    if !(1..=MAX_REGIONS).contains(&regions.len()) {
        let reason = format!("a task has 1 to {MAX_REGIONS} regions, not {}", regions.len());
        return Err(TaskError::new("stimulus-response.regions", reason));
    }
    for (idx, region) in regions.iter().enumerate() {
        let field = |name: &str| format!("stimulus-response.regions[{idx}].{name}");
        if region.class >= n_classes {
            let reason = format!("class {} does not exist; classes are 0 to {}", region.class, n_classes - 1);
            return Err(TaskError::new(field("class"), reason));
        }
        if !(region.reward > 0.0 && region.reward <= 1.0) {
            let reason = format!("a reward must be above 0 and at most 1, not {}", region.reward);
            return Err(TaskError::new(field("reward"), reason));
        }
        check_shape(&region.shape, &field(shape_field(&region.shape)))?;
        if region.shape.mask().area_px() == 0 {
            let reason = "the region contains no pixel of the screen";
            return Err(TaskError::new(field(shape_field(&region.shape)), reason));
        }
    }
    Ok(())
}

pub(crate) fn shape_field(shape: &Shape) -> &'static str {
    match shape {
        Shape::Rect(_) => "rect",
        Shape::Polygon(_) => "polygon",
    }
}

fn check_shape(shape: &Shape, field: &str) -> Result<(), TaskError> {
    match shape {
        Shape::Polygon(corners) if !(3..=MAX_REGIONS).contains(&corners.len()) => {
            let reason = format!("a polygon has 3 to {MAX_REGIONS} corners, not {}", corners.len());
            Err(TaskError::new(field, reason))
        }
        Shape::Polygon(corners) if corners.iter().flatten().any(|edge| !edge.is_finite()) => {
            Err(TaskError::new(field, "a corner is not a finite number"))
        }
        _ => Ok(()),
    }
}

fn check_layout(layout: &TemplateLayout, classes: &ClassChoice) -> Result<(), TaskError> {
    let n_slots = layout.slots.len();
    if !(1..=SCREEN_SIDE_PX).contains(&layout.side_px) {
        let reason = format!("a template is 1 to {SCREEN_SIDE_PX} pixels wide, not {}", layout.side_px);
        return Err(TaskError::new("match-to-sample.template", reason));
    }
    if !(1..=MAX_SLOTS).contains(&n_slots) {
        let reason = format!("a match screen shows 1 to {MAX_SLOTS} templates, not {n_slots}");
        return Err(TaskError::new("match-to-sample.slots", reason));
    }
    for (idx, slot) in layout.slots.iter().enumerate() {
        for (name, extent) in [("top", slot.top), ("left", slot.left)] {
            check_extent(extent, layout.side_px, &format!("match-to-sample.slots[{idx}].{name}"))?;
        }
    }
    match (layout.order, n_classes(classes)) {
        (SlotOrder::Fixed, n) if n != Some(n_slots) => Err(TaskError::new(
            "match-to-sample.order",
            format!("`fixed` puts class i into slot i, so it needs as many classes as slots ({n_slots})"),
        )),
        (SlotOrder::Shuffled, Some(n)) if n < n_slots => Err(TaskError::new(
            "match-to-sample.slots",
            format!("{n_slots} slots but only {n} classes; no class is shown twice"),
        )),
        _ => check_button(layout),
    }
}

fn check_extent(extent: Extent, side_px: usize, field: &str) -> Result<(), TaskError> {
    let largest = (SCREEN_SIDE_PX - side_px) as u32;
    if extent.min > extent.max {
        let reason = format!("the range [{}, {}] has its ends swapped", extent.min, extent.max);
        return Err(TaskError::new(field, reason));
    }
    if extent.max > largest {
        let reason =
            format!("{} pushes a {side_px} px template off the screen (at most {largest})", extent.max);
        return Err(TaskError::new(field, reason));
    }
    Ok(())
}

fn check_button(layout: &TemplateLayout) -> Result<(), TaskError> {
    let Some(button) = &layout.button else { return Ok(()) };
    let field = format!("match-to-sample.button.{}", shape_field(button));
    check_shape(button, &field)?;
    if button.leaves_square(layout.side_px) {
        let reason = format!("the button extends beyond its {0}x{0} template", layout.side_px);
        return Err(TaskError::new(field, reason));
    }
    if button.mask().area_px() == 0 {
        return Err(TaskError::new(field, "the button contains no pixel"));
    }
    Ok(())
}

fn check_transformations(spec: &TaskSpec) -> Result<(), TaskError> {
    if spec.transformations.len() > MAX_TRANSFORMATIONS {
        let reason = format!("at most {MAX_TRANSFORMATIONS}, not {}", spec.transformations.len());
        return Err(TaskError::new("transformations", reason));
    }
    for (idx, transformation) in spec.transformations.iter().enumerate() {
        let refused = match (transformation, &spec.paradigm, &spec.classes) {
            (Transformation::NewClasses, _, ClassChoice::First(_)) => None,
            (Transformation::NewClasses, _, _) => Some("`new-classes` needs `classes` to be a number"),
            (
                Transformation::ClassReversal,
                Paradigm::Localization | Paradigm::MatchToSample(MatchScreen::Scene),
                _,
            ) => Some("`class-reversal` needs regions or templates, which belong to fixed classes"),
            (
                Transformation::ClassReversal,
                Paradigm::MatchToSample(MatchScreen::Templates(TemplateLayout { slots, .. })),
                _,
            ) if slots.len() < 2 => Some("`class-reversal` needs at least two slots"),
            _ => None,
        };
        if let Some(reason) = refused {
            return Err(TaskError::new(format!("transformations[{idx}]"), reason));
        }
    }
    Ok(())
}
