//! Reward maps during training, of the runs that recorded them.

use crate::error::Result;
use crate::study::records::CompleteRun;
use touchstream_report::study::study_page::{StudyPicture, StudySection};

/// A section with the maps of the first seed of each module and task; `None` if no maps were recorded.
pub fn section(runs: &[CompleteRun]) -> Result<Option<StudySection>> {
    let mut pictures = Vec::new();
    let mut shown: Vec<(String, &str)> = Vec::new();
    for run in runs {
        let what = (run.method(), run.facts.task.as_str());
        if shown.contains(&what) {
            continue;
        }
        let Some(png) = run.files.read(&run.files.folder().maps_png())? else { continue };
        let caption = format!("{} on {}, seed {}", what.0, what.1, run.facts.seed);
        pictures.push(StudyPicture { caption, png });
        shown.push(what);
    }
    Ok((!pictures.is_empty()).then(|| StudySection {
        id: "maps".into(),
        title: "Reward maps over the course of learning".into(),
        text: "The predicted reward of every touch, while the agent learns, and the true reward at the right. A ring marks the \
               touch with the highest predicted reward. Validation screens of one seed."
            .into(),
        figures: Vec::new(),
        pictures,
        tables: Vec::new(),
    }))
}
