//! Draws the contents of a source as one PNG: portraits and templates by class, localization screens with their boxes,
//! scenes with tinted masks. Use it to inspect a source before training.
//!
//!     cargo run --release --example source_sheet -- coco:PATH sheet.png [CACHE_DIR]

use image::{Rgb, RgbImage};
use std::error::Error;
use std::time::Instant;
use touchstream_env::screen::Screen;
use touchstream_env::stimuli::{ClassIdx, ImageId, Split, Stimuli};
use touchstream_env::touch::SCREEN_SIDE_PX;
use touchstream_files::NoProgress;
use touchstream_stimuli::{SourceOptions, SourceSpec, open};

const SIDE: u32 = SCREEN_SIDE_PX as u32;
const N_COLS: u32 = 8;
const COLORS: [[u8; 3]; 6] =
    [[255, 0, 0], [0, 220, 0], [60, 60, 255], [255, 220, 0], [0, 230, 230], [255, 0, 255]];

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(source), Some(out)) = (args.next(), args.next()) else {
        return Err("usage: source_sheet SOURCE OUT.png [CACHE_DIR]".into());
    };
    let spec: SourceSpec = source.parse()?;
    let options = SourceOptions { cache_dir: args.next().map(Into::into), ..SourceOptions::default() };
    let started = Instant::now();
    let opened = open(&spec, &options, &NoProgress)?;
    println!("{}\n  opened in {:.2} s", opened.manifest, started.elapsed().as_secs_f64());

    let stimuli = &*opened.stimuli;
    let mut tiles = Vec::new();
    let n_classes = stimuli.classes().len().min(12);
    for class in (0..n_classes).map(|idx| ClassIdx(idx as u16)) {
        tiles.push(template_tile(stimuli, class)?);
        for (split, index) in [(Split::Train, 0), (Split::Train, 1), (Split::Validation, 0)] {
            let index = index.min(stimuli.n_portraits(split, class) as u32 - 1);
            tiles.push(tile(&drawn(stimuli, split, ImageId::Portrait { class, index })?));
        }
    }
    for index in 0..stimuli.n_objects(Split::Train).min(16) as u32 {
        tiles.push(object_tile(stimuli, index)?);
    }
    for index in 0..stimuli.n_scenes(Split::Train).min(24) as u32 {
        tiles.push(scene_tile(stimuli, index)?);
    }
    let n_rows = (tiles.len() as u32).div_ceil(N_COLS);
    let mut sheet = RgbImage::new(N_COLS * (SIDE + 2), n_rows * (SIDE + 2));
    for (idx, tile) in (0..).zip(&tiles) {
        let (x, y) = (idx % N_COLS * (SIDE + 2), idx / N_COLS * (SIDE + 2));
        image::imageops::replace(&mut sheet, tile, x.into(), y.into());
    }
    sheet.save(out)?;
    Ok(())
}

fn drawn(stimuli: &dyn Stimuli, split: Split, image: ImageId) -> Result<Screen, Box<dyn Error>> {
    let mut screen = Screen::grey();
    stimuli.draw(split, image, &mut screen)?;
    Ok(screen)
}

fn tile(screen: &Screen) -> RgbImage {
    RgbImage::from_fn(SIDE, SIDE, |x, y| {
        let at = ((y * SIDE + x) * 3) as usize;
        Rgb([0, 1, 2].map(|channel| screen.pixels()[at + channel]))
    })
}

fn template_tile(stimuli: &dyn Stimuli, class: ClassIdx) -> Result<RgbImage, Box<dyn Error>> {
    let template = stimuli.template(Split::Train, class, 100)?;
    let mut screen = Screen::grey();
    screen.pixels_mut().fill(255);
    screen.paste(&template, 62, 62);
    Ok(tile(&screen))
}

fn object_tile(stimuli: &dyn Stimuli, index: u32) -> Result<RgbImage, Box<dyn Error>> {
    let mut tile = tile(&drawn(stimuli, Split::Train, ImageId::Object { index })?);
    let bounds = stimuli.object(Split::Train, index).bounds;
    for row in bounds.top()..=bounds.bottom() {
        for col in bounds.left()..=bounds.right() {
            let is_edge = row == bounds.top()
                || row == bounds.bottom()
                || col == bounds.left()
                || col == bounds.right();
            if is_edge {
                tile.put_pixel(col as u32, row as u32, Rgb(COLORS[0]));
            }
        }
    }
    Ok(tile)
}

fn scene_tile(stimuli: &dyn Stimuli, index: u32) -> Result<RgbImage, Box<dyn Error>> {
    let mut tile = tile(&drawn(stimuli, Split::Train, ImageId::Scene { index })?);
    for instance in stimuli.instances(Split::Train, index) {
        let color = COLORS[instance.class.get() % COLORS.len()];
        instance.mask.for_each_run(|run| {
            for at in run {
                let pixel = tile.get_pixel_mut(at as u32 % SIDE, at as u32 / SIDE);
                let mix = |idx: usize| ((u16::from(pixel.0[idx]) + u16::from(color[idx])) / 2) as u8;
                pixel.0 = [mix(0), mix(1), mix(2)];
            }
        });
    }
    Ok(tile)
}
