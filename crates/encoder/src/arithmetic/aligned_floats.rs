//! Buffers that begin at a cache line and, if they are large, lie on large pages.
#![allow(unsafe_code)]

use crate::arithmetic::N_LANES;

/// Bytes of a cache line, which is as long as sixteen floats.
const LINE_BYTES: usize = 4 * N_LANES;

/// Floats from which on large pages are asked for: a few of them, of 2 MB each.
const LARGE: usize = 1 << 20;

/// Floats that begin at a cache line, so that no aligned group of sixteen lies across two.
#[derive(Default)]
pub(crate) struct AlignedFloats {
    memory: Vec<f32>,
    /// Where the first line begins in `memory`.
    start: usize,
}

impl AlignedFloats {
    /// Zeros.
    pub fn zeros(len: usize) -> Self {
        let memory = vec![0.0; len + N_LANES - 1];
        if len >= LARGE {
            // The system gives zeroed memory page by page when it is first written, so this comes before that.
            prefer_large_pages(&memory);
        }
        // In floats. A pointer of which this is not known would be 0 floats away: unaligned, slower and still right.
        let start = Some(memory.as_ptr().align_offset(LINE_BYTES)).filter(|&start| start < N_LANES);
        Self { start: start.unwrap_or(0), memory }
    }

    /// The first `len` floats, after growing to that many if there are fewer. What they are is left over from before.
    pub fn grown(&mut self, len: usize) -> &mut [f32] {
        if self.len() < len {
            // What they were does not matter: nothing is copied, and the old memory goes before the new is taken.
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

    /// At least the length asked for.
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

/// Weights of deep layers are read from memory once a batch; with pages of 4 KB, looking these up takes a tenth of the time.
#[cfg(target_os = "linux")]
fn prefer_large_pages(floats: &[f32]) {
    use rustix::mm::{Advice, madvise};
    let page = rustix::param::page_size();
    let first = floats.as_ptr();
    let start = first.addr().next_multiple_of(page);
    let end = (first.addr() + size_of_val(floats)) / page * page;
    if start < end {
        let first = first.with_addr(start).cast_mut();
        // SAFETY: whole pages of memory that is ours; the advice changes where they lie, never what they hold. A system that
        // cannot follow it returns an error, which does not matter.
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
