//! Masks as COCO stores them: run lengths down the columns, alternately outside and inside the object.

use crate::decode::{MAX_PIXELS, MAX_SIDE_PX};

/// The mask of an image as run lengths, which add up to its number of pixels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rle {
    height: u32,
    width: u32,
    /// The first run is outside the object and may be empty.
    counts: Vec<u32>,
}

/// Why run lengths are not a mask.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RleError {
    #[error("a mask of {height}x{width} pixels is not allowed")]
    Size { height: u32, width: u32 },
    #[error("run lengths add up to {sum} pixels, not to {expected}")]
    Sum { sum: u64, expected: u64 },
    #[error("run length {length} is not in 0..={n_pixels}")]
    Length { length: i64, n_pixels: u64 },
    #[error("byte {byte} at {at} is not part of compressed run lengths")]
    Character { byte: u8, at: usize },
    #[error("compressed run lengths end within a number")]
    Unfinished,
    #[error("the masks have different sizes")]
    DifferentSizes,
}

/// Maximum number of characters per number, five bits each; sufficient for any run length.
const MAX_CHARACTERS: u32 = 8;

impl Rle {
    /// A mask from run lengths, which must add up to `height * width`.
    pub fn from_counts(height: u32, width: u32, counts: Vec<u32>) -> Result<Self, RleError> {
        let expected = n_pixels(height, width)?;
        let sum = counts.iter().map(|&count| u64::from(count)).sum();
        if sum != expected {
            return Err(RleError::Sum { sum, expected });
        }
        Ok(Self { height, width, counts })
    }

    /// A mask from COCO's compressed text: five bits per character; from the fourth number on, each is stored as the
    /// difference from the number two before it.
    pub fn from_compressed(height: u32, width: u32, text: &[u8]) -> Result<Self, RleError> {
        let n_pixels = n_pixels(height, width)?;
        let mut counts: Vec<u32> = Vec::new();
        let mut letters = text.iter().enumerate();
        while letters.len() > 0 {
            let mut length = 0_i64;
            let mut n_letters = 0;
            loop {
                let (at, &byte) = letters.next().ok_or(RleError::Unfinished)?;
                let bits = byte.wrapping_sub(48);
                if bits >= 64 {
                    return Err(RleError::Character { byte, at });
                }
                if n_letters == MAX_CHARACTERS {
                    return Err(RleError::Unfinished);
                }
                length |= i64::from(bits & 0x1f) << (5 * n_letters);
                n_letters += 1;
                if bits & 0x20 == 0 {
                    if bits & 0x10 != 0 {
                        length |= -1 << (5 * n_letters);
                    }
                    break;
                }
            }
            if counts.len() > 2 {
                length += i64::from(counts[counts.len() - 2]);
            }
            match u32::try_from(length) {
                Ok(count) if u64::from(count) <= n_pixels => counts.push(count),
                _ => return Err(RleError::Length { length, n_pixels }),
            }
        }
        Self::from_counts(height, width, counts)
    }

    /// The mask as COCO's compressed text.
    pub fn to_compressed(&self) -> String {
        let mut text = String::new();
        for (idx, &count) in self.counts.iter().enumerate() {
            let before = if idx > 2 { self.counts[idx - 2] } else { 0 };
            let mut rest = i64::from(count) - i64::from(before);
            loop {
                let bits = (rest & 0x1f) as u8;
                rest >>= 5;
                let has_more = if bits & 0x10 != 0 { rest != -1 } else { rest != 0 };
                text.push(char::from(bits + 48 + if has_more { 0x20 } else { 0 }));
                if !has_more {
                    break;
                }
            }
        }
        text
    }

    /// A mask from run lengths that are known to add up.
    pub(super) fn from_checked_counts(height: u32, width: u32, counts: Vec<u32>) -> Self {
        debug_assert!(Self::from_counts(height, width, counts.clone()).is_ok());
        Self { height, width, counts }
    }

    /// The pixels of either mask.
    pub fn union(&self, other: &Self) -> Result<Self, RleError> {
        if (self.height, self.width) != (other.height, other.width) {
            return Err(RleError::DifferentSizes);
        }
        let (mut ours, mut others) = (Runs::new(&self.counts), Runs::new(&other.counts));
        let (mut counts, mut length, mut inside) = (Vec::new(), 0, false);
        loop {
            let step = ours.left.min(others.left);
            length += step;
            let n_left = ours.take(step) + others.take(step);
            let was_inside = std::mem::replace(&mut inside, ours.inside || others.inside);
            if inside != was_inside || n_left == 0 {
                counts.push(length);
                length = 0;
            }
            if n_left == 0 {
                return Ok(Self { counts, ..*self });
            }
        }
    }

    /// Number of pixels inside.
    pub fn area_px(&self) -> u64 {
        self.counts.iter().skip(1).step_by(2).map(|&count| u64::from(count)).sum()
    }

    /// Height and width.
    pub fn size(&self) -> (u32, u32) {
        (self.height, self.width)
    }

    /// The runs inside the object, as ranges of `column * height + row`, sorted, without empty ones.
    pub fn inside(&self) -> Vec<std::ops::Range<u32>> {
        let mut start = 0;
        let mut runs = Vec::with_capacity(self.counts.len() / 2);
        for (idx, &count) in self.counts.iter().enumerate() {
            if idx % 2 == 1 && count > 0 {
                runs.push(start..start + count);
            }
            start += count;
        }
        runs
    }

    /// The bounding box of the pixels inside, as `(left, top, right, bottom)`, right and bottom excluded.
    pub fn bounds(&self) -> Option<(u32, u32, u32, u32)> {
        let runs = self.inside();
        let left = runs.first()?.start / self.height;
        let right = (runs.last()?.end - 1) / self.height + 1;
        let (mut top, mut bottom) = (self.height, 0);
        for run in runs {
            let (first, last) = (run.start, run.end - 1);
            let spans_columns = first / self.height != last / self.height;
            top = top.min(if spans_columns { 0 } else { first % self.height });
            bottom = bottom.max(if spans_columns { self.height } else { last % self.height + 1 });
        }
        Some((left, top, right, bottom))
    }
}

/// Iterates over the runs of a mask in steps that need not end at the ends of runs.
struct Runs<'a> {
    rest: std::slice::Iter<'a, u32>,
    left: u32,
    inside: bool,
}

impl<'a> Runs<'a> {
    fn new(counts: &'a [u32]) -> Self {
        let mut rest = counts.iter();
        Self { left: rest.next().copied().unwrap_or(0), rest, inside: false }
    }

    /// Advances by `step` pixels, and to the next run if one ends; returns the rest of the current run.
    fn take(&mut self, step: u32) -> u32 {
        self.left -= step;
        while self.left == 0 {
            let Some(&next) = self.rest.next() else { break };
            self.left = next;
            self.inside = !self.inside;
        }
        self.left
    }
}

/// The number of pixels of an image, if its size is allowed.
pub(super) fn n_pixels(height: u32, width: u32) -> Result<u64, RleError> {
    let n_pixels = u64::from(height) * u64::from(width);
    match n_pixels == 0 || height > MAX_SIDE_PX || width > MAX_SIDE_PX || n_pixels > MAX_PIXELS {
        true => Err(RleError::Size { height, width }),
        false => Ok(n_pixels),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Run lengths of any mask, and its size.
    fn rle() -> impl Strategy<Value = Rle> {
        (1_u32..40, 1_u32..40, prop::collection::vec(0_u32..60, 1..40)).prop_map(
            |(height, width, mut counts)| {
                let mut left = height * width;
                counts.iter_mut().for_each(|count| {
                    *count = (*count).min(left);
                    left -= *count;
                });
                counts.push(left);
                Rle::from_counts(height, width, counts).unwrap()
            },
        )
    }

    fn pixels(rle: &Rle) -> Vec<bool> {
        let mut pixels = vec![false; (rle.height * rle.width) as usize];
        rle.inside().into_iter().for_each(|run| pixels[run.start as usize..run.end as usize].fill(true));
        pixels
    }

    proptest! {
        #[test]
        fn text_and_mask_are_inverse(rle in rle()) {
            let text = rle.to_compressed();
            prop_assert_eq!(Rle::from_compressed(rle.height, rle.width, text.as_bytes()), Ok(rle));
        }

        #[test]
        fn any_text_is_a_mask_or_refused(height in any::<u32>(), width in 0_u32..70, text in prop::collection::vec(40_u8..120, 0..30)) {
            for height in [height, height % 70] {
                if let Ok(rle) = Rle::from_compressed(height, width, &text) {
                    prop_assert_eq!(rle.counts.iter().map(|&c| u64::from(c)).sum::<u64>(), u64::from(height) * u64::from(width));
                }
            }
        }

        #[test]
        fn a_union_holds_the_pixels_of_both(a in rle(), b in rle()) {
            let b = Rle::from_counts(a.height, a.width, {
                let mut left = a.height * a.width;
                let mut counts: Vec<u32> = b.counts.iter().map(|&c| { let c = c.min(left); left -= c; c }).collect();
                counts.push(left);
                counts
            }).unwrap();
            let union = a.union(&b).unwrap();
            let expected: Vec<bool> = pixels(&a).iter().zip(pixels(&b)).map(|(&a, b)| a || b).collect();
            prop_assert_eq!(pixels(&union), expected);
            prop_assert_eq!(union.area_px() as usize, pixels(&union).iter().filter(|&&inside| inside).count());
        }

        #[test]
        fn bounds_are_tight(rle in rle()) {
            let height = rle.height as usize;
            let inside: Vec<(u32, u32)> = pixels(&rle).iter().enumerate().filter(|&(_, &inside)| inside)
                .map(|(idx, _)| ((idx / height) as u32, (idx % height) as u32)).collect();
            let expected = inside.iter().map(|p| p.0).min().map(|left| (
                left,
                inside.iter().map(|p| p.1).min().unwrap(),
                inside.iter().map(|p| p.0).max().unwrap() + 1,
                inside.iter().map(|p| p.1).max().unwrap() + 1,
            ));
            prop_assert_eq!(rle.bounds(), expected);
        }
    }

    #[test]
    fn invalid_counts_are_rejected() {
        let cases = [
            (3, 4, vec![5, 5], "run lengths add up to 10 pixels, not to 12"),
            (3, 4, vec![], "run lengths add up to 0 pixels, not to 12"),
            (3, 4, vec![u32::MAX, u32::MAX], "run lengths add up to 8589934590 pixels, not to 12"),
            (0, 4, vec![], "a mask of 0x4 pixels is not allowed"),
            (16_385, 1, vec![16_385], "a mask of 16385x1 pixels is not allowed"),
            (16_000, 16_000, vec![256_000_000], "a mask of 16000x16000 pixels is not allowed"),
        ];
        for (height, width, counts, message) in cases {
            assert_eq!(Rle::from_counts(height, width, counts).unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn invalid_text_is_rejected() {
        let cases: [(&[u8], &str); 6] = [
            (b"", "run lengths add up to 0 pixels, not to 12"),
            (b"5", "run lengths add up to 5 pixels, not to 12"),
            (b"@", "run length -16 is not in 0..=12"),
            (b"\xff", "byte 255 at 0 is not part of compressed run lengths"),
            (b"P", "compressed run lengths end within a number"),
            (b"oooooooooooooooooooooo", "compressed run lengths end within a number"),
        ];
        for (text, message) in cases {
            assert_eq!(Rle::from_compressed(3, 4, text).unwrap_err().to_string(), message);
        }
    }
}
