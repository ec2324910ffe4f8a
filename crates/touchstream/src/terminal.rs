//! Events of an experiment as bars on a terminal, otherwise as lines.

use crate::progress_bar::WorkBar;
use crate::stdio::warn_user;
use crate::study_view::StudyView;
use crate::training_bar::TrainingBar;
use std::sync::{Mutex, OnceLock, PoisonError};
use touchstream_experiment::{Event, Watch};

#[derive(Default)]
pub struct Terminal<'a> {
    work: WorkBar,
    training: Mutex<Option<TrainingBar>>,
    study: OnceLock<StudyView>,
    /// Called to exit if a stop is requested while a study's inputs are opened.
    leave: Option<&'a (dyn Fn() + Sync)>,
}

impl<'a> Terminal<'a> {
    pub fn leaving(leave: &'a (dyn Fn() + Sync)) -> Self {
        Self { leave: Some(leave), ..Self::default() }
    }
}

impl Watch for Terminal<'_> {
    fn on(&self, event: Event<'_>) {
        let training = || self.training.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::WorkStarted { what, total } => self.work.start(what, total),
            Event::WorkAdvanced { n_done } => self.work.advance(n_done),
            Event::WorkFinished => self.work.finish(),
            Event::TrainingStarted { tasks, module, step, n_steps } => {
                *training() = Some(TrainingBar::new(tasks, module, step, n_steps));
            }
            Event::TrainingAdvanced(moment) => training().iter().for_each(|bar| bar.show(moment)),
            Event::TrainingEnded => training().iter().for_each(TrainingBar::finish),
            Event::StopRequestedWhileOpening => self.leave.iter().for_each(|leave| leave()),
            Event::StudyStarted { cells, n_threads } => {
                self.study.get_or_init(|| StudyView::new(cells, n_threads));
            }
            event => match self.study.get() {
                Some(study) => study.on(event),
                None => warn_user!("{event}"),
            },
        }
    }
}
