//! `touchstream encoder list`: the table of encoders.

use crate::settings_args::CacheArg;
use crate::stdio::{print_json, print_line};
use crate::text_table::aligned;
use anyhow::Result;
use clap::Args;
use touchstream_experiment::encoder_facts::{EncoderLine, encoder_lines};

#[derive(Args)]
pub struct ListArgs {
    #[command(flatten)]
    cache: CacheArg,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &ListArgs) -> Result<()> {
    let lines = encoder_lines(args.cache.folder().as_deref());
    if args.json {
        return print_json(&lines);
    }
    let headings = ["encoder", "scene", "map", "installed", "size", "weights from"].map(String::from);
    let rows: Vec<[String; 6]> = [headings].into_iter().chain(lines.iter().map(cells)).collect();
    print_line!("{}", aligned(&rows).trim_end());
    for line in &lines {
        match (&line.damage, line.installed) {
            (Some(damage), _) => {
                print_line!(
                    "\n{} is damaged; `touchstream encoder install {0}` repairs it\n  {damage}",
                    line.encoder
                )
            }
            (None, Some(false)) => {
                print_line!("\n`touchstream encoder install {}` installs its weights", line.encoder)
            }
            (None, _) => {}
        }
    }
    Ok(())
}

fn cells(line: &EncoderLine) -> [String; 6] {
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".into());
    [
        line.encoder.into(),
        or_dash(line.scene_len.map(|n| n.to_string())),
        or_dash(line.map.map(|[rows, columns, channels]| format!("{rows} x {columns} x {channels}"))),
        match (&line.damage, line.installed) {
            (Some(_), _) => "damaged".into(),
            (None, is_installed) => or_dash(is_installed.map(|is| if is { "yes" } else { "no" }.into())),
        },
        or_dash(line.weights_bytes.map(|n| format!("{:.1} MB", n as f64 / 1e6))),
        line.from.clone(),
    ]
}
