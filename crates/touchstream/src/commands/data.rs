//! `touchstream data`: the contents of an image source.

use crate::settings_args::Typed;
use crate::stdio::{print_json, print_line};
use crate::terminal::Terminal;
use anyhow::Result;
use clap::Args;
use std::path::PathBuf;
use touchstream_env::screen::Screen;
use touchstream_env::stimuli::{ClassIdx, ImageId, Split, Stimuli};
use touchstream_experiment::config::ImageOptions;
use touchstream_experiment::output::OutputFile;
use touchstream_report::canvas::{Canvas, Place};
use touchstream_report::lettering::LINE_PX;
use touchstream_stimuli::{Needs, SourceSpec};

#[derive(Args)]
pub struct DataArgs {
    /// gallery, folder:PATH, coco:PATH or cutouts:PATH
    #[arg(value_name = "SOURCE", default_value = "gallery")]
    source: SourceSpec,
    #[command(flatten)]
    how: Typed<ImageOptions>,
    /// Write a sheet of all classes (PNG): the template and some portraits of each
    #[arg(long, value_name = "FILE.png")]
    sheet: Option<PathBuf>,
    /// Render all gallery images into the cache now, not on first use
    #[arg(long)]
    render: bool,
    /// Print the manifest as JSON, with every skipped file
    #[arg(long)]
    json: bool,
}

pub fn run(args: &DataArgs) -> Result<()> {
    // A path that cannot be written to is refused before the work.
    let sheet = args.sheet.as_deref().map(OutputFile::create).transpose()?;
    let opened = args.how.open_quietly(
        &args.source,
        Needs { portraits_now: args.render, ..Needs::ALL },
        &Terminal::default(),
    )?;
    if let Some(sheet) = sheet {
        sheet.finish_with(&class_sheet(opened.stimuli.as_ref())?.to_png()?)?;
    }
    if args.json {
        print_json(&opened.manifest)?;
    } else {
        print_line!("{}", opened.manifest.summary());
        print_line!("  content hash {}", opened.manifest.content_hash);
    }
    Ok(())
}

const PORTRAITS_SHOWN: usize = 4;
const CLASSES_ACROSS: usize = 3;
const CELL_PX: usize = 112;

/// For each class a row under its name: the template and some portraits.
fn class_sheet(stimuli: &dyn Stimuli) -> Result<Canvas> {
    let classes = stimuli.classes();
    let (block_w, block_h) = ((PORTRAITS_SHOWN + 1) * (CELL_PX + 2) + 10, CELL_PX + LINE_PX + 10);
    let n_rows = classes.len().div_ceil(CLASSES_ACROSS);
    let mut sheet = Canvas::new(block_w * CLASSES_ACROSS, block_h * n_rows, [250; 3]);
    let mut screen = Screen::grey();
    for (idx, name) in classes.iter().enumerate() {
        let class = ClassIdx(idx as u16);
        let (x, y) = (idx % CLASSES_ACROSS * block_w, idx / CLASSES_ACROSS * block_h);
        sheet.write(name, Place { x, y }, [20; 3]);
        let y = y + LINE_PX + 2;
        let template = stimuli.template(Split::Train, class, CELL_PX)?;
        sheet.paste(&Canvas::of_rows(template.rows()), Place { x, y });
        for shown in 0..PORTRAITS_SHOWN.min(stimuli.n_portraits(Split::Train, class)) {
            let portrait = ImageId::Portrait { class, index: shown as u32 };
            stimuli.draw(Split::Train, portrait, &mut screen)?;
            let place = Place { x: x + (shown + 1) * (CELL_PX + 2), y };
            sheet.paste(&Canvas::of_screen(&screen).shrunk(2), place);
        }
    }
    Ok(sheet)
}
