//! The gallery's cache files: any bytes give pictures that are written as the same bytes again, or a refusal.
#![no_main]

use libfuzzer_sys::fuzz_target;
use touchstream_env::screen::SCREEN_BYTES;
use touchstream_stimuli::gallery::chunk::{
    PICTURES_A_CHUNK, bytes_from_pictures, pictures_from_bytes, with_head,
};

const LABEL: &str = "fuzz";

fuzz_target!(|bytes: &[u8]| {
    check(bytes);
    // No fuzzer guesses a checksum, or the pixels of sixteen pictures: the bytes behind a right head, and as the
    // objects of the last picture of a file that is right so far.
    check(&with_head(bytes));
    let mut payload = (LABEL.len() as u32).to_le_bytes().to_vec();
    payload.extend(LABEL.as_bytes());
    for picture in 1..=PICTURES_A_CHUNK {
        payload.resize(payload.len() + SCREEN_BYTES, 128);
        payload.extend(if picture < PICTURES_A_CHUNK { &[0; 4] } else { bytes });
    }
    check(&with_head(&payload));
});

fn check(file: &[u8]) {
    if let Some(pictures) = pictures_from_bytes(LABEL, file) {
        assert_eq!(pictures.len(), PICTURES_A_CHUNK as usize);
        assert!(bytes_from_pictures(LABEL, &pictures) == file, "read and written again, it differs");
    }
}
