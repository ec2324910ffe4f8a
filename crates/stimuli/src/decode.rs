//! Decodes JPEG, PNG and WebP files, with limits on size and memory.

use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageError, ImageReader, Limits, RgbImage, RgbaImage};
use std::io::Cursor;
use touchstream_env::screen::BACKGROUND_GREY;

/// Maximum side of an image.
pub const MAX_SIDE_PX: u32 = 16_384;
/// Maximum number of pixels of an image.
pub const MAX_PIXELS: u64 = 100_000_000;
/// Maximum memory of a decoder, including its pixels (16 bits, four channels).
const MAX_DECODER_BYTES: u64 = 8 * MAX_PIXELS + (64 << 20);

/// Why bytes cannot be decoded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    #[error("the file is empty")]
    Empty,
    /// The contents are neither JPEG, PNG nor WebP; the file name does not matter.
    #[error("not a JPEG, PNG or WebP image")]
    NotAnImage,
    /// The image is larger than allowed, according to its header.
    #[error("{width}x{height} pixels exceed the limit of {MAX_SIDE_PX} per side or {} million in all", MAX_PIXELS / 1_000_000)]
    TooLarge { width: u32, height: u32 },
    /// The file ends within the image.
    #[error("the file ends before its image does")]
    Truncated,
    /// Any other error of the decoder.
    #[error("broken image: {0}")]
    Broken(String),
}

/// Whether to apply the camera orientation (EXIF).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Upright {
    /// Rotate the image upright.
    Turn,
    /// Leave the pixels as stored, because annotations refer to these coordinates.
    AsStored,
}

/// Decodes to RGB; transparent parts become mid grey.
pub fn decode_rgb(bytes: &[u8], upright: Upright) -> Result<RgbImage, DecodeError> {
    let image = decode(bytes, upright)?;
    if !image.color().has_alpha() {
        return Ok(image.into_rgb8());
    }
    let image = image.into_rgba8();
    Ok(RgbImage::from_fn(image.width(), image.height(), |x, y| {
        let [red, green, blue, alpha] = image.get_pixel(x, y).0.map(u32::from);
        let over_grey = |channel| (channel * alpha + u32::from(BACKGROUND_GREY) * (255 - alpha) + 127) / 255;
        image::Rgb([red, green, blue].map(|channel| over_grey(channel) as u8))
    }))
}

/// Decodes to RGBA.
pub fn decode_rgba(bytes: &[u8]) -> Result<RgbaImage, DecodeError> {
    Ok(decode(bytes, Upright::Turn)?.into_rgba8())
}

fn decode(bytes: &[u8], upright: Upright) -> Result<DynamicImage, DecodeError> {
    if bytes.is_empty() {
        return Err(DecodeError::Empty);
    }
    let mut reader =
        ImageReader::new(Cursor::new(bytes)).with_guessed_format().map_err(|_| DecodeError::NotAnImage)?;
    let format = reader.format().ok_or(DecodeError::NotAnImage)?;
    if !matches!(format, image::ImageFormat::Jpeg | image::ImageFormat::Png | image::ImageFormat::WebP) {
        return Err(DecodeError::NotAnImage);
    }
    // The decoder silently fills missing parts of a JPEG with grey.
    if format == image::ImageFormat::Jpeg && !jpeg_is_whole(bytes) {
        return Err(DecodeError::Truncated);
    }
    let mut limits = Limits::default();
    limits.max_alloc = Some(MAX_DECODER_BYTES);
    reader.limits(limits);
    let mut decoder = reader.into_decoder().map_err(broken)?;
    let (width, height) = decoder.dimensions();
    if width > MAX_SIDE_PX || height > MAX_SIDE_PX || u64::from(width) * u64::from(height) > MAX_PIXELS {
        return Err(DecodeError::TooLarge { width, height });
    }
    if width == 0 || height == 0 {
        return Err(DecodeError::Broken(format!("{width}x{height} pixels")));
    }
    // An invalid orientation is ignored.
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let mut image = DynamicImage::from_decoder(decoder).map_err(broken)?;
    if upright == Upright::Turn {
        image.apply_orientation(orientation);
    }
    Ok(image)
}

fn broken(error: ImageError) -> DecodeError {
    match error {
        ImageError::IoError(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
            DecodeError::Truncated
        }
        // Put multi-line messages on one line.
        other => DecodeError::Broken(other.to_string().replace('\n', " ")),
    }
}

/// Whether there is an end-of-image marker after the first scan.
fn jpeg_is_whole(bytes: &[u8]) -> bool {
    const START_OF_SCAN: u8 = 0xda;
    const END_OF_IMAGE: u8 = 0xd9;
    let mut at = 2;
    loop {
        // Between segments there may be entropy-coded data, fill bytes, stuffed zeros and restart markers.
        let Some(n_before) = bytes.get(at..).and_then(|rest| rest.windows(2).position(is_marker)) else {
            return false;
        };
        at += n_before;
        match bytes[at + 1] {
            END_OF_IMAGE => return true,
            START_OF_SCAN => at += 2,
            _ => match bytes.get(at + 2..at + 4) {
                Some(length) => at += 2 + usize::from(u16::from_be_bytes([length[0], length[1]])).max(2),
                None => return false,
            },
        }
    }
}

/// Excludes fill bytes (ff ff), stuffed data (ff 00), restart markers (ff d0 to d7), ff 01 and ff d8, which have no
/// length.
fn is_marker(pair: &[u8]) -> bool {
    pair[0] == 0xff && !matches!(pair[1], 0xff | 0x00 | 0x01 | 0xd0..=0xd8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{jpeg_bytes, png_bomb, png_bytes, webp_bytes};
    use proptest::prelude::*;

    #[track_caller]
    fn check_refused(bytes: &[u8], expected: DecodeError) {
        assert_eq!(decode_rgb(bytes, Upright::Turn).unwrap_err(), expected);
    }

    #[test]
    fn formats_are_known_by_content() {
        for bytes in [jpeg_bytes(40, 30, [200, 10, 10]), png_bytes(40, 30, [200, 10, 10]), webp_bytes(40, 30)]
        {
            let image = decode_rgb(&bytes, Upright::Turn).unwrap();
            assert_eq!(image.dimensions(), (40, 30));
        }
    }

    #[test]
    fn invalid_images_are_rejected_with_a_reason() {
        check_refused(b"", DecodeError::Empty);
        check_refused(b"hello, I am a text", DecodeError::NotAnImage);
        check_refused(&png_bomb(100_000, 100_000), DecodeError::TooLarge { width: 100_000, height: 100_000 });
        check_refused(&png_bomb(16_000, 16_000), DecodeError::TooLarge { width: 16_000, height: 16_000 });
        let jpeg = jpeg_bytes(64, 64, [1, 2, 3]);
        check_refused(&jpeg[..jpeg.len() / 2], DecodeError::Truncated);
        check_refused(&jpeg[..jpeg.len() - 3], DecodeError::Truncated);
        let png = png_bytes(64, 64, [1, 2, 3]);
        check_refused(&png[..png.len() / 2], DecodeError::Truncated);
        let mut flipped = png_bytes(64, 64, [1, 2, 3]);
        let middle = flipped.len() / 2;
        flipped[middle] ^= 0xff;
        assert!(matches!(decode_rgb(&flipped, Upright::Turn), Err(DecodeError::Broken(_))));
    }

    #[test]
    fn transparent_parts_show_mid_grey() {
        let mut bytes = Cursor::new(Vec::new());
        let mut image = RgbaImage::from_pixel(2, 1, image::Rgba([255, 0, 0, 0]));
        image.put_pixel(1, 0, image::Rgba([255, 0, 0, 255]));
        image.write_to(&mut bytes, image::ImageFormat::Png).unwrap();
        let opaque = decode_rgb(bytes.get_ref(), Upright::Turn).unwrap();
        assert_eq!(opaque.get_pixel(0, 0).0, [128, 128, 128]);
        assert_eq!(opaque.get_pixel(1, 0).0, [255, 0, 0]);
    }

    #[test]
    fn the_camera_orientation_is_applied_on_request() {
        let mut jpeg = jpeg_bytes(40, 30, [9, 9, 9]);
        // An APP1 segment with one EXIF entry: orientation 6, a quarter turn.
        let exif = b"\xff\xe1\x00\x22Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0";
        jpeg.splice(2..2, exif.iter().copied());
        assert_eq!(decode_rgb(&jpeg, Upright::Turn).unwrap().dimensions(), (30, 40));
        assert_eq!(decode_rgb(&jpeg, Upright::AsStored).unwrap().dimensions(), (40, 30));
    }

    proptest! {
        #[test]
        fn a_damaged_picture_never_panics(at in 0_usize..600, value in any::<u8>(), keep in 0_usize..2000) {
            for mut bytes in [jpeg_bytes(33, 17, [200, 10, 10]), png_bytes(33, 17, [200, 10, 10]), webp_bytes(33, 17)] {
                let last = bytes.len() - 1;
                bytes[at.min(last)] = value;
                bytes.truncate(keep);
                let _ = decode_rgb(&bytes, Upright::Turn);
                let _ = decode_rgba(&bytes);
            }
        }
    }
}
