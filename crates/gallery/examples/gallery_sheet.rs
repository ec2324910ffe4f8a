//! Writes contact sheets as PNG files, to check by eye that every class is recognizable.
//!
//! `cargo run --release -p touchstream-gallery --example gallery_sheet -- FOLDER [SEED]`

use std::path::Path;
use std::time::Instant;
use touchstream_env::seed::RunSeed;
use touchstream_env::stimuli::Split;
use touchstream_env::touch::SCREEN_SIDE_PX;
use touchstream_gallery::{Rendered, class_names, object_screen, portrait, scene, template};

const N_PORTRAITS: usize = 6;
const CLASSES_PER_SHEET: usize = 6;
const SIDE: usize = SCREEN_SIDE_PX;

/// Tiles of 224 x 224 pixels in a grid.
struct Sheet {
    n_cols: usize,
    tiles: Vec<Box<[u8]>>,
}

impl Sheet {
    fn save(&self, path: &Path) -> Result<(), Box<dyn std::error::Error>> {
        let n_rows = self.tiles.len().div_ceil(self.n_cols);
        let width = self.n_cols * SIDE;
        let mut pixels = vec![0; width * n_rows * SIDE * 3];
        for (idx, tile) in self.tiles.iter().enumerate() {
            let (top, left) = (idx / self.n_cols * SIDE, idx % self.n_cols * SIDE);
            for row in 0..SIDE {
                let start = ((top + row) * width + left) * 3;
                pixels[start..start + SIDE * 3].copy_from_slice(&tile[row * SIDE * 3..(row + 1) * SIDE * 3]);
            }
        }
        image::save_buffer(
            path,
            &pixels,
            width as u32,
            (n_rows * SIDE) as u32,
            image::ExtendedColorType::Rgb8,
        )?;
        Ok(())
    }
}

fn with_boxes(mut image: Rendered) -> Box<[u8]> {
    for object in &image.objects {
        let Some(bounds) = object.mask.bounds() else { continue };
        for row in bounds.top()..=bounds.bottom() {
            for col in bounds.left()..=bounds.right() {
                let on_rim = row == bounds.top()
                    || row == bounds.bottom()
                    || col == bounds.left()
                    || col == bounds.right();
                if on_rim {
                    image.pixels[(row * SIDE + col) * 3..][..3].copy_from_slice(&[255, 255, 0]);
                }
            }
        }
    }
    image.pixels
}

fn with_tints(mut image: Rendered) -> Box<[u8]> {
    const TINTS: [[u8; 3]; 5] = [[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 0], [255, 0, 255]];
    for (object, tint) in image.objects.iter().zip(TINTS) {
        object.mask.for_each_run(|run| {
            for idx in run {
                for (byte, tint) in image.pixels[idx * 3..idx * 3 + 3].iter_mut().zip(tint) {
                    *byte = ((u16::from(*byte) * 2 + u16::from(tint)) / 3) as u8;
                }
            }
        });
    }
    image.pixels
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("usage: gallery_sheet FOLDER [SEED]")?;
    let folder = Path::new(&folder);
    let seed = RunSeed(std::env::args().nth(2).map_or(Ok(20), |text| text.parse())?);
    std::fs::create_dir_all(folder)?;
    let templates =
        Sheet { n_cols: 10, tiles: (0..class_names().len()).map(|c| template(c, SIDE)).collect() };
    templates.save(&folder.join("templates.png"))?;
    let mut spent = 0.0;
    for (number, classes) in class_names().chunks(CLASSES_PER_SHEET).enumerate() {
        println!("portraits-{number}.png: {}", classes.join(", "));
        let mut sheet = Sheet { n_cols: N_PORTRAITS + 1, tiles: Vec::new() };
        for (offset, name) in classes.iter().enumerate() {
            let class = number * CLASSES_PER_SHEET + offset;
            sheet.tiles.push(template(class, SIDE));
            let start = Instant::now();
            let portraits = (0..N_PORTRAITS as u32).map(|i| portrait(seed, Split::Train, class, i).pixels);
            sheet.tiles.extend(portraits);
            let secs = start.elapsed().as_secs_f64();
            println!("  {name:16} {:5.1} ms per portrait", secs * 1e3 / N_PORTRAITS as f64);
            spent += secs;
        }
        sheet.save(&folder.join(format!("portraits-{number}.png")))?;
    }
    println!("portraits: {:.1} ms each", spent * 1e3 / (class_names().len() * N_PORTRAITS) as f64);

    let n = 48;
    let start = Instant::now();
    let objects: Vec<Rendered> = (0..n).map(|index| object_screen(seed, Split::Train, index)).collect();
    println!("object screens: {:.1} ms each", start.elapsed().as_secs_f64() * 1e3 / f64::from(n));
    let start = Instant::now();
    let scenes: Vec<Rendered> = (0..n).map(|index| scene(seed, Split::Train, index)).collect();
    println!("scenes: {:.1} ms each", start.elapsed().as_secs_f64() * 1e3 / f64::from(n));
    Sheet { n_cols: 8, tiles: objects.into_iter().map(with_boxes).collect() }
        .save(&folder.join("objects.png"))?;
    let plain: Vec<_> = scenes.iter().take(24).map(|scene| scene.pixels.clone()).collect();
    Sheet { n_cols: 6, tiles: plain }.save(&folder.join("scenes.png"))?;
    Sheet { n_cols: 6, tiles: scenes.into_iter().take(24).map(with_tints).collect() }
        .save(&folder.join("scene-masks.png"))?;
    Ok(())
}
