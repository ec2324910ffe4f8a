//! Writes images of the gallery for scripts that train or test encoders: raw RGB bytes, row-major, and a table of
//! their contents.
//!
//!     cargo run --release --example dump_screens -- OUT_DIR train|validation N_PORTRAITS N_OBJECTS
//!
//! Writes `portraits.u8` (`[59 * N_PORTRAITS, 224, 224, 3]`, all of class 0 first), `objects.u8` (`[N_OBJECTS, 224,
//! 224, 3]`), `templates.u8` (`[59, 100, 100, 3]`), `objects.csv` (class and box of each localization screen) and
//! `classes.txt`.

use rayon::prelude::*;
use std::error::Error;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use touchstream_env::screen::Screen;
use touchstream_env::stimuli::{ClassIdx, ImageId, Split, Stimuli};
use touchstream_files::NoProgress;
use touchstream_stimuli::{Needs, Sizes, SourceOptions, SourceSpec, SplitCounts, open};

const TEMPLATE_SIDE_PX: usize = 100;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [out_dir, split, n_portraits, n_objects] = &args[..] else {
        return Err("usage: dump_screens OUT_DIR train|validation N_PORTRAITS N_OBJECTS".into());
    };
    let split = match split.as_str() {
        "train" => Split::Train,
        "validation" => Split::Validation,
        other => return Err(format!("`{other}` is not a split; splits are `train` and `validation`").into()),
    };
    let (n_portraits, n_objects): (u32, u32) = (n_portraits.parse()?, n_objects.parse()?);
    let both = |n: u32| Some(SplitCounts { train: n, validation: n });
    let options = SourceOptions {
        // The gallery requires at least one image of each kind.
        sizes: Sizes { portraits: both(n_portraits.max(1)), objects: both(n_objects.max(1)), scenes: None },
        needs: Needs { scenes: false, ..Needs::ALL },
        ..SourceOptions::default()
    };
    let stimuli = open(&SourceSpec::Gallery, &options, &NoProgress)?.stimuli;
    let out_dir = PathBuf::from(out_dir);
    fs::create_dir_all(&out_dir)?;

    let classes: Vec<ClassIdx> = (0..stimuli.classes().len()).map(|idx| ClassIdx(idx as u16)).collect();
    fs::write(out_dir.join("classes.txt"), stimuli.classes().join("\n") + "\n")?;

    let mut templates = BufWriter::new(File::create(out_dir.join("templates.u8"))?);
    for &class in &classes {
        for row in stimuli.template(split, class, TEMPLATE_SIDE_PX)?.rows() {
            templates.write_all(row)?;
        }
    }
    templates.flush()?;

    let portraits: Vec<ImageId> = classes
        .iter()
        .flat_map(|&class| (0..n_portraits).map(move |index| ImageId::Portrait { class, index }))
        .collect();
    dump(&out_dir.join("portraits.u8"), &*stimuli, split, &portraits)?;

    let objects: Vec<ImageId> = (0..n_objects).map(|index| ImageId::Object { index }).collect();
    dump(&out_dir.join("objects.u8"), &*stimuli, split, &objects)?;
    let mut table = BufWriter::new(File::create(out_dir.join("objects.csv"))?);
    writeln!(table, "class,top,left,bottom,right")?;
    for index in 0..n_objects {
        let object = stimuli.object(split, index);
        let (class, bounds) = (object.class.get(), object.bounds);
        let (top, left, bottom, right) = (bounds.top(), bounds.left(), bounds.bottom(), bounds.right());
        writeln!(table, "{class},{top},{left},{bottom},{right}")?;
    }
    table.flush()?;
    println!("{split}: {} portraits, {n_objects} localization screens", portraits.len());
    Ok(())
}

/// Draws images on all cores and writes their bytes one after another.
fn dump(path: &Path, stimuli: &dyn Stimuli, split: Split, images: &[ImageId]) -> Result<(), Box<dyn Error>> {
    let mut file = BufWriter::new(File::create(path)?);
    for chunk in images.chunks(256) {
        let screens: Result<Vec<Screen>, _> = chunk
            .par_iter()
            .map(|&image| {
                let mut screen = Screen::grey();
                stimuli.draw(split, image, &mut screen).map(|()| screen)
            })
            .collect();
        for screen in screens? {
            file.write_all(screen.pixels())?;
        }
    }
    file.flush()?;
    Ok(())
}
