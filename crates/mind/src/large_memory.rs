//! Memory for numbers that are walked through whole at every update: on large pages, where the system has them to give, so
//! that the processor need not look up a page for every few hundred numbers.
#![allow(unsafe_code)]

/// Numbers from which on large pages pay: those that fit into caches are looked up rarely.
const LARGE: usize = 1 << 20;

/// Zeros.
pub(crate) fn zeros(n: usize) -> Vec<f32> {
    let numbers = vec![0.0; n];
    if n >= LARGE {
        prefer_large_pages(&numbers);
    }
    numbers
}

#[cfg(target_os = "linux")]
fn prefer_large_pages(numbers: &[f32]) {
    use rustix::mm::{Advice, madvise};
    let page = rustix::param::page_size();
    let bytes = numbers.as_ptr_range();
    let (start, end) = (bytes.start.addr().next_multiple_of(page), bytes.end.addr() / page * page);
    if start < end {
        let first = bytes.start.with_addr(start).cast_mut();
        // SAFETY: whole pages inside of numbers that live; the advice changes where they lie, never what they are.
        // That a system cannot follow it is no error.
        let _ = unsafe { madvise(first.cast(), end - start, Advice::LinuxHugepage) };
    }
}

#[cfg(not(target_os = "linux"))]
fn prefer_large_pages(_numbers: &[f32]) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_memory_is_memory() {
        for n in [0, 1, LARGE - 1, LARGE, LARGE + 12_345] {
            let mut numbers = zeros(n);
            assert!(numbers.len() == n && numbers.iter().all(|&number| number == 0.0));
            numbers.iter_mut().enumerate().for_each(|(idx, number)| *number = idx as f32);
            assert!(numbers.iter().enumerate().all(|(idx, &number)| number == idx as f32));
        }
    }
}
