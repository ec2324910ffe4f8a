//! Compressed run lengths and polygons: any bytes are rejected, or give a mask that survives a round trip.
#![no_main]

use libfuzzer_sys::fuzz_target;
use touchstream_stimuli::coco::polygon::rasterize;
use touchstream_stimuli::coco::rle::Rle;

fuzz_target!(|bytes: &[u8]| {
    let [height, width, rest @ ..] = bytes else { return };
    let (height, width) = (u32::from(*height), u32::from(*width));
    if let Ok(mask) = Rle::from_compressed(height, width, rest) {
        check(&mask);
        assert_eq!(Rle::from_compressed(height, width, mask.to_compressed().as_bytes()), Ok(mask));
    }
    let corners: Vec<f64> =
        rest.chunks_exact(2).map(|pair| f64::from(i16::from_le_bytes([pair[0], pair[1]])) / 16.0).collect();
    let middle = corners.len() / 4 * 2;
    let parts = [corners[..middle].to_vec(), corners[middle..].to_vec()];
    if let Ok(mask) = rasterize(height, width, &parts) {
        check(&mask);
    }
});

fn check(mask: &Rle) {
    let (height, width) = mask.size();
    assert!(mask.area_px() <= u64::from(height * width));
    if let Some((left, top, right, bottom)) = mask.bounds() {
        assert!(left < right && right <= width && top < bottom && bottom <= height);
    }
}
