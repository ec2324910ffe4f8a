//! The results of an encoder check as JSON.

use super::Checked;
use crate::config::DataFacts;
use serde::Serialize;
use touchstream_encoder::Encoder;
use touchstream_encoder::inspect::ValueStatistics;

/// The results of a check, as JSON.
#[derive(Serialize)]
pub struct CheckFacts {
    pub encoder: String,
    pub encoder_hash: String,
    pub data: DataFacts,
    pub n_queries: usize,
    pub n_searched: usize,
    pub n_threads: usize,
    pub batch_size: usize,
    pub ms_per_screen: f64,
    pub screens_per_sec: f64,
    pub scene: SceneFacts,
    pub map: NumberFacts,
    /// Share of queries whose nearest neighbour has the same class.
    pub nearest_same_class: f64,
    /// The same by chance.
    pub chance: f64,
}

#[derive(Serialize)]
pub struct SceneFacts {
    #[serde(flatten)]
    pub numbers: NumberFacts,
    pub min_norm: f64,
    pub max_norm: f64,
    pub mean_cosine: f64,
    pub mean_centred_cosine: f64,
}

#[derive(Serialize)]
pub struct NumberFacts {
    /// Elements per screen.
    pub len: usize,
    pub mean: f64,
    pub deviation: f64,
    pub share_of_zeros: f64,
    pub n_not_finite: u64,
}

impl NumberFacts {
    fn new(len: usize, numbers: &ValueStatistics) -> Self {
        Self {
            len,
            mean: numbers.mean(),
            deviation: numbers.deviation(),
            share_of_zeros: numbers.share_of_zeros(),
            n_not_finite: numbers.n_not_finite(),
        }
    }

    pub fn line(&self) -> String {
        format!(
            "{} numbers, mean {:.4}, deviation {:.4}, {:.1} % zeros",
            self.len,
            self.mean,
            self.deviation,
            100.0 * self.share_of_zeros
        )
    }
}

impl CheckFacts {
    pub fn new(encoder: &dyn Encoder, data: DataFacts, checked: &Checked) -> Self {
        let (n_queries, n_searched) = (checked.queries.len(), checked.searched.len());
        let secs_per_screen = checked.encode_time.as_secs_f64() / (n_queries + n_searched) as f64;
        let shape = encoder.shape();
        let scenes = &checked.scenes;
        Self {
            encoder: encoder.name().to_owned(),
            encoder_hash: encoder.content_hash().to_string(),
            data,
            n_queries,
            n_searched,
            n_threads: rayon::current_num_threads(),
            batch_size: encoder.batch_size(),
            ms_per_screen: 1000.0 * secs_per_screen,
            screens_per_sec: 1.0 / secs_per_screen.max(1e-9),
            scene: SceneFacts {
                numbers: NumberFacts::new(shape.scene_len, &scenes.values),
                min_norm: scenes.min_norm,
                max_norm: scenes.max_norm,
                mean_cosine: scenes.mean_cosine,
                mean_centred_cosine: scenes.mean_centred_cosine,
            },
            map: NumberFacts::new(shape.map_len(), &checked.encoded_searched.maps),
            nearest_same_class: checked.accuracy,
            chance: checked.chance,
        }
    }

    pub fn headline(&self) -> String {
        format!("{} on {}: queries, and their nearest images", self.encoder, self.data.source)
    }

    pub fn sheet_lines(&self) -> Vec<String> {
        let hash: String = self.encoder_hash.chars().take(16).collect();
        vec![
            format!("{}; encoder {hash}", self.accuracy_line()),
            "cosine of centred scene vectors; blue frame: same class, orange: another".into(),
        ]
    }

    pub fn accuracy_line(&self) -> String {
        format!(
            "nearest of the same class {:.1} % of {} queries among {} images (chance {:.1} %)",
            100.0 * self.nearest_same_class,
            self.n_queries,
            self.n_searched,
            100.0 * self.chance
        )
    }

    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        for (what, numbers) in [("scene vectors", &self.scene.numbers), ("spatial maps", &self.map)] {
            if numbers.n_not_finite > 0 {
                warnings.push(format!("{} numbers of the {what} are not finite", numbers.n_not_finite));
            } else if numbers.len > 0 && numbers.deviation == 0.0 {
                warnings.push(format!("all numbers of the {what} are the same"));
            }
        }
        if self.scene.min_norm == 0.0 {
            warnings.push("the scene vector of some screen is all zeros".into());
        }
        warnings
    }
}
