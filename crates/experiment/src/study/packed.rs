//! A study as one small file, for reports and verdicts: without weights and without paths of the machine that ran it.

use crate::config::is_path;
use crate::error::{Context, Result, bail};
use crate::manifest::{MANIFEST, Manifest};
use crate::output::OutputFile;
use crate::run::{FilesInMemory, RunFolder, VerifiedRun};
use crate::study::StudyFolder;
use crate::study::cell::cells_of;
use crate::study::census::{Census, warn_of_unnamed};
use crate::study::own_files::BASELINES;
use crate::study::provenance::{FILE as STARTS, Start, starts_of};
use crate::study::read_spec;
use crate::study::redact::{redact_command, redact_paths, redact_source};
use crate::study::spec::StudySpec;
use crate::watch::{Event, Watch};
use flate2::Compression;
use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Write};
use std::path::{Component, Path, PathBuf};
use tempfile::TempDir;

/// The file name extension of packed studies.
pub const ENDING: &str = ".tar.gz";

/// Maximum size of the unpacked files.
const MAX_BYTES: u64 = 1 << 30;
const MAX_FILE_BYTES: u64 = 256 << 20;
const MAX_FILES: usize = 2_000_000;
/// Maximum number of files other than those of runs.
const MAX_WRITTEN: usize = 10_000;

/// A study to be read: a folder, or the content of a packed file. Its runs stay in memory, because they have
/// thousands of files; the few other files are in a temporary folder.
pub struct OpenStudy {
    pub folder: StudyFolder,
    unpacked: Option<TempDir>,
    has_manifest: bool,
}

impl OpenStudy {
    pub fn at(path: &Path) -> Result<Self> {
        if !path.is_file() {
            let folder = StudyFolder::at(path);
            return Ok(Self { folder, unpacked: None, has_manifest: path.join(MANIFEST).exists() });
        }
        let place = tempfile::tempdir().context("a folder to unpack into cannot be made")?;
        let runs = unpack(path, place.path());
        let (runs, has_manifest) = runs.with_context(|| format!("{} cannot be unpacked", path.display()))?;
        let folder = StudyFolder::with_runs_in_memory(place.path(), runs);
        Ok(Self { folder, unpacked: Some(place), has_manifest })
    }

    /// An error names `path`, which the user gave.
    pub fn read_spec(&self, path: &Path) -> Result<StudySpec> {
        let spec = read_spec(&self.folder);
        if self.is_packed() { spec.at(path) } else { spec }
    }

    /// Whether there is a manifest; that of a packed study was compared with all of its files.
    pub fn has_manifest(&self) -> bool {
        self.has_manifest
    }

    /// Whether the folder is temporary.
    pub fn is_packed(&self) -> bool {
        self.unpacked.is_some()
    }
}

/// The images in a packed study.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pictures {
    LeftOut,
    /// Reward maps, for the page of a report.
    Maps,
}

/// Writes a study's complete runs to one file, always with the same bytes, and returns their number.
pub fn pack(folder: &StudyFolder, pictures: Pictures, out: &Path, watch: &dyn Watch) -> Result<usize> {
    let spec = read_spec(folder)?;
    let runs = packable(folder, &spec, watch)?;
    if runs.is_empty() {
        bail!(Folder, "{} has no complete run yet", folder.path().display());
    }
    let mut file = OutputFile::create(out)?;
    let mut archive = Archive::new(GzEncoder::new(&mut file, Compression::best()), places_of(folder, &spec)?);
    archive.add("study.toml", without_places(spec, folder)?.to_toml()?.as_bytes())?;
    let mut starts = String::new();
    for start in starts_of(folder)? {
        let start = Start { command: redact_command(&start.command), ..start };
        starts += &(serde_json::to_string(&start)? + "\n");
    }
    archive.add(STARTS, starts.as_bytes())?;
    if let Some(bytes) = folder.read_own(BASELINES)? {
        archive.add(BASELINES, &baselines_without_places(&bytes, &folder.baselines())?)?;
    }
    for name in folder.own_files()?.iter().filter(|name| name.starts_with("tasks/")) {
        if let Some(bytes) = folder.read_own(name)? {
            archive.add(name, &bytes)?;
        }
    }
    for name in &runs {
        let run = VerifiedRun::open(folder.run(name))?;
        let mut packed = BTreeSet::new();
        for path in files_of(run.folder(), pictures) {
            if let (Some(bytes), Some(file)) = (run.read(&path)?, path.file_name()) {
                let file = file.to_string_lossy().into_owned();
                archive.add(&format!("runs/{name}/{file}"), &bytes)?;
                packed.insert(file);
            }
        }
        if let Some(manifest) = run.manifest() {
            let manifest = manifest.of_only(|file| packed.contains(file));
            archive.add(&format!("runs/{name}/{MANIFEST}"), &manifest.to_bytes())?;
        }
    }
    archive.finish().and_then(GzEncoder::finish).at(out)?;
    file.finish()?;
    Ok(runs.len())
}

/// The runs that a report reads; reports runs that are left out.
fn packable(folder: &StudyFolder, spec: &StudySpec, watch: &dyn Watch) -> Result<BTreeSet<String>> {
    let Census { records, unnamed } = Census::take(folder, &cells_of(spec)?)?;
    for (name, problem) in &records.unreadable {
        watch.on(Event::RunNotPacked { name, problem });
    }
    warn_of_unnamed(folder.path(), &unnamed, watch);
    // Mismatched runs are packed, too; readers exclude and report them again.
    let strangers = records.strangers.into_iter().map(|(name, _)| name);
    Ok(records.runs.into_iter().map(|run| run.name).chain(strangers).collect())
}

/// An archive whose files contain no paths of this machine.
struct Archive<W: Write> {
    files: tar::Builder<W>,
    manifest: Manifest,
    places: Vec<String>,
}

impl<W: Write> Archive<W> {
    fn new(out: W, places: Vec<String>) -> Self {
        Self { files: tar::Builder::new(out), manifest: Manifest::new(None), places }
    }

    fn add(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        let text = String::from_utf8_lossy(bytes);
        if let Some(place) = self.places.iter().find(|place| text.contains(*place) || name.contains(*place)) {
            bail!(
                Folder,
                "{name} contains {place}, a path of this machine; a packed study must not contain any"
            );
        }
        self.manifest.add(name.to_owned(), bytes);
        self.append(name, bytes).with_context(|| name.to_owned())
    }

    fn append(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let mut header = tar::Header::new_ustar();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        self.files.append_data(&mut header, name, bytes)
    }

    /// Adds the manifest of all files.
    fn finish(mut self) -> io::Result<W> {
        self.append(MANIFEST, &self.manifest.to_bytes())?;
        self.files.into_inner()
    }
}

/// The paths of this machine that a study refers to.
fn places_of(folder: &StudyFolder, spec: &StudySpec) -> Result<Vec<String>> {
    let mut places = vec![std::path::absolute(folder.path())?.to_string_lossy().into_owned()];
    for words in [&spec.settings].into_iter().chain(spec.settings_of.values()) {
        let sources = [&words.data, &words.encoder].into_iter().flatten();
        places.extend(sources.filter_map(|word| Some(word.split_once(':')?.1.to_owned())));
    }
    // Plain names are not paths.
    places.retain(|place| place.trim_matches('/').contains('/'));
    Ok(places)
}

/// The files of a run that reports read.
fn files_of(run: &RunFolder, pictures: Pictures) -> Vec<PathBuf> {
    let mut files = vec![
        run.facts(),
        run.identity(),
        run.status(),
        run.curve_csv(),
        run.lessons_csv(),
        run.votes_csv(),
        run.result(),
    ];
    if pictures == Pictures::Maps {
        files.extend([run.maps_png(), run.lesson_maps_png(2)]);
    }
    files
}

/// The study without paths of this machine.
fn without_places(spec: StudySpec, folder: &StudyFolder) -> Result<StudySpec> {
    for (key, values) in &spec.vary {
        if values.iter().any(|value| value.to_string().contains('/')) {
            bail!(
                Folder,
                "vary.{key}: it contains paths of this machine, and so do its runs; such a study cannot be packed"
            );
        }
    }
    let place = std::path::absolute(folder.path())?;
    let beside = |word: &str| Some(Path::new(word).strip_prefix(&place).ok()?.to_string_lossy().into_owned());
    let mut spec = spec.with_task_words(&place, |word| beside(word).unwrap_or_else(|| word.to_owned()));
    if let Some(word) = spec.tasks.iter().find(|word| is_path(word) && Path::new(word).is_absolute()) {
        bail!(
            Folder,
            "tasks: {word} is outside of the study's folder; resume the study once, which copies it"
        );
    }
    spec.python = None;
    spec.settings = redact_paths(spec.settings);
    spec.settings_of =
        spec.settings_of.into_iter().map(|(task, words)| (task, redact_paths(words))).collect();
    Ok(spec)
}

/// Baselines without paths of this machine.
fn baselines_without_places(bytes: &[u8], path: &Path) -> Result<Vec<u8>> {
    let mut baselines: serde_json::Value = serde_json::from_slice(bytes).at(path)?;
    for place in ["/data/source", "/encoder"] {
        if let Some(word) = baselines.pointer_mut(place)
            && let Some(source) = word.as_str()
        {
            *word = redact_source(source).into();
        }
    }
    Ok(serde_json::to_vec_pretty(&baselines)?)
}

/// Unpacks a study. Refuses anything except files inside its folder. Files of runs are returned, the others are
/// written to `into`.
fn unpack(path: &Path, into: &Path) -> Result<(FilesInMemory, bool)> {
    let mut runs = FilesInMemory::default();
    let file = BufReader::new(File::open(path)?);
    let mut archive = tar::Archive::new(GzDecoder::new(file).take(MAX_BYTES));
    let (mut n_files, mut n_written) = (0, 0);
    let mut contents = Contents::default();
    // Raw entries: tar would read long names and links without a limit.
    for entry in archive.entries()?.raw(true) {
        let entry = entry.context("it is not a packed study")?;
        let name = entry.path()?.into_owned();
        let is_inside = name.components().all(|part| matches!(part, Component::Normal(_)));
        if !entry.header().entry_type().is_file() || !is_inside {
            bail!(Folder, "{}: a packed study has nothing but files in it", name.display());
        }
        n_files += 1;
        if n_files > MAX_FILES || entry.size() > MAX_FILE_BYTES {
            bail!(Folder, "{}: it is too large", name.display());
        }
        let target = into.join(&name);
        let mut bytes = Vec::new();
        entry.take(MAX_FILE_BYTES).read_to_end(&mut bytes).at(&name)?;
        if !contents.add(&name, &bytes)? {
            continue;
        }
        if name.starts_with("runs") {
            runs.insert(target, bytes);
            continue;
        }
        n_written += 1;
        if n_written > MAX_WRITTEN {
            bail!(Folder, "{}: it has more than {MAX_WRITTEN} files besides those of runs", name.display());
        }
        fs::create_dir_all(target.parent().unwrap_or(into))?;
        fs::write(&target, bytes)?;
    }
    // gzip's checksum is at the end.
    let mut rest = archive.into_inner();
    io::copy(&mut rest, &mut io::sink()).context("it is damaged")?;
    if rest.limit() == 0 {
        bail!(Folder, "it is larger than {} MB", MAX_BYTES >> 20);
    }
    if n_files == 0 {
        bail!(Folder, "there is nothing in it");
    }
    Ok((runs, contents.check()?))
}

/// The files of an archive, to be compared with its manifest, which is the last of them.
#[derive(Default)]
struct Contents {
    manifest: Option<Manifest>,
    found: Option<Manifest>,
}

impl Contents {
    /// `false` for the manifest itself.
    fn add(&mut self, path: &Path, bytes: &[u8]) -> Result<bool> {
        if path == Path::new(MANIFEST) && self.manifest.is_none() {
            self.manifest = Some(Manifest::from_bytes(bytes, path)?);
            return Ok(false);
        }
        let (found, name) = (self.found.get_or_insert_with(|| Manifest::new(None)), path.to_string_lossy());
        if found.has(&name) {
            bail!(Folder, "{name}: it is in the file twice");
        }
        found.add(name.into_owned(), bytes);
        Ok(true)
    }

    /// Older packed studies have no manifest, and gzip's checksum alone.
    fn check(self) -> Result<bool> {
        let Some(manifest) = self.manifest else { return Ok(false) };
        match manifest.first_difference(&self.found.unwrap_or_else(|| Manifest::new(None))) {
            Some(name) => bail!(Folder, "{name}: it is not as {MANIFEST} lists it"),
            None => Ok(true),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed_of(entries: &[(&str, tar::EntryType)]) -> Vec<u8> {
        let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        for (name, kind) in entries {
            let mut header = tar::Header::new_gnu();
            header.set_entry_type(*kind);
            header.set_size(1);
            header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
            header.set_cksum();
            archive.append(&header, &b"x"[..]).unwrap();
        }
        archive.into_inner().and_then(GzEncoder::finish).unwrap()
    }

    #[test]
    fn what_is_no_packed_study_is_refused_and_leaves_nothing_outside() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("x.tar.gz");
        let whole = packed_of(&[("study.toml", tar::EntryType::Regular)]);
        let wrong = [
            Vec::new(),
            b"text".to_vec(),
            whole[..whole.len() / 2].to_vec(),
            // Without its checksum, and with another.
            whole[..whole.len() - 8].to_vec(),
            whole.iter().enumerate().map(|(at, byte)| byte ^ u8::from(at == whole.len() - 6)).collect(),
            packed_of(&[("long", tar::EntryType::GNULongName), ("study.toml", tar::EntryType::Regular)]),
            packed_of(&[]),
            packed_of(&[("../outside", tar::EntryType::Regular)]),
            packed_of(&[("/outside", tar::EntryType::Regular)]),
            packed_of(&[("link", tar::EntryType::Symlink)]),
            packed_of(&[("study.toml", tar::EntryType::Regular), ("study.toml", tar::EntryType::Regular)]),
            packed_of(&[("study.toml", tar::EntryType::Regular), ("manifest.json", tar::EntryType::Regular)]),
        ];
        for bytes in wrong {
            fs::write(&file, &bytes).unwrap();
            let error = OpenStudy::at(&file).err().map(|error| error.text()).unwrap_or_default();
            assert!(error.contains("x.tar.gz cannot be unpacked"), "{error}");
        }
        assert!(!place.path().join("outside").exists());
        fs::write(&file, &whole).unwrap();
        assert!(OpenStudy::at(&file).unwrap().folder.spec().is_file());
    }

    /// A study of ten thousand runs has fifty thousand files, which would take minutes to write and delete.
    #[test]
    fn runs_are_read_without_writing_them() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("x.tar.gz");
        let plain = tar::EntryType::Regular;
        let entries = [
            ("study.toml", plain),
            ("tasks/a.toml", plain),
            ("runs/a/curve.csv", plain),
            ("runs/b/run.json", plain),
        ];
        fs::write(&file, packed_of(&entries)).unwrap();
        let open = OpenStudy::at(&file).unwrap();
        let folder = &open.folder;
        assert_eq!(folder.complete().unwrap().into_iter().collect::<Vec<_>>(), ["a", "b"]);
        let run = folder.run("a");
        assert!(run.has(&run.curve_csv()) && !run.has(&run.status()));
        assert_eq!(run.read(&run.curve_csv()).unwrap(), b"x");
        assert!(run.read_status().unwrap().is_none());
        let mut written: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        written.sort();
        assert_eq!(written, ["study.toml", "tasks"]);
    }

    proptest::proptest! {
        /// Whatever a file holds, plain or behind gzip, it is unpacked or refused; so is a packed study in which something was changed.
        #[test]
        fn any_bytes_are_unpacked_or_refused(
            bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..2000),
            at in 0_usize..1536,
            value: u8,
        ) {
            let place = tempfile::tempdir().unwrap();
            let behind_gzip = |bytes: &[u8]| {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
                encoder.write_all(bytes).and_then(|()| encoder.finish()).unwrap()
            };
            let mut good = Vec::new();
            GzDecoder::new(&packed_of(&[("runs/a/curve.csv", tar::EntryType::Regular)])[..]).read_to_end(&mut good).unwrap();
            good[at] = value;
            for bytes in [bytes.clone(), behind_gzip(&bytes), behind_gzip(&good)] {
                let file = place.path().join("x.tar.gz");
                fs::write(&file, bytes).unwrap();
                let into = place.path().join("into");
                let _ = unpack(&file, &into);
                // No other file is written.
                let n = fs::read_dir(place.path()).unwrap().count();
                proptest::prop_assert!(n <= 2, "{n}");
            }
        }
    }
}
