//! Encodes the screens of tasks in advance, into the cache that all runs share.

use crate::config::DataFacts;
use crate::error::{Error, Result};
use crate::timed_encoder::TimedEncoder;
use crate::{Watch, WorkProgress};
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use touchstream_encoder::Encoder;
use touchstream_env::stimuli::Split;
use touchstream_env::task::Task;
use touchstream_env::trial::{BoundTask, PlacementChoice, PlacementPool};
use touchstream_features::{
    Calibrated, CalibrationSettings, EncodeContext, Encoded, Wanted, calibrate_tasks, encode_tasks,
};
use touchstream_stimuli::Opened;

/// Which screens to encode.
pub struct ScreensToEncode<'a> {
    pub tasks: &'a [Task],
    pub splits: &'a [Split],
    /// Used for tasks whose templates move.
    pub placements: PlacementPool,
    /// Whether spatial maps are stored, too.
    pub maps: bool,
}

#[derive(Serialize)]
pub struct EncodeSummary {
    pub data: DataFacts,
    pub encoder: String,
    pub encoder_hash: String,
    pub tasks: Vec<String>,
    pub placements: u32,
    pub placements_seed: u64,
    pub maps: bool,
    pub n_screens: usize,
    pub n_new: usize,
    pub n_from_others: usize,
    pub n_new_bytes: u64,
    /// Wall-clock time, including drawing, storing and waiting for other processes.
    pub secs: f64,
    pub encoding_secs: f64,
    /// New screens per second of encoding time.
    pub screens_per_sec: f64,
    pub calibrations: Vec<CalibrationFacts>,
    pub notes: Vec<String>,
}

/// Centring and scaling of a task's scene vectors.
#[derive(Serialize)]
pub struct CalibrationFacts {
    pub task: String,
    pub n_screens: usize,
    pub norm: f32,
    pub content_hash: String,
}

/// Encodes the screens that are not in the cache, and calibrates the training split of each task.
pub fn encode_screens(
    screens: &ScreensToEncode<'_>,
    encoder: &dyn Encoder,
    opened: &Opened,
    cache_dir: &Path,
    watch: &dyn Watch,
) -> Result<EncodeSummary> {
    let ScreensToEncode { tasks, splits, placements, maps } = *screens;
    let mut bound = Vec::new();
    for task in tasks {
        for &split in splits {
            let (task, stimuli) = (task.clone(), Arc::clone(&opened.stimuli));
            bound.push(BoundTask::with_placements(task, stimuli, split, PlacementChoice::Pool(placements))?);
        }
    }
    if maps && encoder.shape().map_channels == 0 {
        let name = encoder.name();
        return Err(Error::Encoder(format!(
            "--maps: `{name}` has no spatial map; choose a node with --map NODE"
        )));
    }
    let (progress, timed) = (WorkProgress(watch), TimedEncoder::new(encoder));
    let context = EncodeContext { encoder: &timed, cache_dir: Some(cache_dir), progress: &progress };
    let start = Instant::now();
    let wanted = if maps { Wanted::SceneAndMap } else { Wanted::Scene };
    let encoded = encode_tasks(context, &bound.iter().collect::<Vec<_>>(), wanted)?;
    let (secs, encoding_secs) = (start.elapsed().as_secs_f64(), timed.spent().as_secs_f64());
    let Encoded { n_screens, n_new, n_from_others, n_new_bytes, encoder_hash, mut notes, .. } = encoded;
    let mut calibrations = Vec::new();
    for task in bound.iter().filter(|task| task.split() == Split::Train) {
        let Calibrated { calibration, notes: more } =
            calibrate_tasks(context, &[task], CalibrationSettings::default())?;
        calibrations.push(CalibrationFacts {
            task: task.task().id().to_owned(),
            n_screens: calibration.n_screens(),
            norm: calibration.norm(),
            content_hash: calibration.content_hash().to_string(),
        });
        for note in more {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    Ok(EncodeSummary {
        data: DataFacts::of(&opened.manifest),
        encoder: encoder.name().to_owned(),
        encoder_hash: encoder_hash.to_string(),
        tasks: tasks.iter().map(|task| task.id().to_owned()).collect(),
        placements: placements.n.get(),
        placements_seed: placements.seed,
        maps,
        n_screens,
        n_new,
        n_from_others,
        n_new_bytes,
        secs,
        encoding_secs,
        screens_per_sec: if n_new > 0 { n_new as f64 / encoding_secs } else { 0.0 },
        calibrations,
        notes,
    })
}
