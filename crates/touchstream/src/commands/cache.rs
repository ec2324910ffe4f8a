//! `touchstream cache`: shows and deletes the contents of the cache folder.

use crate::settings_args::CacheArg;
use crate::stdio::{print_json, print_line, warn_user};
use crate::text_table::aligned;
use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use indicatif::DecimalBytes;
use std::io::{IsTerminal, stdin};
use std::path::{Path, PathBuf};
use touchstream_experiment::cache_info::{CacheInfo, SectionLine, StoreLine, each_store};
use touchstream_experiment::cache_sections::CacheSection;
use touchstream_features::inventory::{Deleted, StoreSummary, delete_store, summarize};

#[derive(Args)]
pub struct CacheArgs {
    #[command(subcommand)]
    command: CacheCommand,
}

#[derive(Subcommand)]
enum CacheCommand {
    /// Show the contents: features by encoder and source, rendered images, weights; checks every checksum
    Info(InfoArgs),
    /// Delete parts of the cache; everything in it can be computed or downloaded again
    Clear(ClearArgs),
}

#[derive(Args)]
struct InfoArgs {
    #[command(flatten)]
    cache: CacheArg,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct ClearArgs {
    #[command(flatten)]
    what: What,
    /// Delete without asking
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    cache: CacheArg,
}

#[derive(Args, Clone, Copy)]
#[group(required = true, multiple = true)]
struct What {
    /// Features
    #[arg(long)]
    features: bool,
    /// Rendered gallery images, and indexes of image files
    #[arg(long)]
    pictures: bool,
    /// Installed weights of encoders, and leftovers of interrupted installations
    #[arg(long)]
    weights: bool,
    /// Everything
    #[arg(long)]
    all: bool,
}

pub fn run(args: &CacheArgs) -> Result<()> {
    match &args.command {
        CacheCommand::Info(args) => info(args),
        CacheCommand::Clear(args) => clear(args),
    }
}

fn info(args: &InfoArgs) -> Result<()> {
    let info = CacheInfo::read(args.cache.needed_folder()?)?;
    if args.json {
        return print_json(&info);
    }
    print_line!("cache {}", info.folder.display());
    if !info.features.is_empty() {
        print_line!("\n{}", store_table(&info.features).trim_end());
    }
    let size = |n_bytes| DecimalBytes(n_bytes).to_string();
    let files = |section: &SectionLine| [format!("{} files", section.n_files), size(section.n_bytes)];
    let [pictures, weights] = [files(&info.pictures), files(&info.weights)];
    let features = [format!("{} stores", info.features.len()), size(info.n_feature_bytes())];
    let rows = [("features", features), ("pictures", pictures), ("weights", weights)];
    let mut cells: Vec<[String; 3]> =
        rows.into_iter().map(|(name, [number, size])| [name.to_owned(), number, size]).collect();
    cells.push(["total".into(), String::new(), size(info.n_bytes)]);
    print_line!("\n{}", aligned(&cells).trim_end());
    if info.features.iter().any(|store| store.n_damaged > 0) {
        print_line!("\ndamaged features are never used; they are encoded again when a run needs them");
    }
    Ok(())
}

fn store_table(stores: &[StoreLine]) -> String {
    let mut cells =
        vec![["encoder", "images", "screens", "maps", "damaged", "size", "folder"].map(String::from)];
    let unknown = || "unknown".to_owned();
    cells.extend(stores.iter().map(|store| {
        [
            store.encoder.clone().unwrap_or_else(unknown),
            store.data.clone().unwrap_or_else(unknown),
            store.n_scenes.to_string(),
            store.n_maps.to_string(),
            store.n_damaged.to_string(),
            DecimalBytes(store.n_bytes).to_string(),
            store.folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        ]
    }));
    aligned(&cells)
}

fn clear(args: &ClearArgs) -> Result<()> {
    let folder = args.cache.needed_folder()?;
    let What { features, pictures, weights, all } = args.what;
    let stores = if features || all { each_store(&folder, summarize)? } else { Vec::new() };
    let wanted_sections = [
        ("pictures", pictures || all, CacheSection::Pictures),
        ("weights", weights || all, CacheSection::Weights),
    ];
    let mut sections = Vec::new();
    for (name, _, section) in wanted_sections.into_iter().filter(|(_, is_wanted, _)| *is_wanted) {
        sections.push((name, section.scan(&folder)?));
    }
    let in_use: Vec<PathBuf> = sections.iter().flat_map(|(_, files)| files.in_use.clone()).collect();
    sections.retain(|(_, files)| !files.is_empty());
    if stores.is_empty() && sections.is_empty() {
        in_use.iter().for_each(|folder| warn_of_use(folder));
        print_line!("nothing to delete in {}", folder.display());
        return all_unless_in_use(in_use.len());
    }
    print_line!("to delete from {}:", folder.display());
    for StoreSummary { head, n_bytes, .. } in &stores {
        let of = head
            .as_ref()
            .map_or_else(String::new, |head| format!(" by {} of {}", head.encoder_name, head.data_name));
        print_line!("  features{of}, {}", DecimalBytes(*n_bytes));
    }
    for (name, files) in &sections {
        print_line!("  {} files of {name}, {}", files.ours.len(), DecimalBytes(files.n_bytes));
    }
    if !args.yes && !is_confirmed()? {
        print_line!("nothing was deleted");
        return Ok(());
    }
    let (mut n_bytes, mut n_in_use) = (0, in_use.len());
    in_use.iter().for_each(|folder| warn_of_use(folder));
    for StoreSummary { folder, .. } in &stores {
        match delete_store(folder).with_context(|| format!("cannot delete {}", folder.display()))? {
            Deleted::Gone { n_bytes: n_deleted, foreign } => {
                n_bytes += n_deleted;
                warn_of_foreign(&foreign);
            }
            Deleted::InUse => {
                n_in_use += 1;
                warn_of_use(folder);
            }
        }
    }
    for (_, files) in &sections {
        files.delete()?;
        n_bytes += files.n_bytes;
        warn_of_foreign(&files.foreign);
    }
    print_line!("deleted {}", DecimalBytes(n_bytes));
    all_unless_in_use(n_in_use)
}

fn all_unless_in_use(n_in_use: usize) -> Result<()> {
    match n_in_use {
        0 => Ok(()),
        1 => bail!("one folder is in use; delete it when that process has ended"),
        n => bail!("{n} folders are in use; delete them when those processes have ended"),
    }
}

fn warn_of_use(folder: &Path) {
    warn_user!("{} is in use by another process and was not deleted", folder.display());
}

fn warn_of_foreign(foreign: &[PathBuf]) {
    for path in foreign {
        warn_user!("kept {}: it is not a file of touchstream", path.display());
    }
}

/// Asks on the terminal.
fn is_confirmed() -> Result<bool> {
    if !stdin().is_terminal() {
        bail!("nothing was deleted: without a terminal, --yes is required");
    }
    warn_user!("delete all of this? [y/N]");
    let mut answer = String::new();
    stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
