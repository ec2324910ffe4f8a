//! What a switching study came to: a table, files, a page.

use crate::output::write_file;
use crate::switch::study::{OpenedStudy, Outcome, Study, Votes};
use crate::text_table::aligned;
use anyhow::Result;
use serde::Serialize;
use std::path::PathBuf;
use touchstream_env::stimuli::Split;
use touchstream_env::trial::N_EXACT_SCREENS;
use touchstream_lab::curve::{CurveRow, LessonVotes, voter_name};
use touchstream_lab::switching::{Interval, area, gains, interval};
use touchstream_mind::composite::{StageVotes, Voter, voter_shares};
use touchstream_report::switch_page::{Curve, SwitchSection, VoteSeries, VoterShares, switch_page};

/// All gains of a study.
#[derive(Serialize)]
pub struct SwitchReport {
    pub gains: Vec<GainRow>,
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
    pub fn new(study: &Study, outcomes: &[Outcome]) -> Result<Self> {
        let mut rows = Vec::new();
        for (pair_idx, pair) in study.pairs.iter().enumerate() {
            for variant in 0..study.n_variants() {
                let of = |variant: usize| {
                    outcomes
                        .iter()
                        .filter(move |outcome| outcome.pair == pair_idx && outcome.variant == variant)
                };
                let areas: Vec<f64> = of(variant).map(|outcome| area(&outcome.rows)).collect();
                let both = of(variant).zip(of(0)).filter(|_| variant > 0);
                let gains: Vec<_> =
                    both.filter_map(|(one, scratch)| gains(&one.rows, &scratch.rows)).collect();
                let rgains: Vec<f64> = gains.iter().map(|gains| gains.relative).collect();
                let tgains: Vec<f64> = gains.iter().map(|gains| gains.transfer).collect();
                let Some(area) = interval(&areas) else { continue };
                let (rgain, tgain) = (interval(&rgains), interval(&tgains));
                let half = |interval: Option<Interval>| interval.and_then(|interval| interval.half);
                rows.push(GainRow {
                    switch: pair.name.clone(),
                    base: pair.base.id().to_owned(),
                    second: pair.second.id().to_owned(),
                    learned_by: study.variant_name(variant).to_owned(),
                    n_seeds: area.n,
                    horizon: study.horizon(pair)?,
                    area: area.mean,
                    area_half_interval: area.half,
                    rgain: rgain.map(|interval| interval.mean),
                    rgain_half_interval: half(rgain),
                    tgain: tgain.map(|interval| interval.mean),
                    tgain_half_interval: half(tgain),
                    rgains,
                    tgains,
                });
            }
        }
        Ok(Self { gains: rows })
    }

    /// For the terminal.
    pub fn text(&self) -> String {
        let head = ["switch", "second task", "learned by", "area", "RGain", "TGain/1000", "n", "steps"];
        let mut rows = vec![head.map(String::from)];
        for row in &self.gains {
            rows.push([
                row.switch.clone(),
                row.second.clone(),
                row.learned_by.clone(),
                with_half(Some(row.area), row.area_half_interval, false),
                with_half(row.rgain, row.rgain_half_interval, true),
                with_half(row.tgain, row.tgain_half_interval, true),
                row.n_seeds.to_string(),
                row.horizon.to_string(),
            ]);
        }
        format!("{}\n95 % intervals over seeds (Student's)", aligned(&rows))
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

fn with_half(mean: Option<f64>, half: Option<f64>, is_signed: bool) -> String {
    let Some(mean) = mean else { return String::new() };
    let mean = if is_signed { format!("{mean:+.3}") } else { format!("{mean:.3}") };
    half.map_or_else(|| mean.clone(), |half| format!("{mean} ± {half:.3}"))
}

/// Writes gains and page; gives where.
pub fn write_files(
    study: &Study,
    opened: &OpenedStudy,
    outcomes: &[Outcome],
    report: &SwitchReport,
) -> Result<Vec<PathBuf>> {
    let (csv, json, page) =
        (study.folder.join("gains.csv"), study.folder.join("gains.json"), study.folder.join("page.html"));
    write_file(&csv, report.csv().as_bytes())?;
    write_file(&json, serde_json::to_string_pretty(report)?.as_bytes())?;
    write_file(&page, html(study, opened, outcomes, report)?.as_bytes())?;
    Ok(vec![csv, json, page])
}

fn html(study: &Study, opened: &OpenedStudy, outcomes: &[Outcome], report: &SwitchReport) -> Result<String> {
    let sections = (0..study.pairs.len()).map(|pair| section(study, opened, outcomes, report, pair));
    let module = study.words.module.as_deref().unwrap_or("ems");
    let facts = [
        ("module", module.to_owned()),
        ("seeds", study.seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")),
        ("images", format!("{} {}", opened.data.source, opened.data.content_hash)),
        ("encoder", opened.encoder_name.clone()),
        ("touchstream", env!("CARGO_PKG_VERSION").to_owned()),
    ];
    let facts = facts.map(|(name, value)| (name.to_owned(), value));
    let title = format!("Switching tasks with {module}");
    Ok(switch_page(&title, &facts, &sections.collect::<Result<Vec<_>>>()?))
}

fn section(
    study: &Study,
    opened: &OpenedStudy,
    outcomes: &[Outcome],
    report: &SwitchReport,
    pair_idx: usize,
) -> Result<SwitchSection> {
    let pair = &study.pairs[pair_idx];
    let (base, second) = (pair.base.id(), pair.second.id());
    let validation = opened.stream(&pair.second, Split::Validation, 0)?;
    let gains = report.gains.iter().filter(|row| row.switch == pair.name).map(|row| {
        [
            row.learned_by.clone(),
            with_half(Some(row.area), row.area_half_interval, false),
            with_half(row.rgain, row.rgain_half_interval, true),
            with_half(row.tgain, row.tgain_half_interval, true),
            row.n_seeds.to_string(),
        ]
    });
    let mut section = SwitchSection {
        title: format!("{}: {base}, then {second}", pair.name),
        chance: validation.bound_task().exact_rewards(N_EXACT_SCREENS).chance,
        gains: gains.collect(),
        ..SwitchSection::default()
    };
    for variant in 0..study.n_variants() {
        let of_seeds: Vec<&Outcome> = outcomes
            .iter()
            .filter(|outcome| outcome.pair == pair_idx && outcome.variant == variant)
            .collect();
        let name = study.variant_name(variant).to_owned();
        let rewards: Vec<Vec<(u64, f64)>> = of_seeds.iter().map(|outcome| rewards(&outcome.rows)).collect();
        section.curves.push(Curve { name: name.clone(), points: means(&rewards) });
        let votes: Vec<&Votes> = of_seeds.iter().filter_map(|outcome| outcome.votes.as_ref()).collect();
        if let Some(first) = votes.first() {
            section.votes.push(vote_series(&format!("{name}, first seed"), &first.of_lesson()));
            let reuse: Vec<Vec<(u64, f64)>> = votes.iter().map(|votes| reuse(votes)).collect();
            section.reuse.push(Curve { name, points: means(&reuse) });
        }
    }
    Ok(section)
}

fn rewards(rows: &[CurveRow]) -> Vec<(u64, f64)> {
    rows.iter().map(|row| (row.step, row.validation.reward)).collect()
}

fn reuse(votes: &Votes) -> Vec<(u64, f64)> {
    votes.rows.iter().map(|row| row.step).zip(votes.of_lesson().reuse()).collect()
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
        let voter = |voter: usize| VoterShares {
            name: voter_name(stage.voter(voter)),
            class: match stage.voter(voter) {
                Voter::Old(_) => "first",
                Voter::Transformed(_) => "third",
                Voter::New => "second",
            },
            shares: at_steps.iter().map(|stages| stages[idx][voter]).collect(),
        };
        (votes.structure.stages()[idx].name.clone(), (0..stage.n_voters()).map(voter).collect())
    };
    VoteSeries { name: name.to_owned(), steps, stages: votes.votes.iter().enumerate().map(stage).collect() }
}
