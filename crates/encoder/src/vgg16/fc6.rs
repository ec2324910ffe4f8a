//! FC6: 4096 units that each read all of pool5, so a scene vector encodes positions, too.

use crate::matrix_product::PackedMatrix;
use crate::vgg16::random_fc6::{RANDOM_FC6_SEED, RandomRows};
use crate::vgg16::weights::{FC6_LEN, Fc6Weights, POOL5_LEN};
use rayon::prelude::*;

/// Number of outputs that are packed and computed together. The matrix is 411 MB; while it is packed, at most one block
/// per thread is in memory twice.
const BLOCK_LEN: usize = 256;

/// `relu(W pool5 + b)`.
pub(super) struct Fc6 {
    /// `[25088, 256]` each.
    blocks: Vec<PackedMatrix>,
    bias: Vec<f32>,
}

impl Fc6 {
    /// With trained weights.
    pub fn trained(weights: Fc6Weights) -> Self {
        let Fc6Weights { mut matrix, bias } = weights;
        let mut blocks = Vec::with_capacity(FC6_LEN / BLOCK_LEN);
        // From the end, so that the memory of packed rows can be freed.
        for block in (0..FC6_LEN / BLOCK_LEN).rev() {
            let start = block * BLOCK_LEN * POOL5_LEN;
            blocks.push(PackedMatrix::from_rows(BLOCK_LEN, POOL5_LEN, &matrix[start..]));
            matrix.truncate(start);
            matrix.shrink_to_fit();
        }
        blocks.reverse();
        Self { blocks, bias }
    }

    /// With fixed random weights and no bias.
    pub fn random() -> Self {
        let rows = RandomRows::new(POOL5_LEN);
        let pack = |block: usize| {
            let mut matrix = vec![0.0; BLOCK_LEN * POOL5_LEN];
            for (row, weights) in (block * BLOCK_LEN..).zip(matrix.chunks_exact_mut(POOL5_LEN)) {
                rows.write(row, weights);
            }
            PackedMatrix::from_rows(BLOCK_LEN, POOL5_LEN, &matrix)
        };
        let blocks = (0..FC6_LEN / BLOCK_LEN).into_par_iter().map(pack).collect();
        Self { blocks, bias: vec![0.0; FC6_LEN] }
    }

    /// Represents the random weights in a content hash.
    pub fn random_hash_text() -> String {
        format!("random quantiles/1 seed {RANDOM_FC6_SEED}")
    }

    /// `pool5` is `[n, 25088]`; `out` becomes `[n, 4096]`.
    pub fn run(&self, pool5: &[f32], out: &mut Vec<f32>) {
        let n = pool5.len() / POOL5_LEN;
        out.resize(n * FC6_LEN, 0.0);
        if n == 0 {
            return;
        }
        let mut by_block = vec![0.0; n * FC6_LEN];
        let parts = by_block.par_chunks_exact_mut(n * BLOCK_LEN).zip(&self.blocks);
        parts.for_each(|(out, block)| block.multiply(pool5, out));
        for (block, products) in by_block.chunks_exact(n * BLOCK_LEN).enumerate() {
            let bias = &self.bias[block * BLOCK_LEN..][..BLOCK_LEN];
            for (row, products) in products.chunks_exact(BLOCK_LEN).enumerate() {
                let out = &mut out[row * FC6_LEN + block * BLOCK_LEN..][..BLOCK_LEN];
                out.iter_mut().zip(products).zip(bias).for_each(|((out, x), b)| *out = (x + b).max(0.0));
            }
        }
    }
}
