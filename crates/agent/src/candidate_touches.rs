//! The touches that are considered at a step: drawn uniformly, the same for all modules of a run.

use crate::touch_scale::TouchScale;
use touchstream_env::seed::{RunSeed, StreamName};
use touchstream_env::touch::{N_TOUCHES, SCREEN_SIDE_PX, Touch};
use touchstream_mind::module::Candidates;

/// Candidate touches, as pixels and as the coordinates that modules read.
#[derive(Clone, Debug)]
pub struct CandidateTouches {
    /// Positions in a reward map.
    indices: Vec<u16>,
    centred: Candidates,
    centred_from_pixel: Box<[f32; SCREEN_SIDE_PX]>,
    /// Random bits, and what was drawn by them.
    words: Vec<u32>,
    drawn: Vec<u16>,
}

/// Cells of the screen that candidates are sorted into, a side.
const CELLS: usize = 8;
const CELL_PX: usize = SCREEN_SIDE_PX / CELLS;

/// Position of a cell along Hilbert's curve, on which neighbours are neighbours on the screen: `[row][col]`.
const ALONG_CURVE: [[u8; CELLS]; CELLS] = {
    let mut along = [[0; CELLS]; CELLS];
    let mut position = 0;
    while position < CELLS * CELLS {
        let (mut row, mut col, mut rest, mut side) = (0, 0, position, 1);
        while side < CELLS {
            let (down, right) = (1 & (rest / 2), 1 & (rest ^ (rest / 2)));
            if right == 0 {
                if down == 1 {
                    (row, col) = (side - 1 - row, side - 1 - col);
                }
                (row, col) = (col, row);
            }
            (row, col) = (row + side * down, col + side * right);
            rest /= 4;
            side *= 2;
        }
        along[row][col] = position as u8;
        position += 1;
    }
    along
};

impl CandidateTouches {
    /// Room for some, which modules read on a scale.
    pub fn new(n: usize, scale: TouchScale) -> Self {
        let centred_from_pixel = Box::new(std::array::from_fn(|pixel| scale.centred_from_pixel(pixel)));
        Self {
            indices: vec![0; n],
            centred: Candidates::new(n),
            centred_from_pixel,
            words: vec![0; n],
            drawn: vec![0; n],
        }
    }

    /// Draws all anew. A touch's probability is uniform to within 2^-32. Which touches are drawn is all that matters;
    /// they are put in an order in which neighbours are near each other, because that is faster to predict for.
    pub fn draw(&mut self, seed: RunSeed, name: StreamName, step: u64) {
        seed.stream(name, step).fill_u32(&mut self.words);
        for (index, &word) in self.drawn.iter_mut().zip(&self.words) {
            *index = ((u64::from(word) * N_TOUCHES as u64) >> 32) as u16;
        }
        self.sort_by_cell();
        self.centre();
    }

    /// Counting sort along the curve.
    fn sort_by_cell(&mut self) {
        let cell_of = |index: u16| {
            let (row, col) = (usize::from(index) / SCREEN_SIDE_PX, usize::from(index) % SCREEN_SIDE_PX);
            usize::from(ALONG_CURVE[row / CELL_PX][col / CELL_PX])
        };
        let mut next = [0_u32; CELLS * CELLS];
        for &index in &self.drawn {
            next[cell_of(index)] += 1;
        }
        let mut start = 0;
        for count in &mut next {
            (*count, start) = (start, start + *count);
        }
        for &index in &self.drawn {
            let place = &mut next[cell_of(index)];
            self.indices[*place as usize] = index;
            *place += 1;
        }
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
    fn the_curve_visits_every_cell_and_only_steps_to_neighbours() {
        let mut places = [(0_usize, 0_usize); CELLS * CELLS];
        for (row, positions) in ALONG_CURVE.iter().enumerate() {
            for (col, &position) in positions.iter().enumerate() {
                places[usize::from(position)] = (row, col);
            }
        }
        let is_step =
            |pair: &[(usize, usize)]| pair[0].0.abs_diff(pair[1].0) + pair[0].1.abs_diff(pair[1].1) == 1;
        assert!(places.windows(2).all(is_step), "{places:?}");
    }

    #[test]
    fn candidates_cover_the_screen_evenly_and_repeat_with_the_seed() {
        const NAME: StreamName = StreamName::new("test/candidates");
        let mut candidates = CandidateTouches::new(256, TouchScale::ONE);
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
