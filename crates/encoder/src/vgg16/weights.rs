//! VGG-16's weights: thirteen convolutions and optionally FC6, from a safetensors file with torchvision's names.

use crate::tensor_file::{TensorFile, TensorFileError};
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use touchstream_env::stimuli::ContentHash;

/// A convolution's index among torchvision's `features`, and its channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConvolutionPlace {
    /// N in `features.N.weight`.
    pub feature_idx: usize,
    pub n_in: usize,
    pub n_out: usize,
}

const fn place(feature_idx: usize, n_in: usize, n_out: usize) -> ConvolutionPlace {
    ConvolutionPlace { feature_idx, n_in, n_out }
}

/// conv1_1 to conv5_3, all 3 x 3.
pub const VGG16_CONVOLUTIONS: [ConvolutionPlace; 13] = [
    place(0, 3, 64),
    place(2, 64, 64),
    place(5, 64, 128),
    place(7, 128, 128),
    place(10, 128, 256),
    place(12, 256, 256),
    place(14, 256, 256),
    place(17, 256, 512),
    place(19, 512, 512),
    place(21, 512, 512),
    place(24, 512, 512),
    place(26, 512, 512),
    place(28, 512, 512),
];

/// Number of units of FC6, the length of the scene vector.
pub const FC6_LEN: usize = 4096;
/// Number of inputs of FC6: pool5, 512 channels of 7 x 7.
pub const POOL5_LEN: usize = 512 * 7 * 7;

/// FC6's possible names and shapes: torchvision's, and timm's, which has a 7 x 7 convolution.
const FC6_PLACES: [(&str, &[usize]); 2] =
    [("classifier.0", &[FC6_LEN, POOL5_LEN]), ("pre_logits.fc1", &[FC6_LEN, 512, 7, 7])];

/// The trained weights of VGG-16, up to FC6.
#[derive(Clone, PartialEq)]
pub struct Vgg16Weights {
    /// conv1_1 to conv5_3, with the channels of [`VGG16_CONVOLUTIONS`].
    pub convolutions: Vec<ConvolutionWeights>,
    /// The first fully connected layer, if the file contains it.
    pub fc6: Option<Fc6Weights>,
    /// Hash of all weights. Equal weights have the same hash, also if stored as F16 or in another file.
    pub content_hash: ContentHash,
}

/// A 3 x 3 convolution.
#[derive(Clone, PartialEq)]
pub struct ConvolutionWeights {
    pub n_in: usize,
    pub n_out: usize,
    /// `[n_out, n_in, 3, 3]`
    pub kernel: Vec<f32>,
    /// `[n_out]`
    pub bias: Vec<f32>,
}

/// FC6.
#[derive(Clone, PartialEq)]
pub struct Fc6Weights {
    /// `[4096, 25088]`; the columns are pool5 in the order channel, row, column.
    pub matrix: Vec<f32>,
    /// `[4096]`
    pub bias: Vec<f32>,
}

/// Why a file's weights cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct WeightsError {
    pub path: PathBuf,
    pub problem: WeightsProblem,
}

/// Why weights cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum WeightsProblem {
    /// The file, or one of its tensors, is invalid.
    #[error(transparent)]
    File(#[from] TensorFileError),
    #[error("these are weights of vgg16_bn, which has batch normalization; take those of plain vgg16")]
    BatchNorm,
    /// The convolutions have other names.
    #[error("these are weights of another architecture: VGG-16 has convolutions features.{}, this file {found}",
        join(&VGG16_CONVOLUTIONS.map(|place| place.feature_idx)))]
    OtherArchitecture { found: String },
    /// The names are right, but a layer has another size.
    #[error("these are weights of another architecture: {0}")]
    OtherShape(TensorFileError),
}

impl Vgg16Weights {
    /// Reads a file with torchvision's names: `features.0.weight` to `features.28.bias` and, for FC6,
    /// `classifier.0.weight` and `classifier.0.bias`. Later layers are not read.
    pub fn read(path: &Path) -> Result<Self, WeightsError> {
        let read = || Self::from_file(&mut TensorFile::open(path)?);
        read().map_err(|problem| WeightsError { path: path.to_owned(), problem })
    }

    pub fn from_file<R: Read + Seek>(file: &mut TensorFile<R>) -> Result<Self, WeightsProblem> {
        check_architecture(&file.names())?;
        let mut convolutions = Vec::with_capacity(VGG16_CONVOLUTIONS.len());
        for ConvolutionPlace { feature_idx, n_in, n_out } in VGG16_CONVOLUTIONS {
            convolutions.push(ConvolutionWeights {
                n_in,
                n_out,
                kernel: read_layer(file, &format!("features.{feature_idx}.weight"), &[n_out, n_in, 3, 3])?,
                bias: read_layer(file, &format!("features.{feature_idx}.bias"), &[n_out])?,
            });
        }
        let mut fc6 = None;
        for (layer, shape) in FC6_PLACES {
            let [weight, bias] = ["weight", "bias"].map(|part| format!("{layer}.{part}"));
            if fc6.is_none() && file.shape(&weight).is_some() {
                let bias = read_layer(file, &bias, &[FC6_LEN])?;
                fc6 = Some(Fc6Weights { matrix: read_layer(file, &weight, shape)?, bias });
            }
        }
        Ok(Self::new(convolutions, fc6))
    }

    /// Reads only a file's header, and checks its length and the shapes of the convolutions.
    pub fn check_header(path: &Path) -> Result<(), WeightsError> {
        let check = || {
            let file = TensorFile::open(path)?;
            check_architecture(&file.names())?;
            for ConvolutionPlace { feature_idx, n_in, n_out } in VGG16_CONVOLUTIONS {
                file.check_shape(&format!("features.{feature_idx}.weight"), &[n_out, n_in, 3, 3])?;
                file.check_shape(&format!("features.{feature_idx}.bias"), &[n_out])?;
            }
            Ok(())
        };
        check().map_err(|problem| WeightsError { path: path.to_owned(), problem })
    }

    /// Weights in memory; the shapes must be VGG-16's.
    pub fn new(convolutions: Vec<ConvolutionWeights>, fc6: Option<Fc6Weights>) -> Self {
        let content_hash = hash_of(&convolutions, fc6.as_ref());
        Self { convolutions, fc6, content_hash }
    }
}

impl std::fmt::Debug for Vgg16Weights {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let fc6 = if self.fc6.is_some() { "with" } else { "without" };
        write!(f, "Vgg16Weights({} convolutions, {fc6} FC6, {})", self.convolutions.len(), self.content_hash)
    }
}

/// Reads a tensor; a wrong shape means another architecture.
fn read_layer<R: Read + Seek>(
    file: &mut TensorFile<R>,
    tensor: &str,
    shape: &[usize],
) -> Result<Vec<f32>, WeightsProblem> {
    file.read(tensor, shape).map_err(|error| match error {
        wrong @ TensorFileError::Shape { .. } => WeightsProblem::OtherShape(wrong),
        other => WeightsProblem::File(other),
    })
}

/// Checks that the names are VGG-16's.
fn check_architecture(names: &[String]) -> Result<(), WeightsProblem> {
    let numbered = |name: &str, part: &str| -> Option<usize> {
        name.strip_prefix("features.")?.strip_suffix(part)?.parse().ok()
    };
    if names.iter().any(|name| numbered(name, ".running_mean").is_some()) {
        return Err(WeightsProblem::BatchNorm);
    }
    let mut found: Vec<usize> = names.iter().filter_map(|name| numbered(name, ".weight")).collect();
    found.sort_unstable();
    if found == VGG16_CONVOLUTIONS.map(|place| place.feature_idx) {
        return Ok(());
    }
    let found = match (found.as_slice(), names) {
        ([], []) => "contains no tensors".to_owned(),
        ([], names) => {
            let some: Vec<String> = names.iter().take(3).map(|name| format!("`{name}`")).collect();
            format!("has {} tensors such as {}", names.len(), some.join(", "))
        }
        (found, _) => format!("features.{}", join(found)),
    };
    Err(WeightsProblem::OtherArchitecture { found })
}

/// Such as `0,2,5`.
fn join(indices: &[usize]) -> String {
    indices.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

fn hash_of(convolutions: &[ConvolutionWeights], fc6: Option<&Fc6Weights>) -> ContentHash {
    let mut hasher = blake3::Hasher::new_derive_key("touchstream VGG-16 weights, first kind");
    for convolution in convolutions {
        update_with(&mut hasher, &convolution.kernel);
        update_with(&mut hasher, &convolution.bias);
    }
    // The architecture fixes all lengths, so no separators are needed between the parts.
    if let Some(fc6) = fc6 {
        update_with(&mut hasher, &fc6.matrix);
        update_with(&mut hasher, &fc6.bias);
    }
    ContentHash(*hasher.finalize().as_bytes())
}

fn update_with(hasher: &mut blake3::Hasher, weights: &[f32]) {
    let mut bytes = Vec::with_capacity(1 << 16);
    for chunk in weights.chunks(1 << 14) {
        bytes.clear();
        bytes.extend(chunk.iter().flat_map(|weight| weight.to_le_bytes()));
        hasher.update(&bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, File};
    use std::io::Write;

    /// A file of zeros with a VGG-16's tensors, after some change of its names and shapes.
    struct FakeFile {
        kind: &'static str,
        tensors: Vec<(String, Vec<usize>)>,
    }

    impl FakeFile {
        fn vgg16() -> Self {
            let mut tensors = Vec::new();
            for ConvolutionPlace { feature_idx, n_in, n_out } in VGG16_CONVOLUTIONS {
                tensors.push((format!("features.{feature_idx}.weight"), vec![n_out, n_in, 3, 3]));
                tensors.push((format!("features.{feature_idx}.bias"), vec![n_out]));
            }
            Self { kind: "F16", tensors }
        }

        fn with(mut self, name: &str, shape: &[usize]) -> Self {
            self.tensors.retain(|(tensor, _)| tensor != name);
            self.tensors.push((name.into(), shape.to_vec()));
            self
        }

        fn without(mut self, name: &str) -> Self {
            self.tensors.retain(|(tensor, _)| tensor != name);
            self
        }

        /// Writes header and length; the zeros are a hole.
        fn read(&self) -> Result<Vgg16Weights, String> {
            let mut header = serde_json::Map::new();
            let mut end = 0;
            for (name, shape) in &self.tensors {
                let start = end;
                end += shape.iter().product::<usize>() * 2;
                let info =
                    serde_json::json!({ "dtype": self.kind, "shape": shape, "data_offsets": [start, end] });
                header.insert(name.clone(), info);
            }
            let header = serde_json::to_vec(&header).unwrap();
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("w.safetensors");
            let mut file = File::create(&path).unwrap();
            file.write_all(&(header.len() as u64).to_le_bytes()).unwrap();
            file.write_all(&header).unwrap();
            file.set_len((8 + header.len() + end) as u64).unwrap();
            Vgg16Weights::read(&path).map_err(|error| {
                let (name, reason) = error.to_string().split_once(": ").map(own).unwrap();
                assert_eq!(name, path.display().to_string());
                reason
            })
        }
    }

    fn own((a, b): (&str, &str)) -> (String, String) {
        (a.into(), b.into())
    }

    #[track_caller]
    fn check_error(file: FakeFile, message: &str) {
        assert_eq!(file.read().unwrap_err(), message);
    }

    #[test]
    fn fc6_is_optional() {
        let weights = FakeFile::vgg16().read().unwrap();
        assert_eq!(weights.convolutions.len(), 13);
        assert_eq!((weights.convolutions[7].n_in, weights.convolutions[7].n_out), (256, 512));
        assert_eq!(weights.convolutions[12].kernel.len(), 512 * 512 * 9);
        assert!(weights.fc6.is_none());
        let others = FakeFile { kind: "BF16", ..FakeFile::vgg16() }.read().unwrap();
        assert_eq!(weights.content_hash, others.content_hash);
    }

    #[test]
    fn fc6_is_read_where_it_is_and_changes_the_hash() {
        let file = FakeFile::vgg16()
            .with("classifier.0.weight", &[4096, 25088])
            .with("classifier.0.bias", &[4096])
            .with("classifier.6.weight", &[1000, 4096]);
        let weights = file.read().unwrap();
        assert_eq!(weights.fc6.as_ref().unwrap().matrix.len(), FC6_LEN * POOL5_LEN);
        assert_ne!(weights.content_hash, FakeFile::vgg16().read().unwrap().content_hash);
        check_error(file.without("classifier.0.bias"), "there is no tensor `classifier.0.bias`");
    }

    #[test]
    fn other_networks_are_rejected() {
        let no_tensors = FakeFile { kind: "F16", tensors: Vec::new() };
        let resnet = ["bn1.weight", "conv1.weight", "layer1.0.conv1.weight", "fc.weight"];
        let resnet = resnet.iter().fold(no_tensors, |file, name| file.with(name, &[4]));
        check_error(
            resnet,
            "these are weights of another architecture: VGG-16 has convolutions \
             features.0,2,5,7,10,12,14,17,19,21,24,26,28, this file has 4 tensors such as \
             `bn1.weight`, `conv1.weight`, `layer1.0.conv1.weight`",
        );
        check_error(
            FakeFile::vgg16().without("features.17.weight").with("features.16.weight", &[256, 256, 3, 3]),
            "these are weights of another architecture: VGG-16 has convolutions \
             features.0,2,5,7,10,12,14,17,19,21,24,26,28, this file \
             features.0,2,5,7,10,12,14,16,19,21,24,26,28",
        );
        check_error(
            FakeFile::vgg16().with("features.1.running_mean", &[64]),
            "these are weights of vgg16_bn, which has batch normalization; take those of plain vgg16",
        );
        check_error(
            FakeFile::vgg16().with("features.5.weight", &[128, 64, 5, 5]),
            "these are weights of another architecture: tensor `features.5.weight` should have shape \
             [128, 64, 3, 3], not [128, 64, 5, 5]",
        );
        check_error(
            FakeFile::vgg16().with("classifier.0.weight", &[512, 512]).with("classifier.0.bias", &[4096]),
            "these are weights of another architecture: tensor `classifier.0.weight` should have shape \
             [4096, 25088], not [512, 512]",
        );
        check_error(FakeFile::vgg16().without("features.28.bias"), "there is no tensor `features.28.bias`");
    }

    #[test]
    fn errors_name_an_unreadable_file() {
        let folder = tempfile::tempdir().unwrap();
        let error = Vgg16Weights::read(&folder.path().join("none")).unwrap_err().to_string();
        assert!(error.contains("none: No such file"), "{error}");
        let error = Vgg16Weights::read(folder.path()).unwrap_err().to_string();
        assert!(error.ends_with(": it is neither a file nor a link to one"), "{error}");
        fs::write(folder.path().join("text"), "hello").unwrap();
        let error = Vgg16Weights::read(&folder.path().join("text")).unwrap_err().to_string();
        assert!(error.ends_with("text: this is not a safetensors file: it has only 5 bytes"), "{error}");
    }
}
