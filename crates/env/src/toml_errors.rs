//! TOML errors that name line and field.

use serde::de::DeserializeOwned;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// What is wrong with a TOML file, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}{}: {reason}", in_field(.field))]
pub struct FileError {
    /// Line number, from 1.
    pub line: usize,
    /// The field's path, for instance `stimulus-response.regions[1].class`; empty if unknown.
    pub field: String,
    pub reason: String,
}

fn in_field(field: &str) -> String {
    if field.is_empty() { String::new() } else { format!(", field `{field}`") }
}

/// Reads a TOML text into a typed value; an error names line and field.
pub fn parse<T: DeserializeOwned>(text: &str) -> Result<T, FileError> {
    toml::from_str(text).map_err(|error: toml::de::Error| {
        let span = error.span().unwrap_or(0..0);
        FileError {
            line: line_of(text, span.start),
            field: path_at(text, &span).unwrap_or_default(),
            reason: error.message().trim().replace('\n', ", "),
        }
    })
}

/// An error about a field of a text that is valid TOML.
pub(crate) fn error_at(text: &str, field: &str, reason: impl Into<String>) -> FileError {
    FileError { line: line_of_field(text, field), field: field.into(), reason: reason.into() }
}

/// The line of a field such as `match-to-sample.slots[1]`, or of its innermost parent that exists.
pub fn line_of_field(text: &str, field: &str) -> usize {
    let Ok(root) = DeTable::parse(text) else { return 1 };
    let mut start = 0;
    let mut here = Some(Node::Table(root.get_ref()));
    for step in field.split(['.', '[', ']']).filter(|step| !step.is_empty()) {
        let found = match here {
            Some(Node::Table(table)) => table
                .iter()
                .find(|(key, _)| key.get_ref() == step)
                .map(|(key, value)| (key.span().start, value)),
            Some(Node::Array(items)) => step
                .parse()
                .ok()
                .and_then(|idx: usize| items.get(idx))
                .map(|value| (value.span().start, value)),
            None => None,
        };
        let Some((found_start, value)) = found else { break };
        start = found_start;
        here = Node::of(value);
    }
    line_of(text, start)
}

enum Node<'a> {
    Table(&'a DeTable<'a>),
    Array(&'a [Spanned<DeValue<'a>>]),
}

impl<'a> Node<'a> {
    fn of(value: &'a Spanned<DeValue<'a>>) -> Option<Self> {
        match value.get_ref() {
            DeValue::Table(table) => Some(Self::Table(table)),
            DeValue::Array(items) => Some(Self::Array(items)),
            _ => None,
        }
    }
}

/// The path of the innermost key or value that contains a range of the text.
fn path_at(text: &str, span: &Range<usize>) -> Option<String> {
    let root = DeTable::parse(text).ok()?;
    path_within(&Node::Table(root.get_ref()), span)
}

/// The span of a table is only its header, without its fields; so every branch is searched.
fn path_within(node: &Node<'_>, span: &Range<usize>) -> Option<String> {
    let holds = |outer: Range<usize>| outer.start <= span.start && span.end <= outer.end;
    let inside = |value| Node::of(value).and_then(|inner| path_within(&inner, span));
    match node {
        Node::Table(table) => table.iter().find_map(|(key, value)| {
            let name = key.get_ref();
            match inside(value) {
                Some(rest) if rest.starts_with('[') => Some(format!("{name}{rest}")),
                Some(rest) => Some(format!("{name}.{rest}")),
                None => (holds(key.span()) || holds(value.span())).then(|| name.to_string()),
            }
        }),
        Node::Array(items) => items.iter().enumerate().find_map(|(idx, value)| match inside(value) {
            Some(rest) if rest.starts_with('[') => Some(format!("[{idx}]{rest}")),
            Some(rest) => Some(format!("[{idx}].{rest}")),
            None => holds(value.span()).then(|| format!("[{idx}]")),
        }),
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|&byte| byte == b'\n').count() + 1
}
