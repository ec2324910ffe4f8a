//! Sources and commands as others may see them: where a folder was on the machine that ran a study is nobody's business.

/// `folder:photos` for `folder:/home/me/photos`.
pub fn shown_source(word: &str) -> String {
    match word.split_once(':') {
        Some((kind, path)) => format!("{kind}:{}", last_part(path)),
        None => word.to_owned(),
    }
}

/// The last name of a path.
pub fn last_part(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or(path)
}

/// A command with the last names of the paths that it names.
pub fn shown_command(command: &str) -> String {
    let shown = |word: &str| match word.split_once(":/") {
        Some((kind, path)) => format!("{kind}:{}", last_part(path)),
        None if word.starts_with('/') => last_part(word).to_owned(),
        None => word.to_owned(),
    };
    command.split(' ').map(shown).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_a_machine_are_not_told() {
        assert_eq!(shown_source("folder:/home/me/photos/"), "folder:photos");
        assert_eq!(shown_source("gallery"), "gallery");
        let command = "touchstream study modules --data folder:/a/photos --data-of localization=cutouts:/b/c59 --out /tmp/x";
        assert_eq!(
            shown_command(command),
            "touchstream study modules --data folder:photos --data-of localization=cutouts:c59 --out x"
        );
    }
}
