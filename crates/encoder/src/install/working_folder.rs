//! The folder in the cache that an installation works in.

use super::InstallError;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// How the names of folders in the cache begin that an installation works in; one that is killed leaves its own behind.
pub const WORKING_PREFIX: &str = ".installing-";
/// Folders of installations that were killed are removed after so long.
const LEFT_BEHIND_AFTER: Duration = Duration::from_secs(24 * 3600);

/// A folder in the cache that is gone when it is dropped.
pub(super) fn working_folder(cache_dir: &Path) -> Result<tempfile::TempDir, InstallError> {
    let unwritable = |error| InstallError::UnwritableCache { path: cache_dir.to_owned(), error };
    fs::create_dir_all(cache_dir).map_err(unwritable)?;
    remove_left_behind(cache_dir);
    tempfile::Builder::new().prefix(WORKING_PREFIX).tempdir_in(cache_dir).map_err(unwritable)
}

fn remove_left_behind(cache_dir: &Path) {
    let Ok(entries) = fs::read_dir(cache_dir) else { return };
    for entry in entries.flatten() {
        let is_ours = entry.file_name().to_string_lossy().starts_with(WORKING_PREFIX);
        let age = || entry.metadata().ok()?.modified().ok()?.elapsed().ok();
        if is_ours && age().is_some_and(|age| age > LEFT_BEHIND_AFTER) {
            // Best effort: it is only rubbish.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
