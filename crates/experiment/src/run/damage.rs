//! Damaged bytes, for tests of file readers.

/// Reads the bytes truncated at every length and with every byte changed. Nothing may panic, and no truncated file
/// may be accepted.
pub fn check_damaged_bytes(good: &[u8], is_accepted: impl Fn(&[u8]) -> bool) {
    assert!(is_accepted(good));
    for len in 0..good.len() {
        assert!(!is_accepted(&good[..len]), "accepted when cut to {len} of {} bytes", good.len());
    }
    let mut bytes = good.to_vec();
    for at in 0..bytes.len() {
        for change in [1, 0x80, 0xff] {
            bytes[at] ^= change;
            is_accepted(&bytes);
            bytes[at] ^= change;
        }
    }
}
