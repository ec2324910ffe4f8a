//! The processor and its peak, measured in the same run as everything else.

use serde::Serialize;
use std::time::Instant;
use touchstream_encoder::peak::multiply_adds;

#[derive(Serialize)]
pub struct Processor {
    /// As the kernel names it; empty if unknown.
    #[serde(rename = "processor")]
    pub name: String,
    /// Billion (10^9) fused multiply-adds per second of one core; `None` without FMA.
    pub peak_gmacs_per_core: Option<f64>,
}

impl Processor {
    pub fn measure(n_tries: usize) -> Self {
        Self { name: name(), peak_gmacs_per_core: peak_per_core(n_tries) }
    }
}

fn peak_per_core(n_tries: usize) -> Option<f64> {
    const N_ROUNDS: u64 = 20_000_000;
    let mut best = 0.0_f64;
    for _ in 0..n_tries {
        let start = Instant::now();
        let n = multiply_adds(N_ROUNDS)?;
        best = best.max(n as f64 / start.elapsed().as_secs_f64() / 1e9);
    }
    Some(best)
}

/// Virtual machines often hide the model's name; family, model and the widest vectors identify it.
fn name() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let line = info.lines().find(|line| line.split(':').next().is_some_and(|key| key.trim() == name));
        line.and_then(|line| line.split_once(':')).map_or("", |(_, value)| value.trim())
    };
    let vectors =
        ["avx512f", "avx2"].into_iter().find(|&flag| field("flags").split(' ').any(|word| word == flag));
    match (field("model name"), vectors) {
        ("", _) => String::new(),
        (model, vectors) => format!(
            "{model} (family {}, model {}, {})",
            field("cpu family"),
            field("model"),
            vectors.unwrap_or("no AVX2")
        ),
    }
}
