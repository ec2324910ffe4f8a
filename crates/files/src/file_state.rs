//! Whether a file is unchanged, without reading it.

use std::fs::Metadata;
use std::io;
use std::time::{Duration, SystemTime};

/// File systems have coarse clocks: a file may change twice within this time and keep its times.
const RESOLUTION: Duration = Duration::from_secs(2);

/// Size, time of modification, time of change and inode. The time of change cannot be set back, as by `touch -r`.
pub type FileState = [i64; 6];

/// The state of a file that has not changed since `before`; `None` if it may have, or will perhaps within the resolution
/// of its times.
pub fn settled_state(facts: &Metadata, before: SystemTime) -> io::Result<Option<FileState>> {
    let state = state_of(facts)?;
    let at = |secs: i64, nanos: i64| {
        let since = Duration::new(u64::try_from(secs).unwrap_or(0), u32::try_from(nanos).unwrap_or(0));
        SystemTime::UNIX_EPOCH + since
    };
    let last = at(state[1], state[2]).max(at(state[3], state[4]));
    Ok(before.duration_since(last).is_ok_and(|age| age > RESOLUTION).then_some(state))
}

#[cfg(unix)]
pub fn state_of(facts: &Metadata) -> io::Result<FileState> {
    use std::os::unix::fs::MetadataExt;
    let [size, inode] = [facts.size(), facts.ino()].map(u64::cast_signed);
    Ok([size, facts.mtime(), facts.mtime_nsec(), facts.ctime(), facts.ctime_nsec(), inode])
}

#[cfg(not(unix))]
pub fn state_of(facts: &Metadata) -> io::Result<FileState> {
    let since = facts.modified()?.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Ok([facts.len() as i64, since.as_secs() as i64, i64::from(since.subsec_nanos()), 0, 0, 0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, File};

    #[test]
    fn an_edit_is_noticed_although_size_and_time_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "one").unwrap();
        let facts = || fs::metadata(&path).unwrap();
        let (now, later) = (SystemTime::now(), SystemTime::now() + Duration::from_secs(60));
        assert_eq!(settled_state(&facts(), now).unwrap(), None, "it is too new");
        let (before, time) = (settled_state(&facts(), later).unwrap(), facts().modified().unwrap());
        assert_eq!(before, Some(state_of(&facts()).unwrap()));
        std::thread::sleep(Duration::from_millis(20));
        fs::write(&path, "two").unwrap();
        File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        assert_eq!(facts().modified().unwrap(), time);
        assert_ne!(settled_state(&facts(), later).unwrap(), before);
    }
}
