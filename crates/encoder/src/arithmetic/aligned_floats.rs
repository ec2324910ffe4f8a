//! Buffers that begin at a cache line.

use crate::arithmetic::N_LANES;

/// Bytes of a cache line, which is as long as sixteen floats.
const LINE_BYTES: usize = 4 * N_LANES;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_begin_at_a_cache_line_and_grow() {
        let mut floats = AlignedFloats::default();
        for len in [1, 16, 1000, 70_000, 3] {
            let grown = floats.grown(len);
            assert_eq!((grown.len(), grown.as_ptr() as usize % LINE_BYTES), (len, 0));
        }
        assert!(floats.as_slice().len() >= 70_000, "memory is kept");
    }
}
