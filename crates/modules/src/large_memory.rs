//! Arrays that every update reads and writes completely: aligned to cache lines and, where the system offers them, on
//! large pages, because with small pages address translation costs a lookup for every thousand values.
#![allow(unsafe_code)]

use std::ops::{Deref, DerefMut};

/// Minimum length for large pages: smaller arrays stay in the caches, where few addresses are translated.
const LARGE: usize = 1 << 20;

/// A cache line.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
struct Line([f32; LINE]);

const LINE: usize = 16;

/// An array that begins at a cache line, so that no load of sixteen values crosses two lines: crossing halves the speed
/// of loops that are bound by loads.
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
            // Before the first write, which allocates the pages.
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
        // SAFETY: lines are contiguous, hold sixteen values each, and `len` values fit into them.
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
        // SAFETY: whole pages within our own allocation; the advice changes the size of its pages, not the contents.
        // Systems without large pages ignore it.
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
