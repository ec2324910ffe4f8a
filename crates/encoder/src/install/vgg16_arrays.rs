//! From the package's pickle to VGG-16's weights: other names, other order of axes.

use super::InstallError;
use super::pickle::Pickle;
use crate::vgg16::weights::{ConvolutionPlace, ConvolutionWeights, VGG16_CONVOLUTIONS, Vgg16Weights};

/// The weights in a pickle of `VGG16_0/Conv_{0..12}/{kernel,bias}`, kernels `[3, 3, n_in, n_out]`.
pub(super) fn read(pickle: &[u8]) -> Result<Vgg16Weights, InstallError> {
    let pickle = Pickle::parse(pickle).map_err(InstallError::Pickle)?;
    let mut convolutions = Vec::with_capacity(VGG16_CONVOLUTIONS.len());
    for (idx, ConvolutionPlace { n_in, n_out, .. }) in VGG16_CONVOLUTIONS.into_iter().enumerate() {
        let layer = format!("Conv_{idx}");
        let kernel = numbers(&pickle, &layer, "kernel", &[3, 3, n_in, n_out])?;
        let bias = numbers(&pickle, &layer, "bias", &[n_out])?;
        convolutions.push(ConvolutionWeights { n_in, n_out, kernel: out_first(&kernel, n_in, n_out), bias });
    }
    Ok(Vgg16Weights::new(convolutions, None))
}

fn numbers(pickle: &Pickle<'_>, layer: &str, part: &str, shape: &[usize]) -> Result<Vec<f32>, InstallError> {
    let wrong = |problem: String| InstallError::Array { array: format!("VGG16_0/{layer}/{part}"), problem };
    let item = pickle.root().get("VGG16_0").and_then(|net| net.get(layer)).and_then(|layer| layer.get(part));
    let array = item.and_then(|item| item.array()).ok_or_else(|| wrong("is not there".into()))?;
    if array.shape != shape {
        return Err(wrong(format!("should have shape {shape:?}, not {:?}", array.shape)));
    }
    let numbers =
        array.to_f32().ok_or_else(|| wrong(format!("is not of plain <f4 but of {}", array.kind)))?;
    match numbers.iter().all(|number| number.is_finite()) {
        true => Ok(numbers),
        false => Err(wrong("holds numbers that are not finite".into())),
    }
}

/// `[3, 3, n_in, n_out]` to `[n_out, n_in, 3, 3]`.
fn out_first(kernel: &[f32], n_in: usize, n_out: usize) -> Vec<f32> {
    let mut turned = Vec::with_capacity(kernel.len());
    for out in 0..n_out {
        for channel in 0..n_in {
            turned.extend((0..9).map(|tap| kernel[(tap * n_in + channel) * n_out + out]));
        }
    }
    turned
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_are_turned() {
        // Each number says where it stands: tap, channel in, channel out.
        let kernel: Vec<f32> = (0..9)
            .flat_map(|tap| (0..2).flat_map(move |i| (0..3).map(move |o| (tap * 100 + i * 10 + o) as f32)))
            .collect();
        let turned = out_first(&kernel, 2, 3);
        assert_eq!(turned[..3], [0.0, 100.0, 200.0]);
        assert_eq!(turned[9], 10.0);
        assert_eq!(turned[2 * 18 + 9 + 8], 812.0);
    }

    #[test]
    fn a_pickle_of_something_else_names_what_is_missing() {
        let error = read(b"\x80\x03}.").unwrap_err().to_string();
        assert_eq!(error, "array VGG16_0/Conv_0/kernel of the weights is not there");
        let error = read(b"\x80\x03cos\nsystem\n.").unwrap_err().to_string();
        assert_eq!(
            error,
            "the pickle of weights is wrong: byte 2: `os.system` is not what an array is made of"
        );
    }
}
