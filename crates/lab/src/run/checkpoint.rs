//! Everything that a run needs to go on, in one file that is checked before it is believed.

use crate::curve::CurveRow;
use crate::maps::MapSnapshot;
use crate::run::error::RunError;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::path::Path;
use touchstream_agent::RemapState;
use touchstream_env::stream::Snapshot;
use touchstream_files::{read_at_most, write_aside};

/// A run between two updates.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Checkpoint {
    pub agent: RemapState,
    pub rest: Rest,
    pub maps: Vec<MapSnapshot>,
}

/// What is small.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Rest {
    /// The identity of the run, as one word.
    pub identity: String,
    pub stream: Snapshot,
    pub rows: Vec<CurveRow>,
    pub tally: Tally,
}

/// What happened since the last row of the curve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Tally {
    pub reward_sum: f64,
    pub n_trials: u64,
    pub loss_sum: f64,
    pub n_updates: u64,
}

/// The part of an agent's state that is not large.
#[derive(Serialize, Deserialize)]
struct SmallState {
    n_steps: u64,
    n_updates: u64,
    screens: Vec<Option<u32>>,
    touches: Vec<[f32; 2]>,
    rewards: Vec<f32>,
    map_steps: Vec<u64>,
    rest: Rest,
    /// blake3 over the tensors.
    hash: String,
}

const MAX_BYTES: u64 = 1 << 36;
const KEY: &str = "touchstream";

impl Checkpoint {
    pub fn write(&self, path: &Path) -> Result<(), RunError> {
        let RemapState { n_steps, n_updates, screens, touches, rewards, .. } = &self.agent;
        let maps: Vec<u8> = self.maps.iter().flat_map(|snapshot| &snapshot.levels).copied().collect();
        let parts = self.parts(&maps);
        let small = SmallState {
            n_steps: *n_steps,
            n_updates: *n_updates,
            screens: screens.clone(),
            touches: touches.clone(),
            rewards: rewards.clone(),
            map_steps: self.maps.iter().map(|snapshot| snapshot.step).collect(),
            rest: self.rest.clone(),
            hash: hash_of(parts.map(|(_, _, bytes)| bytes)),
        };
        let json = serde_json::to_string(&small).expect("plain data");
        let tensors = parts.map(|(name, dtype, bytes)| {
            let len = bytes.len() / if dtype == Dtype::F32 { 4 } else { 1 };
            (name, TensorView::new(dtype, vec![len], bytes).expect("as many bytes as numbers"))
        });
        let bytes = safetensors::serialize(tensors, Some(HashMap::from([(KEY.to_owned(), json)])))
            .map_err(|error| RunError::damaged(path, error.to_string()))?;
        write_aside(path, &bytes).map_err(RunError::of_file(path))
    }

    fn parts<'a>(&'a self, maps: &'a [u8]) -> [(&'static str, Dtype, &'a [u8]); 4] {
        let RemapState { parameters, adam_mean, adam_square, .. } = &self.agent;
        [
            ("parameters", Dtype::F32, bytemuck::cast_slice(parameters)),
            ("adam.mean", Dtype::F32, bytemuck::cast_slice(adam_mean)),
            ("adam.square", Dtype::F32, bytemuck::cast_slice(adam_square)),
            ("maps", Dtype::U8, maps),
        ]
    }

    /// The checkpoint in a file, `None` if there is none.
    pub fn read(path: &Path) -> Result<Option<Self>, RunError> {
        let bytes = match read_at_most(path, MAX_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(RunError::File { path: path.to_owned(), error }),
        };
        Self::from_bytes(&bytes).map(Some).map_err(|problem| {
            RunError::damaged(path, format!("{problem}; remove the file to start the run anew"))
        })
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let say = |error: safetensors::SafeTensorError| format!("this is not a checkpoint: {error}");
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(say)?;
        let tensors = SafeTensors::deserialize(bytes).map_err(say)?;
        let json = header.metadata().as_ref().and_then(|metadata| metadata.get(KEY));
        let json = json.ok_or("this is not a checkpoint: it has no state of a run")?;
        let small: SmallState = serde_json::from_str(json).map_err(|error| format!("its state: {error}"))?;
        let part = |name: &str| tensors.tensor(name).map(|tensor| tensor.data().to_vec()).map_err(say);
        let parts = [part("parameters")?, part("adam.mean")?, part("adam.square")?, part("maps")?];
        if hash_of(parts.each_ref().map(Vec::as_slice)) != small.hash {
            return Err("its numbers do not fit their checksum".into());
        }
        let numbers = |bytes: &[u8]| -> Vec<f32> {
            bytes.as_chunks::<4>().0.iter().map(|&number| f32::from_le_bytes(number)).collect()
        };
        let [parameters, adam_mean, adam_square, maps] = &parts;
        let n_maps = small.map_steps.len();
        if n_maps > 0 && maps.len() % n_maps != 0 {
            return Err("its maps are not of one size".into());
        }
        let map_len = maps.len().checked_div(n_maps).unwrap_or(0).max(1);
        let maps = small.map_steps.iter().zip(maps.chunks(map_len));
        Ok(Self {
            agent: RemapState {
                n_steps: small.n_steps,
                parameters: numbers(parameters),
                adam_mean: numbers(adam_mean),
                adam_square: numbers(adam_square),
                n_updates: small.n_updates,
                screens: small.screens,
                touches: small.touches,
                rewards: small.rewards,
            },
            rest: small.rest,
            maps: maps.map(|(&step, levels)| MapSnapshot { step, levels: levels.to_vec() }).collect(),
        })
    }
}

fn hash_of(parts: [&[u8]; 4]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hasher.finalize().to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::damage::check_damaged_bytes;
    use std::sync::Arc;
    use touchstream_agent::Evaluation;
    use touchstream_env::plain_stimuli::PlainStimuli;
    use touchstream_env::schedule::Schedule;
    use touchstream_env::seed::RunSeed;
    use touchstream_env::stimuli::Split;
    use touchstream_env::stream::Stream;
    use touchstream_env::task::find_task;

    fn checkpoint() -> Checkpoint {
        let (schedule, stimuli) =
            (Schedule::single(find_task("sr-2way").unwrap()), Arc::new(PlainStimuli::new(2)));
        let (stream, _) = Stream::open(schedule, stimuli, Split::Train, RunSeed(1)).unwrap();
        let validation = Evaluation {
            n_trials: 9,
            reward: 1.0 / 3.0,
            reward_se: 0.1,
            cross_entropy: 0.2,
            map_error: 0.3,
            calibration_error: 0.4,
            regret: 0.5,
        };
        let row =
            CurveRow { step: 8, train_reward: None, train_trials: 0, train_loss: Some(0.7), validation };
        Checkpoint {
            agent: RemapState {
                n_steps: 8,
                parameters: vec![0.1, -2.0, 3e-30],
                adam_mean: vec![1.0, 2.0, 3.0],
                adam_square: vec![4.0, 5.0, 6.0],
                n_updates: 1,
                screens: vec![None, Some(3)],
                touches: vec![[0.1, 0.2], [-1.0, 1.0]],
                rewards: vec![0.0, 1.0],
            },
            rest: Rest {
                identity: "a".into(),
                stream: stream.snapshot(),
                rows: vec![row],
                tally: Tally { reward_sum: 0.1 + 0.2, n_trials: 3, loss_sum: 1.0 / 7.0, n_updates: 1 },
            },
            maps: vec![
                MapSnapshot { step: 0, levels: vec![1, 2] },
                MapSnapshot { step: 8, levels: vec![3, 4] },
            ],
        }
    }

    #[test]
    fn it_comes_back_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoint.safetensors");
        assert_eq!(Checkpoint::read(&path).unwrap(), None);
        checkpoint().write(&path).unwrap();
        assert_eq!(Checkpoint::read(&path).unwrap(), Some(checkpoint()));
    }

    #[test]
    fn damaged_bytes_are_refused_without_a_panic() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoint.safetensors");
        checkpoint().write(&path).unwrap();
        check_damaged_bytes(&std::fs::read(&path).unwrap(), |bytes| Checkpoint::from_bytes(bytes).is_ok());
    }
}
