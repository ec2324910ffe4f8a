//! Writes task files; the text parses back to the same task.

use crate::shape::Shape;
use crate::task::checked::Task;
use crate::task::definition::{
    ClassChoice, Extent, MatchScreen, Paradigm, Region, Slot, SlotOrder, TaskSpec, TemplateLayout,
};
use std::fmt::Write;

impl Task {
    /// The task as the text of a task file.
    pub fn to_toml(&self) -> String {
        self.spec().to_toml()
    }
}

impl TaskSpec {
    /// The task as the text of a task file.
    pub fn to_toml(&self) -> String {
        let spec = self;
        let mut text = String::new();
        let mut line = |content: String| {
            text.push_str(&content);
            text.push('\n');
        };
        line(format!("id = {}", quoted(&spec.id)));
        line(format!("title = {}", quoted(&spec.title)));
        line(format!("classes = {}", classes_value(&spec.classes)));
        if !spec.transformations.is_empty() {
            line(format!("transformations = [{}]", listed(&spec.transformations, |t| quoted(t.name()))));
        }
        line(String::new());
        match &spec.paradigm {
            Paradigm::StimulusResponse { regions } => {
                line("[stimulus-response]".into());
                line("regions = [".into());
                regions.iter().for_each(|region| line(format!("    {{ {} }},", region_fields(region))));
                line("]".into());
            }
            Paradigm::MatchToSample(MatchScreen::Templates(layout)) => {
                line("[match-to-sample]".into());
                layout_lines(layout).into_iter().for_each(line);
            }
            Paradigm::MatchToSample(MatchScreen::Scene) => {
                line("[match-to-sample]".into());
                line("scene = true".into());
            }
            Paradigm::Localization => line("[localization]".into()),
        }
        text
    }
}

fn classes_value(classes: &ClassChoice) -> String {
    match classes {
        ClassChoice::First(n) => n.to_string(),
        ClassChoice::Named(names) => format!("[{}]", listed(names, |name| quoted(name))),
        ClassChoice::All => "\"all\"".into(),
    }
}

fn region_fields(region: &Region) -> String {
    let mut fields = format!("class = {}, {}", region.class, shape_field(&region.shape));
    if region.reward != 1.0 {
        // Written to a String, which never fails.
        let _ = write!(fields, ", reward = {:?}", region.reward);
    }
    fields
}

fn shape_field(shape: &Shape) -> String {
    match shape {
        Shape::Rect(rect) => format!(
            "rect = {{ top = {}, left = {}, height = {}, width = {} }}",
            rect.top, rect.left, rect.height, rect.width
        ),
        Shape::Polygon(corners) => {
            format!("polygon = [{}]", listed(corners, |[row, col]| format!("[{row:?}, {col:?}]")))
        }
    }
}

fn layout_lines(layout: &TemplateLayout) -> Vec<String> {
    let order = match layout.order {
        SlotOrder::Fixed => "fixed",
        SlotOrder::Shuffled => "shuffled",
    };
    let mut lines =
        vec![format!("template = {}", layout.side_px), format!("order = \"{order}\""), "slots = [".into()];
    let slot_line = |slot: &Slot| {
        format!("    {{ top = {}, left = {} }},", extent_value(slot.top), extent_value(slot.left))
    };
    lines.extend(layout.slots.iter().map(slot_line));
    lines.push("]".into());
    lines.extend(layout.button.as_ref().map(|button| format!("button = {{ {} }}", shape_field(button))));
    lines
}

fn extent_value(extent: Extent) -> String {
    if extent.min == extent.max {
        extent.min.to_string()
    } else {
        format!("[{}, {}]", extent.min, extent.max)
    }
}

fn listed<T>(items: &[T], show: impl Fn(&T) -> String) -> String {
    items.iter().map(show).collect::<Vec<_>>().join(", ")
}

/// A TOML string literal.
pub(crate) fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}
