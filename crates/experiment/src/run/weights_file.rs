//! Weights as safetensors, with all metadata needed to use them.

use crate::error::{Context, Error, Result};
use crate::run::verified::VerifiedRun;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use touchstream_agents::{AgentSettings, SceneShape};
use touchstream_files::write_aside_durably;
use touchstream_modules::Skill;
use touchstream_modules::composite::{Controller, VotingSettings};
use touchstream_modules::module::{MapShape, Module};

/// What the weights belong to: JSON in the file's metadata, under `touchstream`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WeightsFacts {
    pub agent: AgentSettings,
    /// Number of frozen modules.
    #[serde(default)]
    pub n_old: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub voting: Option<VotingSettings>,
    /// Elements of a scene vector.
    pub scene_len: usize,
    /// Positions and channels of a spatial map, if the modules read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map: Option<[usize; 2]>,
    /// The last task.
    pub task_id: String,
    pub n_steps: u64,
    pub data_hash: String,
    pub encoder_hash: String,
    /// Hash of centring and scaling.
    pub calibration_hash: String,
    pub program: String,
}

#[derive(Clone, Debug)]
pub struct StoredWeights {
    pub facts: WeightsFacts,
    pub module: Module,
    /// The frozen modules and their votes.
    pub controller: Option<Controller>,
}

const KEY: &str = "touchstream";

/// Writes all tensors of a skill under their names: `bottleneck.weight`, `layer1.bias`, ...; frozen modules as
/// `old.0.bottleneck.weight`, ...; the controller as `votes.bottleneck.weight`, ...
pub fn write_weights(path: &Path, skill: &Skill, facts: &WeightsFacts) -> Result<()> {
    let mut tensors: Vec<(String, Vec<usize>, &[f32])> = Vec::new();
    let old = skill.controller().map_or(&[][..], Controller::old);
    let modules = std::iter::once((String::new(), skill.module()));
    let old = old.iter().enumerate().map(|(idx, module)| (format!("old.{idx}."), module.as_ref()));
    for (prefix, module) in modules.chain(old) {
        for place in module.structure().tensors() {
            tensors.push((prefix.clone() + &place.name, place.shape, &module.parameters()[place.range]));
        }
    }
    if let Some(controller) = skill.controller() {
        for tensor in controller.tensors() {
            let numbers = &controller.parameters().get(tensor.group)[tensor.range];
            tensors.push((tensor.name, tensor.shape, numbers));
        }
    }
    let views = tensors.into_iter().map(|(name, shape, numbers)| {
        let bytes = bytemuck::cast_slice(numbers);
        (name, TensorView::new(Dtype::F32, shape, bytes).expect("as many bytes as numbers"))
    });
    let json = serde_json::to_string(facts).expect("plain data");
    let bytes = safetensors::serialize(views, Some(HashMap::from([(KEY.to_owned(), json)])))
        .map_err(|error| Error::damaged(path, error.to_string()))?;
    write_aside_durably(path, &bytes).at(path)
}

/// `None` if the run has no weights.
pub fn read_weights(run: &VerifiedRun) -> Result<Option<StoredWeights>> {
    let path = run.folder().weights();
    let weights = run.read(&path)?.map(|bytes| weights_from_bytes(&bytes)).transpose();
    weights.map_err(|problem| Error::damaged(&path, problem))
}

fn weights_from_bytes(bytes: &[u8]) -> Result<StoredWeights, String> {
    let say = |error: safetensors::SafeTensorError| format!("this is not a safetensors file: {error}");
    let (_, header) = SafeTensors::read_metadata(bytes).map_err(say)?;
    let tensors = SafeTensors::deserialize(bytes).map_err(say)?;
    let json = header.metadata().as_ref().and_then(|metadata| metadata.get(KEY));
    let json = json.ok_or("these are not weights of a run: their metadata has no `touchstream`")?;
    let facts: WeightsFacts = serde_json::from_str(json).map_err(|error| format!("its metadata: {error}"))?;
    let map = facts.map.map(|[n_places, n_channels]| MapShape { n_places, n_channels });
    let shape = SceneShape { scene_len: facts.scene_len, map };
    let structure = facts.agent.check(shape).map_err(|error| error.to_string())?;
    let module = |prefix: &str| -> Result<Module, String> {
        let mut parameters = vec![0.0; structure.n_parameters()];
        for place in structure.tensors() {
            let name = format!("{prefix}{}", place.name);
            read_tensor(&tensors, &name, &place.shape, &mut parameters[place.range])?;
        }
        Ok(Module::new(structure.clone(), parameters))
    };
    // Stops at the first missing module, so a wrong `n_old` allocates nothing.
    let mut old = Vec::new();
    for idx in 0..facts.n_old {
        old.push(Arc::new(module(&format!("old.{idx}."))?));
    }
    let controller = match (facts.voting, old.is_empty()) {
        (None, true) => None,
        (Some(voting), false) => {
            let mut controller = Controller::new(old, voting, || 0.0);
            for tensor in controller.tensors() {
                let numbers = &mut controller.parameters_mut().get_mut(tensor.group)[tensor.range];
                read_tensor(&tensors, &tensor.name, &tensor.shape, numbers)?;
            }
            Some(controller)
        }
        _ => return Err("its metadata: frozen modules and votes belong together".into()),
    };
    Ok(StoredWeights { module: module("")?, controller, facts })
}

fn read_tensor(
    tensors: &SafeTensors<'_>,
    name: &str,
    shape: &[usize],
    numbers: &mut [f32],
) -> Result<(), String> {
    let tensor = tensors.tensor(name).map_err(|_| format!("there is no tensor `{name}`"))?;
    if tensor.shape() != shape || tensor.dtype() != Dtype::F32 {
        let found = tensor.shape();
        return Err(format!("tensor `{name}` should be F32 {shape:?}, not {} {found:?}", tensor.dtype()));
    }
    for (number, &bytes) in numbers.iter_mut().zip(tensor.data().as_chunks::<4>().0) {
        *number = f32::from_le_bytes(bytes);
        if !number.is_finite() {
            return Err(format!("tensor `{name}` holds {number}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::damage::check_damaged_bytes;
    use crate::run::folder::RunFolder;
    use touchstream_agents::{AgentSettings, SceneShape};
    use touchstream_env::task::find_task;
    use touchstream_modules::composite::{FrozenVisual, Voting};
    use touchstream_modules::module::Structure;

    fn facts() -> (WeightsFacts, Structure) {
        let mut agent = AgentSettings::for_task("ems", &find_task("sr-2way").unwrap()).unwrap();
        agent.module.units = vec![2, 3, 2];
        let structure = agent.check(SceneShape::without_maps(5)).unwrap();
        let word = || "x".to_owned();
        let facts = WeightsFacts {
            agent,
            n_old: 0,
            voting: None,
            scene_len: 5,
            map: None,
            task_id: "sr-2way".into(),
            n_steps: 7,
            data_hash: word(),
            encoder_hash: word(),
            calibration_hash: word(),
            program: word(),
        };
        (facts, structure)
    }

    /// A module alone, or with two frozen ones.
    fn written(folder: &Path, voting: Option<VotingSettings>) -> (std::path::PathBuf, Skill, WeightsFacts) {
        let (facts, structure) = facts();
        let module = |first: usize| {
            let numbers = (0..structure.n_parameters()).map(|idx| (first + idx) as f32 * 0.1).collect();
            Module::new(structure.clone(), numbers)
        };
        let old = [Arc::new(module(100)), Arc::new(module(200))];
        let mut number = 0.0;
        let skill = match voting {
            None => Skill::alone(module(0)),
            Some(voting) => {
                let controller = Controller::new(old.to_vec(), voting, || {
                    number += 0.1;
                    number
                });
                let frozen = Arc::new(FrozenVisual::new(&old, std::iter::empty()));
                Skill::composed(module(0), controller, frozen)
            }
        };
        let n_old = skill.controller().map_or(0, |controller| controller.old().len());
        let facts = WeightsFacts { voting, n_old, ..facts };
        let path = folder.join("weights.safetensors");
        write_weights(&path, &skill, &facts).unwrap();
        (path, skill, facts)
    }

    const VOTINGS: fn() -> [Option<VotingSettings>; 3] =
        || [None, Some(VotingSettings::of(Voting::Layer)), Some(VotingSettings::of(Voting::Unit))];

    #[test]
    fn weights_come_back_and_equal_weights_are_equal_files() {
        for voting in VOTINGS() {
            let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            let (path, skill, facts) = written(one.path(), voting);
            let run = VerifiedRun::open(RunFolder::at(one.path())).unwrap();
            let stored = read_weights(&run).unwrap().unwrap();
            assert_eq!((stored.facts, stored.module.parameters()), (facts, skill.module().parameters()));
            let parameters = stored.controller.as_ref().map(Controller::parameters);
            assert_eq!(parameters, skill.controller().map(Controller::parameters));
            if let (Some(stored), Some(controller)) = (&stored.controller, skill.controller()) {
                assert_eq!(stored.old()[1].parameters(), controller.old()[1].parameters());
            }
            let (second, ..) = written(other.path(), voting);
            assert_eq!(std::fs::read(path).unwrap(), std::fs::read(second).unwrap());
        }
    }

    #[test]
    fn numbers_that_are_none_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (path, skill, facts) = written(folder.path(), None);
        let mut module = skill.module().clone();
        *module.parameters_mut().last_mut().unwrap() = f32::NAN;
        write_weights(&path, &Skill::alone(module), &facts).unwrap();
        let run = VerifiedRun::open(RunFolder::at(folder.path())).unwrap();
        let error = read_weights(&run).unwrap_err().to_string();
        assert!(error.contains("tensor `readout.bias` holds NaN"), "{error}");
    }

    #[test]
    fn damaged_bytes_are_refused_without_a_panic() {
        for voting in VOTINGS() {
            let folder = tempfile::tempdir().unwrap();
            let bytes = std::fs::read(written(folder.path(), voting).0).unwrap();
            check_damaged_bytes(&bytes, |bytes| weights_from_bytes(bytes).is_ok());
        }
    }
}
