//! ONNX files: any bytes are parsed or rejected, and cutting a model twice at the same value equals cutting it once.
#![no_main]

use libfuzzer_sys::fuzz_target;
use touchstream_encoder::{cut_onnx, onnx_values};

fuzz_target!(|bytes: &[u8]| {
    let Ok(values) = onnx_values(bytes) else { return };
    for value in values.iter().take(4).chain(values.last()) {
        if let Ok(cut) = cut_onnx(bytes, value) {
            assert!(onnx_values(&cut).is_ok_and(|values| values.contains(value)));
            assert!(cut_onnx(&cut, value).is_ok_and(|again| again == cut));
        }
    }
});
