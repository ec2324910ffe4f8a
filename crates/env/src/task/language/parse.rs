//! From the text of a task file to a task.

use crate::shape::{Rect, Shape};
use crate::task::checked::Task;
use crate::task::definition::{
    ClassChoice, Extent, MatchScreen, Paradigm, Region, Slot, SlotOrder, TaskSpec, TemplateLayout,
};
use crate::task::transformation::Transformation;
use crate::toml_place::{self, FileError};
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;

/// The task of a task file's text. Errors name line and field.
pub fn parse_task(text: &str) -> Result<Task, FileError> {
    let file: TaskFile = toml_place::parse(text)?;
    let spec = file.into_spec().map_err(|(field, reason)| toml_place::error_at(text, &field, reason))?;
    Task::check(spec).map_err(|error| toml_place::error_at(text, &error.field, error.reason))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct TaskFile {
    id: String,
    #[serde(default)]
    title: String,
    #[serde(deserialize_with = "class_choice")]
    classes: ClassChoice,
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
    order: Option<OrderWord>,
    slots: Option<Vec<SlotTable>>,
    button: Option<ButtonTable>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum OrderWord {
    Fixed,
    Shuffled,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SlotTable {
    #[serde(deserialize_with = "extent")]
    top: Extent,
    #[serde(deserialize_with = "extent")]
    left: Extent,
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
        let paradigm = match (self.stimulus_response, self.match_to_sample, self.localization) {
            (Some(table), None, None) => table.into_paradigm(&self.classes)?,
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
        Ok(TaskSpec {
            id: self.id,
            title,
            classes: self.classes,
            paradigm,
            transformations: self.transformations,
        })
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
            let templates_said = [
                ("template", self.template.is_some()),
                ("order", self.order.is_some()),
                ("slots", self.slots.is_some()),
                ("button", self.button.is_some()),
            ];
            return match templates_said.iter().find(|(_, said)| *said) {
                Some((name, _)) => Err(wrong(field(name), "a scene has no templates; leave this out")),
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
            slots: slots.into_iter().map(|slot| Slot { top: slot.top, left: slot.left }).collect(),
            order: match self.order.ok_or_else(|| missing("order"))? {
                OrderWord::Fixed => SlotOrder::Fixed,
                OrderWord::Shuffled => SlotOrder::Shuffled,
            },
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

impl<'de> Deserialize<'de> for ClassRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumberOrName;
        impl Visitor<'_> for NumberOrName {
            type Value = ClassRef;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a class: its position (0, 1, ...) or its name")
            }
            fn visit_i64<E: Error>(self, position: i64) -> Result<ClassRef, E> {
                usize::try_from(position)
                    .map(ClassRef::Position)
                    .map_err(|_| E::custom("a class's position is not negative"))
            }
            fn visit_str<E: Error>(self, name: &str) -> Result<ClassRef, E> {
                Ok(ClassRef::Name(name.into()))
            }
        }
        deserializer.deserialize_any(NumberOrName)
    }
}

fn class_choice<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ClassChoice, D::Error> {
    struct NumberNamesOrAll;
    impl<'de> Visitor<'de> for NumberNamesOrAll {
        type Value = ClassChoice;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a number of classes, a list of class names, or \"all\"")
        }
        fn visit_i64<E: Error>(self, n: i64) -> Result<ClassChoice, E> {
            usize::try_from(n)
                .map(ClassChoice::First)
                .map_err(|_| E::custom("a number of classes is not negative"))
        }
        fn visit_str<E: Error>(self, word: &str) -> Result<ClassChoice, E> {
            if word == "all" {
                Ok(ClassChoice::All)
            } else {
                Err(E::invalid_value(serde::de::Unexpected::Str(word), &self))
            }
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<ClassChoice, A::Error> {
            let mut names = Vec::new();
            while let Some(name) = seq.next_element()? {
                names.push(name);
            }
            Ok(ClassChoice::Named(names))
        }
    }
    deserializer.deserialize_any(NumberNamesOrAll)
}

fn extent<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Extent, D::Error> {
    struct PixelOrRange;
    impl<'de> Visitor<'de> for PixelOrRange {
        type Value = Extent;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a pixel or a range of pixels [first, last]")
        }
        fn visit_i64<E: Error>(self, px: i64) -> Result<Extent, E> {
            u32::try_from(px)
                .map(Extent::fixed)
                .map_err(|_| E::custom(format!("{px} is not a pixel of the screen")))
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Extent, A::Error> {
            let two = "a range is two numbers, [first, last]";
            let min = seq.next_element()?.ok_or_else(|| A::Error::custom(two))?;
            let max = seq.next_element()?.ok_or_else(|| A::Error::custom(two))?;
            match seq.next_element::<u32>()? {
                None => Ok(Extent { min, max }),
                Some(_) => Err(A::Error::custom(two)),
            }
        }
    }
    deserializer.deserialize_any(PixelOrRange)
}
