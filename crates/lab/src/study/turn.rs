//! Turns: one process at a time changes what a study is, on whatever machine it runs.
//!
//! A turn is a claim as runs have them: it needs no locks where a file system has none, and one whose owner has died is over. Its file
//! is made in the study's own folder, so that a client of a file server asks anew what is there.

use crate::study::attempts::{Attempts, Claim, Claimed, LEASE};
use crate::study::error::StudyError;
use crate::study::folder::StudyFolder;
use crate::study::worker::Worker;
use std::thread;
use std::time::Duration;

/// A turn, for as long as it lives.
#[derive(Debug)]
pub struct Turn {
    claim: Option<Claim>,
}

/// How long until the next try.
const PAUSE: Duration = Duration::from_millis(10);

impl StudyFolder {
    /// Waits until nobody else changes the study. Turns are of moments; whoever is silent for a minute has lost its own.
    pub fn take_turn(&self, worker: &Worker) -> Result<Turn, StudyError> {
        self.take_turn_after(worker, LEASE)
    }

    fn take_turn_after(&self, worker: &Worker, lease: Duration) -> Result<Turn, StudyError> {
        let turns = Attempts::at(self.path());
        loop {
            if let Claimed::Ours(claim) = turns.claim(worker, lease)? {
                let turn = Turn { claim: Some(claim) };
                // Numbers are free again after turns: of two that were taken from different lists, the higher one holds.
                if turn.is_ours()? {
                    return Ok(turn);
                }
            }
            thread::sleep(PAUSE);
        }
    }
}

impl Turn {
    /// Whether nobody has taken over; to be asked before anything is written.
    pub fn is_ours(&self) -> Result<bool, StudyError> {
        self.claim.as_ref().map_or(Ok(false), Claim::is_last)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.claim.take().into_iter().for_each(Claim::withdraw);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::time::Instant;

    fn worker(host: &str) -> Worker {
        Worker { host: host.into(), boot: Some("today".into()), pid: 1, job: None }
    }

    /// Each reads a number, waits, and writes the next: without turns, numbers are lost.
    #[test]
    fn what_is_changed_in_turns_is_never_lost() {
        let place = tempfile::tempdir().unwrap();
        let folder = StudyFolder::at(place.path());
        let file = place.path().join("number");
        fs::write(&file, "0").unwrap();
        thread::scope(|scope| {
            for host in ["a", "a", "a", "b", "b", "c"] {
                let (folder, file) = (&folder, &file);
                scope.spawn(move || {
                    for _ in 0..5 {
                        let turn = folder.take_turn(&worker(host)).unwrap();
                        let number: u32 = fs::read_to_string(file).unwrap().parse().unwrap();
                        thread::sleep(Duration::from_millis(1));
                        assert!(turn.is_ours().unwrap());
                        fs::write(file, (number + 1).to_string()).unwrap();
                    }
                });
            }
        });
        assert_eq!(fs::read_to_string(&file).unwrap(), "30");
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1, "nothing is left of turns");
    }

    #[test]
    fn a_turn_whose_owner_has_died_is_over() {
        let place = tempfile::tempdir().unwrap();
        let folder = StudyFolder::at(place.path());
        let lease = Duration::from_millis(300);
        // A process that dies drops its lock, and leaves its claim.
        let die = |host| drop(folder.take_turn_after(&worker(host), lease).unwrap().claim.take());
        die("here");
        let start = Instant::now();
        drop(folder.take_turn_after(&worker("here"), lease).unwrap());
        assert!(start.elapsed() < lease, "the dead of this machine are known at once");
        die("here");
        drop(folder.take_turn_after(&worker("there"), lease).unwrap());
        assert!(start.elapsed() >= lease, "those of others by their silence");
    }

    #[test]
    fn a_turn_that_was_taken_over_knows() {
        let place = tempfile::tempdir().unwrap();
        let folder = StudyFolder::at(place.path());
        let slow = folder.take_turn_after(&worker("here"), Duration::ZERO).unwrap();
        thread::sleep(Duration::from_millis(20));
        let next = folder.take_turn(&worker("there")).unwrap();
        assert!(!slow.is_ours().unwrap() && next.is_ours().unwrap());
        drop(slow);
        assert!(next.is_ours().unwrap());
    }
}
