//! Scores of baselines.

use crate::config::DataFacts;
use serde::Serialize;
use touchstream_analysis::{Estimate, Interval};

/// All baselines on one set of screens.
#[derive(Serialize)]
pub struct BaselineSummary {
    pub task: String,
    pub data: DataFacts,
    pub encoder: String,
    pub encoder_hash: String,
    pub calibration_hash: String,
    pub n_train: usize,
    pub n_validation: usize,
    pub baselines: Vec<BaselineRow>,
}

/// One baseline on the validation screens.
#[derive(Serialize)]
pub struct BaselineRow {
    pub name: String,
    pub mean_iou: f64,
    /// The ends of the 95 % bootstrap interval over screens.
    pub low: f64,
    pub high: f64,
    pub n: usize,
    /// Parameters chosen on training screens.
    pub details: String,
}

impl BaselineRow {
    /// A score of one screen has an interval without width.
    pub fn new(name: &str, score: Estimate, details: String) -> Self {
        let Estimate { value: mean_iou, interval, n } = score;
        let Interval { low, high } = interval.unwrap_or(Interval { low: mean_iou, high: mean_iou });
        Self { name: name.to_owned(), mean_iou, low, high, n, details }
    }
}

impl BaselineSummary {
    pub fn csv(&self) -> String {
        let mut text = String::from("baseline,mean_iou,low,high,n_validation,n_train,details\n");
        for BaselineRow { name, mean_iou, low, high, n, details } in &self.baselines {
            let details = details.replace(',', ";");
            text += &format!("{name},{mean_iou},{low},{high},{n},{},{details}\n", self.n_train);
        }
        text
    }
}
