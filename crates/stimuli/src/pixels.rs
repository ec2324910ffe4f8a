//! An image in memory, with three or four channels of 8 bits.

use crate::exif::Orientation;

/// `[height, width, N]` bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pixels<const N: usize> {
    width: u32,
    height: u32,
    bytes: Vec<u8>,
}

pub type RgbImage = Pixels<3>;
pub type RgbaImage = Pixels<4>;

impl<const N: usize> Pixels<N> {
    pub fn from_fn(width: u32, height: u32, mut pixel_at: impl FnMut(u32, u32) -> [u8; N]) -> Self {
        let mut bytes = Vec::with_capacity(width as usize * height as usize * N);
        for y in 0..height {
            (0..width).for_each(|x| bytes.extend(pixel_at(x, y)));
        }
        Self { width, height, bytes }
    }

    pub fn from_pixel(width: u32, height: u32, pixel: [u8; N]) -> Self {
        Self::from_fn(width, height, |_, _| pixel)
    }

    pub fn width(&self) -> u32 {
        self.width
    }

    pub fn height(&self) -> u32 {
        self.height
    }

    /// Width and height.
    pub fn dimensions(&self) -> (u32, u32) {
        (self.width, self.height)
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// In rows from the top.
    pub fn pixels(&self) -> &[[u8; N]] {
        self.bytes.as_chunks().0
    }

    pub fn pixel(&self, x: u32, y: u32) -> [u8; N] {
        assert!(x < self.width, "column {x} of {}", self.width);
        self.pixels()[y as usize * self.width as usize + x as usize]
    }

    pub fn set_pixel(&mut self, x: u32, y: u32, pixel: [u8; N]) {
        assert!(x < self.width, "column {x} of {}", self.width);
        self.bytes.as_chunks_mut().0[y as usize * self.width as usize + x as usize] = pixel;
    }

    /// The image as the camera was held.
    pub fn turned(self, orientation: Orientation) -> Self {
        let (width, height) = self.dimensions();
        if orientation == Orientation::AsStored {
            return self;
        }
        let (right, bottom) = (width.saturating_sub(1), height.saturating_sub(1));
        let (new_width, new_height) =
            if orientation.is_sideways() { (height, width) } else { (width, height) };
        Self::from_fn(new_width, new_height, |x, y| match orientation {
            Orientation::AsStored => self.pixel(x, y),
            Orientation::Mirrored => self.pixel(right - x, y),
            Orientation::HalfTurn => self.pixel(right - x, bottom - y),
            Orientation::UpsideDown => self.pixel(x, bottom - y),
            Orientation::Transposed => self.pixel(y, x),
            Orientation::QuarterTurn => self.pixel(y, bottom - x),
            Orientation::AntiTransposed => self.pixel(right - y, bottom - x),
            Orientation::QuarterTurnBack => self.pixel(right - y, x),
        })
    }
}
