//! CRC-32C (Castagnoli), the checksum of TensorBoard's records.

pub(super) fn crc32c(bytes: &[u8]) -> u32 {
    const POLYNOMIAL: u32 = 0x82f6_3b78;
    let step = |crc: u32| if crc & 1 == 1 { crc >> 1 ^ POLYNOMIAL } else { crc >> 1 };
    !bytes.iter().fold(!0_u32, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), |crc, _| step(crc)))
}

#[test]
fn it_gives_the_published_answer() {
    assert_eq!(crc32c(b"123456789"), 0xe306_9283);
    assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
}
