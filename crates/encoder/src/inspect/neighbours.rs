//! Nearest neighbours by the cosine similarity of centred scene vectors.

use super::scene_table::SceneTable;
use rayon::prelude::*;

/// A screen found by a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbour {
    /// Row of the searched table.
    pub idx: usize,
    /// Cosine similarity of the two centred vectors, -1..=1.
    pub cosine: f32,
}

/// The `k` nearest rows of `searched` for each row of `queries`, nearest first; ties in the order of rows. Both tables
/// are centred by the mean of `searched`. Vectors that are not finite are excluded.
pub fn nearest_neighbours(queries: &SceneTable, searched: &SceneTable, k: usize) -> Vec<Vec<Neighbour>> {
    let centre = searched.mean();
    let [queries, searched] = [queries, searched].map(|table| table.directions_from(&centre));
    let queries: Vec<&[f32]> = queries.rows().collect();
    queries.into_par_iter().map(|query| nearest(query, &searched, k)).collect()
}

fn nearest(query: &[f32], searched: &SceneTable, k: usize) -> Vec<Neighbour> {
    let mut all: Vec<Neighbour> =
        searched.rows().enumerate().map(|(idx, row)| Neighbour { idx, cosine: dot(query, row) }).collect();
    all.retain(|neighbour| neighbour.cosine.is_finite());
    // A stable sort, so ties stay in order.
    all.sort_by(|a, b| b.cosine.total_cmp(&a.cosine));
    all.truncate(k);
    all
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0_f32; 8];
    let (a_eights, a_rest) = a.as_chunks::<8>();
    let (b_eights, b_rest) = b.as_chunks::<8>();
    for (a, b) in a_eights.iter().zip(b_eights) {
        sums.iter_mut().zip(a.iter().zip(b)).for_each(|(sum, (a, b))| *sum += a * b);
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}

/// The share of queries whose nearest neighbour has the same label, and the expected share for a random neighbour; both
/// in 0..=1.
pub fn same_label_share<L: PartialEq>(
    query_labels: &[L],
    searched_labels: &[L],
    neighbours: &[Vec<Neighbour>],
) -> (f64, f64) {
    let is_same = |(label, found): &(&L, &Vec<Neighbour>)| {
        found.first().is_some_and(|nearest| searched_labels[nearest.idx] == **label)
    };
    let n_queries = query_labels.len().max(1) as f64;
    let n_same = query_labels.iter().zip(neighbours).filter(is_same).count();
    let n_same_label = |label: &L| searched_labels.iter().filter(|other| *other == label).count();
    let chance: usize = query_labels.iter().map(n_same_label).sum();
    (n_same as f64 / n_queries, chance as f64 / n_queries / searched_labels.len().max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_found_by_angle_after_centring() {
        // Around their mean (10, 10): right, up, left, down.
        let searched = SceneTable::new(vec![11.0, 10.0, 10.0, 11.0, 9.0, 10.0, 10.0, 9.0], 2);
        let queries = SceneTable::new(vec![15.0, 11.0, 10.0, 2.0], 2);
        let found = nearest_neighbours(&queries, &searched, 2);
        let order: Vec<Vec<usize>> =
            found.iter().map(|found| found.iter().map(|neighbour| neighbour.idx).collect()).collect();
        assert_eq!(order, [vec![0, 1], vec![3, 0]]);
        assert!((found[0][0].cosine - 5.0 / 26_f32.sqrt()).abs() < 1e-6);
        assert_eq!(found[1][0].cosine, 1.0);
    }

    #[test]
    fn shares_count_only_the_nearest_neighbour() {
        let neighbour = |idx| vec![Neighbour { idx, cosine: 0.5 }, Neighbour { idx: 0, cosine: 0.1 }];
        let neighbours = [neighbour(0), neighbour(1), neighbour(2), Vec::new()];
        let (share, chance) = same_label_share(&["a", "a", "b", "c"], &["a", "b", "b"], &neighbours);
        assert_eq!(share, 0.5);
        assert!((chance - (1.0 + 1.0 + 2.0) / 12.0).abs() < 1e-12);
    }

    #[test]
    fn zero_vectors_are_accepted() {
        let alike = SceneTable::new(vec![1.0; 9], 3);
        assert!(nearest_neighbours(&alike, &alike, 5).iter().all(|found| found.len() == 3));
        let broken = SceneTable::new(vec![f32::NAN, 1.0, 2.0, 1.0, 0.0, 2.0], 2);
        assert_eq!(nearest_neighbours(&broken, &broken, 5).len(), 3);
    }
}
