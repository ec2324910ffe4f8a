//! The loss: binary cross-entropy between a logit and a reward in [0, 1].

/// Cross-entropy in nats, and its derivative with respect to the logit. A reward between 0 and 1 is a soft target.
pub fn cross_entropy(logit: f32, reward: f32) -> (f32, f32) {
    let e = (-logit.abs()).exp();
    let probability = if logit >= 0.0 { 1.0 / (1.0 + e) } else { e / (1.0 + e) };
    (logit.max(0.0) - logit * reward + e.ln_1p(), probability - reward)
}

/// The mean over steps of the sum over maps; sets its gradient. All slices are `[n_steps, k_f]`.
pub(crate) fn mean_cross_entropy(logits: &[f32], rewards: &[f32], k_f: usize, d_logits: &mut [f32]) -> f32 {
    let n_steps = (logits.len() / k_f) as f32;
    let mut sum = 0.0;
    for ((&logit, d_logit), &reward) in logits.iter().zip(d_logits).zip(rewards) {
        let (loss, derivative) = cross_entropy(logit, reward);
        *d_logit = derivative / n_steps;
        sum += loss;
    }
    sum / n_steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loss_and_derivative_match_the_formula() {
        for logit in [-30.0_f32, -3.0, -0.1, 0.0, 0.5, 4.0, 30.0] {
            for reward in [0.0_f32, 0.3, 1.0] {
                let (loss, derivative) = cross_entropy(logit, reward);
                let of = |z: f64| {
                    let (p, q) = (1.0 / (1.0 + (-z).exp()), 1.0 / (1.0 + z.exp()));
                    -f64::from(reward) * p.ln() - (1.0 - f64::from(reward)) * q.ln()
                };
                let z = f64::from(logit);
                assert!((f64::from(loss) - of(z)).abs() < 1e-5, "loss at {logit}, {reward}");
                let difference = (of(z + 1e-4) - of(z - 1e-4)) / 2e-4;
                assert!((f64::from(derivative) - difference).abs() < 1e-5, "derivative at {logit}, {reward}");
            }
        }
    }

    #[test]
    fn nan_stays_nan() {
        assert!(cross_entropy(f32::NAN, 0.5).0.is_nan());
    }
}
