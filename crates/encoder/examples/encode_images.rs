//! Encodes raw images for scripts: `encode_images compact|vgg16 IMAGES.u8 SCENES.f32 [WEIGHTS]`.
//!
//! IMAGES contains any number of images, `[224, 224, 3]` bytes each; SCENES becomes `[n, scene_len]` little-endian floats.
//! VGG-16 needs its weights as safetensors.

use std::error::Error;
use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::Path;
use touchstream_encoder::vgg16::Vgg16;
use touchstream_encoder::vgg16::weights::Vgg16Weights;
use touchstream_encoder::{Compact, Encoder, Features};
use touchstream_env::screen::{SCREEN_BYTES, Screen};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (encoder, images, scenes): (Box<dyn Encoder>, &str, &str) = match &args[..] {
        [name, images, scenes] if name == "compact" => (Box::new(Compact::built_in()), images, scenes),
        [name, images, scenes, weights] if name == "vgg16" => {
            (Box::new(Vgg16::new(Vgg16Weights::read(Path::new(weights))?)), images, scenes)
        }
        _ => return Err("usage: encode_images compact|vgg16 IMAGES.u8 SCENES.f32 [WEIGHTS]".into()),
    };
    let n_bytes = fs::metadata(images)?.len() as usize;
    if !n_bytes.is_multiple_of(SCREEN_BYTES) {
        return Err(
            format!("{images}: {n_bytes} bytes are not a multiple of an image's {SCREEN_BYTES}").into()
        );
    }
    let mut source = BufReader::new(File::open(images)?);
    let mut sink = BufWriter::new(File::create(scenes)?);
    let mut screens = vec![Screen::grey(); encoder.batch_size()];
    let mut features = vec![Features::zeros(encoder.shape()); encoder.batch_size()];
    let mut n_left = n_bytes / SCREEN_BYTES;
    while n_left > 0 {
        let n = n_left.min(screens.len());
        for screen in &mut screens[..n] {
            source.read_exact(screen.pixels_mut())?;
        }
        encoder.encode(&screens[..n], &mut features[..n])?;
        for value in features[..n].iter().flat_map(|features| &features.scene) {
            sink.write_all(&value.to_le_bytes())?;
        }
        n_left -= n;
    }
    sink.flush()?;
    Ok(())
}
