//! A finished run's page: what was learned, how fast, and what it looks like.

use crate::run_setup::{OpenedRun, RunSetup};
use anyhow::Result;
use touchstream_agent::Scenes;
use touchstream_lab::maps::map_strip;
use touchstream_lab::run::{RunFolder, Training};
use touchstream_report::training_page::{CurvePoint, TrainingPage, training_page};

pub fn write<S: Scenes>(
    setup: &RunSetup,
    opened: &OpenedRun,
    training: &Training<'_, S>,
    folder: &RunFolder,
) -> Result<()> {
    let points = training.rows().iter().map(|row| CurvePoint {
        step: row.step,
        validation: row.validation.reward,
        validation_se: row.validation.reward_se,
        train: row.train_reward,
    });
    let exact = opened.validation.bound_task().exact_rewards(touchstream_env::trial::N_EXACT_SCREENS);
    let agent = setup.plan.agent();
    let units: Vec<String> = agent.module.units.iter().map(usize::to_string).collect();
    let facts = [
        ("task", setup.task.id().to_owned()),
        ("module", format!("{} ({} units)", agent.module.id, units.join(", "))),
        ("steps", training.n_steps().to_string()),
        ("seed", setup.plan.seed.to_string()),
        ("learning rate", agent.learning_rate.to_string()),
        ("images", format!("{} {}", opened.data.source, opened.data.content_hash)),
        ("encoder", format!("{} {}", opened.encoder_name, opened.identity.encoder_hash)),
        ("touchstream", env!("CARGO_PKG_VERSION").to_owned()),
    ];
    let (examples, snapshots) = training.maps(1);
    let strip = (!examples.is_empty()).then(|| map_strip(examples, &snapshots));
    let page = training_page(&TrainingPage {
        title: &format!("{} learns {}", agent.module.id, setup.task.id()),
        about: &setup.task.spec().title,
        facts: &facts.map(|(name, value)| (name.to_owned(), value)),
        points: &points.collect::<Vec<_>>(),
        chance: exact.chance,
        strip: strip.as_ref(),
    })?;
    Ok(folder.write(&folder.page(), page.as_bytes())?)
}
