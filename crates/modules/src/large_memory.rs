//! Numbers that are walked through whole at every update: they begin where a line of the caches does, and lie on large
//! pages where the system has them to give, so that the processor need not look up a page for every few hundred
//! numbers.
#![allow(unsafe_code)]

use std::ops::{Deref, DerefMut};

/// Numbers from which on large pages pay: those that fit into caches are looked up rarely.
const LARGE: usize = 1 << 20;

/// What the processor's caches hold together.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
struct Line([f32; LINE]);

const LINE: usize = 16;

/// Numbers that begin where a line of the caches does: a register of sixteen never has to be put together from two
/// lines, which would make a loop that reads most of what it multiplies half as fast.
#[derive(Debug, PartialEq)]
pub struct AlignedNumbers {
    /// The last line is padded with zeros.
    lines: Vec<Line>,
    len: usize,
}

impl AlignedNumbers {
    /// Zeros.
    pub fn zeros(len: usize) -> Self {
        let n_lines = len.div_ceil(LINE);
        let mut lines: Vec<Line> = Vec::with_capacity(n_lines);
        if len >= LARGE {
            // Before anything is written, so that pages are large from the first.
            prefer_large_pages(lines.as_ptr().cast(), len);
        }
        lines.resize(n_lines, Line([0.0; LINE]));
        Self { lines, len }
    }
}

impl From<Vec<f32>> for AlignedNumbers {
    fn from(numbers: Vec<f32>) -> Self {
        Self::from(&*numbers)
    }
}

impl From<&[f32]> for AlignedNumbers {
    fn from(numbers: &[f32]) -> Self {
        let mut aligned = Self::zeros(numbers.len());
        aligned.copy_from_slice(numbers);
        aligned
    }
}

impl Clone for AlignedNumbers {
    fn clone(&self) -> Self {
        Self::from(&**self)
    }
}

impl Deref for AlignedNumbers {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        // SAFETY: lines are contiguous and hold sixteen numbers each; there are enough for `len`.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.len) }
    }
}

impl DerefMut for AlignedNumbers {
    fn deref_mut(&mut self) -> &mut [f32] {
        // SAFETY: as above, and the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.len) }
    }
}

#[cfg(target_os = "linux")]
fn prefer_large_pages(first: *const f32, n: usize) {
    use rustix::mm::{Advice, madvise};
    let page = rustix::param::page_size();
    let (start, end) =
        (first.addr().next_multiple_of(page), (first.addr() + n * size_of::<f32>()) / page * page);
    if start < end {
        let first = first.with_addr(start).cast_mut();
        // SAFETY: whole pages inside of memory that is ours; the advice changes where they lie, never what they are.
        // A system that cannot follow it ignores it.
        let _ = unsafe { madvise(first.cast(), end - start, Advice::LinuxHugepage) };
    }
}

#[cfg(not(target_os = "linux"))]
fn prefer_large_pages(_first: *const f32, _n: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_memory(numbers: &mut [f32], n: usize) {
        assert!(numbers.len() == n && numbers.iter().all(|&number| number == 0.0));
        numbers.iter_mut().enumerate().for_each(|(idx, number)| *number = idx as f32);
        assert!(numbers.iter().enumerate().all(|(idx, &number)| number == idx as f32));
    }

    #[test]
    fn large_memory_is_memory() {
        for n in [0, 1, 16, 17, LARGE - 1, LARGE, LARGE + 12_345] {
            let mut aligned = AlignedNumbers::zeros(n);
            check_memory(&mut aligned, n);
            assert!(aligned.as_ptr().addr().is_multiple_of(64));
            let copied = aligned.clone();
            assert!(copied == aligned && copied.as_ptr().addr().is_multiple_of(64));
        }
    }
}
