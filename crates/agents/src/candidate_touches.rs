//! The candidate touches of a step: drawn uniformly, and the same for all modules with the same seed.

use crate::touch_scale::TouchScale;
use touchstream_env::seed::{RandomStream, RunSeed, StreamName};
use touchstream_env::touch::{N_TOUCHES, SCREEN_SIDE_PX, Touch};
use touchstream_modules::module::Candidates;
use touchstream_modules::{Instructions, PlainLoop};

/// Candidate touches, as pixels and as touch coordinates.
#[derive(Clone, Debug)]
pub struct CandidateTouches {
    instructions: Instructions,
    /// Indices in a reward map.
    indices: Vec<u16>,
    centred: Candidates,
    scale: TouchScale,
    /// In the order in which they were drawn: the cell in the high half, the index in the low one.
    drawn: Vec<u32>,
}

/// Candidates are sorted into `CELLS x CELLS` cells of the screen.
const CELLS: usize = 8;
const SIDE: u16 = SCREEN_SIDE_PX as u16;
const CELL_PX: u16 = SIDE / CELLS as u16;

/// The indices of the cells along the Hilbert curve: neighbours on the curve are neighbours on the screen.
const CURVE: [u8; CELLS * CELLS] = {
    let mut curve = [0; CELLS * CELLS];
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
        curve[position] = (row * CELLS + col) as u8;
        position += 1;
    }
    curve
};

impl CandidateTouches {
    /// `n` candidates, all at the top left pixel until they are drawn.
    pub fn new(n: usize, scale: TouchScale) -> Self {
        Self {
            instructions: Instructions::best(),
            indices: vec![0; n],
            centred: Candidates::new(n),
            scale,
            drawn: vec![0; n],
        }
    }

    /// Draws all candidates. Probabilities are uniform to within 2^-32. Candidates are sorted so that neighbours in the
    /// list are close on the screen: predictions are faster then.
    pub fn draw(&mut self, seed: RunSeed, name: StreamName, step: u64) {
        self.instructions.vectorize(Draw { random: seed.stream(name, step), drawn: &mut self.drawn });
        self.sort_by_cell();
        self.centre();
    }

    /// Counting sort along the Hilbert curve.
    fn sort_by_cell(&mut self) {
        // The remainder lets the compiler omit bounds checks.
        let cell = |drawn: u32| (drawn >> 16) as usize % (CELLS * CELLS);
        let mut next = [0_u32; CELLS * CELLS];
        for &drawn in &self.drawn {
            next[cell(drawn)] += 1;
        }
        let mut start = 0;
        for cell in CURVE {
            let count = &mut next[usize::from(cell)];
            (*count, start) = (start, start + *count);
        }
        for &drawn in &self.drawn {
            let place = &mut next[cell(drawn)];
            self.indices[*place as usize] = drawn as u16;
            *place += 1;
        }
    }

    /// Replaces the candidates by `touches`.
    pub fn set(&mut self, touches: impl IntoIterator<Item = Touch>) {
        for (index, touch) in self.indices.iter_mut().zip(touches) {
            *index = touch.index() as u16;
        }
        self.centre();
    }

    fn centre(&mut self) {
        let (rows, cols) = self.centred.coordinates_mut();
        self.instructions.vectorize(Centre { indices: &self.indices, scale: self.scale, rows, cols });
    }

    /// Touch coordinates of all candidates, relative to the middle of the screen.
    pub fn centred(&self) -> &Candidates {
        &self.centred
    }

    pub fn len(&self) -> usize {
        self.indices.len()
    }

    pub fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }

    pub fn touch(&self, candidate: usize) -> Touch {
        Touch::from_index(usize::from(self.indices[candidate])).expect("candidates are on the screen")
    }

    pub fn touches(&self) -> impl ExactSizeIterator<Item = Touch> {
        (0..self.len()).map(|candidate| self.touch(candidate))
    }
}

/// Draws indices and computes their cells.
struct Draw<'a> {
    random: RandomStream,
    drawn: &'a mut [u32],
}

impl PlainLoop for Draw<'_> {
    #[inline(always)]
    fn run(mut self) {
        self.random.fill_u32(self.drawn);
        for drawn in self.drawn {
            let index = ((u64::from(*drawn) * N_TOUCHES as u64) >> 32) as u16;
            let cell = index / SIDE / CELL_PX * CELLS as u16 + index % SIDE / CELL_PX;
            *drawn = u32::from(cell) << 16 | u32::from(index);
        }
    }
}

/// Computes touch coordinates: a division of vectors is faster than a look-up for each touch.
struct Centre<'a> {
    indices: &'a [u16],
    scale: TouchScale,
    rows: &'a mut [f32],
    cols: &'a mut [f32],
}

impl PlainLoop for Centre<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { indices, scale, rows, cols } = self;
        for ((&index, row), col) in indices.iter().zip(rows).zip(cols) {
            *row = scale.centred_from_pixel(index / SIDE);
            *col = scale.centred_from_pixel(index % SIDE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_visits_every_cell_and_only_steps_to_neighbours() {
        let places = CURVE.map(|cell| (usize::from(cell) / CELLS, usize::from(cell) % CELLS));
        let is_step =
            |pair: &[(usize, usize)]| pair[0].0.abs_diff(pair[1].0) + pair[0].1.abs_diff(pair[1].1) == 1;
        assert!(places.windows(2).all(is_step), "{places:?}");
        assert_eq!(std::collections::BTreeSet::from(places).len(), CELLS * CELLS, "{places:?}");
    }

    #[test]
    fn candidates_cover_the_screen_evenly_and_repeat_with_the_seed() {
        const NAME: StreamName = StreamName::new("test/candidates");
        let mut candidates = CandidateTouches::new(256, TouchScale::ONE);
        let mut counts = [0_u32; 16];
        for step in 0..500 {
            candidates.draw(RunSeed(3), NAME, step);
            for (idx, touch) in candidates.touches().enumerate() {
                counts[touch.row() / 56 * 4 + touch.col() / 56] += 1;
                assert_eq!(candidates.centred().get(idx), TouchScale::ONE.centred_from_touch(touch));
            }
        }
        // Each share is 8,000 on average with a standard deviation of 87.
        assert!(counts.iter().all(|count| count.abs_diff(8000) < 440), "{counts:?}");
        let first: Vec<_> = candidates.touches().collect();
        candidates.draw(RunSeed(3), NAME, 500);
        assert_ne!(first, candidates.touches().collect::<Vec<_>>());
        candidates.draw(RunSeed(3), NAME, 499);
        assert_eq!(first, candidates.touches().collect::<Vec<_>>());
    }
}
