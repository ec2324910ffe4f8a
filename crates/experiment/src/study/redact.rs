//! Removes machine-specific paths from sources, settings and commands.

use crate::config::RawConfig;
use std::path::{Path, PathBuf};

/// `folder:photos` for `folder:/home/me/photos`.
pub fn redact_source(word: &str) -> String {
    match word.split_once(':') {
        Some((kind, path)) => format!("{kind}:{}", last_part(path)),
        None => word.to_owned(),
    }
}

fn last_part(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or(path)
}

/// The command with each path replaced by its last component.
pub fn redact_command(command: &str) -> String {
    let is_between = |c: char| " =,:'\"".contains(c);
    command
        .split_inclusive(is_between)
        .map(|piece| {
            let word = piece.trim_end_matches(is_between);
            format!("{}{}", last_part(word), &piece[word.len()..])
        })
        .collect()
}

/// The settings with each path replaced by its last component. Paths stay absolute (`folder:/photos`), so that they are
/// not resolved again when they are read.
pub fn redact_paths(config: RawConfig) -> RawConfig {
    let rooted = |path: &str| format!("/{}", last_part(path));
    let source = |word: String| match word.split_once(':') {
        Some((kind, path)) => format!("{kind}:{}", rooted(path)),
        None => word,
    };
    let mut config =
        RawConfig { data: config.data.map(source), encoder: config.encoder.map(source), ..config };
    let file = |path: &Path| PathBuf::from(rooted(&path.to_string_lossy()));
    config.encoder_options.weights = config.encoder_options.weights.as_deref().map(file);
    config.images.cache = None;
    for template in &mut config.images.templates {
        if let Some((class, file)) = template.split_once('=') {
            *template = format!("{class}={}", rooted(file));
        }
    }
    config
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_a_machine_are_not_told() {
        assert_eq!(redact_source("folder:/home/me/photos/"), "folder:photos");
        assert_eq!(redact_source("gallery"), "gallery");
        #[track_caller]
        fn check(command: &str, shown: &str) {
            assert_eq!(redact_command(command), shown);
        }
        check(
            "touchstream study modules --scale short --seeds 3",
            "touchstream study modules --scale short --seeds 3",
        );
        check("--data folder:/a/photos --out /tmp/x", "--data folder:photos --out x");
        check(
            "--data-of localization=cutouts:/b/c59 --out=/home/me/x",
            "--data-of localization=cutouts:c59 --out=x",
        );
        check("--data folder:../../me/photos/ --cache=/scratch/u123", "--data folder:photos --cache=u123");
        check("--tasks sr-2way,/home/me/a.toml,mine/b.toml", "--tasks sr-2way,a.toml,b.toml");
        check(
            "--template dog=/home/me/dog.png --out '/home/me/my study'",
            "--template dog=dog.png --out 'my study'",
        );
    }
}
