//! The images and features of a run, opened once and shared by all runs that need the same ones.

use crate::config::{DataFacts, needs_of};
use crate::error::Result;
use crate::feature_scenes::FeatureScenes;
use crate::run::{RunIdentity, RunPlan};
use crate::setup::RunSetup;
use crate::watch::{Event, Watch, WorkProgress};
use std::sync::Arc;
use touchstream_agents::SceneShape;
use touchstream_encoder::{Encoder, FeatureShape};
use touchstream_env::stimuli::{Split, Stimuli};
use touchstream_env::stream::Stream;
use touchstream_env::task::Task;
use touchstream_features::{EncodeContext, FeatureSet};
use touchstream_modules::Instructions;
use touchstream_modules::module::MapShape;

/// The images and features of a run's tasks.
pub struct Inputs {
    pub stimuli: Arc<dyn Stimuli>,
    pub scenes: FeatureScenes,
    pub data: DataFacts,
    pub encoder_name: String,
    pub encoder_hash: String,
    /// Hash of centring and scaling.
    pub calibration_hash: String,
}

impl Inputs {
    /// Opens the images that `tasks` show, and encodes the screens that are not in the cache.
    pub fn open(setup: &RunSetup, encoder: &dyn Encoder, tasks: &[Task], watch: &dyn Watch) -> Result<Self> {
        let opened = setup.open_images(needs_of(tasks), watch)?;
        let mut streams = Vec::new();
        for split in [Split::Train, Split::Validation] {
            for task in tasks {
                streams.push(setup.stream_of(task, &opened.stimuli, split, 0)?);
            }
        }
        let bound: Vec<_> = streams.iter().map(Stream::bound_task).collect();
        let (cache_dir, progress) = (setup.config.images.cache_dir(), WorkProgress(watch));
        let context = EncodeContext { encoder, cache_dir: cache_dir.as_deref(), progress: &progress };
        let features = FeatureSet::of_tasks(context, &bound, setup.feature_settings()?)?;
        features.encoded().notes.iter().for_each(|note| watch.on(Event::Note(note)));
        Ok(Self {
            stimuli: opened.stimuli,
            data: DataFacts::of(&opened.manifest),
            encoder_name: encoder.name().to_owned(),
            encoder_hash: encoder.content_hash().to_string(),
            calibration_hash: features.calibration().content_hash().to_string(),
            scenes: FeatureScenes(features),
        })
    }

    /// The identity of a run that learns from these inputs on this machine.
    pub fn identity(&self, plan: RunPlan) -> RunIdentity {
        RunIdentity {
            convolutions: plan.convolutions_version(),
            plan,
            origin: None,
            data_hash: self.data.content_hash.clone(),
            encoder_hash: self.encoder_hash.clone(),
            calibration_hash: self.calibration_hash.clone(),
            rounding: Instructions::best().rounding().into(),
            program: env!("CARGO_PKG_VERSION").into(),
        }
    }
}

/// The shape of an encoder's features, as agents read them.
pub(crate) fn scene_shape(shape: FeatureShape, has_maps: bool) -> SceneShape {
    let map = has_maps
        .then(|| MapShape { n_places: shape.map_len() / shape.map_channels, n_channels: shape.map_channels });
    SceneShape { scene_len: shape.scene_len, map }
}
