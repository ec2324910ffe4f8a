//! The gallery's cache files: any bytes are rejected, or are images that are written back unchanged.
#![no_main]

use libfuzzer_sys::fuzz_target;
use touchstream_env::screen::SCREEN_BYTES;
use touchstream_stimuli::gallery::chunk::{
    IMAGES_PER_CHUNK, bytes_from_images, images_from_bytes, with_head,
};

const LABEL: &str = "fuzz";

fuzz_target!(|bytes: &[u8]| {
    check(bytes);
    // A fuzzer would never guess a checksum or sixteen images, so the bytes also follow a valid header, and replace the
    // objects of the last image of a valid file.
    check(&with_head(bytes));
    let mut payload = (LABEL.len() as u32).to_le_bytes().to_vec();
    payload.extend(LABEL.as_bytes());
    for image in 1..=IMAGES_PER_CHUNK {
        payload.resize(payload.len() + SCREEN_BYTES, 128);
        payload.extend(if image < IMAGES_PER_CHUNK { &[0; 4] } else { bytes });
    }
    check(&with_head(&payload));
});

fn check(file: &[u8]) {
    if let Some(images) = images_from_bytes(LABEL, file) {
        assert_eq!(images.len(), IMAGES_PER_CHUNK as usize);
        assert!(bytes_from_images(LABEL, &images) == file, "reading and writing changes the file");
    }
}
