//! The touches that are considered at a step: drawn uniformly, the same for all modules of a run.

use touchstream_env::seed::{RunSeed, StreamName};
use touchstream_env::touch::{N_TOUCHES, SCREEN_SIDE_PX, Touch};
use touchstream_mind::module::Candidates;

/// Where a pixel is, counted from the middle of the screen: -1 at the first, 1 at the last.
pub fn centred_from_pixel(pixel: usize) -> f32 {
    (2 * pixel) as f32 / (SCREEN_SIDE_PX - 1) as f32 - 1.0
}

/// Row and column of a touch, counted from the middle of the screen, each in [-1, 1].
pub fn centred_from_touch(touch: Touch) -> [f32; 2] {
    [centred_from_pixel(touch.row()), centred_from_pixel(touch.col())]
}

/// Candidate touches, as pixels and as the coordinates that modules read.
#[derive(Clone, Debug)]
pub struct CandidateTouches {
    /// Positions in a reward map.
    indices: Vec<u16>,
    centred: Candidates,
    centred_from_pixel: Box<[f32; SCREEN_SIDE_PX]>,
}

impl CandidateTouches {
    /// Room for some.
    pub fn new(n: usize) -> Self {
        let centred_from_pixel = Box::new(std::array::from_fn(centred_from_pixel));
        Self { indices: vec![0; n], centred: Candidates::new(n), centred_from_pixel }
    }

    /// Draws all anew. A touch's probability is uniform to within 2^-32.
    pub fn draw(&mut self, seed: RunSeed, name: StreamName, step: u64) {
        let mut random = seed.stream(name, step);
        for index in &mut self.indices {
            *index = ((u64::from(random.next_u32()) * N_TOUCHES as u64) >> 32) as u16;
        }
        self.centre();
    }

    /// Becomes these touches; as many as there is room for.
    pub fn set(&mut self, touches: impl IntoIterator<Item = Touch>) {
        for (index, touch) in self.indices.iter_mut().zip(touches) {
            *index = touch.index() as u16;
        }
        self.centre();
    }

    fn centre(&mut self) {
        let (rows, cols) = self.centred.coordinates_mut();
        for ((&index, row), col) in self.indices.iter().zip(rows).zip(cols) {
            let index = usize::from(index);
            *row = self.centred_from_pixel[index / SCREEN_SIDE_PX];
            *col = self.centred_from_pixel[index % SCREEN_SIDE_PX];
        }
    }

    /// As modules read them.
    pub fn centred(&self) -> &Candidates {
        &self.centred
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.indices.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }

    /// One of them.
    pub fn touch(&self, candidate: usize) -> Touch {
        Touch::from_index(usize::from(self.indices[candidate])).expect("candidates are on the screen")
    }

    /// All of them.
    pub fn touches(&self) -> impl ExactSizeIterator<Item = Touch> {
        (0..self.len()).map(|candidate| self.touch(candidate))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_are_at_plus_and_minus_one() {
        let corner = |row, col| centred_from_touch(Touch::new(row, col).unwrap());
        assert_eq!(corner(0, 0), [-1.0, -1.0]);
        assert_eq!(corner(0, 223), [-1.0, 1.0]);
        assert_eq!(corner(223, 223), [1.0, 1.0]);
    }

    #[test]
    fn candidates_cover_the_screen_evenly_and_repeat_with_the_seed() {
        const NAME: StreamName = StreamName::new("test/candidates");
        let mut candidates = CandidateTouches::new(256);
        let mut counts = [0_u32; 16];
        for step in 0..500 {
            candidates.draw(RunSeed(3), NAME, step);
            for touch in candidates.touches() {
                counts[touch.row() / 56 * 4 + touch.col() / 56] += 1;
            }
        }
        // 8,000 each; a standard deviation is 87.
        assert!(counts.iter().all(|count| count.abs_diff(8000) < 440), "{counts:?}");
        let first: Vec<_> = candidates.touches().collect();
        candidates.draw(RunSeed(3), NAME, 500);
        assert_ne!(first, candidates.touches().collect::<Vec<_>>());
        candidates.draw(RunSeed(3), NAME, 499);
        assert_eq!(first, candidates.touches().collect::<Vec<_>>());
    }
}
