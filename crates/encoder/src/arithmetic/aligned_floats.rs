//! Buffers of floats that are aligned to cache lines and, if large, are placed on large pages.
#![allow(unsafe_code)]

use crate::arithmetic::N_LANES;

/// A cache line holds sixteen floats.
const LINE_BYTES: usize = 4 * N_LANES;

/// Number of floats from which large pages (2 MB each) are requested.
const LARGE: usize = 1 << 20;

/// Floats aligned to a cache line, so that no aligned group of sixteen crosses a line.
#[derive(Default)]
pub(crate) struct AlignedFloats {
    memory: Vec<f32>,
    /// Index in `memory` of the first cache line.
    start: usize,
}

impl AlignedFloats {
    /// Zeros.
    pub fn zeros(len: usize) -> Self {
        let memory = vec![0.0; len + N_LANES - 1];
        if len >= LARGE {
            // Before the memory is written, because the system allocates a page at its first write.
            prefer_large_pages(&memory);
        }
        // In floats. If the offset is unknown, 0 is used: unaligned, so slower, but correct.
        let start = Some(memory.as_ptr().align_offset(LINE_BYTES)).filter(|&start| start < N_LANES);
        Self { start: start.unwrap_or(0), memory }
    }

    /// The first `len` floats, after growing to `len` if necessary. Their values are unspecified.
    pub fn grown(&mut self, len: usize) -> &mut [f32] {
        if self.len() < len {
            // The old values are not needed: nothing is copied, and the old memory is freed before the new is
            // allocated.
            *self = Self::default();
            *self = Self::zeros(len);
        }
        &mut self.memory[self.start..][..len]
    }

    pub fn as_slice(&self) -> &[f32] {
        &self.memory[self.start..]
    }

    pub fn as_mut_slice(&mut self) -> &mut [f32] {
        &mut self.memory[self.start..]
    }

    /// At least the requested length.
    fn len(&self) -> usize {
        self.memory.len() - self.start
    }
}

impl From<&[f32]> for AlignedFloats {
    fn from(floats: &[f32]) -> Self {
        let mut aligned = Self::zeros(floats.len());
        aligned.grown(floats.len()).copy_from_slice(floats);
        aligned
    }
}

/// Weights of deep layers are read from memory once per batch; with 4 KB pages, address translation takes a tenth of
/// the time.
#[cfg(target_os = "linux")]
fn prefer_large_pages(floats: &[f32]) {
    use rustix::mm::{Advice, madvise};
    let page = rustix::param::page_size();
    let first = floats.as_ptr();
    let start = first.addr().next_multiple_of(page);
    let end = (first.addr() + size_of_val(floats)) / page * page;
    if start < end {
        let first = first.with_addr(start).cast_mut();
        // SAFETY: the range consists of whole pages of our own memory, and the advice changes their placement, never
        // their contents. Errors of systems that ignore the advice do not matter.
        let _ = unsafe { madvise(first.cast(), end - start, Advice::LinuxHugepage) };
    }
}

#[cfg(not(target_os = "linux"))]
fn prefer_large_pages(_floats: &[f32]) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_begin_at_a_cache_line_and_grow() {
        let mut floats = AlignedFloats::default();
        for len in [1, 16, 1000, 70_000, 3, LARGE + 12_345] {
            let grown = floats.grown(len);
            assert_eq!((grown.len(), grown.as_ptr().addr() % LINE_BYTES), (len, 0));
        }
        assert!(floats.as_slice().len() >= 70_000, "memory is kept");
    }
}
