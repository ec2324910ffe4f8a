//! Weights files: any bytes give finite tensors, or are rejected.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::io::Cursor;
use touchstream_encoder::tensor_file::TensorFile;
use touchstream_encoder::vgg16::weights::Vgg16Weights;

fuzz_target!(|bytes: &[u8]| {
    let Ok(mut file) = TensorFile::new(Cursor::new(bytes)) else { return };
    for name in file.names() {
        let shape = file.shape(&name).map(<[usize]>::to_vec).unwrap_or_default();
        if let Ok(values) = file.read(&name, &shape) {
            assert_eq!(values.len(), shape.iter().product::<usize>());
            assert!(values.iter().all(|value| value.is_finite()));
        }
    }
    // VGG-16's weights are larger than any fuzz input.
    assert!(Vgg16Weights::from_file(&mut file).is_err());
});
