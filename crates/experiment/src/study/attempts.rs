//! Attempts at a run: claims that expire.
//!
//! An attempt has a number. The process that creates the file `N.claim` owns the run; the file system lets only one do so.
//! The owner locks the file and appends a byte from time to time. If it loses the lock (seen on the same machine) or no
//! byte comes for the length of a lease, another process may claim the next number; it resumes from the last checkpoint in its own folder, so no two processes write to one folder. An owner
//! that was only slow sees the higher number and gives up; if it completes the run first, its result counts.

use crate::error::{Context, Result};
use crate::manifest::MANIFEST;
use crate::run::{RunFolder, Trained, VerifiedRun};
use crate::sealed::{sealed_line, unsealed};
use crate::study::worker::Worker;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use touchstream_files::{claim_aside, entries_of, none_if_not_found, read_at_most, write_aside};

/// How long a claim is valid after its last heartbeat.
pub const LEASE: Duration = Duration::from_secs(60);

const MAX_CLAIM_BYTES: u64 = 1 << 20;

/// All attempts at one run.
#[derive(Clone, Debug)]
pub struct Attempts {
    path: PathBuf,
}

/// The content of a claim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct ClaimFacts {
    worker: Worker,
    began_unix_secs: f64,
    lease_secs: f64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AttemptResult {
    /// It became the run.
    Won,
    /// Another attempt was complete before.
    Late,
    /// It was stopped, or another process took over; its checkpoint can be resumed.
    Stopped,
    Failed(String),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AttemptEnd {
    pub outcome: AttemptResult,
    pub ended_unix_secs: f64,
    pub cpu_secs: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AttemptRecord {
    pub number: u32,
    pub worker: Worker,
    pub began_unix_secs: f64,
    pub end: Option<AttemptEnd>,
    /// Whether its owner still works on it.
    pub is_alive: bool,
}

#[derive(Debug)]
pub enum Claimed {
    Ours(Claim),
    /// Another process works on the run.
    Theirs,
}

/// A run that this process owns.
#[derive(Debug)]
pub struct Claim {
    attempts: Attempts,
    number: u32,
    /// Locked while it is open.
    file: File,
}

impl Attempts {
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    fn claim_file(&self, number: u32) -> PathBuf {
        self.path.join(format!("{number}.claim"))
    }

    fn end_file(&self, number: u32) -> PathBuf {
        self.path.join(format!("{number}.end.json"))
    }

    fn work_folder(&self, number: u32) -> PathBuf {
        self.path.join(number.to_string())
    }

    /// The numbers of all claims, in order.
    fn numbers(&self) -> Result<Vec<u32>> {
        let mut numbers = Vec::new();
        for entry in entries_of(&self.path).at(&self.path)? {
            let name = entry.at(&self.path)?.file_name();
            let number: Option<u32> =
                name.to_str().and_then(|name| name.strip_suffix(".claim")?.parse().ok());
            numbers.extend(number);
        }
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// Claims the run, unless a live process owns it.
    pub fn claim(&self, worker: &Worker, lease: Duration) -> Result<Claimed> {
        let last = self.numbers()?.last().copied().unwrap_or(0);
        if last > 0 && self.is_alive(last, worker)? {
            return Ok(Claimed::Theirs);
        }
        let facts = ClaimFacts {
            worker: worker.clone(),
            began_unix_secs: unix_secs(SystemTime::now()),
            lease_secs: lease.as_secs_f64(),
        };
        let number = last + 1;
        let path = self.claim_file(number);
        let claimed = claim_aside(&path, &sealed_line(&facts)).at(&path)?;
        Ok(claimed
            .map_or(Claimed::Theirs, |file| Claimed::Ours(Claim { attempts: self.clone(), number, file })))
    }

    /// Whether the owner of an attempt still works on it.
    fn is_alive(&self, number: u32, asking: &Worker) -> Result<bool> {
        if self.end_file(number).exists() {
            return Ok(false);
        }
        let path = self.claim_file(number);
        let Some(facts) = self.facts(number)? else { return Ok(false) };
        let Some(file) = none_if_not_found(File::open(&path)).at(&path)? else { return Ok(false) };
        if facts.worker.shares_machine(asking) && is_unlocked(&file) {
            return Ok(false);
        }
        let last_sign = file.metadata().and_then(|facts| facts.modified()).at(&path)?;
        let silence = self.now()?.duration_since(last_sign).unwrap_or_default();
        Ok(silence.as_secs_f64() <= facts.lease_secs)
    }

    /// The file server's time: clocks of machines differ, and the server stamps the files of all.
    fn now(&self) -> Result<SystemTime> {
        let probe = tempfile::tempfile_in(&self.path)
            .and_then(|mut file| file.write_all(b"?").and_then(|()| file.metadata()))
            .and_then(|facts| facts.modified());
        probe.at(&self.path)
    }

    /// `None` for a claim that is unreadable, and therefore ignored.
    fn facts(&self, number: u32) -> Result<Option<ClaimFacts>> {
        read_json(&self.claim_file(number))
    }

    pub fn count(&self) -> Result<usize> {
        Ok(self.numbers()?.len())
    }

    pub fn records(&self, asking: &Worker) -> Result<Vec<AttemptRecord>> {
        let mut records = Vec::new();
        for number in self.numbers()? {
            let Some(facts) = self.facts(number)? else { continue };
            let ClaimFacts { worker, began_unix_secs, .. } = facts;
            let is_alive = self.is_alive(number, asking)?;
            records.push(AttemptRecord {
                number,
                worker,
                began_unix_secs,
                end: read_json(&self.end_file(number))?,
                is_alive,
            });
        }
        Ok(records)
    }

    /// The steps of the last attempt with a status.
    pub fn n_steps(&self) -> u64 {
        let numbers = self.numbers().unwrap_or_default();
        let status = |number: &u32| RunFolder::at(self.work_folder(*number)).read_status().ok().flatten();
        numbers.iter().rev().find_map(status).map_or(0, |status| status.n_steps)
    }

    /// Deletes the working folders of attempts, once the run is complete; claims stay as a record.
    pub fn clear(&self) {
        for number in self.numbers().unwrap_or_default() {
            // A file that is still in use is deleted by the next process, or stays, which does no harm.
            let _ = fs::remove_dir_all(self.work_folder(number));
        }
    }
}

impl Claim {
    pub fn number(&self) -> u32 {
        self.number
    }

    /// The folder to work in, with the state of an earlier attempt. Damaged checkpoints are skipped: they would stop
    /// every later attempt.
    pub fn work_folder(&self) -> Result<PathBuf> {
        let trained = |run: &RunFolder| VerifiedRun::open(run.clone()).and_then(|run| Trained::read(&run));
        self.work_folder_after(|run| trained(run).is_ok_and(|trained| trained.is_some()))
    }

    fn work_folder_after(&self, can_go_on: impl Fn(&RunFolder) -> bool) -> Result<PathBuf> {
        let folder = self.attempts.work_folder(self.number);
        fs::create_dir_all(&folder).at(&folder)?;
        let mut before: Vec<(u64, u32)> = (1..self.number)
            .map(|number| {
                let status = RunFolder::at(self.attempts.work_folder(number)).read_status().ok().flatten();
                (status.map_or(0, |status| status.n_steps), number)
            })
            .collect();
        before.sort_unstable();
        let is_good =
            |&&(_, number): &&(u64, u32)| can_go_on(&RunFolder::at(self.attempts.work_folder(number)));
        if let Some((_, number)) = before.iter().rev().find(is_good) {
            inherit(&self.attempts.work_folder(*number), &folder).at(&folder)?;
        }
        Ok(folder)
    }

    /// Writes a heartbeat; `false` if that failed or another process has taken over.
    pub fn beat(&self) -> bool {
        // It stays valid JSON with a newline at its end, and the file server stamps it with its own clock.
        let beaten = (&self.file).write_all(b"\n");
        beaten.is_ok() && !self.attempts.claim_file(self.number + 1).exists()
    }

    /// Records the end; the next attempt may begin.
    pub fn end(self, outcome: AttemptResult, cpu_time: Duration) -> Result<()> {
        let end = AttemptEnd {
            outcome,
            ended_unix_secs: unix_secs(SystemTime::now()),
            cpu_secs: cpu_time.as_secs_f64(),
        };
        let path = self.attempts.end_file(self.number);
        write_aside(&path, &sealed_line(&end)).at(&path)
    }
}

/// Copies all files except lock, status, manifest and hidden ones: the earlier owner may still be alive and append to them. A
/// checkpoint is only ever replaced as a whole, so it is linked.
fn inherit(from: &Path, to: &Path) -> io::Result<()> {
    for entry in entries_of(from)? {
        let entry = entry?;
        let name = entry.file_name();
        let word = name.to_string_lossy();
        let is_left = word.starts_with('.') || ["lock", "status.json", MANIFEST].contains(&&*word);
        if is_left || !entry.file_type()?.is_file() {
            continue;
        }
        let target = to.join(&name);
        if entry.path() == RunFolder::at(from).checkpoint() && fs::hard_link(entry.path(), &target).is_ok() {
            continue;
        }
        none_if_not_found(fs::copy(entry.path(), &target))?;
    }
    Ok(())
}

fn is_unlocked(file: &File) -> bool {
    match file.try_lock_shared() {
        Ok(()) => {
            let _ = file.unlock();
            true
        }
        // A file system without locks: the file's age decides.
        Err(_) => false,
    }
}

fn unix_secs(time: SystemTime) -> f64 {
    time.duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

/// `None` if the file is missing or damaged.
fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    let bytes = none_if_not_found(read_at_most(path, MAX_CLAIM_BYTES)).at(path)?;
    Ok(bytes.and_then(|bytes| unsealed(&bytes).value()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHECKPOINT_FILE: &str = "checkpoint.safetensors";

    fn worker(pid: u32) -> Worker {
        Worker { host: "here".into(), boot: Some("today".into()), pid, job: None }
    }

    fn elsewhere(pid: u32) -> Worker {
        Worker { host: "there".into(), ..worker(pid) }
    }

    fn ours(claimed: Claimed) -> Claim {
        match claimed {
            Claimed::Ours(claim) => claim,
            Claimed::Theirs => panic!("another process has it"),
        }
    }

    #[track_caller]
    fn check_theirs(attempts: &Attempts, worker: &Worker) {
        assert!(matches!(attempts.claim(worker, LEASE).unwrap(), Claimed::Theirs));
    }

    #[test]
    fn one_has_a_run_until_it_ends() {
        let folder = tempfile::tempdir().unwrap();
        let attempts = Attempts::at(folder.path().join("run"));
        let claim = ours(attempts.claim(&worker(1), LEASE).unwrap());
        assert_eq!(claim.number(), 1);
        check_theirs(&attempts, &worker(2));
        check_theirs(&attempts, &elsewhere(3));
        assert!(claim.beat());
        claim.end(AttemptResult::Stopped, Duration::from_secs(1)).unwrap();
        let next = ours(attempts.claim(&elsewhere(3), LEASE).unwrap());
        assert_eq!(next.number(), 2);
        let records = attempts.records(&worker(1)).unwrap();
        let told: Vec<_> =
            records.iter().map(|record| (record.worker.pid, record.end.is_some(), record.is_alive)).collect();
        assert_eq!(told, [(1, true, false), (3, false, true)]);
    }

    #[test]
    fn the_dead_of_this_machine_are_known_at_once_and_others_by_their_silence() {
        let folder = tempfile::tempdir().unwrap();
        let attempts = Attempts::at(folder.path().join("run"));
        // A process that dies drops its locks.
        drop(ours(attempts.claim(&worker(1), LEASE).unwrap()));
        let second = ours(attempts.claim(&worker(2), LEASE).unwrap());
        assert_eq!(second.number(), 2);
        drop(second);
        // Whether a process of another machine is dead is unknown.
        check_theirs(&attempts, &elsewhere(3));
        let silent = SystemTime::now() - LEASE - Duration::from_secs(2);
        File::options()
            .append(true)
            .open(attempts.claim_file(2))
            .and_then(|file| file.set_modified(silent))
            .unwrap();
        assert_eq!(ours(attempts.claim(&elsewhere(3), LEASE).unwrap()).number(), 3);
    }

    #[test]
    fn an_owner_that_was_taken_for_dead_finds_out() {
        let folder = tempfile::tempdir().unwrap();
        let attempts = Attempts::at(folder.path().join("run"));
        let slow = ours(attempts.claim(&worker(1), LEASE).unwrap());
        File::options()
            .append(true)
            .open(attempts.claim_file(1))
            .and_then(|file| file.set_modified(UNIX_EPOCH))
            .unwrap();
        let next = ours(attempts.claim(&worker(2), LEASE).unwrap());
        assert!(!slow.beat() && next.beat());
        assert_ne!(slow.work_folder().unwrap(), next.work_folder().unwrap());
    }

    #[test]
    fn of_many_who_try_at_once_one_gets_it() {
        let folder = tempfile::tempdir().unwrap();
        let attempts = Attempts::at(folder.path().join("run"));
        let claims: Vec<Claimed> = std::thread::scope(|scope| {
            let handles: Vec<_> = (0..8)
                .map(|pid| {
                    let attempts = &attempts;
                    scope.spawn(move || attempts.claim(&worker(pid), LEASE).unwrap())
                })
                .collect();
            handles.into_iter().map(|handle| handle.join().unwrap()).collect()
        });
        assert_eq!(claims.iter().filter(|claim| matches!(claim, Claimed::Ours(_))).count(), 1);
    }

    #[test]
    fn the_next_goes_on_from_the_last_checkpoint() {
        let folder = tempfile::tempdir().unwrap();
        let attempts = Attempts::at(folder.path().join("run"));
        let first = ours(attempts.claim(&worker(1), LEASE).unwrap());
        let work = first.work_folder().unwrap();
        for (name, text) in
            [(CHECKPOINT_FILE, "steps"), ("curve.csv", "rows"), ("lock", ""), (".aside-1", "x")]
        {
            fs::write(work.join(name), text).unwrap();
        }
        drop(first);
        let is_whole =
            |run: &RunFolder| fs::read_to_string(run.checkpoint()).is_ok_and(|text| text == "steps");
        let second = ours(attempts.claim(&worker(2), LEASE).unwrap());
        let work = second.work_folder_after(is_whole).unwrap();
        assert_eq!(fs::read_to_string(work.join(CHECKPOINT_FILE)).unwrap(), "steps");
        assert_eq!(fs::read_to_string(work.join("curve.csv")).unwrap(), "rows");
        assert!(!work.join("lock").exists() && !work.join(".aside-1").exists());
        // An attempt whose checkpoint is damaged or gone is passed over.
        drop(second);
        fs::remove_file(work.join(CHECKPOINT_FILE)).unwrap();
        fs::write(work.join(CHECKPOINT_FILE), "torn").unwrap();
        let third = ours(attempts.claim(&worker(3), LEASE).unwrap());
        let work = third.work_folder_after(is_whole).unwrap();
        assert_eq!(fs::read_to_string(work.join(CHECKPOINT_FILE)).unwrap(), "steps");
        // Without a readable checkpoint, the run begins from scratch.
        drop(third);
        let fourth = ours(attempts.claim(&worker(4), LEASE).unwrap());
        assert!(!fourth.work_folder().unwrap().join(CHECKPOINT_FILE).exists());
    }
}
