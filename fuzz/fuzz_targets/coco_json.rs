//! COCO's annotation files: any bytes are parsed or rejected, and so is every segmentation.
#![no_main]

use libfuzzer_sys::fuzz_target;
use touchstream_stimuli::coco::json::parse_document;

fuzz_target!(|bytes: &[u8]| {
    let Ok(document) = parse_document(bytes) else { return };
    for annotation in &document.annotations {
        let sizes = document.images.iter().map(|image| (image.height, image.width));
        for (height, width) in sizes.take(3).chain([(48, 64)]) {
            if let Ok(mask) = annotation.segmentation.to_rle(height, width) {
                assert!(mask.area_px() <= u64::from(height) * u64::from(width));
            }
        }
    }
});
