//! Selects the claims that a study can test.

use crate::study::spec::StudySpec;
use touchstream_analysis::{PresetFindings, Verdict};

/// Verdicts on the claims that a study can test; other verdicts would only state that there are no runs.
pub fn verdicts_of<'a>(spec: &StudySpec, presets: &'a [PresetFindings]) -> Vec<&'a Verdict> {
    let has_task = |start: &str| spec.tasks.iter().any(|task| task.starts_with(start));
    let has_way = |end: &str| spec.ways.iter().any(|way| way.ends_with(end));
    let is_named = |switch: &&String| switch.starts_with("switch-");
    let has_switches = spec.switches.iter().filter(is_named).count() > 1;
    let has_many = spec.modules.len() > 1 && spec.tasks.len() > 1 && spec.vary.is_empty();
    let has_large = spec.modules.iter().any(|module| module == "none-relu-large");
    let is_asked = |id: &str| match id {
        id if id.starts_with("efficiency") || id.starts_with("final") => has_many,
        id if id.starts_with("localization") => has_task("localization") && spec.vary.is_empty(),
        "order-buttons" => has_task("mts") && spec.vary.is_empty(),
        "order-outlines" => has_task("coco"),
        id if id.starts_with("no-switch") => spec.switches.iter().any(|switch| switch == "no-switch"),
        id if id.starts_with("transformations") => has_switches && has_way("-plain"),
        id if id.starts_with("control") => has_switches && has_way("-shuffled"),
        id if id.contains("none-large") || id.contains("faster") => has_switches && has_large,
        id if id.ends_with("unit") || id.contains("unit-above") => has_switches && has_way("unit"),
        id if id.starts_with("voting") => has_switches,
        _ => true,
    };
    presets.iter().flat_map(|preset| &preset.verdicts).filter(|verdict| is_asked(&verdict.claim_id)).collect()
}
