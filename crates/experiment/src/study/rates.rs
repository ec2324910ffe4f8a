//! Learning rates that another study has chosen.

use crate::config::{Choice, ImageOptions, RawConfig, parse_task_arg};
use crate::error::{Context, Result, bail};
use crate::study::StudyFolder;
use crate::study::cell::cells_of;
use crate::study::read_spec;
use crate::study::records::Records;
use crate::study::spec::StudySpec;
use std::collections::{BTreeMap, BTreeSet};
use touchstream_analysis::findings;
use touchstream_stimuli::ValidationPart;

/// A study with the learning rates that another study chose, evaluated on the other validation images.
pub fn with_chosen_rates(folder: &StudyFolder, mut spec: StudySpec) -> Result<StudySpec> {
    let there = read_spec(folder)?;
    check_alike(&spec, &there)
        .with_context(|| format!("the rates of {} cannot be taken", folder.path().display()))?;
    spec.rates = chosen_rates(folder, &there)?;
    spec.settings.images.validation_part = Some(ValidationPart::Final);
    Ok(spec)
}

/// Rates are valid for one preset, one source of images and one encoder.
fn check_alike(spec: &StudySpec, there: &StudySpec) -> Result<()> {
    let words = |spec: &StudySpec| {
        let words: Vec<&str> = spec.presets.iter().map(|preset| preset.name()).collect();
        words.join(" and ")
    };
    if there.presets.len() > 1 {
        bail!(Settings, "they were looked for under several presets; one is needed");
    }
    if spec.presets != there.presets {
        bail!(Settings, "they were chosen under the preset {}, this study has {}", words(there), words(spec));
    }
    for word in &spec.tasks {
        let task = parse_task_arg(word)?;
        let (here, there) = (spec.settings_for(task.id()), there.settings_for(task.id()));
        let parts = (here.images.validation_part, there.images.validation_part);
        match parts {
            (Some(ValidationPart::Choice), _) => bail!(
                Settings,
                "--validation-part choice has the images that they were chosen on; leave it out to evaluate on the others"
            ),
            (_, Some(ValidationPart::Choice)) => {}
            _ => bail!(
                Settings,
                "they were not chosen with --validation-part choice: no validation image is left to evaluate them"
            ),
        }
        let differs = |what: &str, of: fn(&RawConfig) -> String| {
            let (here, there) = (of(&here), of(&there));
            (here != there).then(|| format!("{what} of {}: {there} there, {here} here", task.id()))
        };
        if let Some(difference) = differs("the images", |config| source_of(config.data.as_deref(), "gallery"))
            .or_else(|| differs("the encoder", |config| source_of(config.encoder.as_deref(), "compact")))
        {
            bail!(Settings, "{difference}");
        }
        if plain(&here.images) != plain(&there.images) {
            bail!(
                Settings,
                "which images {} shows differs: other classes, templates or numbers of them",
                task.id()
            );
        }
        if here.encoder_options != there.encoder_options {
            bail!(Settings, "the options of the encoder differ");
        }
    }
    Ok(())
}

fn source_of(word: Option<&str>, or: &str) -> String {
    word.unwrap_or(or).to_owned()
}

/// The settings that determine the images.
fn plain(images: &ImageOptions) -> ImageOptions {
    ImageOptions { validation_part: None, cache: None, strict: false, ..images.clone() }
}

/// The best rate of each module on each task.
fn chosen_rates(folder: &StudyFolder, spec: &StudySpec) -> Result<BTreeMap<String, BTreeMap<String, f64>>> {
    let cells = cells_of(spec)?;
    let records = Records::read(folder, &cells.iter().map(|cell| cell.name.clone()).collect())?;
    let found: BTreeSet<&str> = records.runs.iter().map(|run| run.name.as_str()).collect();
    let n_missing = cells.iter().filter(|cell| !found.contains(cell.name.as_str())).count();
    if n_missing > 0 {
        bail!(
            Settings,
            "{}: {n_missing} of {} runs are missing; rates are chosen from all of them",
            folder.path().display(),
            cells.len()
        );
    }
    let found = findings(&records.run_records(spec), &[]);
    let mut rates: BTreeMap<String, BTreeMap<String, f64>> = BTreeMap::new();
    for one in found.presets.iter().flat_map(|preset| &preset.learning_rates) {
        let Some(best) = one.best else {
            bail!(
                Settings,
                "{}: {} on {} diverged at all rates",
                folder.path().display(),
                one.module,
                one.task
            );
        };
        if let Some(rate) = best.learning_rate {
            rates.entry(one.module.clone()).or_default().insert(one.task.clone(), rate);
        }
    }
    if rates.is_empty() {
        bail!(Settings, "{} is not a study of learning rates", folder.path().display());
    }
    Ok(rates)
}
