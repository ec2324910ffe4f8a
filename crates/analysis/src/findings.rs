//! Everything that runs say, preset by preset.

use crate::band::Bands;
use crate::learning_rates::{RateFindings, rate_findings};
use crate::left_out::LeftOut;
use crate::localization::{LocalizationFindings, localization_findings};
use crate::modules::{Compared, Comparison, ModuleFindings, task_findings};
use crate::paper::MAIN_MODULES;
use crate::record::{Baseline, RunKind, RunRecord};
use crate::run::{PresetRuns, Run, read};
use crate::scenes::{SceneFindings, scene_findings};
use crate::switching::{SwitchFindings, switch_findings};
use crate::verdicts::{Study, Verdict, verdicts};
use serde::Serialize;
use std::collections::BTreeSet;

/// What the runs of a study say.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Findings {
    /// By name.
    pub presets: Vec<PresetFindings>,
}

/// What the runs of one preset say.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PresetFindings {
    /// Its name.
    pub preset: String,
    /// Runs that count.
    pub n_runs: usize,
    /// Runs that do not.
    pub left_out: Vec<LeftOut>,
    /// Tasks from nothing, at the paper's learning rates.
    pub modules: ModuleFindings,
    /// Second tasks.
    pub switching: Vec<SwitchFindings>,
    /// Tasks from nothing, at other rates too.
    pub learning_rates: Vec<RateFindings>,
    /// The task `localization`.
    pub localization: LocalizationFindings,
    /// Tasks whose runs tell touches on objects.
    pub scenes: Vec<SceneFindings>,
    /// The paper's claims, one by one.
    pub verdicts: Vec<Verdict>,
}

/// Baselines stand beside every preset. The order of records makes no difference, to the bit.
pub fn findings(records: &[RunRecord], baselines: &[Baseline]) -> Findings {
    let mut bands = Bands::default();
    let presets = read(records).into_iter();
    let presets = presets.map(|(preset, there)| of_preset(preset, there, baselines, &mut bands));
    Findings { presets: presets.collect() }
}

impl PresetFindings {
    /// Whatever counts nowhere or not everywhere, in all tables, each once.
    pub fn all_left_out(&self) -> Vec<LeftOut> {
        let mut all: BTreeSet<&LeftOut> = self.left_out.iter().collect();
        all.extend(self.modules.tasks.iter().flat_map(|task| &task.left_out));
        all.extend(&self.modules.all.left_out);
        all.extend(self.switching.iter().flat_map(|switch| &switch.left_out));
        all.extend(self.learning_rates.iter().flat_map(|rates| &rates.left_out));
        all.extend(&self.localization.left_out);
        let main = self.modules.main.left_out.iter().filter(|one| !all.contains(one));
        let main = main.map(|one| LeftOut::new(format!("{}, of the seven main modules", one.what), &one.why));
        all.iter().copied().cloned().chain(main).collect()
    }
}

fn of_preset(preset: &str, there: PresetRuns, baselines: &[Baseline], bands: &mut Bands) -> PresetFindings {
    let PresetRuns { runs, failed, left_out } = there;
    let runs = &runs[..];
    let is_alone = |run: &&Run| run.record.kind == RunKind::SingleTask && run.record.learning_rate.is_none();
    let alone: Vec<&Run> = runs.iter().filter(is_alone).collect();
    let is_main = |run: &&&Run| MAIN_MODULES.iter().any(|(module, _)| *module == run.record.module);
    let all = Compared::new(&alone);
    let main = Compared::new(&alone.iter().filter(is_main).copied().collect::<Vec<_>>());
    let modules = ModuleFindings {
        tasks: task_findings(&alone, &all, bands),
        all: Comparison::of(&all),
        main: Comparison::of(&main),
    };
    let switching = switch_findings(runs, bands);
    let localization = localization_findings(&alone, baselines);
    let scenes = scene_findings(&alone, bands);
    let study = Study {
        modules: &modules,
        main: &main,
        switches: &switching,
        localization: &localization,
        scenes: &scenes,
    };
    let verdicts = verdicts(preset, &study);
    PresetFindings {
        preset: preset.to_owned(),
        n_runs: runs.len(),
        left_out,
        modules,
        switching,
        learning_rates: rate_findings(runs, &failed),
        localization,
        scenes,
        verdicts,
    }
}
