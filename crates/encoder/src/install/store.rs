//! Writes VGG-16's weights to a safetensors file with torchvision's names.

use super::{PACKAGE, PACKAGE_VERSION};
use crate::vgg16::weights::{VGG16_CONVOLUTIONS, Vgg16Weights};
use safetensors::Dtype;
use safetensors::tensor::{View, serialize};
use std::borrow::Cow;
use std::collections::HashMap;
use std::io;
use std::path::Path;
use touchstream_files::write_aside;

struct Tensor<'a> {
    shape: Vec<usize>,
    values: &'a [f32],
}

impl View for Tensor<'_> {
    fn dtype(&self) -> Dtype {
        Dtype::F32
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        self.values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    fn data_len(&self) -> usize {
        size_of_val(self.values)
    }
}

/// Writes the convolutions, atomically.
pub(super) fn write(path: &Path, weights: &Vgg16Weights) -> io::Result<()> {
    let mut tensors = Vec::new();
    for (place, convolution) in VGG16_CONVOLUTIONS.iter().zip(&weights.convolutions) {
        let name = |part| format!("features.{}.{part}", place.feature_idx);
        let shape = vec![convolution.n_out, convolution.n_in, 3, 3];
        tensors.push((name("weight"), Tensor { shape, values: &convolution.kernel }));
        tensors.push((name("bias"), Tensor { shape: vec![convolution.n_out], values: &convolution.bias }));
    }
    // Only one metadata entry: several would be in hash order, and the file would not be reproducible.
    let origin = format!(
        "convolutions of ImageNet's VGG-16 from {PACKAGE} {PACKAGE_VERSION}, content hash {}",
        weights.content_hash
    );
    let metadata = HashMap::from([("origin".to_owned(), origin)]);
    write_aside(path, &serialize(tensors, Some(metadata)).map_err(io::Error::other)?)
}
