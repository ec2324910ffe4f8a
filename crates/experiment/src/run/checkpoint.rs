//! The state that a run resumes from, in one file with a checksum.

use crate::curve::{CurveRow, VoteRow};
use crate::error::{Context, Error, Result};
use crate::maps::MapSnapshot;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use touchstream_agents::{
    AgentSettings, ControllerState, CounterfactualTouch, ParameterState, RemapState, SkillState,
};
use touchstream_env::stream::Snapshot;
use touchstream_files::{read_at_most, write_aside_durably};
use touchstream_modules::AdamState;
use touchstream_modules::composite::{ShareTally, VotingSettings};

/// The state of a run between two updates.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Checkpoint {
    pub agent: RemapState,
    pub rest: Rest,
    pub maps: Vec<MapSnapshot>,
}

/// The state that is not the agent's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Rest {
    /// Hash of the run's identity.
    pub identity: String,
    pub stream: Snapshot,
    /// Index of the current task, from 0, and the step at which it began.
    pub lesson: usize,
    pub lesson_start: u64,
    pub rows: Vec<CurveRow>,
    pub votes: Vec<VoteRow>,
    pub after: Vec<Vec<f64>>,
    pub tally: Tally,
    /// Whether the evaluation after the last step was interrupted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_evaluation_due: bool,
}

/// Sums since the last row of the curve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Tally {
    pub reward_sum: f64,
    pub n_trials: u64,
    pub loss_sum: f64,
    pub n_updates: u64,
}

/// Everything except tensors.
#[derive(Serialize, Deserialize)]
struct SmallState {
    settings: AgentSettings,
    n_steps: u64,
    /// Updates of the parts in [`LEARNED`].
    n_updates: Vec<u64>,
    n_old: usize,
    voting: Option<VotingSettings>,
    n_share_steps: u64,
    share_sums: Vec<f64>,
    screens: Vec<Option<u32>>,
    touches: Vec<[f32; 2]>,
    rewards: Vec<f32>,
    #[serde(default)]
    others: Vec<CounterfactualTouch>,
    /// Step and task index of each snapshot.
    map_steps: Vec<(u64, u64)>,
    rest: Rest,
}

const MAX_BYTES: u64 = 1 << 36;
/// Key of the metadata: blake3 of the small state and of all tensors, then the small state as JSON.
const KEY: &str = "touchstream";
/// Older checkpoints have the hash here.
const OLD_HASH_KEY: &str = "hash";
/// The parts that learn, in the order of `n_updates`.
const LEARNED: [&str; 4] = ["module", "votes", "actions", "map-transformations"];

impl Checkpoint {
    pub fn write(&self, path: &Path) -> Result<()> {
        let RemapState { settings, n_steps, skill, screens, touches, rewards, others } = &self.agent;
        let controller = skill.controller.as_ref();
        let tally = controller.map(|controller| &controller.tally);
        let small = SmallState {
            settings: settings.clone(),
            n_steps: *n_steps,
            n_updates: learned(skill).map(|learned| learned.adam.n_updates).collect(),
            n_old: skill.old.len(),
            voting: controller.map(|controller| controller.settings),
            n_share_steps: tally.map_or(0, |tally| tally.n_steps),
            share_sums: tally.map_or_else(Vec::new, |tally| tally.sums.clone()),
            screens: screens.clone(),
            touches: touches.clone(),
            rewards: rewards.clone(),
            others: others.clone(),
            map_steps: self.maps.iter().map(|snapshot| (snapshot.step, snapshot.lesson)).collect(),
            rest: self.rest.clone(),
        };
        let maps: Vec<u8> = self.maps.iter().flat_map(|snapshot| &snapshot.levels).copied().collect();
        let tensors = tensors(skill, &maps);
        let json = serde_json::to_string(&small).expect("plain data");
        let hash = hash_of(&json, tensors.iter().map(|(name, tensor)| (name.as_str(), tensor.data())));
        // One key: the order of several differs from process to process.
        let metadata = HashMap::from([(KEY.to_owned(), hash + &json)]);
        let bytes = safetensors::serialize(tensors, Some(metadata)).map_err(Error::other).at(path)?;
        write_aside_durably(path, &bytes).at(path)
    }

    /// `None` if there is no file.
    pub fn read(path: &Path) -> Result<Option<Self>> {
        let bytes = match read_at_most(path, MAX_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).at(path),
        };
        Self::of_file(path, &bytes).map(Some)
    }

    /// From the bytes of a file; an error names it.
    pub fn of_file(path: &Path, bytes: &[u8]) -> Result<Self> {
        Self::from_bytes(bytes)
            .map_err(|problem| Error::damaged(path, format!("{problem}; remove the file to restart the run")))
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let say = |error: safetensors::SafeTensorError| format!("this is not a checkpoint: {error}");
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(say)?;
        let tensors = SafeTensors::deserialize(bytes).map_err(say)?;
        let word = |key: &str| header.metadata().as_ref().and_then(|metadata| metadata.get(key));
        let hash_and_json = match (word(KEY), word(OLD_HASH_KEY)) {
            (Some(json), Some(hash)) => Some((hash.as_str(), json.as_str())),
            (text, _) => text.and_then(|text| text.split_at_checked(blake3::OUT_LEN * 2)),
        };
        let (hash, json) = hash_and_json.ok_or("this is not a checkpoint: it has no state of a run")?;
        let mut named: Vec<(&str, &[u8])> = Vec::new();
        for name in tensors.names() {
            named.push((name, tensors.tensor(name).map_err(say)?.data()));
        }
        named.sort_unstable();
        if hash_of(json, named.iter().copied()) != hash {
            return Err("its checksum is wrong".into());
        }
        let small: SmallState = serde_json::from_str(json).map_err(|error| format!("its state: {error}"))?;
        let part = |name: &str| {
            let found = named.iter().find(|(other, _)| *other == name);
            found.map(|(_, bytes)| *bytes).ok_or_else(|| format!("it has no `{name}`"))
        };
        let skill = skill_of(&small, &part)?;
        let n_maps = small.map_steps.len();
        let maps = part("maps")?;
        if n_maps > 0 && maps.len() % n_maps != 0 {
            return Err("its maps differ in size".into());
        }
        let map_len = maps.len().checked_div(n_maps).unwrap_or(0).max(1);
        let maps = small.map_steps.iter().zip(maps.chunks(map_len));
        Ok(Self {
            agent: RemapState {
                settings: small.settings,
                n_steps: small.n_steps,
                skill,
                screens: small.screens,
                touches: small.touches,
                rewards: small.rewards,
                others: small.others,
            },
            rest: small.rest,
            maps: maps
                .map(|(&(step, lesson), levels)| MapSnapshot { step, lesson, levels: levels.to_vec() })
                .collect(),
        })
    }
}

/// The learned parts in the order of [`LEARNED`].
fn learned(skill: &SkillState) -> impl Iterator<Item = &ParameterState> {
    let controller = skill.controller.as_ref();
    let of_controller =
        controller.map(|controller| [&controller.votes, &controller.actions, &controller.maps]);
    std::iter::once(&skill.module).chain(of_controller.into_iter().flatten())
}

/// All tensors of a checkpoint, sorted by name.
fn tensors<'a>(skill: &'a SkillState, maps: &'a [u8]) -> BTreeMap<String, TensorView<'a>> {
    let view = |dtype, len, bytes| {
        TensorView::new(dtype, vec![len], bytes).expect("the length is that of the bytes")
    };
    let mut tensors = BTreeMap::from([("maps".to_owned(), view(Dtype::U8, maps.len(), maps))]);
    let mut add = |name: String, values: &'a [f32]| {
        tensors.insert(name, view(Dtype::F32, values.len(), bytemuck::cast_slice(values)));
    };
    for (name, learned) in LEARNED.iter().zip(learned(skill)) {
        add((*name).to_owned(), &learned.parameters);
        add(format!("{name}.adam.mean"), &learned.adam.mean);
        add(format!("{name}.adam.square"), &learned.adam.square);
    }
    for (idx, old) in skill.old.iter().enumerate() {
        add(format!("old.{idx}"), old);
    }
    tensors
}

fn skill_of<'a>(
    small: &SmallState,
    part: &impl Fn(&str) -> Result<&'a [u8], String>,
) -> Result<SkillState, String> {
    let numbers = |name: &str| -> Result<Vec<f32>, String> {
        let (numbers, rest) = part(name)?.as_chunks::<4>();
        if !rest.is_empty() {
            return Err(format!("the length of `{name}` is not a multiple of 4"));
        }
        Ok(numbers.iter().map(|&number| f32::from_le_bytes(number)).collect())
    };
    let learned = |idx: usize| {
        let name = LEARNED[idx];
        let n_updates = *small.n_updates.get(idx).ok_or("its number of updates is missing")?;
        let (mean, square) =
            (numbers(&format!("{name}.adam.mean"))?, numbers(&format!("{name}.adam.square"))?);
        let parameters = numbers(name)?;
        Ok::<_, String>(ParameterState {
            parameters,
            adam: AdamState { mean: mean.into(), square: square.into(), n_updates },
        })
    };
    let controller = match small.voting {
        None => None,
        Some(settings) => Some(ControllerState {
            settings,
            votes: learned(1)?,
            actions: learned(2)?,
            maps: learned(3)?,
            tally: ShareTally { sums: small.share_sums.clone(), n_steps: small.n_share_steps },
        }),
    };
    // Stops at the first missing tensor, so a wrong `n_old` allocates nothing.
    let old = (0..small.n_old).map(|idx| numbers(&format!("old.{idx}"))).collect::<Result<Vec<_>, _>>()?;
    Ok(SkillState { module: learned(0)?, old, controller })
}

/// Hash of the small state and of all tensors, which are sorted by name.
fn hash_of<'a>(json: &'a str, tensors: impl Iterator<Item = (&'a str, &'a [u8])>) -> String {
    let mut hasher = blake3::Hasher::new();
    for (name, bytes) in std::iter::once((KEY, json.as_bytes())).chain(tensors) {
        for part in [name.as_bytes(), bytes] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
    }
    hasher.finalize().to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::damage::check_damaged_bytes;
    use std::sync::Arc;
    use touchstream_agents::Evaluation;
    use touchstream_env::plain_stimuli::PlainStimuli;
    use touchstream_env::schedule::Schedule;
    use touchstream_env::seed::RunSeed;
    use touchstream_env::stimuli::Split;
    use touchstream_env::stream::Stream;
    use touchstream_env::task::find_task;
    use touchstream_env::touch::Touch;

    fn learned(n_updates: u64) -> ParameterState {
        let adam =
            AdamState { mean: vec![1.0, 2.0, 3.0].into(), square: vec![4.0, 5.0, 6.0].into(), n_updates };
        ParameterState { parameters: vec![0.1, -2.0, 3e-30], adam }
    }

    fn checkpoint() -> Checkpoint {
        checkpoint_of(SkillState { module: learned(1), old: Vec::new(), controller: None })
    }

    fn composite() -> Checkpoint {
        let controller = ControllerState {
            settings: VotingSettings::default(),
            votes: learned(2),
            actions: learned(3),
            maps: learned(4),
            tally: ShareTally { sums: vec![0.1 + 0.2, 0.7], n_steps: 5 },
        };
        let old = vec![vec![1.0, 2.0], vec![3.0, 4.0]];
        checkpoint_of(SkillState { module: learned(1), old, controller: Some(controller) })
    }

    fn checkpoint_of(skill: SkillState) -> Checkpoint {
        let (schedule, stimuli) =
            (Schedule::single(find_task("sr-2way").unwrap()), Arc::new(PlainStimuli::new(2)));
        let (stream, _) = Stream::open(schedule, stimuli, Split::Train, RunSeed(1)).unwrap();
        let validation = Evaluation {
            n_trials: 9,
            reward: 1.0 / 3.0,
            reward_se: 0.1,
            on_object: Some(0.1 + 0.2),
            cross_entropy: 0.2,
            map_error: 0.3,
            calibration_error: 0.4,
            regret: 0.5,
        };
        let row = CurveRow {
            step: 8,
            lesson: 1,
            train_reward: None,
            train_trials: 0,
            train_loss: Some(0.7),
            reuse: Some(0.5),
            validation,
        };
        Checkpoint {
            agent: RemapState {
                settings: AgentSettings::for_task("ems", &find_task("sr-2way").unwrap()).unwrap(),
                n_steps: 8,
                skill,
                screens: vec![None, Some(3)],
                touches: vec![[0.1, 0.2], [-1.0, 1.0]],
                rewards: vec![0.0, 1.0],
                others: vec![CounterfactualTouch {
                    touch: Touch::new(3, 4).unwrap(),
                    reward: 0.5,
                    next_reward: 0.25,
                }],
            },
            rest: Rest {
                identity: "a".into(),
                stream: stream.snapshot(),
                lesson: 1,
                lesson_start: 4,
                rows: vec![row],
                votes: vec![VoteRow { step: 8, lesson: 2, shares: vec![0.25, 0.75] }],
                after: vec![vec![0.75], vec![0.5, 0.25]],
                tally: Tally { reward_sum: 0.1 + 0.2, n_trials: 3, loss_sum: 1.0 / 7.0, n_updates: 1 },
                is_evaluation_due: true,
            },
            maps: vec![
                MapSnapshot { step: 0, lesson: 1, levels: vec![1, 2] },
                MapSnapshot { step: 8, lesson: 1, levels: vec![3, 4] },
            ],
        }
    }

    #[test]
    fn it_comes_back_as_it_was() {
        for checkpoint in [checkpoint(), composite()] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("checkpoint.safetensors");
            assert_eq!(Checkpoint::read(&path).unwrap(), None);
            checkpoint.write(&path).unwrap();
            assert_eq!(Checkpoint::read(&path).unwrap().as_ref(), Some(&checkpoint));
            let bytes = std::fs::read(&path).unwrap();
            // With several keys, one of two files has another order.
            for _ in 0..20 {
                checkpoint.write(&path).unwrap();
                assert!(std::fs::read(&path).unwrap() == bytes, "equal checkpoints are equal files");
            }
        }
    }

    #[test]
    fn damaged_bytes_are_refused_without_a_panic() {
        for checkpoint in [checkpoint(), composite()] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("checkpoint.safetensors");
            checkpoint.write(&path).unwrap();
            let bytes = std::fs::read(&path).unwrap();
            check_damaged_bytes(&bytes, |bytes| Checkpoint::from_bytes(bytes).is_ok());
            // No byte can change unseen.
            for at in 0..bytes.len() {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1;
                let read = Checkpoint::from_bytes(&damaged);
                assert!(read.is_err() || read.as_ref() == Ok(&checkpoint), "byte {at} changed unseen");
            }
        }
    }
}
