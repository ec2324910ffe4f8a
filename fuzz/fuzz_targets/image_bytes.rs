//! The decoding of images: any bytes give a picture within the limits, or a reason.
#![no_main]

use libfuzzer_sys::fuzz_target;
use touchstream_stimuli::decode::{MAX_PIXELS, Upright, decode_rgb, decode_rgba};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(picture) = decode_rgb(bytes, Upright::Turn) {
        assert!(picture.width() > 0 && picture.height() > 0);
        assert!(u64::from(picture.width()) * u64::from(picture.height()) <= MAX_PIXELS);
    }
    let _ = decode_rgba(bytes);
});
