//! Calibration files: any bytes are refused, or are exactly what would be written.
#![no_main]

use libfuzzer_sys::fuzz_target;
use touchstream_features::Calibration;
use touchstream_features::segment::checksum;

fuzz_target!(|bytes: &[u8]| {
    check(bytes);
    // No fuzzer guesses a magic or a checksum.
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
