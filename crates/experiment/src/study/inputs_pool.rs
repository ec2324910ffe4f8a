//! Images and features shared by the runs of a study; each is opened once per process, before the first run.

use crate::config::RawConfig;
use crate::error::{Context, Error, Result};
use crate::inputs::Inputs;
use crate::setup::RunSetup;
use crate::study::cell::{Cell, CellPlan};
use crate::watch::Watch;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;
use touchstream_encoder::Encoder;
use touchstream_env::task::Task;

/// All inputs of a process, by settings.
pub struct InputsPool {
    inputs: BTreeMap<String, Arc<Inputs>>,
}

impl InputsPool {
    /// Opens what the runs need; encodes the screens that are not in the cache.
    pub fn open<'a>(cells: impl Iterator<Item = &'a Cell>, watch: &dyn Watch) -> Result<Self> {
        let mut wanted = BTreeMap::new();
        for cell in cells {
            let (setup, tasks) = needs_of(cell).with_context(|| cell.name.clone())?;
            wanted.entry(key_of(&setup, &tasks)?).or_insert((setup, tasks));
        }
        // Encoders are large and slow to open: each is opened once, and dropped when all inputs are open.
        let mut encoders: BTreeMap<String, Box<dyn Encoder>> = BTreeMap::new();
        let mut inputs = BTreeMap::new();
        for (key, (setup, tasks)) in wanted {
            let encoder = format!("{:?} {:?}", setup.config.encoder, setup.config.encoder_options);
            let encoder = match encoders.entry(encoder) {
                Entry::Occupied(entry) => entry.into_mut(),
                Entry::Vacant(entry) => entry.insert(setup.open_encoder(watch)?),
            };
            let opened = Inputs::open(&setup, encoder.as_ref(), &tasks, watch);
            let names = || tasks.iter().map(Task::id).collect::<Vec<_>>().join(", ");
            inputs.insert(key, Arc::new(opened.with_context(names)?));
        }
        Ok(Self { inputs })
    }

    /// The inputs of a run.
    pub fn of(&self, cell: &Cell) -> Result<Arc<Inputs>> {
        let (setup, tasks) = needs_of(cell)?;
        let found = self.inputs.get(&key_of(&setup, &tasks)?).cloned();
        found.ok_or_else(|| Error::Folder(format!("the features of {} are not open", cell.name)))
    }
}

/// The settings of a run's images and features, and the tasks that its features are centred on.
fn needs_of(cell: &Cell) -> Result<(RunSetup, Vec<Task>)> {
    match &cell.what {
        CellPlan::Alone(config) => {
            let setup = RunSetup::new(config.as_ref().clone())?;
            let tasks = setup.tasks.clone();
            Ok((setup, tasks))
        }
        CellPlan::Base(plan) | CellPlan::Second(plan) => Ok((plan.setup()?, plan.tasks_shown()?)),
    }
}

/// Runs with equal keys have equal inputs.
fn key_of(setup: &RunSetup, tasks: &[Task]) -> Result<String> {
    let RawConfig { data, encoder, images, encoder_options, placements, placements_seed, .. } = &setup.config;
    let settings = setup.feature_settings()?;
    let tasks: Vec<String> = tasks.iter().map(|task| task.spec().to_toml()).collect();
    Ok(format!(
        "{data:?} {encoder:?} {images:?} {encoder_options:?} {placements:?} {placements_seed:?} {settings:?} {tasks:?}"
    ))
}
