//! The touch scales of a study, as recorded in its runs.

use crate::config::{Choice, RawConfig, agent_settings};
use crate::study::cell::RunFacts;
use crate::study::records::CompleteRun;
use std::collections::{BTreeMap, BTreeSet};
use touchstream_agents::TouchScale;
use touchstream_analysis::RunKind;
use touchstream_env::task::language::parse_task;
use touchstream_env::task::{Paradigm, Task, find_task};

/// The touch scales of the runs of a study.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CountedTouches {
    cases: BTreeSet<Case>,
}

/// Runs that differ in module and seed only.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Case {
    preset: &'static str,
    /// Not stimulus-response, which has another default and is listed first.
    is_other: bool,
    /// Task or switch, and the settings that vary.
    what: String,
    /// The touch coordinate at the screen edge.
    edge: String,
    /// Whether this is the default of the program.
    is_default: bool,
}

/// The touch scales of a study in a comparable form. Studies with different scales are evaluated separately.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Counting {
    Default,
    /// One scale for all tasks.
    Everywhere(String),
    /// A scale for each preset and task.
    ByTask(BTreeSet<(String, String, String)>),
}

impl Counting {
    pub fn word(&self) -> String {
        match self {
            Self::Default => "default".into(),
            Self::Everywhere(edge) => format!("{} everywhere", told(edge)),
            Self::ByTask(_) => "by task".into(),
        }
    }
}

pub fn scale_of(run: &CompleteRun) -> TouchScale {
    run.identity.plan.agent().touch_scale
}

/// Runs with equal text are compared with each other, so they must have the same touch scale.
pub fn compared_with(facts: &RunFacts) -> String {
    let what = match &facts.kind {
        RunKind::Second { switch, .. } => switch,
        RunKind::SingleTask | RunKind::Base => &facts.task,
    };
    match facts.varied.as_str() {
        "" => what.clone(),
        varied => format!("{what} ({varied})"),
    }
}

impl CountedTouches {
    /// Bases are ignored: they have the scale of the runs that start from them.
    pub fn of(runs: &[CompleteRun]) -> Self {
        let by_name: BTreeMap<&str, &CompleteRun> = runs.iter().map(|run| (run.name.as_str(), run)).collect();
        let case = |run: &CompleteRun| {
            let tasks = tasks_of(run, &by_name);
            let responds = |task: &Task| matches!(task.paradigm(), Paradigm::StimulusResponse { .. });
            Case {
                preset: run.facts.preset.name(),
                is_other: !tasks.iter().all(responds),
                what: compared_with(&run.facts),
                edge: scale_of(run).0.to_string(),
                is_default: default_scale(&run.facts, &tasks) == Some(scale_of(run)),
            }
        };
        let compared = runs.iter().filter(|run| run.facts.kind != RunKind::Base);
        Self { cases: compared.map(case).collect() }
    }

    /// A description, for each preset with runs.
    pub fn text(&self) -> String {
        let mut by_preset: BTreeMap<&str, Vec<&Case>> = BTreeMap::new();
        for case in &self.cases {
            by_preset.entry(case.preset).or_default().push(case);
        }
        let texts: Vec<(&str, String)> =
            by_preset.into_iter().map(|(preset, cases)| (preset, text_of(&cases))).collect();
        match &texts[..] {
            [] => "unknown".into(),
            [("default", text)] => text.clone(),
            [(_, text), rest @ ..] if !rest.is_empty() && rest.iter().all(|(_, other)| other == text) => {
                text.clone()
            }
            texts => {
                let told: Vec<String> =
                    texts.iter().map(|(preset, text)| format!("preset {preset}: {text}")).collect();
                told.join("; ")
            }
        }
    }

    fn is_default(&self) -> bool {
        self.cases.iter().all(|case| case.is_default)
    }

    fn fits(&self, counting: &Counting) -> bool {
        match counting {
            Counting::Default => self.is_default(),
            Counting::Everywhere(edge) => self.cases.iter().all(|case| case.edge == *edge),
            Counting::ByTask(_) => self.own_counting() == *counting,
        }
    }

    /// The simplest description that fits.
    fn own_counting(&self) -> Counting {
        let edges: BTreeSet<&String> = self.cases.iter().map(|case| &case.edge).collect();
        match (self.is_default(), edges.first()) {
            (true, _) => Counting::Default,
            (false, Some(&edge)) if edges.len() == 1 => Counting::Everywhere(edge.clone()),
            _ => {
                let scale = |case: &Case| (case.preset.into(), case.what.clone(), case.edge.clone());
                Counting::ByTask(self.cases.iter().map(scale).collect())
            }
        }
    }

    /// Whether both the default and a single scale fit: in a study of stimulus-response alone they are the same.
    fn is_open(&self) -> bool {
        let one_edge = |edge: &String| self.fits(&Counting::Everywhere(edge.clone()));
        self.is_default() && self.cases.first().is_none_or(|case| one_edge(&case.edge))
    }
}

/// The scaling of each study. If a study fits two descriptions, the one that another study has is used.
pub fn countings_of(studies: &[&CountedTouches]) -> Vec<Counting> {
    let told: BTreeSet<Counting> =
        studies.iter().filter(|study| !study.is_open()).map(|study| study.own_counting()).collect();
    let counting = |study: &&CountedTouches| match study.is_open() {
        // `Default` is the smallest value, so it is preferred.
        true => told.iter().find(|told| study.fits(told)).cloned().unwrap_or(Counting::Default),
        false => study.own_counting(),
    };
    studies.iter().map(counting).collect()
}

/// The tasks that a run and its base learned.
fn tasks_of(run: &CompleteRun, by_name: &BTreeMap<&str, &CompleteRun>) -> Vec<Task> {
    let written = |run: &CompleteRun| parse_task(&run.identity.plan.lessons[0].task).ok();
    let mut tasks = vec![written(run)];
    if let RunKind::Second { base, base_task, .. } = &run.facts.kind {
        let base = by_name.get(base.as_str()).and_then(|base| written(base));
        tasks.push(base.or_else(|| find_task(base_task).ok()));
    }
    tasks.into_iter().flatten().collect()
}

/// The default touch scale of a run.
fn default_scale(facts: &RunFacts, tasks: &[Task]) -> Option<TouchScale> {
    let of_task = |task: &Task| {
        let usual = agent_settings(&RawConfig::default(), &facts.module, task, facts.preset);
        usual.ok().map(|usual| usual.touch_scale)
    };
    let scales: Option<Vec<TouchScale>> = tasks.iter().map(of_task).collect();
    scales?.into_iter().reduce(TouchScale::finer)
}

fn told(edge: &str) -> &str {
    if edge.parse() == Ok(TouchScale::PIXELS.0) { "pixels" } else { edge }
}

/// A description of the cases of one preset.
fn text_of(cases: &[&Case]) -> String {
    let edges_of = |is_other: bool| -> BTreeSet<&str> {
        cases.iter().filter(|case| case.is_other == is_other).map(|case| case.edge.as_str()).collect()
    };
    let all: BTreeSet<&str> = cases.iter().map(|case| case.edge.as_str()).collect();
    let [response, other] = [false, true].map(edges_of);
    let text = match (all.first(), response.first(), other.first()) {
        (Some(edge), ..) if all.len() == 1 => format!("{} everywhere", told(edge)),
        (_, Some(one), Some(other_one)) if response.len() == 1 && other.len() == 1 => {
            format!("{} for stimulus-response, {} elsewhere", told(one), told(other_one))
        }
        _ => {
            let of_edge = |edge: &&str| {
                let whose: Vec<&str> =
                    cases.iter().filter(|case| case.edge == *edge).map(|case| case.what.as_str()).collect();
                format!("{} for {}", told(edge), whose.join(", "))
            };
            all.iter().map(of_edge).collect::<Vec<_>>().join("; ")
        }
    };
    let is_default = cases.iter().all(|case| case.is_default);
    if is_default { format!("{text} (default)") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(preset: &'static str, what: &str, edge: &str, is_default: bool) -> Case {
        let is_other = !what.starts_with("sr");
        Case { preset, is_other, what: what.into(), edge: edge.into(), is_default }
    }

    fn counted(cases: &[Case]) -> CountedTouches {
        CountedTouches { cases: cases.iter().cloned().collect() }
    }

    fn all_at_one() -> CountedTouches {
        counted(&[case("default", "sr-2way", "1", true), case("default", "localization", "1", false)])
    }

    fn as_now() -> CountedTouches {
        counted(&[case("default", "sr-2way", "1", true), case("default", "localization", "24", true)])
    }

    fn response_alone() -> CountedTouches {
        counted(&[case("default", "sr-2way", "1", true)])
    }

    #[test]
    fn what_runs_tell_is_told_of_every_preset() {
        assert_eq!(all_at_one().text(), "1 everywhere");
        assert_eq!(as_now().text(), "1 for stimulus-response, 24 elsewhere (default)");
        assert_eq!(response_alone().text(), "1 everywhere (default)");
        assert_eq!(counted(&[]).text(), "unknown");
        let mut both = as_now();
        both.cases.insert(case("paper", "sr-2way", "111.5", true));
        assert_eq!(
            both.text(),
            "preset default: 1 for stimulus-response, 24 elsewhere (default); preset paper: pixels everywhere (default)"
        );
        let mut both = all_at_one();
        both.cases.insert(case("paper", "sr-2way", "1", false));
        assert_eq!(both.text(), "1 everywhere");
        let paper = counted(&[case("paper", "sr-2way", "1", false)]);
        assert_eq!(paper.text(), "preset paper: 1 everywhere");
        let odd = [case("default", "mts-a", "24", true), case("default", "mts-b", "6", false)];
        assert_eq!(counted(&odd).text(), "24 for mts-a; 6 for mts-b");
    }

    #[test]
    fn studies_that_count_otherwise_are_apart() {
        let one = Counting::Everywhere("1".into());
        let [old, now, open] = [all_at_one(), as_now(), response_alone()];
        assert_eq!(countings_of(&[&old, &now]), [one.clone(), Counting::Default]);
        // An ambiguous study takes the description of the others.
        assert_eq!(countings_of(&[&open]), [Counting::Default]);
        assert_eq!(countings_of(&[&open, &old]), [one.clone(), one.clone()]);
        assert_eq!(countings_of(&[&open, &now]), [Counting::Default, Counting::Default]);
        assert_eq!(countings_of(&[&old, &open, &now]), [one, Counting::Default, Counting::Default]);
        let odd =
            |edge| counted(&[case("default", "mts-a", "24", true), case("default", "mts-b", edge, false)]);
        let [six, again, seven] = [odd("6"), odd("6"), odd("7")];
        let odd = countings_of(&[&six, &again, &seven]);
        assert!(odd[0] == odd[1] && odd[0] != odd[2], "{odd:?}");
    }
}
