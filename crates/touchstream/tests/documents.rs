//! The documents agree with the repository: links and paths exist, commands are accepted, lines have 120 columns.

#![allow(clippy::unwrap_used)]

mod desk;

use desk::Desk;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const MAX_COLUMNS: usize = 120;

struct Document {
    /// Relative to the repository.
    name: String,
    folder: PathBuf,
    text: String,
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn documents() -> Vec<Document> {
    let mut found = Vec::new();
    for folder in ["", "docs", "docs/design", "examples", "results"] {
        for entry in fs::read_dir(repository().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "md") {
                found.push(Document {
                    name: format!("{folder}/{}", path.file_name().unwrap().to_str().unwrap()),
                    folder: path.parent().unwrap().to_owned(),
                    text: fs::read_to_string(&path).unwrap(),
                });
            }
        }
    }
    assert!(found.len() > 20, "{} documents", found.len());
    found
}

/// The lines outside fenced code blocks, and those inside.
fn prose_and_code(text: &str) -> (Vec<&str>, Vec<&str>) {
    let mut fenced = false;
    let (mut prose, mut code) = (Vec::new(), Vec::new());
    for line in text.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
        } else if fenced || line.starts_with("    ") {
            code.push(line.trim_start());
        } else {
            prose.push(line);
        }
    }
    (prose, code)
}

/// The anchor that GitHub gives a heading.
fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = text.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn anchors(text: &str) -> BTreeSet<String> {
    prose_and_code(text).0.into_iter().filter(|line| line.starts_with('#')).map(anchor).collect()
}

/// The targets of `[text](target)`.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|rest| rest.split(')').next())
}

/// The texts between single backticks.
fn quoted(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

#[test]
fn links_and_their_anchors_exist() {
    let mut broken = Vec::new();
    for Document { name, folder, text } in documents() {
        for target in links(&text).filter(|target| !target.contains("://")) {
            let (path, heading) = target.split_once('#').unwrap_or((target, ""));
            let file = if path.is_empty() { None } else { Some(folder.join(path)) };
            let exists = file.as_ref().is_none_or(|file| file.exists());
            let linked = file.map_or(Some(text.clone()), |file| fs::read_to_string(file).ok());
            let has_heading =
                heading.is_empty() || linked.is_some_and(|linked| anchors(&linked).contains(heading));
            if !exists || !has_heading {
                broken.push(format!("{name}: {target}"));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn source_paths_exist() {
    let roots = ["crates/", "scripts/", "peers/", "fuzz/", "examples/", "docs/"];
    let is_path = |text: &str| {
        let plain = text.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
        plain
            && (roots.iter().any(|root| text.starts_with(root))
                || text.contains("/src/")
                || text.contains("/tests/"))
    };
    let mut missing = Vec::new();
    let mut n_paths = 0;
    for Document { name, text, .. } in documents() {
        for path in prose_and_code(&text).0.into_iter().flat_map(quoted).filter(|text| is_path(text)) {
            n_paths += 1;
            let places = [repository().join(path), repository().join("crates").join(path)];
            if !places.iter().any(|place| place.exists()) {
                missing.push(format!("{name}: {path}"));
            }
        }
    }
    assert!(n_paths > 30, "{n_paths} paths");
    assert!(missing.is_empty(), "{missing:#?}");
}

/// The commands among lines of code: `touchstream ...` without placeholders, comments and redirections.
fn commands(code: &[&str]) -> Vec<String> {
    let mut commands = Vec::new();
    let mut lines = code.iter();
    while let Some(line) = lines.next() {
        let mut command = (*line).to_owned();
        while command.ends_with('\\') {
            command.pop();
            command += lines.next().copied().unwrap_or_default();
        }
        let Some(arguments) = command.trim_start_matches("$ ").strip_prefix("touchstream ") else { continue };
        let end = arguments.find([';', '>', '|', '&']).into_iter().chain(arguments.find(" #")).min();
        let arguments = &arguments[..end.unwrap_or(arguments.len())];
        let is_drawing = arguments.starts_with("-- ");
        let has_placeholder =
            arguments.split_whitespace().any(|word| word.chars().all(|c| c.is_ascii_uppercase()));
        if !is_drawing
            && !has_placeholder
            && !arguments.contains(['<', '[', '"', '\'', '*', '$'])
            && !arguments.contains("...")
        {
            commands.push(arguments.to_owned());
        }
    }
    commands
}

#[test]
fn commands_are_accepted() {
    let desk = Desk::new();
    let mut n_commands = 0;
    let mut refused = Vec::new();
    // The changelog also names options that are gone.
    for Document { name, text, .. } in
        documents().into_iter().filter(|document| document.name != "/CHANGELOG.md")
    {
        for command in commands(&prose_and_code(&text).1) {
            n_commands += 1;
            let arguments: Vec<&str> = command.split_whitespace().chain(["--help"]).collect();
            let output = desk.run(&arguments);
            if !output.status.success() {
                refused.push(format!("{name}: {command}\n{}", String::from_utf8_lossy(&output.stderr)));
            }
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
    assert!(n_commands > 40, "{n_commands} commands");
}

#[test]
fn lines_have_at_most_120_columns() {
    let mut long = Vec::new();
    for Document { name, text, .. } in
        documents().into_iter().filter(|document| !document.name.ends_with("REPRODUCTION.md"))
    {
        for line in prose_and_code(&text).0 {
            let may_be_long = line.starts_with('|') || line.contains("](") || line.contains("://");
            if line.chars().count() > MAX_COLUMNS && !may_be_long {
                long.push(format!("{name}: {line}"));
            }
        }
    }
    assert!(long.is_empty(), "{long:#?}");
}
