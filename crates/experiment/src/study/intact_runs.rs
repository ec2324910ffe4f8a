//! Which complete runs of a study are intact to the last byte, also where nothing but a list is asked for. Files that
//! have not changed since they were compared are not read again: `.intact.json` in the study's folder remembers size,
//! time and inode of each. Nothing that is reported or learned from relies on this.

use crate::error::{Error, Result};
use crate::run::VerifiedRun;
use crate::sealed::{sealed_line, unsealed};
use crate::study::StudyFolder;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::time::SystemTime;
use touchstream_files::{read_at_most, settled_state, write_aside};

pub const FILE: &str = ".intact.json";
const MAX_BYTES: u64 = 64 << 20;

/// For each run, the hash of size, time and inode of its files when they were intact.
#[derive(Default, PartialEq, Serialize, Deserialize)]
pub struct IntactRuns {
    runs: BTreeMap<String, String>,
}

/// The damaged ones among these runs, and what is wrong with each.
pub fn damaged_runs<'a>(
    folder: &StudyFolder,
    runs: impl IntoIterator<Item = &'a VerifiedRun>,
) -> Result<Vec<(String, Error)>> {
    damaged_runs_at(folder, runs, SystemTime::now())
}

fn damaged_runs_at<'a>(
    folder: &StudyFolder,
    runs: impl IntoIterator<Item = &'a VerifiedRun>,
    now: SystemTime,
) -> Result<Vec<(String, Error)>> {
    if folder.is_unpacked() {
        return Ok(Vec::new());
    }
    let path = folder.path().join(FILE);
    let known = read_at_most(&path, MAX_BYTES).ok().and_then(|bytes| unsealed(&bytes).value());
    let mut known: IntactRuns = known.unwrap_or_default();
    let runs: Vec<&VerifiedRun> = runs.into_iter().collect();
    let checked: Vec<_> = runs.par_iter().map(|run| known.check(run, now)).collect();
    let (mut damaged, mut intact) = (Vec::new(), BTreeMap::new());
    for (run, checked) in runs.into_iter().zip(checked) {
        let name = IntactRuns::name_of(run);
        match checked {
            Ok(Some(state)) => _ = intact.insert(name, state),
            Ok(None) => {}
            Err(error) => damaged.push((name, error)),
        }
    }
    // Of a study that cannot be written to, all files are read each time.
    if known.runs.iter().any(|(name, state)| intact.get(name) != Some(state))
        || known.runs.len() < intact.len()
    {
        known.runs.extend(intact);
        let _ = write_aside(&path, &sealed_line(&known));
    }
    Ok(damaged)
}

impl IntactRuns {
    fn name_of(run: &VerifiedRun) -> String {
        run.folder().path().file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// The state of the files of an intact run, if it can be remembered.
    fn check(&self, run: &VerifiedRun, now: SystemTime) -> Result<Option<String>> {
        let state = state_of(run.folder().path(), now).ok().flatten();
        if state.is_none() || self.runs.get(&Self::name_of(run)) != state.as_ref() {
            run.check_all()?;
        }
        Ok(state)
    }
}

/// `None` if a file is so new that its time says nothing.
fn state_of(run: &Path, now: SystemTime) -> io::Result<Option<String>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(run)? {
        let entry = entry?;
        files.push((entry.file_name(), entry.metadata()?));
    }
    files.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
    let mut hasher = blake3::Hasher::new();
    for (name, facts) in &files {
        let Some(state) = settled_state(facts, now)? else { return Ok(None) };
        hasher.update(name.as_encoded_bytes()).update(&[0]);
        state.iter().for_each(|number| _ = hasher.update(&number.to_le_bytes()));
    }
    Ok(Some(hasher.finalize().to_hex()[..32].to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::RunFolder;
    use std::fs::File;
    use std::time::Duration;

    #[test]
    fn a_change_is_noticed_and_what_is_known_is_not_read_again() {
        let place = tempfile::tempdir().unwrap();
        let folder = StudyFolder::at(place.path());
        let path = folder.run("a").path().to_owned();
        fs::create_dir_all(&path).unwrap();
        let curve = RunFolder::at(&path).curve_csv();
        fs::write(&curve, "rows").unwrap();
        RunFolder::at(&path).write_manifest().unwrap();
        let (now, later) = (SystemTime::now(), SystemTime::now() + Duration::from_secs(60));
        let damaged = |at| {
            let run = VerifiedRun::open(folder.run("a")).unwrap();
            let damaged = damaged_runs_at(&folder, [&run], at).unwrap();
            damaged.into_iter().map(|(_, error)| error.text()).collect::<Vec<_>>()
        };
        let known = || read_at_most(&place.path().join(FILE), MAX_BYTES).ok();
        // What is only seconds old is not remembered.
        assert!(damaged(now).is_empty() && known().is_none());
        assert!(damaged(later).is_empty() && known().is_some());
        // What is remembered is not read: here something that is not so.
        let state = state_of(&path, later).unwrap().unwrap();
        let facts = fs::metadata(&curve).unwrap();
        std::thread::sleep(Duration::from_millis(20));
        fs::write(&curve, "rowS").unwrap();
        // The time of an edit can be set back, but not that of the change.
        File::options().write(true).open(&curve).unwrap().set_modified(facts.modified().unwrap()).unwrap();
        assert_ne!(state_of(&path, later).unwrap().unwrap(), state);
        assert!(damaged(later)[0].contains("curve.csv: it is damaged"));
        let wrong =
            IntactRuns { runs: BTreeMap::from([("a".into(), state_of(&path, later).unwrap().unwrap())]) };
        fs::write(place.path().join(FILE), sealed_line(&wrong)).unwrap();
        assert!(damaged(later).is_empty(), "it was read again");
        fs::write(&curve, "row").unwrap();
        assert!(damaged(later)[0].contains("curve.csv: it is damaged: 3 bytes instead of 4"));
    }
}
