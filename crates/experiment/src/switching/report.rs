//! What a switching study came to: a table, files, a page.

use crate::output::write_file;
use crate::setup::RunSetup;

use crate::curve::{CurveRow, LessonVotes, voter_name};
use crate::error::{Result, bail};
use crate::study::{CompleteRun, Pair, Records, StudyFolder, StudySpec, cells_of, pair_of};
use crate::study::{class_of, read_votes};
use serde::Serialize;
use std::path::PathBuf;
use touchstream_analysis::statistics::student_half_width;
use touchstream_analysis::{RunKind, SwitchFindings, SwitchMethod, WayFindings, findings};
use touchstream_modules::composite::{StageVotes, Voter, voter_shares};
use touchstream_report::switch_page::{Curve, SwitchSection, VoteSeries, VoterShares, switch_page};

/// All gains of a study.
#[derive(Serialize)]
pub struct SwitchReport {
    pub gains: Vec<GainRow>,
    #[serde(skip)]
    runs: Vec<CompleteRun>,
}

/// One way of learning one second task.
#[derive(Serialize)]
pub struct GainRow {
    pub switch: String,
    pub base: String,
    pub second: String,
    pub learned_by: String,
    pub n_seeds: usize,
    /// Steps after the switch; RGain shrinks with them.
    pub horizon: u64,
    pub area: f64,
    pub area_half_interval: Option<f64>,
    pub rgain: Option<f64>,
    pub rgain_half_interval: Option<f64>,
    pub tgain: Option<f64>,
    pub tgain_half_interval: Option<f64>,
    /// One a seed.
    pub rgains: Vec<f64>,
    pub tgains: Vec<f64>,
}

impl SwitchReport {
    /// From the folders of a study's runs.
    pub fn read(folder: &StudyFolder, spec: &StudySpec) -> Result<Self> {
        let names = cells_of(spec)?.into_iter().map(|cell| cell.name).collect();
        let records = Records::read(folder, &names)?;
        let found = findings(&records.run_records(spec), &[]);
        let found: Vec<SwitchFindings> =
            found.presets.into_iter().flat_map(|preset| preset.switching).collect();
        let Records { runs, unreadable, strangers, .. } = records;
        if let Some((name, problem)) = unreadable.iter().chain(&strangers).next() {
            bail!(Folder, "{name}: {problem}");
        }
        if let Some((run, reason)) = runs.iter().find_map(|run| Some((run, run.failure.as_ref()?))) {
            let task = &run.facts.task;
            bail!(Folder, "{task}, seed {}: {reason}", run.facts.seed);
        }
        let mut gains = Vec::new();
        for switch in &spec.switches {
            let pair = pair_of(switch)?;
            for way in &spec.ways {
                gains.extend(gain_row(&found, &pair, way.parse()?));
            }
        }
        Ok(Self { gains, runs })
    }

    fn csv(&self) -> String {
        let mut text = String::from(
            "switch,base,second,learned_by,n_seeds,horizon,area,area_half,rgain,rgain_half,tgain,tgain_half\n",
        );
        for row in &self.gains {
            let number = |number: Option<f64>| number.map_or_else(String::new, |number| number.to_string());
            let cells = [
                row.switch.clone(),
                row.base.clone(),
                row.second.clone(),
                row.learned_by.clone(),
                row.n_seeds.to_string(),
                row.horizon.to_string(),
                row.area.to_string(),
                number(row.area_half_interval),
                number(row.rgain),
                number(row.rgain_half_interval),
                number(row.tgain),
                number(row.tgain_half_interval),
            ];
            text.push_str(&cells.join(","));
            text.push('\n');
        }
        text
    }
}

pub fn with_half(mean: Option<f64>, half: Option<f64>, is_signed: bool) -> String {
    let Some(mean) = mean else { return String::new() };
    let mean = if is_signed { format!("{mean:+.3}") } else { format!("{mean:.3}") };
    half.map_or_else(|| mean.clone(), |half| format!("{mean} ± {half:.3}"))
}

impl SwitchReport {
    /// Writes gains and page; gives where.
    pub fn write_files(&self, folder: &StudyFolder, spec: &StudySpec) -> Result<Vec<PathBuf>> {
        let [csv, json, page] = ["gains.csv", "gains.json", "page.html"].map(|name| folder.path().join(name));
        write_file(&csv, self.csv().as_bytes())?;
        write_file(&json, serde_json::to_string_pretty(self)?.as_bytes())?;
        write_file(&page, self.html(spec)?.as_bytes())?;
        Ok(vec![csv, json, page])
    }

    fn html(&self, spec: &StudySpec) -> Result<String> {
        let sections = spec.switches.iter().map(|switch| self.section(spec, &pair_of(switch)?));
        let first = self.runs.first();
        let hash = |of: fn(&CompleteRun) -> &str| first.map_or("", of).to_owned();
        let setup = RunSetup::new(spec.settings.clone())?;
        let word = |word: &Option<String>| word.clone().unwrap_or_default();
        let facts = [
            ("module", spec.modules.join(", ")),
            ("seeds", spec.seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")),
            ("images", format!("{} {}", word(&setup.config.data), hash(|run| &run.identity.data_hash))),
            (
                "encoder",
                format!("{} {}", word(&setup.config.encoder), hash(|run| &run.identity.encoder_hash)),
            ),
            ("touchstream", env!("CARGO_PKG_VERSION").to_owned()),
        ];
        let facts = facts.map(|(name, value)| (name.to_owned(), value));
        Ok(switch_page(&spec.title, &facts, &sections.collect::<Result<Vec<_>>>()?))
    }

    fn section(&self, spec: &StudySpec, pair: &Pair) -> Result<SwitchSection> {
        let gains = self.gains.iter().filter(|row| row.switch == pair.name).map(|row| {
            [
                row.learned_by.clone(),
                with_half(Some(row.area), row.area_half_interval, false),
                with_half(row.rgain, row.rgain_half_interval, true),
                with_half(row.tgain, row.tgain_half_interval, true),
                row.n_seeds.to_string(),
            ]
        });
        let mut section = SwitchSection {
            title: format!("{}: {}, then {}", pair.name, pair.base.id(), pair.second.id()),
            chance: pair.second.geometric_rewards().map(|exact| exact.chance),
            gains: gains.collect(),
            ..SwitchSection::default()
        };
        for way in &spec.ways {
            let of_seeds: Vec<&CompleteRun> = runs_of(&self.runs, &pair.name, way.parse()?).collect();
            let value = |of: fn(&CurveRow) -> Option<f64>| -> Vec<Vec<(u64, f64)>> {
                let points = |run: &&CompleteRun| {
                    run.rows.iter().filter_map(|row| Some((row.step, of(row)?))).collect()
                };
                of_seeds.iter().map(points).collect()
            };
            let rewards = value(|row| Some(row.validation.reward));
            section.curves.push(Curve { name: way.clone(), points: means(&rewards) });
            let reuse = value(|row| row.reuse);
            if reuse.iter().any(|points| !points.is_empty()) {
                section.reuse.push(Curve { name: way.clone(), points: means(&reuse) });
            }
            if let Some(run) = of_seeds.first() {
                section.votes.extend(read_votes(&run.folder.votes_csv(), &format!("{way}, first seed"))?);
            }
        }
        Ok(section)
    }
}

/// The runs of one way of learning one second task, by seed.
fn runs_of<'a>(
    runs: &'a [CompleteRun],
    name: &'a str,
    of_way: SwitchMethod,
) -> impl Iterator<Item = &'a CompleteRun> {
    runs.iter().filter(move |run| {
        matches!(&run.facts.kind, RunKind::Second { switch, way, .. } if switch == name && *way == of_way)
    })
}

fn gain_row(found: &[SwitchFindings], pair: &Pair, method: SwitchMethod) -> Option<GainRow> {
    let switch = found.iter().find(|switch| switch.switch == pair.name)?;
    let WayFindings { area, r_gain, t_gain, seeds, .. } = switch.ways.iter().find(|way| way.way == method)?;
    let areas: Vec<f64> = seeds.iter().map(|seed| seed.area).collect();
    let rgains: Vec<f64> = seeds.iter().filter_map(|seed| seed.r_gain).collect();
    let tgains: Vec<f64> = seeds.iter().filter_map(|seed| seed.t_gain).collect();
    Some(GainRow {
        switch: pair.name.clone(),
        base: pair.base.id().to_owned(),
        second: pair.second.id().to_owned(),
        learned_by: method.to_string(),
        n_seeds: areas.len(),
        horizon: switch.horizon_steps,
        area: area.value,
        area_half_interval: student_half_width(&areas),
        rgain: r_gain.map(|gain| gain.value),
        rgain_half_interval: student_half_width(&rgains),
        tgain: t_gain.map(|gain| gain.value),
        tgain_half_interval: student_half_width(&tgains),
        rgains,
        tgains,
    })
}

/// The mean over seeds at each step, and its standard error.
fn means(of_seeds: &[Vec<(u64, f64)>]) -> Vec<(f64, f64, f64)> {
    let Some(first) = of_seeds.first() else { return Vec::new() };
    let point = |(idx, &(step, _)): (usize, &(u64, f64))| {
        let values: Vec<f64> =
            of_seeds.iter().filter_map(|seed| seed.get(idx)).map(|point| point.1).collect();
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
        (step as f64, mean, (variance / n).sqrt())
    };
    first.iter().enumerate().map(point).collect()
}

/// Shares of every voter at every stage, to be drawn.
pub fn vote_series(name: &str, votes: &LessonVotes<'_>) -> VoteSeries {
    let steps = votes.rows.iter().map(|row| row.step as f64).collect();
    let at_steps: Vec<Vec<Vec<f64>>> =
        votes.rows.iter().map(|row| voter_shares(&row.shares, votes.votes)).collect();
    let stage = |(idx, stage): (usize, &StageVotes)| {
        let n_old =
            (0..stage.n_voters()).filter(|&voter| matches!(stage.voter(voter), Voter::Old(_))).count();
        let voter = |voter: usize| VoterShares {
            class: class_of(&voter_name(stage.voter(voter)), n_old),
            name: voter_name(stage.voter(voter)),
            shares: at_steps.iter().map(|stages| stages[idx][voter]).collect(),
        };
        (votes.structure.stages()[idx].name.clone(), (0..stage.n_voters()).map(voter).collect())
    };
    VoteSeries { name: name.to_owned(), steps, stages: votes.votes.iter().enumerate().map(stage).collect() }
}
