//! What baselines came to, for people and for programs.

use crate::source_args::DataFacts;
use crate::text_table::aligned;
use serde::Serialize;
use touchstream_baselines::Score;

/// All baselines on one set of screens.
#[derive(Serialize)]
pub struct Report {
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
    /// Validation screens.
    pub n: usize,
    /// What was chosen, on training screens alone.
    pub details: String,
}

impl BaselineRow {
    pub fn new(name: &str, score: Score, details: String) -> Self {
        let Score { n, mean, low, high } = score;
        Self { name: name.to_owned(), mean_iou: mean, low, high, n, details }
    }
}

impl Report {
    /// For people.
    pub fn table(&self) -> String {
        let head = ["baseline", "mean IoU", "95 % interval", "on", "chosen on training screens"];
        let mut cells = vec![head.map(String::from)];
        for row in &self.baselines {
            cells.push([
                row.name.clone(),
                format!("{:.3}", row.mean_iou),
                // One screen says nothing of others.
                if row.n > 1 { format!("{:.3} to {:.3}", row.low, row.high) } else { "-".to_owned() },
                format!("{} screen{}", row.n, if row.n == 1 { "" } else { "s" }),
                row.details.clone(),
            ]);
        }
        format!(
            "{}\n{} on {} with {}: {} training screens\n",
            aligned(&cells),
            self.task,
            self.data.source,
            self.encoder,
            self.n_train
        )
    }

    /// For spreadsheets.
    pub fn csv(&self) -> String {
        let mut text = String::from("baseline,mean_iou,low,high,n_validation,n_train,details\n");
        for BaselineRow { name, mean_iou, low, high, n, details } in &self.baselines {
            let details = details.replace(',', ";");
            text += &format!("{name},{mean_iou},{low},{high},{n},{},{details}\n", self.n_train);
        }
        text
    }
}
