//! Real images, where they are at hand: `TOUCHSTREAM_TEST_DATA`, else `../shared/data` next to the workspace.

use std::path::{Path, PathBuf};

/// One folder of them; without it, the test says so and ends.
pub fn real_data(name: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let path = std::env::var_os("TOUCHSTREAM_TEST_DATA").map_or_else(beside, PathBuf::from).join(name);
    if path.is_dir() {
        return Some(path);
    }
    println!("skipped: no test data at {}", path.display());
    None
}
