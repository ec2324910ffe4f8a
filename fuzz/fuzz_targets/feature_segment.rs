//! Segments of the feature cache: any bytes give records that lie within them and do not overlap, and a record that
//! is appended is found again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use touchstream_features::RecordKey;
use touchstream_features::segment::{
    ALIGN, HEAD_BYTES, Part, RECORD_HEAD_BYTES, RecordId, SegmentHead, put_record, scan,
};

fuzz_target!(|bytes: &[u8]| {
    if let Some(head) = SegmentHead::from_bytes(bytes) {
        assert!(head.to_bytes() == bytes[..HEAD_BYTES] || head.encoder_name.contains('\u{fffd}'));
    }
    check(bytes);
    // No fuzzer guesses a checksum: the same bytes between sound records.
    let mut segment = vec![0; HEAD_BYTES];
    put_record(id(1), bytes, &mut segment);
    segment.extend(bytes);
    check(&segment);
    let records = scan(&segment, HEAD_BYTES).records;
    assert!(records.iter().any(|record| record.id == id(1) && record.is_intact(&segment)));
});

fn id(number: u8) -> RecordId {
    RecordId { key: RecordKey([number; 32]), part: Part::Map }
}

fn check(segment: &[u8]) {
    let found = scan(segment, HEAD_BYTES);
    let mut end = HEAD_BYTES;
    for record in &found.records {
        assert!(record.payload.start >= end + RECORD_HEAD_BYTES && record.payload.start % ALIGN == 0);
        assert!(record.payload.end <= segment.len());
        end = record.payload.end;
        record.is_intact(segment);
    }
    assert!(found.append_at >= segment.len() && found.append_at % ALIGN == 0);
    // A cut record may say that it is as long as a gigabyte; nobody fills that in here.
    if found.append_at < 1 << 20 {
        let mut longer = segment.to_vec();
        longer.resize(found.append_at, 0);
        put_record(id(2), b"appended", &mut longer);
        let records = scan(&longer, HEAD_BYTES).records;
        assert!(records.last().is_some_and(|record| record.id == id(2) && record.is_intact(&longer)));
    }
}
