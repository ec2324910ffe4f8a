//! `touchstream study STUDY`: starts or resumes a study given by its arguments.

use super::{Engine, HowArgs, set_cache, submit_jobs, this_start, work_and_report};
use crate::settings_args::{RunSettings, Typed, choice};
use crate::terminal::Terminal;
use anyhow::{Result, bail};
use clap::Args;
use std::path::{Path, PathBuf};
use touchstream_experiment::config::{Choice, Preset, RawConfig, is_path};
use touchstream_experiment::study::slurm::SlurmOptions;
use touchstream_experiment::study::{
    MAX_SEEDS, NamedStudy, Scale, StudyFolder, StudySpec, begin, make_missing_baselines, named_study,
    program_beside, with_chosen_rates,
};

#[derive(Args)]
pub struct StartArgs {
    /// A built-in study (see `touchstream study list`) or a study file (TOML)
    #[arg(value_name = "STUDY")]
    study: Option<String>,
    /// The study's folder; completed runs in it are skipped [default: studies/STUDY-SCALE]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Length of the runs [default: short]
    #[arg(long, value_parser = choice::<Scale>())]
    scale: Option<Scale>,
    /// Modules: ids, patterns such as none-*, main (the seven main modules) or all (24)
    #[arg(long, value_name = "ID,...", value_delimiter = ',', help_heading = "Axes")]
    modules: Option<Vec<String>>,
    /// Tasks: ids, patterns such as sr-* and task files
    #[arg(long, value_name = "ID,...", value_delimiter = ',', help_heading = "Axes")]
    tasks: Option<Vec<String>>,
    /// Number of seeds
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MAX_SEEDS), help_heading = "Axes")]
    seeds: Option<u64>,
    /// Sets of defaults: ours, the paper's, or both
    #[arg(long, value_parser = choice::<Preset>(), value_name = "PRESET,...", value_delimiter = ',', help_heading = "Axes")]
    presets: Option<Vec<Preset>>,
    /// Switches: numbers and ranges such as 1,4,11..15; 0 is the same task again; or FROM--TO
    #[arg(long, value_name = "N,...", value_delimiter = ',', help_heading = "Axes")]
    switches: Option<Vec<String>>,
    /// Methods of learning the second task, such as layer,unit,layer-plain,layer-shuffled,fine-tuning,old-alone
    #[arg(long, alias = "ways", value_name = "METHOD,...", value_delimiter = ',', help_heading = "Axes")]
    methods: Option<Vec<String>>,
    /// Steps of every base task [default: the scale's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Axes")]
    base_steps: Option<u64>,
    /// Another image source for one task (repeatable)
    #[arg(long = "data-of", value_name = "TASK=SOURCE")]
    data_of: Vec<String>,
    /// Use the learning rates chosen by a study of rates, and evaluate on validation images that it did not use
    #[arg(long, value_name = "DIR")]
    rates: Option<PathBuf>,
    /// A Python with scikit-learn: localization is also compared with supervised regression (`scripts/python-env`)
    #[arg(long, value_name = "FILE")]
    python: Option<PathBuf>,
    /// Keep the weights and checkpoint of every run
    #[arg(long)]
    keep_weights: bool,
    /// Where runs are executed
    #[arg(long, value_enum, default_value = "local")]
    engine: Engine,
    #[command(flatten)]
    how: HowArgs,
    #[command(flatten)]
    slurm: Typed<SlurmOptions>,
    #[command(flatten)]
    settings: RunSettings,
}

impl StartArgs {
    pub fn run(&self) -> Result<()> {
        if self.engine == Engine::Local && *self.slurm != SlurmOptions::default() {
            bail!("--partition, --time and the like are for --engine slurm");
        }
        let (folder, spec) = self.begin()?;
        let make_baselines = || Ok(make_missing_baselines(&folder, &spec, &Terminal::default())?);
        match self.engine {
            Engine::Local => work_and_report(&folder, &spec, &self.how, make_baselines),
            Engine::Slurm => {
                // Array tasks only execute runs, so baselines are computed here.
                make_baselines()?;
                let n_jobs = self.how.jobs.unwrap_or(1);
                submit_jobs(&folder, &spec, &self.slurm, n_jobs, self.settings.images.cache.as_deref())
            }
        }
    }

    /// The study, recorded in its folder.
    fn begin(&self) -> Result<(StudyFolder, StudySpec)> {
        let spec = self.spec()?;
        let name = format!("{}-{}", spec.name, spec.scale.name());
        let path = self.out.clone().unwrap_or_else(|| Path::new("studies").join(name));
        let folder = StudyFolder::at(path);
        let mut spec = begin(&folder, &spec, &this_start())?;
        set_cache(&mut spec, self.settings.images.cache.as_deref());
        Ok((folder, spec))
    }

    fn spec(&self) -> Result<StudySpec> {
        let typed = self.settings.config();
        let Some(study) = &self.study else {
            bail!("no study given: choose one of `touchstream study list`, or a study file");
        };
        for (option, is_given, instead) in [
            ("task", typed.task.is_some(), "tasks"),
            ("module", typed.module.is_some(), "modules"),
            ("seed", typed.seed.is_some(), "seeds"),
            ("preset", typed.preset.is_some(), "presets"),
        ] {
            if is_given {
                bail!("--{option} is for `touchstream train`; a study has --{instead}");
            }
        }
        let mut spec = match is_path(study) {
            true => {
                let spec = StudySpec::read(Path::new(study))?;
                StudySpec { scale: self.scale.unwrap_or(spec.scale), ..spec }
            }
            false => named_study(NamedStudy::of(study)?, self.scale.unwrap_or(Scale::Short)),
        };
        let axes = [
            (&self.modules, &mut spec.modules),
            (&self.tasks, &mut spec.tasks),
            (&self.switches, &mut spec.switches),
            (&self.methods, &mut spec.ways),
        ];
        for (typed, axis) in axes {
            if let Some(values) = typed {
                *axis = values.clone();
            }
        }
        if let Some(n) = self.seeds {
            spec.seeds = (1..=n).collect();
        }
        if let Some(presets) = &self.presets {
            spec.presets.clone_from(presets);
        }
        spec.steps = typed.steps.or(spec.steps);
        spec.base_steps = self.base_steps.or(spec.base_steps);
        spec.keep_weights |= self.keep_weights;
        if let Some(python) = &self.python {
            spec.python = Some(program_beside(python, &std::env::current_dir()?));
        }
        let settings = RawConfig { steps: None, ..typed }.with_absolute_sources()?;
        spec.settings = settings.over(spec.settings);
        for data_of in &self.data_of {
            let Some((task, source)) = data_of.split_once('=') else {
                bail!("--data-of takes TASK=SOURCE, not `{data_of}`");
            };
            let settings = RawConfig { data: Some(source.to_owned()), ..RawConfig::default() };
            let known = spec.settings_of.remove(task).unwrap_or_default();
            spec.settings_of.insert(task.to_owned(), settings.with_absolute_sources()?.over(known));
        }
        let spec = spec.checked()?;
        let spec = match &self.rates {
            Some(study) => with_chosen_rates(&StudyFolder::at(study), spec)?.checked()?,
            None => spec,
        };
        spec.check_effects()?;
        Ok(spec)
    }
}
