//! The threads of a process that execute runs of a study, alongside other processes.

use crate::error::Result;
use crate::run::RunFolder;
use crate::study::attempts::{AttemptResult, Claim, Claimed, LEASE};
use crate::study::cpu_time::thread_cpu_time;
use crate::study::folder::StudyFolder;
use crate::study::job::{Ended, Job, JobState};
use crate::study::job_queue::{JobCounts, JobQueue, Next};
use crate::study::worker::Worker;
use crate::watch::{Event, Watch};
use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Executes runs of a study on several threads.
pub struct WorkerPool<'a> {
    pub folder: &'a StudyFolder,
    /// This process.
    pub worker: Worker,
    /// Parallel runs.
    pub n_threads: usize,
    /// How long claims are valid after the last heartbeat.
    pub lease: Duration,
}

/// Executes a run in a folder until it is complete or must stop.
pub type DoRun<'a> = dyn Fn(usize, &RunFolder, &dyn Fn() -> bool) -> Result<Ended, String> + Sync + 'a;

const REST: Duration = Duration::from_millis(50);

/// A claim, and whether another process has taken over.
struct Held {
    claim: Claim,
    is_lost: Arc<AtomicBool>,
}

struct Shared<'a> {
    pool: &'a WorkerPool<'a>,
    board: Mutex<JobQueue<'a>>,
    held: Mutex<BTreeMap<usize, Held>>,
    do_run: &'a DoRun<'a>,
    watch: &'a dyn Watch,
    must_stop: &'a AtomicBool,
    is_over: AtomicBool,
}

impl WorkerPool<'_> {
    /// Executes all jobs, as far as possible in order; returns when none is left, or when it must stop. Waits for runs
    /// of other processes, and takes over runs whose process has died.
    pub fn work(
        &self,
        jobs: &[Job],
        do_run: &DoRun<'_>,
        watch: &dyn Watch,
        must_stop: &AtomicBool,
    ) -> Result<JobCounts> {
        let shared = Shared {
            pool: self,
            board: Mutex::new(JobQueue::new(jobs)),
            held: Mutex::default(),
            do_run,
            watch,
            must_stop,
            is_over: AtomicBool::new(false),
        };
        lock(&shared.board).look(self.folder)?;
        watch.on(Event::StudyAdvanced(&shared.tally()));
        thread::scope(|scope| {
            scope.spawn(|| shared.keep_alive());
            let threads: Vec<_> = (0..self.n_threads).map(|_| scope.spawn(|| shared.work_alone())).collect();
            let outcomes: Vec<_> = threads.into_iter().map(thread::ScopedJoinHandle::join).collect();
            shared.is_over.store(true, Ordering::Relaxed);
            let outcomes = outcomes.into_iter();
            let outcomes = outcomes.map(|joined| joined.unwrap_or_else(|panic| resume_unwind(panic)));
            outcomes.collect::<Result<()>>()
        })?;
        Ok(shared.tally())
    }
}

impl Shared<'_> {
    fn tally(&self) -> JobCounts {
        lock(&self.board).tally()
    }

    /// Writes heartbeats for all claims, several per lease.
    fn keep_alive(&self) {
        let pause = (self.pool.lease / 6).clamp(Duration::from_millis(20), LEASE);
        let mut last = Instant::now();
        while !self.is_over.load(Ordering::Relaxed) {
            thread::sleep(REST.min(pause));
            if last.elapsed() < pause {
                continue;
            }
            last = Instant::now();
            for Held { claim, is_lost } in lock(&self.held).values() {
                if !claim.beat() {
                    is_lost.store(true, Ordering::Relaxed);
                }
            }
        }
    }

    fn work_alone(&self) -> Result<()> {
        while !self.must_stop.load(Ordering::Relaxed) {
            let next = lock(&self.board).take_next(self.pool.folder)?;
            match next {
                Next::Take(job) => {
                    // A full disk or an unreadable folder is a failure of one run, not of the study.
                    let state = self.try_job(job);
                    let state = state.unwrap_or_else(|error| JobState::GivenUp { reason: error.text() });
                    lock(&self.board).settle(job, state);
                    self.watch.on(Event::StudyAdvanced(&self.tally()));
                }
                Next::Wait => thread::sleep(REST),
                Next::Nothing => break,
            }
        }
        Ok(())
    }

    fn try_job(&self, job: usize) -> Result<JobState> {
        let WorkerPool { folder, worker, lease, .. } = self.pool;
        let name = lock(&self.board).jobs[job].name.clone();
        let attempts = folder.attempts(&name);
        if folder.run(&name).path().exists() {
            return Ok(JobState::Complete);
        }
        let Claimed::Ours(claim) = attempts.claim(worker, *lease)? else {
            return Ok(JobState::Elsewhere);
        };
        // Another process may have completed it meanwhile.
        if folder.run(&name).path().exists() {
            claim.end(AttemptResult::Late, Duration::ZERO)?;
            return Ok(JobState::Complete);
        }
        self.watch.on(Event::StudyRunStarted { name: &name });
        self.watch.on(Event::StudyAdvanced(&self.tally()));
        let (outcome, cpu_time) = self.attempt(job, &name, claim);
        self.watch.on(Event::StudyRunEnded { name: &name, outcome: &outcome });
        lock(&self.board).cpu_in_runs += cpu_time;
        Ok(match outcome {
            AttemptResult::Won | AttemptResult::Late => {
                attempts.clear();
                JobState::Complete
            }
            AttemptResult::Stopped => JobState::Waiting,
            AttemptResult::Failed(reason) => JobState::GivenUp { reason },
        })
    }

    /// Executes a claimed run; returns the result and the CPU time.
    fn attempt(&self, job: usize, name: &str, claim: Claim) -> (AttemptResult, Duration) {
        let folder = self.pool.folder;
        let work = claim.work_folder();
        let is_lost = Arc::new(AtomicBool::new(false));
        lock(&self.held).insert(job, Held { claim, is_lost: Arc::clone(&is_lost) });
        let start = thread_cpu_time();
        let stops = || self.must_stop.load(Ordering::Relaxed) || is_lost.load(Ordering::Relaxed);
        let run = || {
            let work = work.map_err(|error| error.text())?;
            match (self.do_run)(job, &RunFolder::at(&work), &stops)? {
                Ended::Complete => folder.publish(name, &work).map(Some).map_err(|error| error.text()),
                Ended::Interrupted => Ok(None),
            }
        };
        // A panic is a failure of this run only.
        let is_won = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| Err(words_of_panic(&*panic)));
        let cpu_time = thread_cpu_time().saturating_sub(start);
        let claim = lock(&self.held).remove(&job).map(|held| held.claim);
        let outcome = match is_won {
            Ok(Some(true)) => AttemptResult::Won,
            Ok(Some(false)) => AttemptResult::Late,
            // If another process has taken over, the folder may be missing; this is not a failure of the run.
            _ if folder.run(name).path().exists() => AttemptResult::Late,
            Err(reason) => AttemptResult::Failed(reason),
            Ok(None) => AttemptResult::Stopped,
        };
        if let Some(claim) = claim {
            // If this cannot be written, the release of the claim's lock shows that the attempt has ended.
            let _ = claim.end(outcome.clone(), cpu_time);
        }
        (outcome, cpu_time)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn words_of_panic(panic: &(dyn Any + Send)) -> String {
    let words = panic.downcast_ref::<&str>().copied();
    let words = words.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("a fault of the program: {}", words.unwrap_or("it panicked"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{RunStatus, Stage};
    use crate::watch::Unwatched;
    use std::fs;
    use std::path::Path;

    fn jobs(names: &[(&str, Option<&str>)]) -> Vec<Job> {
        let job =
            |&(name, needs): &(&str, Option<&str>)| Job { name: name.into(), needs: needs.map(String::from) };
        names.iter().map(job).collect()
    }

    fn crew<'a>(folder: &'a StudyFolder, host: &str) -> WorkerPool<'a> {
        let worker = Worker { host: host.into(), boot: Some("today".into()), pid: 1, job: None };
        WorkerPool { folder, worker, n_threads: 3, lease: Duration::from_millis(200) }
    }

    fn write_result(folder: &RunFolder, stage: Stage) {
        fs::write(folder.path().join("result"), "x").unwrap();
        let reason = (stage == Stage::Failed).then(|| "it diverged".into());
        let status = RunStatus {
            stage,
            reason,
            n_steps: 1,
            of_steps: 1,
            validation_reward: None,
            identity: "x".into(),
        };
        folder.write_status(&status).unwrap();
    }

    #[test]
    fn a_folder_in_the_way_or_a_base_without_a_word_ends_one_run_alone() {
        let place = tempfile::tempdir().unwrap();
        let folder = StudyFolder::at(place.path());
        fs::create_dir_all(place.path().join("attempts")).unwrap();
        fs::write(place.path().join("attempts/blocked"), "").unwrap();
        fs::create_dir_all(place.path().join("runs/base")).unwrap();
        let jobs = jobs(&[("blocked", None), ("base", None), ("after", Some("base")), ("fine", None)]);
        let do_run = |_: usize, run: &RunFolder, _: &dyn Fn() -> bool| {
            write_result(run, Stage::Finished);
            Ok(Ended::Complete)
        };
        let tally = crew(&folder, "here").work(&jobs, &do_run, &Unwatched, &AtomicBool::new(false)).unwrap();
        let given_up: Vec<&str> = tally.given_up.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!((tally.n_complete, given_up), (2, vec!["blocked", "after"]));
        assert!(tally.given_up[1].1.contains("does not say how it ended"));
    }

    fn n_attempts(folder: &StudyFolder, name: &str) -> usize {
        folder.attempts(name).records(&Worker::this(None)).unwrap().len()
    }

    #[test]
    fn everything_is_done_once_and_in_its_order() {
        let place = tempfile::tempdir().unwrap();
        let folder = StudyFolder::at(place.path());
        let jobs = jobs(&[("c", Some("base")), ("a", None), ("base", None), ("b", Some("base"))]);
        let order = Mutex::new(Vec::new());
        let do_run = |job: usize, run: &RunFolder, _: &dyn Fn() -> bool| {
            order.lock().unwrap().push(job);
            write_result(run, Stage::Finished);
            Ok(Ended::Complete)
        };
        let never = AtomicBool::new(false);
        // Two processes at once.
        let tallies: Vec<JobCounts> = thread::scope(|scope| {
            let both = ["here", "there"].map(|host| {
                let (folder, jobs, do_run, never) = (&folder, &jobs, &do_run, &never);
                scope.spawn(move || crew(folder, host).work(jobs, do_run, &Unwatched, never).unwrap())
            });
            both.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(tallies.iter().all(JobCounts::is_complete), "{tallies:?}");
        let order = order.into_inner().unwrap();
        let place_of = |job| order.iter().position(|&done| done == job).unwrap();
        assert_eq!(order.len(), 4, "{order:?}");
        assert!(place_of(2) < place_of(0) && place_of(2) < place_of(3));
        // A second call finds nothing to do.
        let again = crew(&folder, "here").work(&jobs, &|_, _, _| panic!("done"), &Unwatched, &never).unwrap();
        assert_eq!(again.n_complete, 4);
        for job in &jobs {
            let records = folder.attempts(&job.name).records(&Worker::this(None)).unwrap();
            let outcomes = records.into_iter().filter_map(|record| record.end).map(|end| end.outcome);
            assert_eq!(outcomes.filter(|outcome| *outcome == AttemptResult::Won).count(), 1);
        }
        assert!(!place.path().join("attempts/a/1").exists());
    }

    #[test]
    fn what_goes_wrong_is_tried_thrice_and_what_cannot_be_learned_is_a_result() {
        let place = tempfile::tempdir().unwrap();
        let folder = StudyFolder::at(place.path());
        let jobs =
            jobs(&[("broken", None), ("diverges", None), ("after", Some("diverges")), ("faulty", None)]);
        let do_run = |job: usize, run: &RunFolder, _: &dyn Fn() -> bool| match job {
            0 => Err("the disk is full".to_owned()),
            1 => {
                write_result(run, Stage::Failed);
                Ok(Ended::Complete)
            }
            2 => panic!("its base has failed"),
            _ => panic!("planted"),
        };
        let tally = crew(&folder, "here").work(&jobs, &do_run, &Unwatched, &AtomicBool::new(false)).unwrap();
        assert_eq!(tally.n_complete, 1);
        let given_up: Vec<(&str, &str)> =
            tally.given_up.iter().map(|(name, reason)| (name.as_str(), reason.as_str())).collect();
        let expected = [
            ("broken", "the disk is full"),
            ("after", "diverges: it diverged"),
            ("faulty", "a fault of the program: planted"),
        ];
        assert_eq!(given_up, expected);
        assert_eq!(n_attempts(&folder, "broken"), 3);
    }

    /// A process is paused in the middle of a run for longer than its lease; another one takes over, and both finish.
    #[test]
    fn the_first_complete_result_wins_and_the_other_goes_quietly() {
        let place = tempfile::tempdir().unwrap();
        let folder = StudyFolder::at(place.path());
        let jobs = jobs(&[("a", None)]);
        let both_there = std::sync::Barrier::new(2);
        let do_run_as = |host: &'static str| {
            let both_there = &both_there;
            move |_: usize, run: &RunFolder, _: &dyn Fn() -> bool| {
                both_there.wait();
                // The other process may have completed the run and deleted the attempt's folder.
                let written = fs::write(run.path().join("result"), host);
                written.map(|()| Ended::Complete).map_err(|error| error.to_string())
            }
        };
        let never = AtomicBool::new(false);
        thread::scope(|scope| {
            let (folder, jobs, never) = (&folder, &jobs, &never);
            let first = do_run_as("here");
            // The lease has already expired, so the other process may claim the run at once.
            scope.spawn(move || {
                let dead_slow = WorkerPool { lease: Duration::ZERO, ..crew(folder, "here") };
                dead_slow.work(jobs, &first, &Unwatched, never).unwrap()
            });
            while n_attempts(folder, "a") == 0 {
                thread::sleep(REST);
            }
            let second = do_run_as("there");
            scope.spawn(move || crew(folder, "there").work(jobs, &second, &Unwatched, never).unwrap());
        });
        let mut outcomes: Vec<_> = folder.attempts("a").records(&Worker::this(None)).unwrap();
        outcomes.sort_by_key(|record| record.end.as_ref().map(|end| end.outcome != AttemptResult::Won));
        let told: Vec<_> = outcomes.iter().map(|record| record.end.clone().unwrap().outcome).collect();
        assert_eq!(told, [AttemptResult::Won, AttemptResult::Late]);
        let winner = fs::read_to_string(folder.run("a").path().join("result")).unwrap();
        assert_eq!(winner, outcomes[0].worker.host);
    }

    #[test]
    fn whoever_must_stop_leaves_the_run_to_others() {
        let place = tempfile::tempdir().unwrap();
        let folder = StudyFolder::at(place.path());
        let jobs = jobs(&[("a", None), ("b", None), ("c", None), ("d", None)]);
        let must_stop = AtomicBool::new(false);
        let do_run = |_: usize, run: &RunFolder, stops: &dyn Fn() -> bool| {
            fs::write(run.checkpoint(), "so far").unwrap();
            must_stop.store(true, Ordering::Relaxed);
            assert!(stops());
            Ok(Ended::Interrupted)
        };
        let tally = crew(&folder, "here").work(&jobs, &do_run, &Unwatched, &must_stop).unwrap();
        assert_eq!(tally.n_complete, 0);
        let go_on = |_: usize, run: &RunFolder, _: &dyn Fn() -> bool| {
            write_result(run, Stage::Finished);
            Ok(Ended::Complete)
        };
        let never = AtomicBool::new(false);
        assert!(crew(&folder, "there").work(&jobs, &go_on, &Unwatched, &never).unwrap().is_complete());
        assert!(Path::new(place.path()).join("attempts/a/2.end.json").exists());
    }
}
