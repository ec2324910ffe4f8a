//! Bilinear resampling along one axis, with pixel centres at half-integers, the default of PyTorch and ONNX.

/// The two neighbours of an output position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tap {
    pub low: usize,
    pub high: usize,
    /// Weight of `high`, in 0..1; the weight of `low` is 1 minus it.
    pub high_weight: f32,
}

impl Tap {
    pub fn between(self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.high_weight
    }
}

/// The neighbours of each of `n_out` positions among `n_in`; both at least 1.
pub fn bilinear_taps(n_in: usize, n_out: usize) -> Vec<Tap> {
    let tap = |position: usize| {
        let at = ((position as f64 + 0.5) * n_in as f64 / n_out as f64 - 0.5).clamp(0.0, n_in as f64 - 1.0);
        let low = at as usize;
        Tap { low, high: (low + 1).min(n_in - 1), high_weight: (at - low as f64) as f32 }
    };
    (0..n_out).map(tap).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taps_are_at_half_pixel_centres() {
        let identity: Vec<_> = bilinear_taps(3, 3).iter().map(|tap| (tap.low, tap.high_weight)).collect();
        assert_eq!(identity, [(0, 0.0), (1, 0.0), (2, 0.0)]);
        let doubled: Vec<_> =
            bilinear_taps(2, 4).iter().map(|tap| (tap.low, tap.high, tap.high_weight)).collect();
        assert_eq!(doubled, [(0, 1, 0.0), (0, 1, 0.25), (0, 1, 0.75), (1, 1, 0.0)]);
        let halved: Vec<_> = bilinear_taps(4, 2).iter().map(|tap| (tap.low, tap.high_weight)).collect();
        assert_eq!(halved, [(0, 0.5), (2, 0.5)]);
    }
}
