//! The files of a finished run.

use super::{Ending, Training};
use crate::curve::{LessonVotes, UNIT_VOTES_HEAD, VOTES_HEAD, VoteRow, csv_text, parquet_bytes};
use crate::error::{Error, Result};
use crate::maps::{map_film, map_strip};
use crate::run::status::Stage;
use crate::run::weights_file::{WeightsFacts, write_weights};
use touchstream_agents::FeatureSource;
use touchstream_modules::composite::StageVotes;

impl<S: FeatureSource> Training<'_, S> {
    /// Writes all files of a finished run; the checkpoint stays, so that no work is repeated.
    pub(super) fn finish(&mut self, must_stop: &dyn Fn() -> bool) -> Result<Ending> {
        if self.evaluate_all_tasks(must_stop)? == Ending::Interrupted {
            return Ok(Ending::Interrupted);
        }
        let folder = self.folder.clone();
        let (controller, shape) = (self.agent.skill().controller(), self.agent.skill().structure().shape());
        let facts = WeightsFacts {
            agent: self.agent.settings().clone(),
            n_old: controller.map_or(0, |controller| controller.old().len()),
            voting: controller.map(|controller| *controller.settings()),
            scene_len: shape.scene_len,
            map: shape.convolutions.as_ref().map(|shape| [shape.map.n_places, shape.map.n_channels]),
            // The stream may already have switched to a task that is not learned.
            task_id: self.world.validations[self.lesson].bound_task().task().id().to_owned(),
            n_steps: self.n_steps(),
            data_hash: self.identity.data_hash.clone(),
            encoder_hash: self.identity.encoder_hash.clone(),
            calibration_hash: self.identity.calibration_hash.clone(),
            program: self.identity.program.clone(),
        };
        write_weights(&folder.weights(), self.agent.skill(), &facts)?;
        folder.write(&folder.curve_csv(), csv_text(&self.rows).as_bytes())?;
        let table = parquet_bytes(&self.rows)
            .map_err(|error| Error::damaged(&folder.curve_parquet(), error.to_string()))?;
        folder.write(&folder.curve_parquet(), &table)?;
        self.write_lessons()?;
        self.write_votes()?;
        for lesson in 1..=self.number() {
            let (examples, snapshots) = self.maps(lesson);
            if !examples.is_empty() {
                let strip = map_strip(examples, &snapshots).to_png();
                folder.write(&folder.lesson_maps_png(lesson), &strip.map_err(Error::image)?)?;
            }
            if let Some(film) = map_film(examples, &snapshots) {
                let film = film.to_apng().map_err(Error::image)?;
                folder.write(&folder.lesson_film(lesson), &film)?;
            }
        }
        self.write_checkpoint()?;
        self.write_status(Stage::Finished, None)?;
        Ok(Ending::Finished)
    }

    /// The votes of each task with old modules. The layout of its votes follows from the number of modules at that
    /// time.
    pub fn lesson_votes(&self) -> Vec<(Vec<StageVotes>, Vec<VoteRow>)> {
        let Some(controller) = self.agent.skill().controller() else { return Vec::new() };
        let of_lesson = |lesson: u64| {
            let rows: Vec<VoteRow> = self.votes.iter().filter(|row| row.lesson == lesson).cloned().collect();
            let n_later = (self.number() - lesson) as usize;
            let n_old = controller.old().len().checked_sub(n_later).filter(|&n_old| n_old > 0)?;
            let votes = StageVotes::of_stages(controller.structure(), n_old, controller.settings());
            (!rows.is_empty()).then_some((votes, rows))
        };
        (1..=self.number()).filter_map(of_lesson).collect()
    }

    /// `lesson,task,first_step`: when each task began.
    fn write_lessons(&self) -> Result<()> {
        if self.plan().lessons.len() < 2 {
            return Ok(());
        }
        let mut text = String::from("lesson,task,first_step\n");
        for (lesson, validation) in (1..=self.number()).zip(&self.world.validations) {
            let first_step = self.rows.iter().find(|row| row.lesson == lesson).map_or(0, |row| row.step);
            let task = validation.bound_task().task().id();
            text.push_str(&format!("{lesson},{task},{first_step}\n"));
        }
        self.folder.write(&self.folder.lessons_csv(), text.as_bytes())
    }

    fn write_votes(&self) -> Result<()> {
        let (mut lines, mut unit_lines) = (String::new(), String::new());
        for (votes, rows) in self.lesson_votes() {
            let structure = self.agent.skill().structure();
            let of_lesson = LessonVotes { structure, votes: &votes, rows: &rows };
            lines += &of_lesson.csv_lines();
            unit_lines += &of_lesson.unit_csv_lines();
        }
        for (path, head, lines) in [
            (self.folder.votes_csv(), VOTES_HEAD, lines),
            (self.folder.unit_votes_csv(), UNIT_VOTES_HEAD, unit_lines),
        ] {
            if !lines.is_empty() {
                self.folder.write(&path, (head.to_owned() + &lines).as_bytes())?;
            }
        }
        Ok(())
    }
}
