//! `touchstream eval`: evaluates a run's weights on a split, without learning.

use crate::settings_args::{CacheArg, choice};
use crate::stdio::{print_json, print_line};
use crate::terminal::Terminal;
use anyhow::Result;
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;
use touchstream_agents::policy::Explore;
use touchstream_agents::{Evaluation, Evaluator};
use touchstream_env::seed::RunSeed;
use touchstream_env::stimuli::Split;
use touchstream_experiment::FinishedRun;
use touchstream_experiment::config::MAX_TRIALS;

#[derive(Args)]
pub struct EvalArgs {
    /// The run's folder
    run: PathBuf,
    /// The split of the images
    #[arg(long, value_parser = choice::<Split>(), default_value = "validation")]
    split: Split,
    /// Trials to play
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = clap::value_parser!(u64).range(1..=MAX_TRIALS))]
    trials: u64,
    /// Seed of the trials [default: one that training never used]
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,
    /// Always touch the candidate with the highest prediction
    #[arg(long)]
    greedy: bool,
    #[command(flatten)]
    cache: CacheArg,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct EvalSummary {
    run: String,
    task: String,
    module: String,
    split: &'static str,
    seed: u64,
    greedy: bool,
    data_hash: String,
    encoder_hash: String,
    #[serde(flatten)]
    evaluation: Evaluation,
}

pub fn run(args: &EvalArgs) -> Result<()> {
    let run = FinishedRun::open(&args.run, args.cache.cache.clone(), &Terminal::default())?;
    let seed = args.seed.unwrap_or_else(|| run.fresh_seed());
    let mut stream = run.stream(args.split, seed)?;
    let mut policy = run.facts.agent.policy;
    if args.greedy {
        policy.explore = Explore::Greedy;
    }
    let mut evaluator = Evaluator::new(&run.skill, &run.facts.agent, RunSeed(seed));
    let evaluation = evaluator.evaluate(&run.skill, &policy, &mut stream, &run.inputs.scenes, args.trials)?;
    let split = args.split;
    if args.json {
        let summary = EvalSummary {
            run: args.run.display().to_string(),
            task: run.facts.task_id.clone(),
            module: run.facts.agent.module.id.clone(),
            split: split.name(),
            seed,
            greedy: args.greedy,
            data_hash: run.facts.data_hash.clone(),
            encoder_hash: run.facts.encoder_hash.clone(),
            evaluation,
        };
        return print_json(&summary);
    }
    let Evaluation {
        n_trials,
        reward,
        reward_se,
        on_object,
        cross_entropy,
        map_error,
        calibration_error,
        regret,
    } = evaluation;
    let facts = &run.facts;
    print_line!(
        "{} on {}, {} split, {n_trials} trials, seed {seed}",
        facts.agent.module.id,
        facts.task_id,
        split.name()
    );
    print_line!("reward             {reward:.4}  (standard error {reward_se:.4})");
    if let Some(on_object) = on_object {
        print_line!("on any object      {on_object:.4}  of the touches on match screens");
    }
    print_line!("regret             {regret:.4}  below each trial's best candidate");
    print_line!("cross-entropy      {cross_entropy:.4}  nats per step");
    print_line!(
        "map error          {map_error:.4}  mean absolute difference between predicted and true reward, over all candidates"
    );
    print_line!("calibration error  {calibration_error:.4}  in ten bins of predicted reward");
    Ok(())
}
