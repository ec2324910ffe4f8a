//! Files that are whole or not there: written under another name, then renamed.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Puts a file in place in one step, making its folder if need be. Several processes may write the same file at
/// once; one of them wins.
pub fn write_aside(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = AsideFile::create(path)?;
    file.write_all(bytes)?;
    file.put_in_place()
}

/// A file that is written little by little and appears under its name when it is whole. Dropped before that, it
/// leaves nothing behind.
pub struct AsideFile {
    aside: BufWriter<NamedTempFile>,
    path: PathBuf,
}

impl AsideFile {
    /// Begins a file, making its folder if need be.
    pub fn create(path: &Path) -> io::Result<Self> {
        let folder = path.parent().ok_or_else(|| io::Error::other("a file must have a folder"))?;
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        fs::create_dir_all(folder)?;
        let mut builder = tempfile::Builder::new();
        builder.prefix(".aside-");
        // Temporary files are private by default; these are to be read like any other (the umask still applies).
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        Ok(Self { aside: BufWriter::new(builder.tempfile_in(folder)?), path: path.to_owned() })
    }

    /// Gives the file its name, in place of whatever had it.
    pub fn put_in_place(self) -> io::Result<()> {
        let aside = self.aside.into_inner().map_err(io::IntoInnerError::into_error)?;
        aside.persist(&self.path).map_err(|error| error.error)?;
        Ok(())
    }
}

impl Write for AsideFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.aside.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.aside.flush()
    }
}

/// The note for a cache that cannot be written.
pub fn unwritable_cache(folder: &Path, error: &io::Error) -> String {
    format!("the cache {} cannot be written ({error}), so its work is done again next time", folder.display())
}

/// The file that stands where a folder, or one above it, would have to be.
pub fn file_in_the_way(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|path| path.exists()).filter(|path| !path.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/folder/file.txt");
        for text in ["first", "second"] {
            write_aside(&path, text.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
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
