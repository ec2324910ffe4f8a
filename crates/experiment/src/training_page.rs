//! A finished run's page: what was learned, how fast, and what it looks like.

use crate::config::Choice;
use crate::curve::LessonVotes;
use crate::error::{Error, Result};
use crate::inputs::Inputs;
use crate::maps::{map_film, map_strip};
use crate::run::{RunFolder, Training};
use crate::setup::RunSetup;
use crate::switching::vote_series;
use touchstream_agents::Scenes;
use touchstream_env::trial::N_EXACT_SCREENS;
use touchstream_report::training_page::{CurvePoint, LessonPart, TrainingPage, training_page};

pub fn write<S: Scenes>(
    setup: &RunSetup,
    inputs: &Inputs,
    training: &Training<'_, S>,
    folder: &RunFolder,
) -> Result<()> {
    let points = training.rows().iter().map(|row| CurvePoint {
        step: row.step,
        validation: row.validation.reward,
        validation_se: row.validation.reward_se,
        train: row.train_reward,
        on_object: row.validation.on_object,
    });
    let agent = setup.plan.agent();
    let units: Vec<String> = agent.module.units.iter().map(usize::to_string).collect();
    let tasks: Vec<&str> = setup.tasks.iter().map(|task| task.id()).collect();
    let mut facts = vec![
        ("tasks", tasks.join(", ")),
        ("module", format!("{} ({} units)", agent.module.id, units.join(", "))),
        ("steps", training.n_steps().to_string()),
        ("seed", setup.plan.seed.to_string()),
        ("preset", setup.config.preset.unwrap_or_default().name().to_owned()),
        ("learning rate", agent.learning_rate.to_string()),
        ("an update", format!("every {} steps", agent.batch_steps)),
        ("touches count", format!("{} at the screen's edge", agent.touch_scale.0)),
    ];
    // Beyond the paper.
    let extras = [
        ("targets", agent.n_targets as f64, 1.0),
        ("dropout", agent.dropout, 0.0),
        ("weight decay", agent.adam.weight_decay, 0.0),
    ];
    facts.extend(
        extras.into_iter().filter(|extra| extra.1 != extra.2).map(|(name, n, _)| (name, n.to_string())),
    );
    facts.extend([
        ("images", format!("{} {}", inputs.data.source, inputs.data.content_hash)),
        ("encoder", format!("{} {}", inputs.encoder_name, inputs.encoder_hash)),
        ("touchstream", env!("CARGO_PKG_VERSION").to_owned()),
    ]);
    let lesson_votes = training.lesson_votes();
    let structure = training.agent().skill().structure();
    let mut reuse = Vec::new();
    for (votes, rows) in &lesson_votes {
        let shares = LessonVotes { structure, votes, rows }.reuse();
        reuse.extend(rows.iter().zip(shares).map(|(row, share)| (row.step as f64, share, 0.0)));
    }
    let lesson = |idx: usize| {
        let task = &setup.tasks[idx];
        let number = idx as u64 + 1;
        let (examples, snapshots) = training.maps(number);
        let votes =
            lesson_votes.iter().find(|(_, rows)| rows.first().is_some_and(|row| row.lesson == number));
        let exact = training.validation(idx).bound_task().exact_rewards(N_EXACT_SCREENS);
        let first_step = training.rows().iter().find(|row| row.lesson == number).map_or(0, |row| row.step);
        LessonPart {
            task: task.id(),
            about: &task.spec().title,
            first_step,
            chance: exact.chance,
            chance_on_object: exact.chance_on_object,
            film: map_film(examples, &snapshots),
            strip: (!examples.is_empty()).then(|| map_strip(examples, &snapshots)),
            votes: votes.map(|(votes, rows)| {
                let mut series =
                    vote_series("mean since the evaluation before", &LessonVotes { structure, votes, rows });
                series.steps.iter_mut().for_each(|step| *step -= first_step as f64);
                series
            }),
        }
    };
    let lessons: Vec<LessonPart<'_>> = (0..setup.tasks.len()).map(lesson).collect();
    let what = match tasks.len() {
        1 => tasks[0].to_owned(),
        n => format!("{n} tasks, one after the other"),
    };
    let page = training_page(&TrainingPage {
        title: &format!("{} learns {what}", agent.module.id),
        facts: &facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Vec<_>>(),
        points: &points.collect::<Vec<_>>(),
        lessons: &lessons,
        reuse: &reuse,
    })
    .map_err(Error::other)?;
    folder.write(&folder.page(), page.as_bytes())
}
