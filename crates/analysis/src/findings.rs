//! The analysis of all runs of a study, preset by preset.

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

/// The analysis of a study's runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Findings {
    pub presets: Vec<PresetFindings>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PresetFindings {
    pub preset: String,
    pub n_runs: usize,
    pub left_out: Vec<LeftOut>,
    /// Modules trained from scratch on single tasks, at the preset's learning rates.
    pub modules: ModuleFindings,
    pub switching: Vec<SwitchFindings>,
    /// Modules trained from scratch on single tasks, at all learning rates.
    pub learning_rates: Vec<RateFindings>,
    pub localization: LocalizationFindings,
    /// Tasks whose runs recorded the share of touches on objects.
    pub scenes: Vec<SceneFindings>,
    pub verdicts: Vec<Verdict>,
}

/// Analyses runs. Every preset is compared with all baselines. The result is bit-identical for any order of the
/// records.
pub fn findings(records: &[RunRecord], baselines: &[Baseline]) -> Findings {
    let mut bands = Bands::default();
    let presets = read(records).into_iter();
    let presets = presets.map(|(preset, there)| of_preset(preset, there, baselines, &mut bands));
    Findings { presets: presets.collect() }
}

impl PresetFindings {
    /// Everything that is excluded from any table, without duplicates.
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
