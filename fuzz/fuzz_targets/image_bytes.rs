//! Image files: any bytes are decoded within the limits, or rejected.
#![no_main]

use libfuzzer_sys::fuzz_target;
use touchstream_stimuli::decode::{MAX_PIXELS, Upright, decode_rgb, decode_rgba};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(image) = decode_rgb(bytes, Upright::Turn) {
        assert!(image.width() > 0 && image.height() > 0);
        assert!(u64::from(image.width()) * u64::from(image.height()) <= MAX_PIXELS);
    }
    let _ = decode_rgba(bytes);
});
