//! Animations (APNG), which browsers play without a plug-in.

use crate::canvas::Canvas;

/// Duration of a frame, and of the last one, after which the animation restarts.
const FRAME_MS: u16 = 400;
const LAST_FRAME_MS: u16 = 2500;

/// An animation of at least one frame; all frames have the same size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Film {
    frames: Vec<Canvas>,
}

impl Film {
    /// An animation of these frames; `None` if there are none or if their sizes differ.
    pub fn of(frames: Vec<Canvas>) -> Option<Self> {
        let size = |canvas: &Canvas| (canvas.width(), canvas.height());
        let first = frames.first().map(size)?;
        frames.iter().all(|frame| size(frame) == first).then_some(Self { frames })
    }

    pub fn width(&self) -> usize {
        self.frames[0].width()
    }

    pub fn frames(&self) -> &[Canvas] {
        &self.frames
    }

    /// The bytes of an APNG file. Programs that do not support animations show the first frame.
    pub fn to_apng(&self) -> Result<Vec<u8>, png::EncodingError> {
        let mut bytes = Vec::new();
        let (width, height) = (self.width() as u32, self.frames[0].height() as u32);
        let mut encoder = png::Encoder::new(&mut bytes, width, height);
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::Fast);
        // 0 plays: repeat indefinitely.
        encoder.set_animated(self.frames.len() as u32, 0)?;
        encoder.set_frame_delay(FRAME_MS, 1000)?;
        encoder.set_blend_op(png::BlendOp::Over)?;
        let mut writer = encoder.write_header()?;
        let mut before: Option<&Canvas> = None;
        for (idx, frame) in self.frames.iter().enumerate() {
            if idx + 1 == self.frames.len() {
                writer.set_frame_delay(LAST_FRAME_MS, 1000)?;
            }
            writer.write_image_data(&changed_pixels(before, frame))?;
            before = Some(frame);
        }
        writer.finish()?;
        Ok(bytes)
    }
}

/// RGBA. Pixels that equal those of the previous frame are transparent, so that they compress well.
fn changed_pixels(before: Option<&Canvas>, frame: &Canvas) -> Vec<u8> {
    let opaque = |pixel: &[u8; 3]| [pixel[0], pixel[1], pixel[2], 255];
    let (pixels, _) = frame.pixels().as_chunks::<3>();
    match before {
        None => pixels.iter().flat_map(opaque).collect(),
        Some(before) => {
            let (old, _) = before.pixels().as_chunks::<3>();
            let kept = |(old, new): (&[u8; 3], &[u8; 3])| if old == new { [0; 4] } else { opaque(new) };
            old.iter().zip(pixels).flat_map(kept).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    /// The pixels that a player shows after each frame.
    fn played(bytes: Vec<u8>) -> Vec<Vec<u8>> {
        let mut reader = png::Decoder::new(Cursor::new(bytes)).read_info().unwrap();
        let n_frames = reader.info().animation_control().unwrap().num_frames;
        let mut shown = vec![0; reader.output_buffer_size().unwrap() / 4 * 3];
        let mut films = Vec::new();
        for _ in 0..n_frames {
            let mut frame = vec![0; reader.output_buffer_size().unwrap()];
            reader.next_frame(&mut frame).unwrap();
            for (shown, pixel) in shown.chunks_exact_mut(3).zip(frame.chunks_exact(4)) {
                if pixel[3] == 255 {
                    shown.copy_from_slice(&pixel[..3]);
                }
            }
            films.push(shown.clone());
        }
        films
    }

    #[test]
    fn frames_are_played_as_they_were_drawn() {
        let frame = |x: usize| {
            let mut canvas = Canvas::new(9, 5, [10, 20, 30]);
            canvas.set(x, 2, [255; 3]);
            canvas
        };
        let film = Film::of((0..4).map(frame).collect()).unwrap();
        let played = played(film.to_apng().unwrap());
        assert_eq!(played.len(), 4);
        for (shown, frame) in played.iter().zip(film.frames()) {
            assert_eq!(shown, frame.pixels());
        }
    }

    #[test]
    fn unchanged_frames_take_little_space() {
        let noise = |idx: usize| (idx * idx * 7919 % 251) as u8;
        let rows: Vec<Vec<u8>> =
            (0..60).map(|row| (0..180).map(|col| noise(row * 180 + col)).collect()).collect();
        let still = Canvas::of_rows(rows.iter().map(Vec::as_slice));
        let len = |n: usize| Film::of(vec![still.clone(); n]).unwrap().to_apng().unwrap().len();
        assert!(len(20) < len(1) + 19 * 350, "{} and {}", len(1), len(20));
    }

    #[test]
    fn frames_must_have_one_size() {
        assert_eq!(Film::of(vec![]), None);
        assert_eq!(Film::of(vec![Canvas::new(2, 3, [0; 3]), Canvas::new(3, 2, [0; 3])]), None);
    }
}
