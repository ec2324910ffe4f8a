//! Too little memory ends the program with a sentence instead of an abort with a backtrace.
//!
//! `unsafe`, because allocators are.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{Write, stderr};
use touchstream_encoder::OUT_OF_MEMORY;

/// The system's allocator; says so when there is no memory left.
struct Reporting;

#[global_allocator]
static ALLOCATOR: Reporting = Reporting;

// SAFETY: every call is passed on to the system's allocator with the caller's arguments, and every pointer that is
// returned is the system's.
unsafe impl GlobalAlloc for Reporting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        found(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        found(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promise.
        found(unsafe { System.realloc(memory, layout, size) }, size)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[inline]
fn found(memory: *mut u8, n_bytes: usize) -> *mut u8 {
    if memory.is_null() {
        out_of_memory(n_bytes);
    }
    memory
}

/// Allocates nothing. Other threads may hold any lock, so nothing is cleaned up either; files are complete or absent.
#[cold]
fn out_of_memory(n_bytes: usize) -> ! {
    let mb = n_bytes.div_ceil(1 << 20);
    let _ = writeln!(stderr(), "error: out of memory: {mb} MB more are needed than the system gives");
    signal_hook::low_level::exit(OUT_OF_MEMORY.into())
}
