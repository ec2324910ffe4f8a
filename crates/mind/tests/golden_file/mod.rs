//! Numbers that PyTorch computed.

use safetensors::SafeTensors;

pub struct Golden<'a>(SafeTensors<'a>);

impl<'a> Golden<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(SafeTensors::deserialize(bytes).unwrap())
    }

    pub fn numbers(&self, name: &str) -> Vec<f32> {
        let tensor = self.0.tensor(name).unwrap();
        tensor.data().as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect()
    }
}

/// Numbers agree, to a part of the largest.
#[track_caller]
pub fn check(what: &str, found: &[f32], golden: &[f32], tolerance: f32) {
    assert_eq!(found.len(), golden.len(), "{what}");
    let largest = golden.iter().fold(0.0_f32, |largest, number| largest.max(number.abs()));
    for (idx, (found, golden)) in found.iter().zip(golden).enumerate() {
        assert!(
            (found - golden).abs() <= tolerance * largest,
            "{what}[{idx}] is {found}, PyTorch's {golden}"
        );
    }
}
