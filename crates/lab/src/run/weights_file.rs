//! A module's weights as safetensors, with all that is needed to use them again.

use crate::run::error::RunError;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::path::Path;
use touchstream_agent::AgentSettings;
use touchstream_files::{read_at_most, write_aside};
use touchstream_mind::module::Module;

/// What the weights are of; stands in the file's metadata under `touchstream`, as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WeightsFacts {
    /// The agent.
    pub agent: AgentSettings,
    /// Numbers of a scene vector.
    pub scene_len: usize,
    /// The task that was learned.
    pub task_id: String,
    /// Steps learned.
    pub n_steps: u64,
    /// Content hash of the images.
    pub data_hash: String,
    /// Content hash of the encoder.
    pub encoder_hash: String,
    /// Content hash of centring and scaling.
    pub calibration_hash: String,
    /// Version of the program.
    pub program: String,
}

/// Weights from a file.
#[derive(Clone, Debug)]
pub struct StoredWeights {
    /// What they are of.
    pub facts: WeightsFacts,
    /// The module.
    pub module: Module,
}

const KEY: &str = "touchstream";
const MAX_BYTES: u64 = 1 << 34;

/// Writes the tensors of a module under their names: `bottleneck.weight`, `layer1.bias`, ...
pub fn write_weights(path: &Path, module: &Module, facts: &WeightsFacts) -> Result<(), RunError> {
    let tensors = module.structure().tensors().map(|place| {
        let bytes = bytemuck::cast_slice(&module.parameters()[place.range]);
        (place.name, TensorView::new(Dtype::F32, place.shape, bytes).expect("as many bytes as numbers"))
    });
    let json = serde_json::to_string(facts).expect("plain data");
    let bytes = safetensors::serialize(tensors, Some(HashMap::from([(KEY.to_owned(), json)])))
        .map_err(|error| RunError::damaged(path, error.to_string()))?;
    write_aside(path, &bytes).map_err(RunError::of_file(path))
}

/// Reads what [`write_weights`] wrote.
pub fn read_weights(path: &Path) -> Result<StoredWeights, RunError> {
    let bytes = read_at_most(path, MAX_BYTES).map_err(RunError::of_file(path))?;
    weights_from_bytes(&bytes).map_err(|problem| RunError::damaged(path, problem))
}

fn weights_from_bytes(bytes: &[u8]) -> Result<StoredWeights, String> {
    let say = |error: safetensors::SafeTensorError| format!("this is not a safetensors file: {error}");
    let (_, header) = SafeTensors::read_metadata(bytes).map_err(say)?;
    let tensors = SafeTensors::deserialize(bytes).map_err(say)?;
    let json = header.metadata().as_ref().and_then(|metadata| metadata.get(KEY));
    let json = json.ok_or("these are not weights of a run: their metadata has no `touchstream`")?;
    let facts: WeightsFacts = serde_json::from_str(json).map_err(|error| format!("its metadata: {error}"))?;
    let structure = facts.agent.check(facts.scene_len).map_err(|error| error.to_string())?;
    let mut parameters = vec![0.0; structure.n_parameters()];
    for place in structure.tensors() {
        let tensor =
            tensors.tensor(&place.name).map_err(|_| format!("there is no tensor `{}`", place.name))?;
        if tensor.shape() != place.shape || tensor.dtype() != Dtype::F32 {
            let (name, shape, found) = (&place.name, &place.shape, tensor.shape());
            return Err(format!("tensor `{name}` should be F32 {shape:?}, not {} {found:?}", tensor.dtype()));
        }
        let numbers = tensor.data().as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes));
        parameters[place.range].iter_mut().zip(numbers).for_each(|(parameter, number)| *parameter = number);
    }
    Ok(StoredWeights { facts, module: Module::new(structure, parameters) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::damage::check_damaged_bytes;
    use touchstream_agent::AgentSettings;
    use touchstream_env::task::find_task;

    fn written(folder: &Path) -> (std::path::PathBuf, Module, WeightsFacts) {
        let mut agent = AgentSettings::for_task("ems", &find_task("sr-2way").unwrap()).unwrap();
        agent.module.units = vec![2, 3, 2];
        let structure = agent.check(5).unwrap();
        let numbers = (0..structure.n_parameters()).map(|idx| idx as f32 * 0.1).collect();
        let module = Module::new(structure, numbers);
        let word = || "x".to_owned();
        let facts = WeightsFacts {
            agent,
            scene_len: 5,
            task_id: "sr-2way".into(),
            n_steps: 7,
            data_hash: word(),
            encoder_hash: word(),
            calibration_hash: word(),
            program: word(),
        };
        let path = folder.join("weights.safetensors");
        write_weights(&path, &module, &facts).unwrap();
        (path, module, facts)
    }

    #[test]
    fn weights_come_back_and_equal_weights_are_equal_files() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (path, module, facts) = written(one.path());
        let stored = read_weights(&path).unwrap();
        assert_eq!((stored.facts, stored.module.parameters()), (facts, module.parameters()));
        let (second, ..) = written(other.path());
        assert_eq!(std::fs::read(path).unwrap(), std::fs::read(second).unwrap());
    }

    #[test]
    fn damaged_bytes_are_refused_without_a_panic() {
        let folder = tempfile::tempdir().unwrap();
        let bytes = std::fs::read(written(folder.path()).0).unwrap();
        check_damaged_bytes(&bytes, |bytes| weights_from_bytes(bytes).is_ok());
    }
}
