//! Calibration files: any bytes are rejected, or are written back unchanged.
#![no_main]

use libfuzzer_sys::fuzz_target;
use touchstream_features::Calibration;
use touchstream_features::segment::checksum;

fuzz_target!(|bytes: &[u8]| {
    check(bytes);
    // A fuzzer would never guess a magic number and a checksum.
    let mut file = b"touchstream-mean".to_vec();
    file.extend(bytes);
    file.extend(checksum(&file).to_le_bytes());
    check(&file);
});

fn check(file: &[u8]) {
    if let Some(calibration) = Calibration::from_bytes(file) {
        assert!(calibration.to_bytes() == file);
        let scene = vec![1.0; calibration.mean().len()];
        calibration.apply(&scene, &mut vec![0.0; scene.len()]);
    }
}
