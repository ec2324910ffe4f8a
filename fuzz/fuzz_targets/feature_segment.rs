//! Segments of the feature cache: in any bytes, the records found are inside and do not overlap, and an appended record
//! is found.
#![no_main]

use libfuzzer_sys::fuzz_target;
use touchstream_features::RecordKey;
use touchstream_features::segment::{
    ALIGN, HEAD_BYTES, Part, RECORD_HEAD_BYTES, RecordId, Seal, SegmentHead, put_record, scan,
};

fuzz_target!(|bytes: &[u8]| {
    if let Some(head) = SegmentHead::from_bytes(bytes) {
        assert!(head.to_bytes() == bytes[..HEAD_BYTES] || head.encoder_name.contains('\u{fffd}'));
    }
    check(bytes);
    // A fuzzer would never guess a checksum, so the bytes also follow a valid record.
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
    let mut longer = segment.to_vec();
    if let Some(Seal { at, head, end }) = found.seal(segment.len()) {
        assert!(at + RECORD_HEAD_BYTES <= end && end >= segment.len());
        longer.resize(end, 0);
        longer[at..at + RECORD_HEAD_BYTES].copy_from_slice(&head);
    } else {
        longer.resize(found.scanned_to, 0);
    }
    assert!(longer.len() % ALIGN == 0);
    put_record(id(2), b"appended", &mut longer);
    let after = scan(&longer, HEAD_BYTES);
    assert_eq!((after.records.len(), after.damaged), (found.records.len() + 1, found.damaged));
    assert!(after.records.last().is_some_and(|record| record.id == id(2) && record.is_intact(&longer)));
}
