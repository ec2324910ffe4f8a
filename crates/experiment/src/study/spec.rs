//! The settings of a study: `study.toml`, written by the program or by a user.

use crate::config::{
    Choice, EncoderOptions, ImageOptions, MAX_STEPS, Preset, RawConfig, parse_task_arg, read_text,
    resolve_relative_to,
};
use crate::error::{Context, Error, Result, bail};
use crate::study::axes::{modules_of, switches_of, tasks_of};
use crate::study::localization_baselines::{localization_of, program_beside};
use crate::study::pair::{pair_of, pair_words};
use crate::study::scale::Scale;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use touchstream_analysis::SwitchMethod;

/// Everything that determines the runs of a study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct StudySpec {
    /// Name of a built-in study, or one chosen by the user.
    pub name: String,
    /// The study's question.
    pub title: String,
    /// Determines the number of steps if `steps` is missing.
    pub scale: Scale,
    /// In memory a list; a study file may contain a number of seeds instead, counted from 1.
    #[serde(deserialize_with = "seeds")]
    pub seeds: Vec<u64>,
    pub presets: Vec<Preset>,
    /// Ids and patterns; `main` means the seven main modules, `all` the 24 of the paper.
    pub modules: Vec<String>,
    /// Tasks that are learned from scratch.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<String>,
    /// Pairs of tasks, of which the second is learned after the first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub switches: Vec<String>,
    /// Methods of learning the second task; `scratch` is always included.
    #[serde(skip_serializing_if = "Vec::is_empty", alias = "methods")]
    pub ways: Vec<String>,
    /// Steps of every task, or of every second task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_steps: Option<u64>,
    /// Whether runs keep weights and checkpoint.
    pub keep_weights: bool,
    /// A Python with scikit-learn, for the regression baselines of localization.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub python: Option<PathBuf>,
    /// Keys of `settings` with lists of values; each combination of values is a method.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub vary: BTreeMap<String, Vec<toml::Value>>,
    /// Chosen learning rates by module and task.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub rates: BTreeMap<String, BTreeMap<String, f64>>,
    /// The settings of all runs, as in `touchstream train --config`.
    pub settings: RawConfig,
    /// Additional settings of the runs of a task, such as the source of its images.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub settings_of: BTreeMap<String, RawConfig>,
}

impl Default for StudySpec {
    fn default() -> Self {
        Self {
            name: String::new(),
            title: String::new(),
            scale: Scale::Short,
            seeds: vec![1, 2, 3],
            presets: vec![Preset::Default],
            modules: vec!["ems".into()],
            tasks: Vec::new(),
            switches: Vec::new(),
            ways: Vec::new(),
            steps: None,
            base_steps: None,
            keep_weights: false,
            python: None,
            vary: BTreeMap::new(),
            rates: BTreeMap::new(),
            settings: RawConfig::default(),
            settings_of: BTreeMap::new(),
        }
    }
}

fn seeds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u64>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a number of seeds, or a list of seeds")]
    enum Seeds {
        HowMany(u64),
        Which(Vec<u64>),
    }
    match Seeds::deserialize(deserializer)? {
        Seeds::HowMany(n) if n > MAX_SEEDS => {
            Err(serde::de::Error::custom(format!("more than {MAX_SEEDS} seeds")))
        }
        Seeds::HowMany(n) => Ok((1..=n).collect()),
        Seeds::Which(seeds) => Ok(seeds),
    }
}

/// Settings that a study has as axes.
const AXES: [&str; 6] = ["task", "schedule", "module", "seed", "preset", "steps"];

/// More seeds are probably a mistake.
pub const MAX_SEEDS: u64 = 1000;
const MAX_VARIATIONS: usize = 10_000;
const MAX_RUNS: usize = 100_000;

impl StudySpec {
    pub fn read(path: &Path) -> Result<Self> {
        Self::from_text(&read_text(path)?, path)
    }

    /// From the text of a file.
    pub fn from_text(text: &str, path: &Path) -> Result<Self> {
        let spec: Self = touchstream_env::parse_toml(text)
            .map_err(|error| Error::Settings(format!("{}: {error}", path.display())))?;
        let stem = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        let name = if spec.name.is_empty() { stem } else { spec.name.clone() };
        let title = if spec.title.is_empty() { name.clone() } else { spec.title.clone() };
        let mut spec = Self { name, title, ..spec };
        // Paths in a study file are relative to its folder.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let folder = std::path::absolute(folder)?;
        spec = spec.with_task_words(&folder, |word| resolve_relative_to(word, &folder));
        spec.python = spec.python.map(|python| program_beside(&python, &folder));
        for words in [&mut spec.settings].into_iter().chain(spec.settings_of.values_mut()) {
            *words = words.clone().with_sources_beside(&folder).at(path)?;
        }
        spec.checked().at(path)
    }

    /// Replaces the names of tasks. Current file names are relative to `folder`.
    pub fn with_task_words(mut self, folder: &Path, called: impl Fn(&str) -> String) -> Self {
        self.tasks.iter_mut().for_each(|word| *word = called(word));
        for word in &mut self.switches {
            if let Some((from, to)) = pair_words(word, folder) {
                *word = format!("{}--{}", called(from), called(to));
            }
        }
        self
    }

    /// The agents' settings that differ from the defaults, one per item. The touch scale is omitted, because it is read
    /// from the runs.
    pub fn said_about_agents(&self) -> Result<Vec<String>> {
        let about_agents = RawConfig {
            data: None,
            encoder: None,
            touch_scale: None,
            map_examples: None,
            images: ImageOptions::default(),
            encoder_options: EncoderOptions::default(),
            ..self.settings.clone()
        };
        // The tables of images and encoders are omitted.
        let text = about_agents.to_toml()?;
        Ok(text
            .lines()
            .take_while(|line| !line.is_empty() && !line.starts_with('['))
            .map(str::to_owned)
            .collect())
    }

    pub fn to_toml(&self) -> Result<String> {
        toml::to_string(self).context("the study cannot be written as TOML")
    }

    /// Resolves patterns and checks all fields.
    pub fn checked(mut self) -> Result<Self> {
        let is_name = |name: &str| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
        };
        if !is_name(&self.name) {
            bail!(Settings, "name: `{}` must be letters, digits, `-`, `_` and `.`", self.name);
        }
        self.modules = modules_of(&self.modules)?;
        self.tasks = tasks_of(&self.tasks)?;
        self.switches = switches_of(&self.switches)?;
        self.presets = Preset::all().filter(|preset| self.presets.contains(preset)).collect();
        self.seeds.sort_unstable();
        self.seeds.dedup();
        if !self.switches.is_empty() && !self.ways.iter().any(|way| way == "scratch") {
            self.ways.insert(0, "scratch".into());
        }
        for way in &self.ways {
            way.parse::<SwitchMethod>()?;
        }
        if self.tasks.is_empty() && self.switches.is_empty() {
            bail!(Settings, "tasks, switches: there is nothing to learn; give one or both");
        }
        for (axis, is_empty) in [
            ("seeds", self.seeds.is_empty()),
            ("modules", self.modules.is_empty()),
            ("presets", self.presets.is_empty()),
        ] {
            if is_empty {
                bail!(Settings, "{axis}: there are none");
            }
        }
        for (name, steps) in [("steps", self.steps), ("base-steps", self.base_steps)] {
            if let Some(steps) = steps.filter(|&steps| steps > MAX_STEPS) {
                bail!(Settings, "{name}: {steps} is more than {MAX_STEPS}");
            }
        }
        if self.steps == Some(0) || self.base_steps == Some(0) {
            bail!(Settings, "steps: a run of 0 steps learns nothing");
        }
        for settings in [&self.settings].into_iter().chain(self.settings_of.values()) {
            let table = toml::Table::try_from(settings)?;
            if let Some(axis) = AXES.into_iter().find(|axis| table.contains_key(*axis)) {
                bail!(Settings, "settings.{axis}: in a study, this is an axis of its own");
            }
        }
        for (key, values) in &self.vary {
            if values.is_empty() {
                bail!(Settings, "vary.{key}: there is no value");
            }
            if AXES.contains(&key.as_str()) {
                bail!(Settings, "vary.{key}: in a study, this is an axis of its own");
            }
        }
        let n = self.vary.values().map(Vec::len).fold(1_usize, usize::saturating_mul);
        if n > MAX_VARIATIONS {
            bail!(Settings, "vary: it has more than {MAX_VARIATIONS} combinations");
        }
        self.check_size()?;
        self.check_settings_of()?;
        if !self.rates.is_empty() && !self.switches.is_empty() {
            bail!(Settings, "rates: they are for tasks that are learned alone");
        }
        // Refuses unknown settings before anything starts.
        self.variations()?;
        Ok(self)
    }

    /// Refuses options without effect. Only called for new starts, so that existing studies stay readable.
    pub fn check_effects(&self) -> Result<()> {
        let has_switches = !self.switches.is_empty();
        if !has_switches && !self.ways.is_empty() {
            bail!(
                Settings,
                "methods: they are for the second task of a switch, and there is none; give switches, too \
                 (--switches 1..15), or no methods"
            );
        }
        if !has_switches && self.base_steps.is_some() {
            bail!(
                Settings,
                "base-steps: they are for the first task of a switch, and there is none; give switches, too, or steps instead"
            );
        }
        if has_switches && self.ways.iter().all(|way| way == "scratch") {
            bail!(
                Settings,
                "switches: second tasks would be learned from scratch alone, without a comparison; give methods, \
                 too (--methods layer)"
            );
        }
        let has_maps = self.settings.map_examples.is_some() || self.settings.map_steps.is_some();
        if has_switches && self.tasks.is_empty() && has_maps {
            bail!(
                Settings,
                "map-examples, map-steps: maps are kept of tasks that are learned alone, and there is none; give tasks, too"
            );
        }
        if self.python.is_some() && localization_of(self).is_none() {
            bail!(
                Settings,
                "python: it is for localization, which is not a task of the study; give --tasks localization, or no --python"
            );
        }
        Ok(())
    }

    /// Limits the number of runs. Bases are counted once per switch, even if several switches share one.
    pub fn check_size(&self) -> Result<()> {
        let n_of_switches = self.switches.len().saturating_mul(self.ways.len() + 1);
        let n_learned = self.tasks.len().saturating_add(n_of_switches);
        let axes = [self.modules.len(), self.presets.len(), self.seeds.len(), n_learned];
        let n = axes.into_iter().chain(self.vary.values().map(Vec::len)).fold(1, usize::saturating_mul);
        if n > MAX_RUNS {
            bail!(Settings, "it has up to {n} runs, more than {MAX_RUNS}; divide it into several studies");
        }
        Ok(())
    }

    /// Settings for one task are only possible if the task is learned from scratch, because the two tasks of a switch
    /// share images and settings.
    fn check_settings_of(&self) -> Result<()> {
        let mut alone = Vec::new();
        for word in &self.tasks {
            alone.push(parse_task_arg(word)?.id().to_owned());
        }
        for task in self.settings_of.keys() {
            if !alone.contains(task) {
                bail!(
                    Settings,
                    "settings-of.{task}: no task with this id is learned alone; there are {}",
                    alone.join(", ")
                );
            }
        }
        for word in &self.switches {
            let pair = pair_of(word)?;
            for task in [pair.base.id(), pair.second.id()] {
                if self.settings_of.contains_key(task) {
                    bail!(
                        Settings,
                        "settings-of.{task}: tasks of a switch share their settings; use a separate study"
                    );
                }
            }
        }
        Ok(())
    }

    /// The union of the axes of both studies.
    pub fn merged(&self, there: &Self) -> Self {
        let mut merged = self.clone();
        let axes = [
            (&mut merged.modules, &there.modules),
            (&mut merged.tasks, &there.tasks),
            (&mut merged.switches, &there.switches),
            (&mut merged.ways, &there.ways),
        ];
        for (axis, others) in axes {
            let more: Vec<String> = others.iter().filter(|other| !axis.contains(other)).cloned().collect();
            axis.extend(more);
        }
        merged.seeds.extend(&there.seeds);
        merged.seeds.sort_unstable();
        merged.seeds.dedup();
        merged.presets =
            Preset::all().filter(|one| self.presets.contains(one) || there.presets.contains(one)).collect();
        merged.python = self.python.clone().or_else(|| there.python.clone());
        merged
    }

    /// The settings of the runs of a task. Another source of images has its own classes and templates.
    pub fn settings_for(&self, task: &str) -> RawConfig {
        let of_task = self.settings_of.get(task).cloned().unwrap_or_default();
        let mut common = self.settings.clone();
        if of_task.data.is_some() {
            (common.images.classes, common.images.templates) = (None, Vec::new());
        }
        of_task.over(common)
    }

    /// The first field that differs and that must be equal if the studies are merged.
    pub fn difference_of_settings(&self, there: &Self) -> Option<&'static str> {
        [
            ("name", self.name != there.name),
            ("scale", self.scale != there.scale),
            ("steps", self.steps != there.steps),
            ("base-steps", self.base_steps != there.base_steps),
            ("keep-weights", self.keep_weights != there.keep_weights),
            ("vary", self.vary != there.vary),
            ("rates", self.rates != there.rates),
            ("settings", self.settings != there.settings),
            ("settings-of", self.settings_of != there.settings_of),
        ]
        .into_iter()
        .find_map(|(field, differs)| differs.then_some(field))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::MAX_TRIALS;
    use crate::study::cell::cells_of;
    use crate::study::run_name::is_plain;

    fn parse(text: &str) -> Result<StudySpec> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("mine.toml");
        std::fs::write(&path, text)?;
        StudySpec::read(&path)
    }

    const RICH: &str = "name = \"mine\"\ntitle = \"Why?\"\nscale = \"smoke\"\nseeds = [3, 1]\npresets = [\"default\", \"paper\"]\n\
        modules = [\"none-*\", \"ems\"]\ntasks = [\"sr-*\", \"localization\"]\nswitches = [\"1\", \"sr-2way--sr-4way-quadrant\"]\n\
        ways = [\"layer\", \"layer-mu-0.01-0.02-bias-0.1-1\"]\nsteps = 100\nbase-steps = 50\nkeep-weights = true\n\
        [settings]\ncandidates = 64\ndropout = 0.2\n[settings-of.localization]\ndata = \"gallery\"\n\
        [vary]\nunits = [[8], [16, 8]]\nbatch = [4, 8]\n";

    proptest::proptest! {
        /// Any text is either a valid study or refused with an error.
        #[test]
        fn any_text_is_read_or_refused(text in "(\\PC|\n){0,200}") {
            let _ = parse(&text);
        }

        /// The same for a valid file in which pieces are removed, duplicated or moved.
        #[test]
        fn any_edit_is_read_or_refused(
            edits in proptest::collection::vec((0_usize..600, 0_usize..40, 0_usize..600, "\\PC{0,3}"), 1..4),
        ) {
            let mut letters: Vec<char> = RICH.chars().collect();
            for (from, len, to, more) in edits {
                let from = from % (letters.len() + 1);
                let piece: Vec<char> = letters[from..letters.len().min(from + len)].to_vec();
                if to % 2 == 0 {
                    letters.drain(from..from + piece.len());
                }
                let to = to % (letters.len() + 1);
                letters.splice(to..to, piece.into_iter().chain(more.chars()));
            }
            // A study that is accepted has runs with distinct folder names.
            if let Ok(spec) = parse(&letters.into_iter().collect::<String>())
                && let Ok(cells) = cells_of(&spec)
            {
                for cell in cells {
                    proptest::prop_assert!(cell.name.len() < 200 && cell.name.chars().all(is_plain), "{}", cell.name);
                    proptest::prop_assert!(cell.cost.is_finite());
                }
            }
        }
    }

    #[test]
    fn too_many_variations_are_refused_before_they_are_made() {
        let key = |key: &str| format!("{key} = {:?}\n", (1..=100).collect::<Vec<_>>());
        let all: String =
            ["batch", "candidates", "targets", "k-b", "k-f", "depth", "placements"].map(key).concat();
        let error = parse(&format!("tasks = [\"sr-*\"]\n[vary]\n{all}")).unwrap_err();
        assert!(error.text().contains("vary: it has more than 10000 combinations"), "{}", error.text());
    }

    #[test]
    fn more_runs_than_anyone_wants_are_refused() {
        let error = parse("tasks = [\"all\"]\nmodules = [\"all\"]\nseeds = 1000").unwrap_err();
        assert!(error.text().contains("it has up to 288000 runs, more than 100000"), "{}", error.text());
    }

    #[test]
    fn the_largest_numbers_have_a_cost_and_larger_ones_are_refused() {
        let cells = |steps: u64, trials: u64| {
            let settings = format!("[settings]\nevaluation-trials = {trials}\n");
            parse(&format!("tasks = [\"sr-2way\"]\nsteps = {steps}\n{settings}"))
                .and_then(|spec| cells_of(&spec))
        };
        assert!(cells(MAX_STEPS, MAX_TRIALS).is_ok_and(|cells| cells[0].cost.is_finite()));
        assert!(cells(MAX_STEPS + 1, 1).is_err_and(|error| error.text().contains("steps: ")));
        assert!(cells(1, MAX_TRIALS + 1).is_err_and(|error| error.text().contains("evaluation-trials: ")));
    }

    #[test]
    fn a_study_with_something_of_everything_is_one() {
        let spec = parse(RICH).unwrap();
        assert_eq!(parse(&spec.to_toml().unwrap()).unwrap(), spec);
        assert_eq!(spec.said_about_agents().unwrap(), ["candidates = 64", "dropout = 0.2"]);
    }

    #[test]
    fn a_small_file_is_a_whole_study() {
        let spec =
            parse("tasks = [\"sr-*\"]\nseeds = 2\n[vary]\nunits = [[8], [16]]\nbatch = [4, 8]\n").unwrap();
        assert_eq!((spec.name.as_str(), spec.seeds.as_slice(), spec.tasks.len()), ("mine", &[1, 2][..], 3));
        let labels: Vec<String> = spec.variations().unwrap().into_iter().map(|(label, _)| label).collect();
        assert_eq!(labels, ["batch=4,units=8", "batch=4,units=16", "batch=8,units=8", "batch=8,units=16"]);
        assert_eq!(parse(&spec.to_toml().unwrap()).unwrap(), spec);
    }

    #[test]
    fn narrower_words_forget_nothing() {
        let wide = parse("tasks = [\"sr-*\"]\nseeds = 3\nmodules = [\"ems\", \"no-symm\"]").unwrap();
        let narrow =
            parse("tasks = [\"sr-2way\", \"localization\"]\nseeds = [5]\npresets = [\"paper\"]").unwrap();
        let merged = narrow.merged(&wide);
        assert_eq!(merged.seeds, [1, 2, 3, 5]);
        assert_eq!((merged.tasks.len(), merged.modules.len(), merged.presets.len()), (4, 2, 2));
    }

    #[test]
    fn what_would_have_no_effect_is_told() {
        #[track_caller]
        fn check(text: &str, message: Option<&str>) {
            let told = parse(text).unwrap().check_effects().map_err(|error| error.to_string());
            match message {
                Some(message) => {
                    assert!(told.clone().is_err_and(|told| told.starts_with(message)), "{told:?}")
                }
                None => assert_eq!(told, Ok(())),
            }
        }
        check("tasks = [\"sr-2way\"]\nways = [\"layer\"]", Some("methods: "));
        check("tasks = [\"sr-2way\"]\nbase-steps = 100", Some("base-steps: "));
        check("tasks = [\"sr-2way\"]\nswitches = [\"1\"]", Some("switches: "));
        check("switches = [\"1\"]\nmethods = [\"scratch\"]", Some("switches: "));
        check("tasks = [\"sr-2way\"]\npython = \"python3\"", Some("python: "));
        check("switches = [\"1\"]\nways = [\"unit\"]\n[settings]\nmap-examples = 2", Some("map-examples"));
        check("tasks = [\"localization\"]\npython = \"python3\"", None);
        check("switches = [\"1\"]\nways = [\"unit\"]\nbase-steps = 100", None);
    }

    #[test]
    fn images_from_elsewhere_have_their_own_classes() {
        let spec = parse(
            "tasks = [\"sr-2way\", \"localization\"]\n[settings]\nbatch = 4\n[settings.images]\nclasses = [\"a\", \"b\"]\n\
             [settings-of.localization]\ndata = \"gallery\"\n",
        )
        .unwrap();
        let [plain, other] = ["sr-2way", "localization"].map(|task| spec.settings_for(task));
        assert_eq!((plain.images.classes.is_some(), plain.batch), (true, Some(4)));
        assert_eq!(
            (other.images.classes, other.batch, other.data.as_deref()),
            (None, Some(4), Some("gallery"))
        );
    }

    #[test]
    fn what_is_no_study_is_answered_with_its_field() {
        #[track_caller]
        fn check(text: &str, message: &str) {
            let error = parse(text).unwrap_err().text();
            assert!(error.contains(message) && error.contains("mine.toml"), "{error}");
        }
        check("", "there is nothing to learn");
        check("tasks = [\"sr-2wya\"]", "sr-2way");
        check("tasks = [\"sr-2way\"]\nseeds = []", "seeds: there are none");
        check("tasks = [\"sr-2way\"]\nseeds = \"x\"", "a number of seeds");
        check("tasks = [\"sr-2way\"]\nsteps = 0", "0 steps");
        check("tasks = [\"sr-2way\"]\n[settings]\nmodule = \"ems\"", "settings.module");
        check("tasks = [\"sr-2way\"]\n[vary]\nbatsch = [1]", "batsch");
        check("tasks = [\"sr-2way\"]\n[vary]\nbatch = []", "vary.batch");
        check("switches = [\"3\"]\nways = [\"voting\"]", "there is no method `voting`");
        check("tasks = [\"sr-2way\"]\ntask = 3", "task");
        check("tasks = [\"sr-2way\"]\n[vary]\nseed = [1, 2]", "vary.seed: in a study");
        check("tasks = [\"sr-2way\"]\n[settings-of.sr-3way]\nbatch = 4", "settings-of.sr-3way");
        check("name = \"../x\"\ntasks = [\"sr-2way\"]", "name:");
    }
}
