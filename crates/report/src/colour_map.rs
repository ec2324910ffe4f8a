//! Colours of reward: blue is low, red is high, as in the paper's figures.

/// The colour of a value in [0, 1]; values outside are taken as 0 or 1, NaN as grey.
///
/// Google's "Turbo", by the polynomial that its authors published: blue to red like the paper's maps, without
/// the false bands of "jet".
pub fn turbo(value: f32) -> [u8; 3] {
    if value.is_nan() {
        return [128; 3];
    }
    // Turbo's own ends are nearly black; between them low is plainly blue and high plainly red.
    let x = 0.08 + 0.84 * value.clamp(0.0, 1.0);
    let powers = [1.0, x, x.powi(2), x.powi(3), x.powi(4), x.powi(5)];
    let channel = |weights: [f32; 6]| {
        let level: f32 = weights.iter().zip(powers).map(|(weight, power)| weight * power).sum();
        (level.clamp(0.0, 1.0) * 255.0).round() as u8
    };
    [
        channel([0.135_721_38, 4.615_392_6, -42.660_324, 132.131_08, -152.942_4, 59.286_38]),
        channel([0.091_402_61, 2.194_188_4, 4.842_966_6, -14.185_034, 4.277_298_6, 2.829_566]),
        channel([0.106_673_3, 12.641_946, -60.582_05, 110.362_77, -89.903_11, 27.348_25]),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn low_is_blue_and_high_is_red() {
        let [red, _, blue] = turbo(0.0);
        assert!(blue > 2 * red, "{red} {blue}");
        let [red, _, blue] = turbo(1.0);
        assert!(red > 4 * blue, "{red} {blue}");
    }

    #[test]
    fn values_outside_are_taken_as_the_ends() {
        assert_eq!(turbo(-3.0), turbo(0.0));
        assert_eq!(turbo(f32::INFINITY), turbo(1.0));
        assert_eq!(turbo(f32::NAN), [128; 3]);
    }
}
