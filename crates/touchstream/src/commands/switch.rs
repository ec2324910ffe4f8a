//! `touchstream switch`: learns a second task after a first one, and from scratch.

use crate::commands::study::{HowArgs, print_spent, this_start, work, write_report_of};
use crate::settings_args::{RunSettings, choice};
use crate::stdio::{print_json, print_line};
use crate::text_table::aligned;
use anyhow::{Result, bail};
use clap::Args;
use std::collections::BTreeMap;
use std::path::PathBuf;
use touchstream_analysis::{Estimate, SwitchFindings};
use touchstream_experiment::config::Choice;
use touchstream_experiment::study::{Scale, StudyFolder, StudySpec, begin, timed};
use touchstream_modules::composite::Voting;

#[derive(Args)]
pub struct SwitchArgs {
    /// Switches of the paper: numbers and ranges such as 1,4,11..15; 0 is the no-switch control
    #[arg(long, value_name = "N,...", conflicts_with_all = ["from", "to"])]
    id: Option<String>,
    /// The first task: id or task file
    #[arg(long, value_name = "TASK", requires = "to")]
    from: Option<String>,
    /// The second task: id or task file
    #[arg(long, value_name = "TASK", requires = "from")]
    to: Option<String>,
    /// Layer or unit voting, or both
    #[arg(
        long = "voting",
        value_parser = choice::<Voting>(),
        value_name = "HOW,...",
        value_delimiter = ',',
        default_value = "layer"
    )]
    votings: Vec<Voting>,
    /// Without transformed copies of the old modules
    #[arg(long)]
    no_transformations: bool,
    /// Also run controls: old module shuffled, fine-tuned, and unchanged
    #[arg(long)]
    controls: bool,
    /// Number of seeds
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: u64,
    /// Steps of the first task [default: 30000, 60000 with four classes, 100000 for match-to-sample]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    base_steps: Option<u64>,
    /// Parallel runs [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// The study's folder; completed runs in it are skipped
    #[arg(long, value_name = "DIR", default_value = "runs/switches")]
    out: PathBuf,
    /// Print the findings as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: RunSettings,
}

impl SwitchArgs {
    fn spec(&self) -> Result<StudySpec> {
        let typed = self.settings.config();
        for (option, is_given) in [
            ("task", typed.task.is_some()),
            ("map-steps", typed.map_steps.is_some()),
            ("map-examples", typed.map_examples.is_some()),
            ("evaluate-every", typed.evaluate_every.is_some()),
        ] {
            if is_given {
                bail!("--{option} is for `touchstream train`; see `touchstream switch --help`");
            }
        }
        let switches = match (&self.id, &self.from, &self.to) {
            (Some(ids), None, None) => ids.split(',').map(String::from).collect(),
            (None, Some(from), Some(to)) => vec![format!("{from}--{to}")],
            _ => bail!(
                "no switch given: use --id 1..15 (0 is the no-switch control), or --from TASK --to TASK"
            ),
        };
        let first_seed = typed.seed.unwrap_or(1);
        let mut settings = typed.clone().with_absolute_sources()?;
        (settings.seed, settings.steps, settings.module, settings.preset) = (None, None, None, None);
        let module = typed.module.clone().unwrap_or_else(|| "ems".into());
        let spec = StudySpec {
            name: "switch".into(),
            title: format!("Switching tasks with {module}"),
            scale: Scale::Paper,
            seeds: (0..self.seeds).map(|idx| first_seed.wrapping_add(idx)).collect(),
            presets: vec![typed.preset.unwrap_or_default()],
            modules: vec![module],
            tasks: Vec::new(),
            switches,
            ways: self.ways(),
            steps: typed.steps,
            base_steps: self.base_steps,
            keep_weights: true,
            python: None,
            vary: BTreeMap::new(),
            rates: BTreeMap::new(),
            settings,
            settings_of: BTreeMap::new(),
        };
        Ok(spec.checked()?)
    }

    fn ways(&self) -> Vec<String> {
        let mut ways = vec!["scratch".to_owned()];
        for (idx, &voting) in self.votings.iter().enumerate() {
            if self.votings[..idx].contains(&voting) {
                continue;
            }
            let name = voting.name();
            let name = if self.no_transformations { format!("{name}-plain") } else { name.to_owned() };
            if self.controls {
                ways.push(format!("{name}-shuffled"));
            }
            ways.push(name);
        }
        if self.controls {
            ways.extend(["fine-tuning", "old-alone"].map(String::from));
        }
        ways
    }
}

pub fn run(args: &SwitchArgs) -> Result<()> {
    let spec = args.spec()?;
    let how = HowArgs { jobs: args.jobs, lease: None, checkpoint_every: None };
    let folder = StudyFolder::at(&args.out);
    let mut spec = begin(&folder, &spec, &this_start())?;
    spec.settings.images.cache.clone_from(&args.settings.images.cache);
    let mut spent = work(&folder, &spec, &how)?;
    let (report, page) = timed(&mut spent.report, || write_report_of(&folder))?;
    print_spent(&spent);
    let switches: Vec<&SwitchFindings> =
        report.findings.presets.iter().flat_map(|preset| &preset.switching).collect();
    if args.json {
        let json = serde_json::json!({ "switches": switches, "page": page });
        return print_json(&json);
    }
    print_line!("{}", table(&switches));
    print_line!("page     {}  (open it in a browser)", page.display());
    Ok(())
}

fn table(switches: &[&SwitchFindings]) -> String {
    let head = ["switch", "second task", "learned by", "area", "RGain", "TGain", "seeds", "steps"];
    let mut rows = vec![head.map(String::from)];
    // A single seed has no interval.
    let text = |estimate: &Estimate| match estimate.n {
        1 => format!("{:+.3}", estimate.value),
        _ => format!("{estimate:+}"),
    };
    for switch in switches {
        for way in &switch.ways {
            rows.push([
                switch.switch.clone(),
                switch.task.clone(),
                way.way.to_string(),
                text(&way.area).replace('+', ""),
                way.r_gain.as_ref().map_or_else(String::new, text),
                way.t_gain.as_ref().map_or_else(String::new, text),
                way.seeds.len().to_string(),
                switch.horizon_steps.to_string(),
            ]);
        }
    }
    format!(
        "{}\nTGain: reward per 1,000 steps. In brackets: Student's 95 % interval over seeds.",
        aligned(&rows)
    )
}
