//! `touchstream study`: every figure and table of the paper by one command.

use crate::commands::train::{leave, stop_flag};
use crate::say::{say, warn_user};
use crate::study::catalog::{ABOUT, named_study};
use crate::study::cell::{Cell, cells_of};
use crate::study::local::Shift;
use crate::study::provenance::Start;
use crate::study::scale::Scale;
use crate::study::spec::{MAX_SEEDS, StudySpec};
use crate::train_words::{PresetWord, TrainWords};
use crate::words::is_file_word;
use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use std::path::{Path, PathBuf};
use std::time::Duration;
use touchstream_files::write_aside_durably;
use touchstream_lab::run::Ending;
use touchstream_lab::study::{LEASE, StudyFolder};

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct StudyArgs {
    #[command(subcommand)]
    action: Option<StudyAction>,
    #[command(flatten)]
    start: StartArgs,
}

#[derive(Subcommand)]
enum StudyAction {
    /// List the program's own studies
    List,
    /// Go on with a study where it is
    Resume(ResumeArgs),
}

#[derive(Args)]
struct StartArgs {
    /// A study (`touchstream study list` names them), or a study file of your own (TOML)
    #[arg(value_name = "STUDY")]
    study: Option<String>,
    /// The study's folder; runs that are in it are not done again [default: studies/STUDY-SCALE]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// How large [default: short]
    #[arg(long, value_enum)]
    scale: Option<Scale>,
    /// Modules: ids and patterns such as none-*; main for the seven of the paper's main figure, all for the 24
    #[arg(long, value_name = "ID,...", value_delimiter = ',', help_heading = "Axes")]
    modules: Option<Vec<String>>,
    /// Tasks: ids, patterns such as sr-* and task files
    #[arg(long, value_name = "ID,...", value_delimiter = ',', help_heading = "Axes")]
    tasks: Option<Vec<String>>,
    /// How many seeds
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MAX_SEEDS), help_heading = "Axes")]
    seeds: Option<u64>,
    /// Our settings, those that the paper prints, or both
    #[arg(long, value_enum, value_name = "PRESET,...", value_delimiter = ',', help_heading = "Axes")]
    presets: Option<Vec<PresetWord>>,
    /// Switches: numbers and ranges such as 1,4,11..15; 0 is the same task again; or FROM--TO
    #[arg(long, value_name = "N,...", value_delimiter = ',', help_heading = "Axes")]
    switches: Option<Vec<String>>,
    /// Ways of learning a second task, such as layer,unit,layer-plain,layer-shuffled,fine-tuning,old-alone
    #[arg(long, value_name = "WAY,...", value_delimiter = ',', help_heading = "Axes")]
    ways: Option<Vec<String>>,
    /// Steps of every base task [default: the scale's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Axes")]
    base_steps: Option<u64>,
    /// Where the images of one task come from, if not from where the others do; may be given several times
    #[arg(long = "data-of", value_name = "TASK=SOURCE")]
    data_of: Vec<String>,
    /// Keep the weights of every run, not only its curve
    #[arg(long)]
    keep_weights: bool,
    #[command(flatten)]
    how: HowArgs,
    #[command(flatten)]
    words: TrainWords,
}

#[derive(Args)]
pub struct HowArgs {
    /// Runs side by side [default: one a core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Seconds after which a silent process of another machine counts as dead
    #[arg(long, value_name = "SECS", value_parser = clap::value_parser!(u64).range(1..=86_400), hide = true)]
    pub lease: Option<u64>,
}

#[derive(Args)]
struct ResumeArgs {
    /// The study's folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Folder of the cache [default: $TOUCHSTREAM_CACHE, else the user's cache]
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    #[command(flatten)]
    how: HowArgs,
}

pub fn run(args: &StudyArgs) -> Result<()> {
    match &args.action {
        Some(StudyAction::List) => list(),
        Some(StudyAction::Resume(resume)) => {
            let folder = StudyFolder::at(&resume.folder);
            let mut spec = read_spec(&folder)?;
            set_cache(&mut spec, resume.cache.as_deref());
            work(&folder, &spec, &resume.how)
        }
        None => {
            let (folder, spec) = args.start.begin()?;
            work(&folder, &spec, &args.start.how)
        }
    }
}

fn list() -> Result<()> {
    for (name, about) in ABOUT {
        say!("{name:18} {about}");
    }
    Ok(())
}

/// The study in a folder.
pub fn read_spec(folder: &StudyFolder) -> Result<StudySpec> {
    if !folder.spec().exists() {
        bail!("{} is not the folder of a study: it has no study.toml", folder.path().display());
    }
    StudySpec::read(&folder.spec())
}

/// Where the cache is is not part of a study.
fn set_cache(spec: &mut StudySpec, cache: Option<&Path>) {
    spec.settings.images.cache = cache.map(Path::to_owned);
}

/// Writes a study down in its folder, unless another one is there. Axes may grow and shrink: runs that are done stay.
pub fn begin(folder: &StudyFolder, spec: &StudySpec) -> Result<()> {
    // Everything that is impossible is said before anything is written.
    cells_of(spec)?;
    if folder.spec().exists() {
        let there = StudySpec::read(&folder.spec())?;
        if let Some(field) = spec.difference_of_settings(&there) {
            bail!(
                "{} holds another study ({field} differs); choose another folder with --out, or go on with that one: \
                 touchstream study resume {0}",
                folder.path().display()
            );
        }
    }
    let path = folder.spec();
    write_aside_durably(&path, spec.to_toml()?.as_bytes())
        .with_context(|| format!("cannot write {}", path.display()))?;
    Start::this().note_in(folder)
}

impl StartArgs {
    /// The study that was asked for, and its folder with the study written down in it.
    fn begin(&self) -> Result<(StudyFolder, StudySpec)> {
        let spec = self.spec()?;
        let scale = format!("{:?}", spec.scale).to_lowercase();
        let path =
            self.out.clone().unwrap_or_else(|| Path::new("studies").join(format!("{}-{scale}", spec.name)));
        let folder = StudyFolder::at(path);
        begin(&folder, &spec)?;
        let mut spec = spec;
        set_cache(&mut spec, self.words.images.cache.as_deref());
        Ok((folder, spec))
    }

    fn spec(&self) -> Result<StudySpec> {
        let Some(study) = &self.study else {
            bail!("which study? `touchstream study list` names them; or a study file of your own");
        };
        for (word, is_said, instead) in [
            ("task", self.words.task.is_some(), "tasks"),
            ("module", self.words.module.is_some(), "modules"),
            ("seed", self.words.seed.is_some(), "seeds"),
            ("preset", self.words.preset.is_some(), "presets"),
        ] {
            if is_said {
                bail!("--{word} is for `touchstream train`; a study has --{instead}");
            }
        }
        let mut spec = match is_file_word(study) {
            true => {
                let spec = StudySpec::read(Path::new(study))?;
                StudySpec { scale: self.scale.unwrap_or(spec.scale), ..spec }
            }
            false => named_study(study, self.scale.unwrap_or(Scale::Short))?,
        };
        let axes = [
            (&self.modules, &mut spec.modules),
            (&self.tasks, &mut spec.tasks),
            (&self.switches, &mut spec.switches),
            (&self.ways, &mut spec.ways),
        ];
        for (typed, axis) in axes {
            if let Some(words) = typed {
                *axis = words.clone();
            }
        }
        if let Some(n) = self.seeds {
            spec.seeds = (1..=n).collect();
        }
        if let Some(presets) = &self.presets {
            spec.presets.clone_from(presets);
        }
        spec.steps = self.words.steps.or(spec.steps);
        spec.base_steps = self.base_steps.or(spec.base_steps);
        spec.keep_weights |= self.keep_weights;
        let words = TrainWords { steps: None, ..self.words.clone() }.with_absolute_sources()?;
        spec.settings = words.over(spec.settings);
        for word in &self.data_of {
            let Some((task, source)) = word.split_once('=') else {
                bail!("--data-of takes TASK=SOURCE, not `{word}`");
            };
            let settings = TrainWords { data: Some(source.to_owned()), ..TrainWords::default() };
            let there = spec.settings_of.remove(task).unwrap_or_default();
            spec.settings_of.insert(task.to_owned(), settings.with_absolute_sources()?.over(there));
        }
        spec.checked()
    }
}

/// Does what is missing of a study; an error if something stays missing.
pub fn work(folder: &StudyFolder, spec: &StudySpec, how: &HowArgs) -> Result<()> {
    let cells = cells_of(spec)?;
    let must_stop = stop_flag()?;
    let n_cores = std::thread::available_parallelism().map_or(1, usize::from);
    let shift = Shift {
        folder,
        n_threads: how.jobs.map_or(n_cores, usize::from),
        keeps_weights: spec.keep_weights,
        lease: how.lease.map_or(LEASE, Duration::from_secs),
        scheduler_job: None,
    };
    let cells: Vec<&Cell> = cells.iter().collect();
    let report = shift.work(&cells, &must_stop)?;
    let is_complete = report.say();
    if must_stop.load(std::sync::atomic::Ordering::Relaxed) && !is_complete {
        warn_user!("stopped; go on with: touchstream study resume {}", folder.path().display());
        return leave(Ending::Interrupted);
    }
    if !is_complete {
        bail!("some runs could not be done; the reasons are above, and the next start tries them again");
    }
    Ok(())
}
