//! Masks compared with those of pycocotools, pixel for pixel. `scripts/make_coco_mask_golden.py` made the file.

#![allow(clippy::unwrap_used)]

use serde::Deserialize;
use touchstream_stimuli::coco::json::Segmentation;
use touchstream_stimuli::coco::rle::Rle;

#[derive(Deserialize)]
struct Case {
    height: u32,
    width: u32,
    segmentation: Segmentation,
    area: u64,
    compressed: String,
}

#[test]
fn masks_equal_those_of_pycocotools() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("golden/coco_masks.json")).unwrap();
    assert!(cases.len() > 200);
    for (idx, case) in cases.iter().enumerate() {
        let mask = case.segmentation.to_rle(case.height, case.width).unwrap();
        assert_eq!(mask.area_px(), case.area, "area of case {idx}");
        assert_eq!(mask.to_compressed(), case.compressed, "mask of case {idx}");
        let read_back = Rle::from_compressed(case.height, case.width, case.compressed.as_bytes()).unwrap();
        assert_eq!(read_back, mask, "case {idx} read back");
    }
}
