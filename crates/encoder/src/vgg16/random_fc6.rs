//! The fixed random FC6: Gaussian weights with the same bits on every machine, without a file.
//!
//! Each weight is one of the 65,536 quantiles of the normal distribution at `(i + 1/2) / 65536`, selected by 16 random
//! bits: easy to reproduce exactly in any language, and faster than reading the weights from a disk.

use touchstream_env::seed::{RunSeed, StreamName};

/// Part of the encoder's content hash.
pub const RANDOM_FC6_SEED: u64 = 6;

const FC6_ROWS: StreamName = StreamName::new("encoder/random-fc6");

/// Rows of the random matrix: standard normal values divided by the square root of the row's length.
pub(super) struct RandomRows {
    quantiles: Vec<f32>,
}

impl RandomRows {
    pub fn new(row_len: usize) -> Self {
        let scale = 1.0 / (row_len as f64).sqrt();
        let quantile = |i: u32| normal_quantile((f64::from(i) + 0.5) / 65536.0) * scale;
        Self { quantiles: (0..65536).map(|i| quantile(i) as f32).collect() }
    }

    /// Writes a row; each random word selects two weights, the first by its low half.
    pub fn write(&self, row: usize, weights: &mut [f32]) {
        let mut random = RunSeed(RANDOM_FC6_SEED).stream(FC6_ROWS, row as u64);
        for pair in weights.chunks_mut(2) {
            let word = random.next_u32();
            for (weight, half) in pair.iter_mut().zip([word & 0xffff, word >> 16]) {
                *weight = self.quantiles[half as usize];
            }
        }
    }
}

/// The inverse of the normal distribution function, accurate to about 1e-16 (Wichura's algorithm AS 241).
#[allow(clippy::excessive_precision)] // coefficients as published
fn normal_quantile(p: f64) -> f64 {
    let ratio = |x: f64, above: [f64; 8], below: [f64; 8]| {
        let horner = |coefficients: [f64; 8]| coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c);
        horner(above) / horner(below)
    };
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        let above = [
            3.3871328727963666080,
            133.14166789178437745,
            1971.5909503065514427,
            13731.693765509461125,
            45921.953931549871457,
            67265.770927008700853,
            33430.575583588128105,
            2509.0809287301226727,
        ];
        let below = [
            1.0,
            42.313330701600911252,
            687.18700749205790830,
            5394.1960214247511077,
            21213.794301586595867,
            39307.895800092710610,
            28729.085735721942674,
            5226.4952788528545610,
        ];
        return q * ratio(0.180625 - q * q, above, below);
    }
    let r = libm::sqrt(-libm::log(if q < 0.0 { p } else { 1.0 - p }));
    let tail = if r <= 5.0 {
        let above = [
            1.42343711074968357734,
            4.63033784615654529590,
            5.76949722146069140550,
            3.64784832476320460504,
            1.27045825245236838258,
            0.241780725177450611770,
            0.0227238449892691845833,
            7.74545014278341407640e-4,
        ];
        let below = [
            1.0,
            2.05319162663775882187,
            1.67638483018380384940,
            0.689767334985100004550,
            0.148103976427480074590,
            0.0151986665636164571966,
            5.47593808499534494600e-4,
            1.05075007164441684324e-9,
        ];
        ratio(r - 1.6, above, below)
    } else {
        let above = [
            6.65790464350110377720,
            5.46378491116411436990,
            1.78482653991729133580,
            0.296560571828504891230,
            0.0265321895265761230930,
            0.00124266094738807843860,
            2.71155556874348757815e-5,
            2.01033439929228813265e-7,
        ];
        let below = [
            1.0,
            0.599832206555887937690,
            0.136929880922735805310,
            0.0148753612908506148525,
            7.86869131145613259100e-4,
            1.84631831751005468180e-5,
            1.42151175831644588870e-7,
            2.04426310338993978564e-15,
        ];
        ratio(r - 5.0, above, below)
    };
    if q < 0.0 { -tail } else { tail }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_equal_those_of_the_normal_distribution() {
        // Python: statistics.NormalDist().inv_cdf(p)
        for (p, expected) in [
            (0.5, 0.0),
            (0.975, 1.9599639845400536),
            (0.05, -1.6448536269514726),
            (0.5 / 65536.0, -4.324919040826044),
            (1e-20, -9.262340089798405),
        ] {
            let quantile = normal_quantile(p);
            assert!((quantile - expected).abs() < 1e-12, "p {p}: {quantile}, not {expected}");
        }
    }

    #[test]
    fn rows_are_standard_normal_over_the_root_of_their_length_and_differ() {
        let n = 25088;
        let rows = RandomRows::new(n);
        let [mut first, mut second] = [vec![0.0; n], vec![0.0; n]];
        rows.write(0, &mut first);
        rows.write(1, &mut second);
        let mean = |f: &dyn Fn(usize) -> f64| (0..n).map(f).sum::<f64>() / n as f64;
        let standard = |row: &[f32], i: usize| f64::from(row[i]) * (n as f64).sqrt();
        // Three standard errors of each of the four moments.
        assert!(mean(&|i| standard(&first, i)).abs() < 0.019);
        assert!((mean(&|i| standard(&first, i).powi(2)) - 1.0).abs() < 0.027);
        assert!((mean(&|i| standard(&first, i).powi(4)) - 3.0).abs() < 0.19);
        assert!(mean(&|i| standard(&first, i) * standard(&second, i)).abs() < 0.019);
    }
}
