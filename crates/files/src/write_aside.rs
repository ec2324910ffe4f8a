//! Writes files atomically: under a temporary name, then renamed.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::TempPath;

/// Writes a file atomically, creating its folder if necessary. If several processes write the same file, the last one wins.
pub fn write_aside(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = AsideFile::create(path)?;
    file.write_all(bytes)?;
    file.put_in_place()
}

/// Like [`write_aside`], but returns only when the file will survive a power failure.
pub fn write_aside_durably(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = AsideFile::create(path)?;
    file.write_all(bytes)?;
    file.put_in_place_durably()
}

/// Creates a file atomically unless it exists: if several processes try, exactly one receives the file. It is open for
/// appending, and is locked before it becomes visible to others.
pub fn claim_aside(path: &Path, bytes: &[u8]) -> io::Result<Option<File>> {
    let folder = path.parent().ok_or_else(|| io::Error::other("a file must have a folder"))?;
    fs::create_dir_all(folder)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(ASIDE_PREFIX).append(true);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut aside = builder.tempfile_in(folder)?;
    aside.write_all(bytes)?;
    match aside.as_file().try_lock() {
        // On file systems without locks, readers rely on the file's age.
        Ok(()) | Err(fs::TryLockError::Error(_)) => {}
        Err(fs::TryLockError::WouldBlock) => return Err(io::Error::other("a new file is locked")),
    }
    match aside.persist_noclobber(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(None),
        Err(error) => Err(error.error),
    }
}

/// File names are stored in the folder, so it must be flushed, too.
#[cfg(unix)]
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_path: &Path) -> io::Result<()> {
    Ok(())
}

const ASIDE_PREFIX: &str = ".aside-";

/// Removes temporary files of killed processes. Only for a folder that no other process is writing to.
pub fn sweep_aside(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(ASIDE_PREFIX) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// A file that appears under its name only when it is complete. If dropped before, it leaves nothing behind.
pub struct AsideFile {
    file: BufWriter<File>,
    aside: TempPath,
    path: PathBuf,
    made: MadeFolders,
}

/// Folders created for a file, innermost first. On drop, they are removed if they are empty.
struct MadeFolders(Vec<PathBuf>);

impl MadeFolders {
    fn create(folder: &Path) -> io::Result<Self> {
        let is_new = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
        let made = Self(folder.ancestors().take_while(is_new).map(Path::to_owned).collect());
        fs::create_dir_all(folder)?;
        Ok(made)
    }
}

impl Drop for MadeFolders {
    fn drop(&mut self) {
        self.0.iter().for_each(|folder| _ = fs::remove_dir(folder));
    }
}

impl AsideFile {
    /// Starts a file, creating its folder if necessary.
    pub fn create(path: &Path) -> io::Result<Self> {
        let folder = path.parent().ok_or_else(|| io::Error::other("a file must have a folder"))?;
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let made = MadeFolders::create(folder)?;
        let mut builder = tempfile::Builder::new();
        builder.prefix(ASIDE_PREFIX);
        // Temporary files are private by default; these need normal permissions (the umask still applies).
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        // An error that names the temporary file would be confusing.
        let aside = builder.tempfile_in(folder).map_err(|error| io::Error::from(error.kind()))?;
        let (file, aside) = aside.into_parts();
        Ok(Self { file: BufWriter::new(file), aside, path: path.to_owned(), made })
    }

    /// Renames the file to its final name, replacing an existing file.
    pub fn put_in_place(self) -> io::Result<()> {
        let Self { file, aside, path, mut made } = self;
        file.into_inner().map_err(io::IntoInnerError::into_error)?;
        aside.persist(&path).map_err(|error| error.error)?;
        made.0.clear();
        Ok(())
    }

    /// Like [`AsideFile::put_in_place`], but returns only when the file will survive a power failure.
    pub fn put_in_place_durably(mut self) -> io::Result<()> {
        self.file.flush()?;
        // Contents first: the name must never refer to a file without its contents.
        self.file.get_ref().sync_all()?;
        let path = self.path.clone();
        self.put_in_place()?;
        sync_folder(&path)
    }
}

impl Write for AsideFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// The note for a cache that is not writable.
pub fn unwritable_cache(folder: &Path, error: &io::Error) -> String {
    format!(
        "the cache {} is not writable ({error}), so its contents are recomputed next time",
        folder.display()
    )
}

/// The file that exists in place of a folder or of one of its parents.
pub fn file_in_the_way(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|path| path.exists()).filter(|path| !path.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_atomically() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/folder/file.txt");
        for text in ["first", "second"] {
            write_aside(&path, text.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn an_unfinished_file_leaves_no_folder() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("old")).unwrap();
        let path = folder.path().join("old/new/folder/file.txt");
        let mut file = AsideFile::create(&path).unwrap();
        file.write_all(b"half").unwrap();
        assert!(path.parent().unwrap().is_dir());
        drop(file);
        assert_eq!(fs::read_dir(folder.path().join("old")).unwrap().count(), 0);
        // A name that cannot be taken, since a folder has it.
        fs::create_dir_all(folder.path().join("taken/inner")).unwrap();
        let error = write_aside(&folder.path().join("taken"), b"x").unwrap_err().to_string();
        assert!(!error.contains("aside"), "{error}");
    }

    #[test]
    fn a_file_where_a_folder_should_be_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, b"x").unwrap();
        for wanted in ["file", "file/a", "file/a/b"] {
            assert_eq!(file_in_the_way(&folder.path().join(wanted)), Some(&*file), "{wanted}");
        }
        assert_eq!(file_in_the_way(&folder.path().join("new/a")), None);
        assert_eq!(file_in_the_way(folder.path()), None);
        assert_eq!(file_in_the_way(Path::new("no-such-folder-here")), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_can_be_read_by_others_where_the_umask_allows() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let [aside, plain] = ["aside", "plain"].map(|name| folder.path().join(name));
        write_aside(&aside, b"x").unwrap();
        fs::write(&plain, b"x").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&aside), mode(&plain));
    }
}
