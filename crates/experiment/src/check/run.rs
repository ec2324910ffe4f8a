//! A run, finished or not.

use super::{Checked, Integrity, ResultKind, names_in};
use crate::error::{Context, Result};
use crate::manifest::{MANIFEST, Manifest};
use crate::run::{RunFolder, Stage, VerifiedRun, is_of_a_run, read_weights};
use crate::study::RunResult;
use std::path::Path;

pub fn check_run(path: &Path) -> Result<Checked> {
    let mut checked = Checked::new(path, ResultKind::Run, Integrity::Intact);
    let manifest = checked.compare(Manifest::read(path))?;
    for (name, _) in names_in(path)? {
        let is_known = match &manifest {
            Some(manifest) => manifest.has(&name),
            None => is_of_a_run(&name),
        };
        if !is_known && !["lock", MANIFEST].contains(&&*name) && !name.starts_with(".aside-") {
            checked.foreign.push(path.join(name));
        }
    }
    if checked.state == Integrity::NoManifest {
        check_unlisted(&mut checked)?;
    }
    Ok(checked)
}

/// Checks what has a checksum or a form of its own.
fn check_unlisted(checked: &mut Checked) -> Result<()> {
    let folder = RunFolder::at(&checked.path);
    let mut note = |file: &Path, result: Result<()>| match result {
        Err(error) => checked.add_error(file, error),
        Ok(()) => Ok(()),
    };
    note(&folder.identity(), folder.read_identity().map(|_| ()))?;
    let status = folder.read_status();
    let is_finished =
        status.as_ref().is_ok_and(|status| status.as_ref().is_some_and(|s| s.stage == Stage::Finished));
    note(&folder.status(), status.map(|_| ()))?;
    note(&folder.checkpoint(), folder.check_checkpoint())?;
    if is_finished {
        let run = VerifiedRun::open(folder.clone())?;
        note(&folder.weights(), read_weights(&run).map(|_| ()))?;
        note(&folder.weights(), check_hash(&run))?;
    }
    if checked.problems.is_empty() && !is_finished {
        checked.state = Integrity::Unfinished;
    }
    Ok(())
}

/// Compares the weights with the hash of an older run.
fn check_hash(run: &VerifiedRun) -> Result<()> {
    let weights = run.folder().weights();
    let result: Option<RunResult> = run.read_json(&run.folder().result())?;
    let (Some(expected), Some(bytes)) = (result.and_then(|result| result.weights_hash), run.read(&weights)?)
    else {
        return Ok(());
    };
    let is_same = blake3::hash(&bytes).to_hex().as_str() == expected;
    is_same.then_some(()).with_context(|| "its hash is not that in result.json")
}
