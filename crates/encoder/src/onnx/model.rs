//! An ONNX model as an encoder.

use std::path::Path;
use std::sync::Arc;

use rten::ThreadPool;
use rten_tensor::Layout as _;
use touchstream_env::screen::Screen;
use touchstream_env::stimuli::ContentHash;
use touchstream_env::touch::SCREEN_SIDE_PX;
use touchstream_files::read_at_most;

use super::error::{OnnxError, OnnxProblem};
use super::file::OnnxFile;
use super::lanes::Lanes;
use super::runner::{Rewriting, Runner, floats};
use super::settings::{Layout, OnnxSettings, Preprocessing};
use super::spatial::SpatialValues;
use super::trial_run::try_opening;
use crate::encoder::{EncodeError, Encoder, FeatureShape, Features, MAP_SIDE};

const MAX_FILE_BYTES: u64 = 4 << 30;

/// Part of the content hash; must be changed whenever the same file and settings give other features.
const VERSION: &str = "touchstream onnx 1, rten 0.27";

/// An ONNX model whose scene vector and map are the values of two nodes.
pub struct OnnxEncoder {
    name: String,
    content_hash: ContentHash,
    runner: Runner,
    preprocessing: Preprocessing,
    shape: FeatureShape,
    map: Option<SpatialValues>,
    notes: Vec<String>,
    lanes: Lanes,
}

impl OnnxEncoder {
    /// Opens a model and runs it once on a grey screen, so that all problems are found now.
    pub fn open(settings: &OnnxSettings) -> Result<Self, OnnxError> {
        Self::open_file(settings).map_err(OnnxError::at(&settings.file))
    }

    fn open_file(settings: &OnnxSettings) -> Result<Self, OnnxProblem> {
        settings.preprocessing.check().map_err(OnnxProblem::Preprocessing)?;
        let bytes = read_model(&settings.file)?;
        let file = OnnxFile::read(&bytes)?;
        let scene = file.value_named(&settings.scene)?;
        let map_name = settings.map.as_deref().map(|map| file.value_named(map)).transpose()?;
        try_opening(settings, &file, bytes.len())?;
        // The same value may be used for both.
        let values: Vec<&str> = [scene].into_iter().chain(map_name.filter(|&map| map != scene)).collect();
        let runner = Runner::load(&file, &values, &settings.preprocessing, Rewriting::WherePossible)?;
        let content_hash =
            content_hash(&bytes, &[scene, map_name.unwrap_or("")], runner.layout(), &settings.preprocessing);
        let mut notes = Vec::new();
        let side_px = runner.input().side_px;
        if side_px != SCREEN_SIDE_PX {
            notes.push(format!("screens are resized to the model's {side_px} x {side_px} pixels"));
        }
        if file.is_pooled(scene) {
            notes.push(format!(
                "the scene vector `{scene}` is pooled over all positions: it encodes what is on a screen, but not where"
            ));
        }

        let outputs = runner.run(&Screen::grey(), None)?;
        let scene_values = floats(scene, &outputs[0])?;
        if scene_values.is_empty() {
            return Err(OnnxProblem::Empty { node: scene.to_owned(), shape: scene_values.shape().to_vec() });
        }
        let map = match map_name {
            None => None,
            Some(node) => {
                let shape = floats(node, &outputs[values.len() - 1])?.shape().to_vec();
                let map = SpatialValues::from_shape(&shape, runner.layout());
                Some(map.ok_or_else(|| OnnxProblem::NoMap { node: node.to_owned(), shape })?)
            }
        };
        if let Some(map) = map.filter(|map| map.side != MAP_SIDE) {
            notes.push(format!(
                "the map has {0} x {0} positions, resampled to {MAP_SIDE} x {MAP_SIDE}",
                map.side
            ));
        }
        Ok(Self {
            name: format!("onnx:{}", settings.file.display()),
            content_hash,
            shape: FeatureShape {
                scene_len: scene_values.len(),
                map_channels: map.map_or(0, |map| map.channels),
            },
            runner,
            preprocessing: settings.preprocessing.clone(),
            map,
            notes,
            lanes: Lanes::default(),
        })
    }

    /// Hints about this choice of nodes, without full stops.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Describes the input: `image [1, 3, 192, 192] of RGB, ImageNet's mean and deviation`.
    pub fn input(&self) -> String {
        let input = self.runner.input();
        format!("{} {:?} of RGB, {}", input.name, input.shape(), self.preprocessing.describe())
    }

    fn encode_one(
        &self,
        lane: &Arc<ThreadPool>,
        screen: &Screen,
        out: &mut Features,
    ) -> Result<(), OnnxProblem> {
        let outputs = self.runner.run(screen, Some(Arc::clone(lane)))?;
        let ([scene_name, ..], [scene, ..]) = (self.runner.values(), outputs.as_slice()) else {
            return Err(OnnxProblem::Refused("it computed no values".to_owned()));
        };
        let scene = floats(scene_name, scene)?;
        same_len(scene_name, scene.len(), out.scene.len())?;
        out.scene.copy_from_slice(&scene.to_slice());
        if let (Some(map), Some(name), Some(values)) = (self.map, self.runner.values().last(), outputs.last())
        {
            let values = floats(name, values)?;
            if SpatialValues::from_shape(values.shape(), self.runner.layout()) != Some(map) {
                return Err(OnnxProblem::NoMap { node: name.clone(), shape: values.shape().to_vec() });
            }
            map.write_map(&values.to_slice(), &mut out.map);
        }
        match out.scene.iter().chain(&out.map).all(|value| value.is_finite()) {
            true => Ok(()),
            false => Err(OnnxProblem::Refused("a feature is NaN or infinite".to_owned())),
        }
    }
}

impl Encoder for OnnxEncoder {
    fn name(&self) -> &str {
        &self.name
    }

    fn content_hash(&self) -> ContentHash {
        self.content_hash
    }

    fn shape(&self) -> FeatureShape {
        self.shape
    }

    fn encode(&self, screens: &[Screen], out: &mut [Features]) -> Result<(), EncodeError> {
        assert_eq!(screens.len(), out.len(), "one `Features` per screen");
        let jobs = screens.iter().zip(out);
        self.lanes
            .run(jobs, |lane, (screen, features)| self.encode_one(lane, screen, features))
            .map_err(|problem| EncodeError { encoder: self.name.clone(), reason: problem.to_string() })
    }
}

/// The model's bytes, up to the size limit.
pub(super) fn read_model(file: &Path) -> Result<Vec<u8>, OnnxProblem> {
    Ok(read_at_most(file, MAX_FILE_BYTES)?)
}

fn content_hash(bytes: &[u8], names: &[&str], layout: Layout, preprocessing: &Preprocessing) -> ContentHash {
    let mut hasher = blake3::Hasher::new();
    let values = preprocessing.mean.iter().chain(&preprocessing.std).flat_map(|value| value.to_le_bytes());
    let settings: Vec<u8> = values.collect();
    let parts = [VERSION.as_bytes(), layout.name().as_bytes(), &settings, bytes];
    for part in parts.into_iter().chain(names.iter().map(|name| name.as_bytes())) {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    ContentHash(hasher.finalize().into())
}

/// The length may depend on the screen in some models (`NonZero`, `If`); that of a scene vector must not.
fn same_len(node: &str, len: usize, expected: usize) -> Result<(), OnnxProblem> {
    match len == expected {
        true => Ok(()),
        false => Err(OnnxProblem::Refused(format!(
            "`{node}` has {len} elements for this screen and had {expected} before"
        ))),
    }
}
