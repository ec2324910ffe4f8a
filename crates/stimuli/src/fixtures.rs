//! Small files for tests.

use image::{DynamicImage, ImageFormat, Rgb, RgbImage};
use std::fs;
use std::io::Cursor;
use std::path::Path;

/// An image around a colour, with a small difference at every pixel.
pub fn image(width: u32, height: u32, color: [u8; 3]) -> RgbImage {
    RgbImage::from_fn(width, height, |x, y| Rgb(color.map(|channel| channel ^ ((x * 3 + y * 5) % 8) as u8)))
}

fn encoded(image: impl Into<DynamicImage>, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    image.into().write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

pub fn jpeg_bytes(width: u32, height: u32, color: [u8; 3]) -> Vec<u8> {
    encoded(image(width, height, color), ImageFormat::Jpeg)
}

pub fn png_bytes(width: u32, height: u32, color: [u8; 3]) -> Vec<u8> {
    encoded(image(width, height, color), ImageFormat::Png)
}

pub fn webp_bytes(width: u32, height: u32) -> Vec<u8> {
    encoded(image(width, height, [90, 20, 30]), ImageFormat::WebP)
}

/// A PNG whose header declares many pixels, but that contains no pixel data.
pub fn png_bomb(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = png_bytes(1, 1, [0; 3]);
    bytes[16..20].copy_from_slice(&width.to_be_bytes());
    bytes[20..24].copy_from_slice(&height.to_be_bytes());
    let crc = crc32(&bytes[12..29]);
    bytes[29..33].copy_from_slice(&crc.to_be_bytes());
    bytes
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, &byte| {
        (0..8).fold(
            crc ^ u32::from(byte),
            |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 },
        )
    })
}

/// Writes a file and creates its folder.
pub fn put(root: &Path, relative: &str, bytes: impl AsRef<[u8]>) {
    let path = root.join(relative);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}
