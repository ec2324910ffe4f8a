//! Scene vectors of raw pictures, for scripts: `encode_pictures compact|vgg16 PICTURES.u8 SCENES.f32 [WEIGHTS]`.
//!
//! PICTURES holds any number of `[224, 224, 3]` bytes, SCENES becomes `[n, scene_len]` numbers of 32 bits, little end
//! first. VGG-16 wants its weights as safetensors.

use std::error::Error;
use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::Path;
use touchstream_encoder::vgg16::Vgg16;
use touchstream_encoder::vgg16::weights::Vgg16Weights;
use touchstream_encoder::{Compact, Encoder, Features};
use touchstream_env::screen::{SCREEN_BYTES, Screen};

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (encoder, pictures, scenes): (Box<dyn Encoder>, &str, &str) = match &words[..] {
        [word, pictures, scenes] if word == "compact" => (Box::new(Compact::built_in()), pictures, scenes),
        [word, pictures, scenes, weights] if word == "vgg16" => {
            (Box::new(Vgg16::new(Vgg16Weights::read(Path::new(weights))?)), pictures, scenes)
        }
        _ => return Err("usage: encode_pictures compact|vgg16 PICTURES.u8 SCENES.f32 [WEIGHTS]".into()),
    };
    let n_bytes = fs::metadata(pictures)?.len() as usize;
    if !n_bytes.is_multiple_of(SCREEN_BYTES) {
        return Err(format!("{pictures}: {n_bytes} bytes are not whole pictures of {SCREEN_BYTES}").into());
    }
    let mut source = BufReader::new(File::open(pictures)?);
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
        for number in features[..n].iter().flat_map(|features| &features.scene) {
            sink.write_all(&number.to_le_bytes())?;
        }
        n_left -= n;
    }
    sink.flush()?;
    Ok(())
}
