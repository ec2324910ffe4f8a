//! Parses task files.

use crate::shape::{Rect, Shape};
use crate::task::checked::Task;
use crate::task::definition::{
    ClassChoice, Extent, MatchScreen, Paradigm, Region, Slot, SlotOrder, TaskSpec, TemplateLayout,
};
use crate::task::transformation::Transformation;
use crate::toml_errors::{self, FileError};
use serde::Deserialize;

/// Parses a task file. Errors name line and field.
pub fn parse_task(text: &str) -> Result<Task, FileError> {
    let file: TaskFile = toml_errors::parse(text)?;
    let spec = file.into_spec().map_err(|(field, reason)| toml_errors::error_at(text, &field, reason))?;
    Task::check(spec).map_err(|error| toml_errors::error_at(text, &error.field, error.reason))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct TaskFile {
    id: String,
    #[serde(default)]
    title: String,
    classes: ClassesValue,
    #[serde(default)]
    transformations: Vec<Transformation>,
    stimulus_response: Option<StimulusResponseTable>,
    match_to_sample: Option<MatchToSampleTable>,
    localization: Option<LocalizationTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StimulusResponseTable {
    regions: Vec<RegionTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RegionTable {
    class: ClassRef,
    rect: Option<Rect>,
    polygon: Option<Vec<[f32; 2]>>,
    #[serde(default = "full_reward")]
    reward: f32,
}

fn full_reward() -> f32 {
    1.0
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MatchToSampleTable {
    scene: Option<bool>,
    template: Option<usize>,
    order: Option<SlotOrder>,
    slots: Option<Vec<SlotTable>>,
    button: Option<ButtonTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SlotTable {
    top: PixelOrRange,
    left: PixelOrRange,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ButtonTable {
    rect: Option<Rect>,
    polygon: Option<Vec<[f32; 2]>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LocalizationTable {}

type FieldError = (String, String);

fn wrong(field: impl Into<String>, reason: impl Into<String>) -> FieldError {
    (field.into(), reason.into())
}

impl TaskFile {
    fn into_spec(self) -> Result<TaskSpec, FieldError> {
        let classes = self.classes.into();
        let paradigm = match (self.stimulus_response, self.match_to_sample, self.localization) {
            (Some(table), None, None) => table.into_paradigm(&classes)?,
            (None, Some(table), None) => Paradigm::MatchToSample(table.into_match_screen()?),
            (None, None, Some(LocalizationTable {})) => Paradigm::Localization,
            (None, None, None) => {
                let reason =
                    "a paradigm is missing: [stimulus-response], [match-to-sample] or [localization]";
                return Err(wrong("", reason));
            }
            (Some(_), _, _) => {
                return Err(wrong("stimulus-response", "a task has one paradigm, not several"));
            }
            (None, _, _) => return Err(wrong("match-to-sample", "a task has one paradigm, not several")),
        };
        let title = if self.title.is_empty() { self.id.clone() } else { self.title };
        Ok(TaskSpec { id: self.id, title, classes, paradigm, transformations: self.transformations })
    }
}

impl StimulusResponseTable {
    fn into_paradigm(self, classes: &ClassChoice) -> Result<Paradigm, FieldError> {
        let region = |(idx, table): (usize, RegionTable)| -> Result<Region, FieldError> {
            let field = format!("stimulus-response.regions[{idx}]");
            Ok(Region {
                class: table.class.resolve(classes).map_err(|why| wrong(format!("{field}.class"), why))?,
                shape: one_shape(table.rect, table.polygon, &field)?,
                reward: table.reward,
            })
        };
        let regions = self.regions.into_iter().enumerate().map(region).collect::<Result<_, _>>()?;
        Ok(Paradigm::StimulusResponse { regions })
    }
}

impl MatchToSampleTable {
    fn into_match_screen(self) -> Result<MatchScreen, FieldError> {
        let field = |name: &str| format!("match-to-sample.{name}");
        if self.scene == Some(true) {
            let template_fields = [
                ("template", self.template.is_some()),
                ("order", self.order.is_some()),
                ("slots", self.slots.is_some()),
                ("button", self.button.is_some()),
            ];
            return match template_fields.iter().find(|(_, is_set)| *is_set) {
                Some((name, _)) => {
                    Err(wrong(field(name), "not allowed with `scene = true`: a scene has no templates"))
                }
                None => Ok(MatchScreen::Scene),
            };
        }
        let missing = |name: &str| wrong(field(name), "missing: a match screen needs it (or `scene = true`)");
        let slots = self.slots.ok_or_else(|| missing("slots"))?;
        let button = match self.button {
            Some(button) => Some(one_shape(button.rect, button.polygon, &field("button"))?),
            None => None,
        };
        Ok(MatchScreen::Templates(TemplateLayout {
            side_px: self.template.ok_or_else(|| missing("template"))?,
            slots: slots
                .into_iter()
                .map(|slot| Slot { top: slot.top.into(), left: slot.left.into() })
                .collect(),
            order: self.order.ok_or_else(|| missing("order"))?,
            button,
        }))
    }
}

fn one_shape(rect: Option<Rect>, polygon: Option<Vec<[f32; 2]>>, field: &str) -> Result<Shape, FieldError> {
    match (rect, polygon) {
        (Some(rect), None) => Ok(Shape::Rect(rect)),
        (None, Some(corners)) => Ok(Shape::Polygon(corners)),
        (None, None) => Err(wrong(field, "a region needs `rect` or `polygon`")),
        (Some(_), Some(_)) => {
            Err(wrong(format!("{field}.polygon"), "a region is a rect or a polygon, not both"))
        }
    }
}

/// A class of the task, by position or by name.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a class: its position (0, 1, ...) or its name")]
enum ClassRef {
    Position(usize),
    Name(String),
}

impl ClassRef {
    fn resolve(self, classes: &ClassChoice) -> Result<usize, String> {
        match (self, classes) {
            (Self::Position(position), _) => Ok(position),
            (Self::Name(name), ClassChoice::Named(names)) => names
                .iter()
                .position(|known| *known == name)
                .ok_or_else(|| format!("`{name}` is not among `classes`")),
            (Self::Name(name), _) => {
                Err(format!("`{name}`: a class can be named only where `classes` is a list of names"))
            }
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a number of classes, a list of class names, or \"all\"")]
enum ClassesValue {
    First(usize),
    Named(Vec<String>),
    All(AllClasses),
}

#[derive(Deserialize)]
enum AllClasses {
    #[serde(rename = "all")]
    All,
}

impl From<ClassesValue> for ClassChoice {
    fn from(value: ClassesValue) -> Self {
        match value {
            ClassesValue::First(n) => Self::First(n),
            ClassesValue::Named(names) => Self::Named(names),
            ClassesValue::All(AllClasses::All) => Self::All,
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a pixel of the screen or a range of two pixels, [first, last]")]
enum PixelOrRange {
    Pixel(u32),
    Range(u32, u32),
}

impl From<PixelOrRange> for Extent {
    fn from(value: PixelOrRange) -> Self {
        match value {
            PixelOrRange::Pixel(px) => Self::fixed(px),
            PixelOrRange::Range(min, max) => Self { min, max },
        }
    }
}
