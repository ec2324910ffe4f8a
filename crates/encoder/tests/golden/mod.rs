//! The golden screens, and PyTorch's outputs for them.

use safetensors::SafeTensors;
use std::fs;
use std::path::{Path, PathBuf};
use touchstream_env::screen::Screen;

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

/// Three screens of the gallery: a portrait, a match screen, a localization screen.
pub fn golden_screens() -> Vec<Screen> {
    (0..3).map(|idx| read_screen(&path(&format!("screen-{idx}.png")))).collect()
}

fn read_screen(path: &Path) -> Screen {
    let decoder = png::Decoder::new(std::io::BufReader::new(fs::File::open(path).unwrap()));
    let mut screen = Screen::grey();
    let frame = decoder.read_info().unwrap().next_frame(screen.pixels_mut()).unwrap();
    assert_eq!(frame.color_type, png::ColorType::Rgb);
    screen
}

/// Every k-th value of PyTorch's output.
pub struct Golden(Vec<u8>);

impl Golden {
    /// Reads a file of goldens.
    pub fn read(name: &str) -> Self {
        Self(fs::read(path(name)).unwrap())
    }

    /// The norm of the difference must be at most `tolerance` times the norm of the expected values.
    #[track_caller]
    pub fn check(&self, name: &str, all_numbers: &[f32], tolerance: f64) {
        let file = SafeTensors::deserialize(&self.0).unwrap();
        let bytes = file.tensor(name).unwrap().data().to_vec();
        let expected: Vec<f64> =
            bytes.as_chunks::<4>().0.iter().map(|&bytes| f64::from(f32::from_le_bytes(bytes))).collect();
        let keep_every = all_numbers.len().div_ceil(expected.len());
        let numbers: Vec<f64> = all_numbers.iter().step_by(keep_every).map(|&x| f64::from(x)).collect();
        assert_eq!(numbers.len(), expected.len(), "{name}");
        let norm = |numbers: &mut dyn Iterator<Item = f64>| numbers.map(|x| x * x).sum::<f64>().sqrt();
        let difference = norm(&mut numbers.iter().zip(&expected).map(|(a, b)| a - b));
        let relative = difference / norm(&mut expected.iter().copied());
        eprintln!("{name}: relative difference {relative:.1e}");
        assert!(relative <= tolerance, "{name}: relative difference {relative:e} above {tolerance:e}");
    }
}
