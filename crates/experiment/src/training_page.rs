//! The page of a finished run, and its results as JSON.

use crate::config::Choice;
use crate::curve::LessonVotes;
use crate::error::{Error, Result};
use crate::inputs::Inputs;
use crate::references::{Point, References};
use crate::run::{RunFolder, Training};
use crate::setup::RunSetup;
use crate::stream_results::{lesson_rows, stream_results};
use crate::vote_series::vote_series;
use touchstream_agents::FeatureSource;
use touchstream_analysis::thousands;
use touchstream_env::trial::N_EXACT_SCREENS;
use touchstream_report::life_figure::RewardPoint;
use touchstream_report::training_page::{TaskPart, TrainingPage, training_page};

pub fn write<S: FeatureSource>(
    setup: &RunSetup,
    inputs: &Inputs,
    training: &Training<'_, S>,
    references: Option<&References>,
    folder: &RunFolder,
) -> Result<()> {
    let n_tasks = setup.tasks.len();
    let exact_of = |idx: usize| training.validation(idx).bound_task().exact_rewards(N_EXACT_SCREENS);
    let exact: Vec<_> = (0..n_tasks).map(exact_of).collect();
    let results = stream_results(&setup.tasks, training, &exact, references);
    if n_tasks > 1 {
        let mut json = serde_json::to_vec_pretty(&results).map_err(Error::other)?;
        json.push(b'\n');
        folder.write(&folder.metrics(), &json)?;
    }
    let lesson_votes = training.lesson_votes();
    let structure = training.agent().skill().structure();
    let part = |idx: usize| {
        let (first_step, rows) = lesson_rows(training.rows(), idx);
        let rows: Vec<_> = rows.collect();
        let step = |step: u64| (step - first_step) as f64;
        let agent = rows.iter().map(|row| (step(row.step), row.validation.reward, row.validation.reward_se));
        let on_object = rows.iter().filter_map(|row| Some((step(row.step), row.validation.on_object?, 0.0)));
        let reference = |curves: fn(&References) -> &Vec<Vec<Point>>| -> Vec<RewardPoint> {
            let curve = references.and_then(|all| curves(all).get(idx));
            curve.into_iter().flatten().map(|&(step, reward, se)| (step as f64, reward, se)).collect()
        };
        let number = idx as u64 + 1;
        let votes =
            lesson_votes.iter().find(|(_, rows)| rows.first().is_some_and(|row| row.lesson == number));
        TaskPart {
            about: &setup.tasks[idx].spec().title,
            agent: agent.collect(),
            scratch: reference(|all| &all.scratch),
            fine_tuning: reference(|all| &all.fine_tuning),
            on_object: if exact[idx].chance_on_object.is_some() { on_object.collect() } else { Vec::new() },
            chance_on_object: exact[idx].chance_on_object,
            reuse: rows.last().and_then(|row| row.reuse),
            strip: folder.read(&folder.lesson_maps_png(number)).ok(),
            film: folder.read(&folder.lesson_film(number)).ok(),
            votes: votes.map(|(votes, rows)| {
                let tasks: Vec<&str> = setup.tasks[..=idx].iter().map(|task| task.id()).collect();
                let mut series = vote_series(
                    "Votes, averaged between evaluations",
                    &LessonVotes { structure, votes, rows },
                    &tasks,
                );
                series.steps.iter_mut().for_each(|step| *step -= first_step as f64);
                series
            }),
        }
    };
    let parts: Vec<TaskPart<'_>> = (0..n_tasks).map(part).collect();
    let what = match &setup.tasks[..] {
        [task] => task.id().to_owned(),
        tasks => format!("{} tasks, one after the other", tasks.len()),
    };
    let page = training_page(&TrainingPage {
        title: &format!("An agent learns {what}"),
        facts: &facts(setup, inputs, training.n_steps()),
        results: &results,
        tasks: &parts,
    });
    folder.write(&folder.page(), page.as_bytes())
}

fn facts(setup: &RunSetup, inputs: &Inputs, n_steps: u64) -> Vec<(String, String)> {
    let agent = setup.plan.agent();
    let units: Vec<String> = agent.module.units.iter().map(usize::to_string).collect();
    let tasks: Vec<&str> = setup.tasks.iter().map(|task| task.id()).collect();
    let mut facts = vec![
        ("tasks", tasks.join(", ")),
        ("module", format!("{} ({} units)", agent.module.id, units.join(", "))),
        ("steps", thousands(n_steps)),
        ("seed", setup.plan.seed.to_string()),
        ("preset", setup.config.preset.unwrap_or_default().name().to_owned()),
        ("learning rate", agent.learning_rate.to_string()),
        ("update", format!("every {} steps", agent.batch_steps)),
        ("touch scale", agent.touch_scale.0.to_string()),
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
    facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
