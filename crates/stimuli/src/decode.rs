//! Decodes JPEG, PNG and WebP files, with limits on size and memory.

use crate::exif::Orientation;
use crate::pixels::{Pixels, RgbImage, RgbaImage};
use std::io::{Cursor, ErrorKind};
use touchstream_env::screen::BACKGROUND_GREY;
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

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
    let decoded = decode(bytes)?;
    let over_grey = |[red, green, blue, alpha]: [u8; 4]| {
        let [alpha, grey] = [alpha, BACKGROUND_GREY].map(u32::from);
        let mixed = |channel| (u32::from(channel) * alpha + grey * (255 - alpha) + 127) / 255;
        [red, green, blue].map(|channel| mixed(channel) as u8)
    };
    let opaque = |[red, green, blue, _]: [u8; 4]| [red, green, blue];
    let image = if decoded.has_alpha() { decoded.pixels(over_grey) } else { decoded.pixels(opaque) };
    Ok(match upright {
        Upright::Turn => image.turned(decoded.orientation),
        Upright::AsStored => image,
    })
}

/// Decodes to RGBA.
pub fn decode_rgba(bytes: &[u8]) -> Result<RgbaImage, DecodeError> {
    let decoded = decode(bytes)?;
    Ok(decoded.pixels(|rgba| rgba).turned(decoded.orientation))
}

/// `[height, width, n_channels]` bytes: grey, grey and alpha, RGB, or RGBA.
struct Decoded {
    width: u32,
    height: u32,
    n_channels: usize,
    samples: Vec<u8>,
    orientation: Orientation,
}

impl Decoded {
    fn has_alpha(&self) -> bool {
        self.n_channels.is_multiple_of(2)
    }

    /// Every pixel, as RGBA, through a function.
    fn pixels<const N: usize>(&self, pixel_of: impl Fn([u8; 4]) -> [u8; N]) -> Pixels<N> {
        let mut samples = self.samples.chunks_exact(self.n_channels);
        Pixels::from_fn(self.width, self.height, |_, _| {
            pixel_of(match *samples.next().unwrap_or_default() {
                [grey] => [grey, grey, grey, 255],
                [grey, alpha] => [grey, grey, grey, alpha],
                [red, green, blue] => [red, green, blue, 255],
                [red, green, blue, alpha] => [red, green, blue, alpha],
                _ => [0; 4],
            })
        })
    }
}

fn decode(bytes: &[u8]) -> Result<Decoded, DecodeError> {
    match bytes {
        [] => Err(DecodeError::Empty),
        [0xff, 0xd8, 0xff, ..] => decode_jpeg(bytes),
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => decode_png(bytes),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => decode_webp(bytes),
        _ => Err(DecodeError::NotAnImage),
    }
}

fn decode_jpeg(bytes: &[u8]) -> Result<Decoded, DecodeError> {
    // The decoder silently fills missing parts with grey.
    if !jpeg_is_whole(bytes) {
        return Err(DecodeError::Truncated);
    }
    let options =
        DecoderOptions::default().set_strict_mode(false).set_max_width(usize::MAX).set_max_height(usize::MAX);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder.decode_headers().map_err(broken)?;
    let (width, height) = decoder.dimensions().unwrap_or_default();
    let (width, height) = checked_size(width as u32, height as u32)?;
    let (colours, n_channels) = match decoder.input_colorspace() {
        Some(ColorSpace::Luma) => (ColorSpace::Luma, 1),
        Some(ColorSpace::LumaA) => (ColorSpace::LumaA, 2),
        Some(ColorSpace::RGBA) => (ColorSpace::RGBA, 4),
        _ => (ColorSpace::RGB, 3),
    };
    decoder.set_options(options.jpeg_set_out_colorspace(colours));
    let samples = decoder.decode().map_err(broken)?;
    let orientation = decoder.exif().map_or(Orientation::AsStored, |exif| Orientation::from_exif(exif));
    check_samples(Decoded { width, height, n_channels, samples, orientation })
}

fn decode_png(bytes: &[u8]) -> Result<Decoded, DecodeError> {
    let refused = |error| match error {
        png::DecodingError::IoError(error) if error.kind() == ErrorKind::UnexpectedEof => {
            DecodeError::Truncated
        }
        other => broken(other),
    };
    let limits = png::Limits { bytes: usize::try_from(MAX_DECODER_BYTES).unwrap_or(usize::MAX) };
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), limits);
    let header = decoder.read_header_info().map_err(refused)?;
    let (width, height) = checked_size(header.width, header.height)?;
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().map_err(refused)?;
    let (colours, depth) = reader.output_color_type();
    let n_bytes = reader.output_buffer_size().ok_or(DecodeError::TooLarge { width, height })?;
    let mut samples = vec![0; n_bytes];
    reader.next_frame(&mut samples).map_err(refused)?;
    match depth {
        png::BitDepth::Eight => {}
        png::BitDepth::Sixteen => {
            let words = samples.as_chunks().0.iter().map(|&word| u32::from(u16::from_be_bytes(word)));
            samples = words.map(|word| ((word + 128) / 257) as u8).collect();
        }
        other => return Err(DecodeError::Broken(format!("{other:?} bits per sample"))),
    }
    let orientation =
        reader.info().exif_metadata.as_deref().map_or(Orientation::AsStored, Orientation::from_exif);
    check_samples(Decoded { width, height, n_channels: colours.samples(), samples, orientation })
}

fn decode_webp(bytes: &[u8]) -> Result<Decoded, DecodeError> {
    let refused = |error| match error {
        image_webp::DecodingError::IoError(error) if error.kind() == ErrorKind::UnexpectedEof => {
            DecodeError::Truncated
        }
        other => broken(other),
    };
    let mut decoder = image_webp::WebPDecoder::new(Cursor::new(bytes)).map_err(refused)?;
    let (width, height) = decoder.dimensions();
    let (width, height) = checked_size(width, height)?;
    let exif = decoder.exif_metadata().ok().flatten();
    let n_bytes = decoder.output_buffer_size().ok_or(DecodeError::TooLarge { width, height })?;
    let mut samples = vec![0; n_bytes];
    decoder.read_image(&mut samples).map_err(refused)?;
    let n_channels = if decoder.has_alpha() { 4 } else { 3 };
    let orientation = exif.map_or(Orientation::AsStored, |exif| Orientation::from_exif(&exif));
    check_samples(Decoded { width, height, n_channels, samples, orientation })
}

fn checked_size(width: u32, height: u32) -> Result<(u32, u32), DecodeError> {
    if width > MAX_SIDE_PX || height > MAX_SIDE_PX || u64::from(width) * u64::from(height) > MAX_PIXELS {
        return Err(DecodeError::TooLarge { width, height });
    }
    if width == 0 || height == 0 {
        return Err(DecodeError::Broken(format!("{width}x{height} pixels")));
    }
    Ok((width, height))
}

fn check_samples(decoded: Decoded) -> Result<Decoded, DecodeError> {
    let Decoded { width, height, n_channels, ref samples, .. } = decoded;
    if samples.len() as u64 != u64::from(width) * u64::from(height) * n_channels as u64 {
        return Err(DecodeError::Broken(format!("{} bytes for {width}x{height} pixels", samples.len())));
    }
    Ok(decoded)
}

fn broken(error: impl std::fmt::Display) -> DecodeError {
    // Put multi-line messages on one line.
    DecodeError::Broken(error.to_string().replace('\n', " "))
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
        let mut image = image::RgbaImage::from_pixel(2, 1, image::Rgba([255, 0, 0, 0]));
        image.put_pixel(1, 0, image::Rgba([255, 0, 0, 255]));
        image.write_to(&mut bytes, image::ImageFormat::Png).unwrap();
        let opaque = decode_rgb(bytes.get_ref(), Upright::Turn).unwrap();
        assert_eq!(opaque.pixel(0, 0), [128, 128, 128]);
        assert_eq!(opaque.pixel(1, 0), [255, 0, 0]);
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

    /// Another decoder's pixels of the same file.
    #[track_caller]
    fn check_same_as_image_crate(bytes: &[u8]) {
        let theirs = image::load_from_memory(bytes).unwrap();
        let rgba = decode_rgba(bytes).unwrap();
        assert_eq!(rgba.as_bytes(), theirs.to_rgba8().as_raw());
        if !theirs.color().has_alpha() {
            assert_eq!(decode_rgb(bytes, Upright::AsStored).unwrap().as_bytes(), theirs.to_rgb8().as_raw());
        }
    }

    #[test]
    fn every_pixel_format_becomes_eight_bits() {
        use image::{DynamicImage, ImageFormat};
        let byte = |x: u32, y: u32, channel: u32| (x * 37 + y * 11 + channel * 71) as u8;
        let rgba = image::RgbaImage::from_fn(19, 13, |x, y| image::Rgba([0, 1, 2, 3].map(|c| byte(x, y, c))));
        let deep = image::ImageBuffer::from_fn(256, 256, |x, y| {
            image::Rgba([x * 256 + y, y * 256 + x, x * y, 65_535 - x * 256].map(|value| value as u16))
        });
        let encoded = |image: &DynamicImage, format| {
            let mut bytes = Cursor::new(Vec::new());
            image.write_to(&mut bytes, format).unwrap();
            bytes.into_inner()
        };
        for image in [DynamicImage::ImageRgba8(rgba), DynamicImage::ImageRgba16(deep)] {
            let kinds: [DynamicImage; 8] = [
                image.to_luma8().into(),
                image.to_luma_alpha8().into(),
                image.to_rgb8().into(),
                image.to_rgba8().into(),
                image.to_luma16().into(),
                image.to_luma_alpha16().into(),
                image.to_rgb16().into(),
                image.to_rgba16().into(),
            ];
            for kind in &kinds {
                check_same_as_image_crate(&encoded(kind, ImageFormat::Png));
            }
            for kind in [&kinds[2], &kinds[3]] {
                check_same_as_image_crate(&encoded(kind, ImageFormat::WebP));
            }
            for kind in [&kinds[0], &kinds[2]] {
                check_same_as_image_crate(&encoded(kind, ImageFormat::Jpeg));
            }
        }
    }

    #[test]
    fn palettes_and_few_bits_are_expanded() {
        for (colours, depth, n_bytes) in [
            (png::ColorType::Indexed, png::BitDepth::Two, 2),
            (png::ColorType::Grayscale, png::BitDepth::One, 1),
            (png::ColorType::Grayscale, png::BitDepth::Four, 3),
        ] {
            let mut bytes = Vec::new();
            let mut encoder = png::Encoder::new(&mut bytes, 5, 2);
            encoder.set_color(colours);
            encoder.set_depth(depth);
            if colours == png::ColorType::Indexed {
                encoder.set_palette([9, 8, 7, 60, 50, 40, 200, 100, 0, 1, 2, 3].to_vec());
                encoder.set_trns([0, 128, 255].to_vec());
            }
            let data: Vec<u8> = [0b1110_0100, 0b0101_1011, 0b0011_0000][..n_bytes].repeat(2);
            encoder.write_header().unwrap().write_image_data(&data).unwrap();
            check_same_as_image_crate(&bytes);
        }
    }

    #[test]
    fn every_orientation_is_turned_upright() {
        let stored = jpeg_bytes(40, 30, [9, 90, 200]);
        for value in 1..=8 {
            let mut jpeg = stored.clone();
            let mut exif =
                b"\xff\xe1\x00\x22Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0"
                    .to_vec();
            exif[28] = value;
            jpeg.splice(2..2, exif);
            let mut theirs = image::load_from_memory(&stored).unwrap();
            theirs.apply_orientation(image::metadata::Orientation::from_exif(value).unwrap());
            let ours = decode_rgb(&jpeg, Upright::Turn).unwrap();
            assert_eq!(ours.as_bytes(), theirs.to_rgb8().as_raw(), "orientation {value}");
        }
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
