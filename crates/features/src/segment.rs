//! The format of segment files: a header, then records, each of which can be verified and skipped independently.
//!
//! Everything is aligned to 64 bytes, so that vectors are read in place. Numbers are little-endian.
//!
//! | header, 512 bytes | | record | |
//! |---|---|---|---|
//! | 0 | `touchstream-feat` | 0 | `tsFR` |
//! | 16 | version, scene length, map channels (u32), 0 | 4 | part: 0 scene (f32), 1 map (f16), 2 sealed; three zeros |
//! | 32 | hash of the encoder | 8 | payload bytes (u64) |
//! | 64 | hash of the images | 16 | key |
//! | 96 | lengths of two names (u8), the names | 48 | checksum of the payload |
//! | 504 | checksum of all before | 56 | checksum of all before |
//! | | | 64 | payload, then zeros to the next multiple of 64 |
//!
//! Checksums are the first eight bytes of BLAKE3. A record with a damaged header is skipped in steps of 64 bytes until
//! a valid header is found, so later records are not lost. A record that is truncated by the end of the file is still
//! being written, or its writer died: then the next writer seals it, which means overwriting its header with one of
//! part 2. A sealed record has no contents and does not count as damage.

use crate::record_key::{RECORD_VERSION, RecordKey};
use std::ops::Range;
use touchstream_encoder::FeatureShape;
use touchstream_env::stimuli::ContentHash;

/// Headers and payloads begin at multiples of this number of bytes.
pub const ALIGN: usize = 64;
/// Size of a segment's header.
pub const HEAD_BYTES: usize = 512;
/// Size of a record's header, before its payload.
pub const RECORD_HEAD_BYTES: usize = 64;
/// Maximum size of a payload; a larger number means damage.
pub const MAX_PAYLOAD_BYTES: u64 = 1 << 30;

const MAGIC: &[u8; 16] = b"touchstream-feat";
const RECORD_MAGIC: &[u8; 4] = b"tsFR";
/// The `part` of a record without contents.
const SEALED: u8 = 2;
const NAMES_AT: usize = 98;
const MAX_NAME_BYTES: usize = 200;
const CHECKSUM_AT: usize = HEAD_BYTES - 8;

/// The header of a segment: encoder and images of its features.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentHead {
    pub encoder_hash: ContentHash,
    pub data_hash: ContentHash,
    pub shape: FeatureShape,
    /// As written on the command line, possibly truncated; informative only.
    pub encoder_name: String,
    /// As written on the command line, possibly truncated; informative only.
    pub data_name: String,
}

impl SegmentHead {
    /// Whether both have the same encoder and images; names are ignored.
    pub fn is_of_same_store(&self, other: &Self) -> bool {
        let identity = |head: &Self| (head.encoder_hash, head.data_hash, head.shape);
        identity(self) == identity(other)
    }

    pub fn to_bytes(&self) -> [u8; HEAD_BYTES] {
        let mut bytes = [0; HEAD_BYTES];
        let mut put = |at: usize, part: &[u8]| bytes[at..at + part.len()].copy_from_slice(part);
        put(0, MAGIC);
        put(16, &RECORD_VERSION.to_le_bytes());
        put(20, &(self.shape.scene_len as u32).to_le_bytes());
        put(24, &(self.shape.map_channels as u32).to_le_bytes());
        put(32, &self.encoder_hash.0);
        put(64, &self.data_hash.0);
        let names = [&self.encoder_name, &self.data_name].map(|name| cut(name));
        put(96, &names.map(|name| name.len() as u8));
        put(NAMES_AT, names[0].as_bytes());
        put(NAMES_AT + names[0].len(), names[1].as_bytes());
        let checksum = checksum(&bytes[..CHECKSUM_AT]);
        bytes[CHECKSUM_AT..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Parses the header of a segment, if it is valid and of this version.
    pub fn from_bytes(segment: &[u8]) -> Option<Self> {
        let head: &[u8; HEAD_BYTES] = segment.first_chunk()?;
        let is_ours = head.starts_with(MAGIC) && u32_at(head, 16) == RECORD_VERSION;
        if !is_ours || checksum(&head[..CHECKSUM_AT]) != u64_at(head, CHECKSUM_AT) {
            return None;
        }
        let hash = |at: usize| head[at..].first_chunk().copied().map(ContentHash);
        let (encoder_end, data_len) = (NAMES_AT + usize::from(head[96]), usize::from(head[97]));
        let name = |range: Range<usize>| Some(String::from_utf8_lossy(head.get(range)?).into_owned());
        Some(Self {
            encoder_hash: hash(32)?,
            data_hash: hash(64)?,
            shape: FeatureShape {
                scene_len: u32_at(head, 20) as usize,
                map_channels: u32_at(head, 24) as usize,
            },
            encoder_name: name(NAMES_AT..encoder_end)?,
            data_name: name(encoder_end..encoder_end + data_len)?,
        })
    }
}

/// The longest prefix of a name that fits.
fn cut(name: &str) -> &str {
    let mut end = name.len().min(MAX_NAME_BYTES);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    &name[..end]
}

/// Which of a screen's features a record contains. They are separate, so that maps, which are many times as large, are
/// stored only if they are required.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// The scene vector, `[scene_len]` of f32, with the encoder's bits.
    Scene,
    /// The spatial map, `[14, 14, map_channels]` of f16.
    Map,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RecordId {
    pub key: RecordKey,
    pub part: Part,
}

/// A record with a valid header whose payload is within the segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub id: RecordId,
    /// Position of its payload in the segment.
    pub payload: Range<usize>,
    checksum: u64,
}

impl Record {
    /// Whether the payload has its checksum.
    pub fn is_intact(&self, segment: &[u8]) -> bool {
        segment.get(self.payload.clone()).is_some_and(|payload| checksum(payload) == self.checksum)
    }
}

/// Appends a record to bytes that will be written at a multiple of [`ALIGN`].
pub fn put_record(id: RecordId, payload: &[u8], bytes: &mut Vec<u8>) {
    let start = bytes.len();
    bytes.extend(RECORD_MAGIC);
    bytes.extend([id.part as u8, 0, 0, 0]);
    bytes.extend((payload.len() as u64).to_le_bytes());
    bytes.extend(id.key.0);
    bytes.extend(checksum(payload).to_le_bytes());
    let head_checksum = checksum(&bytes[start..]);
    bytes.extend(head_checksum.to_le_bytes());
    bytes.extend(payload);
    bytes.resize(start + (bytes.len() - start).next_multiple_of(ALIGN), 0);
}

/// Seals a truncated record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seal {
    /// Position of the truncated record, whose header is overwritten.
    pub at: usize,
    /// The header of a record without contents, up to `end`.
    pub head: [u8; RECORD_HEAD_BYTES],
    /// New end of the segment, where the next record begins.
    pub end: usize,
}

impl Scan {
    /// The seal for a truncated record at the end of a segment of `n_bytes`, if there is one.
    pub fn seal(&self, n_bytes: usize) -> Option<Seal> {
        let at = self.scanned_to;
        let n_cut_bytes = n_bytes.checked_sub(at).filter(|&n| n > 0)?.next_multiple_of(ALIGN);
        let mut head = [0; RECORD_HEAD_BYTES];
        head[..4].copy_from_slice(RECORD_MAGIC);
        head[4] = SEALED;
        head[8..16].copy_from_slice(&((n_cut_bytes - RECORD_HEAD_BYTES) as u64).to_le_bytes());
        let head_checksum = checksum(&head[..56]);
        head[56..].copy_from_slice(&head_checksum.to_le_bytes());
        Some(Seal { at, head, end: at + n_cut_bytes })
    }
}

/// The contents of a segment from some position on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scan {
    /// In order; payloads are not verified yet.
    pub records: Vec<Record>,
    /// Positions of damaged ranges.
    pub damaged: Vec<usize>,
    /// Position after the last complete record, from which to continue once the segment has grown.
    pub scanned_to: usize,
}

/// Finds the records of a segment from `start` on, which is [`HEAD_BYTES`] or the end of an earlier scan.
pub fn scan(segment: &[u8], start: usize) -> Scan {
    let mut found = Scan::default();
    let mut at = start;
    let mut in_damage = false;
    while let Some(head) = segment.get(at..).and_then(|rest| rest.first_chunk()) {
        let Some(head) = RecordHead::from_bytes(head) else {
            if !in_damage {
                found.damaged.push(at);
            }
            in_damage = true;
            at += ALIGN;
            continue;
        };
        in_damage = false;
        let payload = at + RECORD_HEAD_BYTES..at + RECORD_HEAD_BYTES + head.n_payload_bytes;
        let end = payload.end.next_multiple_of(ALIGN);
        if payload.end > segment.len() {
            break;
        }
        let record = |part| Record { id: RecordId { key: head.key, part }, payload, checksum: head.checksum };
        found.records.extend(head.part.map(record));
        at = end;
    }
    found.scanned_to = at;
    found
}

struct RecordHead {
    key: RecordKey,
    /// `None` for a sealed record.
    part: Option<Part>,
    n_payload_bytes: usize,
    checksum: u64,
}

impl RecordHead {
    fn from_bytes(head: &[u8; RECORD_HEAD_BYTES]) -> Option<Self> {
        let is_sound = head.starts_with(RECORD_MAGIC) && checksum(&head[..56]) == u64_at(head, 56);
        let part = match head[4] {
            0 => Some(Part::Scene),
            1 => Some(Part::Map),
            SEALED => None,
            _ => return None,
        };
        let n_payload_bytes = u64_at(head, 8);
        if !is_sound || n_payload_bytes > MAX_PAYLOAD_BYTES {
            return None;
        }
        let key = RecordKey(*head[16..].first_chunk()?);
        Some(Self { key, part, n_payload_bytes: n_payload_bytes as usize, checksum: u64_at(head, 48) })
    }
}

/// The first eight bytes of BLAKE3.
pub fn checksum(bytes: &[u8]) -> u64 {
    u64_at(blake3::hash(bytes).as_bytes(), 0)
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes[at..].first_chunk().copied().map_or(0, u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes[at..].first_chunk().copied().map_or(0, u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn id(n: u8) -> RecordId {
        RecordId { key: RecordKey([n; 32]), part: if n.is_multiple_of(2) { Part::Scene } else { Part::Map } }
    }

    fn head() -> SegmentHead {
        SegmentHead {
            encoder_hash: ContentHash([1; 32]),
            data_hash: ContentHash([2; 32]),
            shape: FeatureShape { scene_len: 12, map_channels: 3 },
            encoder_name: "vgg16".into(),
            data_name: format!("folder:{}", "ü".repeat(300)),
        }
    }

    fn segment(payloads: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = head().to_bytes().to_vec();
        (0..).zip(payloads).for_each(|(n, payload)| put_record(id(n), payload, &mut bytes));
        bytes
    }

    fn intact(segment: &[u8]) -> Vec<(RecordId, Vec<u8>)> {
        let records = scan(segment, HEAD_BYTES).records;
        let sound = records.into_iter().filter(|record| record.is_intact(segment));
        sound.map(|record| (record.id, segment[record.payload].to_vec())).collect()
    }

    fn payloads() -> impl Strategy<Value = Vec<Vec<u8>>> {
        prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 1..8)
    }

    #[test]
    fn headers_survive_a_round_trip() {
        let read = SegmentHead::from_bytes(&head().to_bytes()).unwrap();
        assert!(read.data_name.starts_with("folder:üüü") && read.data_name.len() <= MAX_NAME_BYTES);
        assert_eq!(read, SegmentHead { data_name: read.data_name.clone(), ..head() });
        for at in [0, 16, 40, 70, 97, 120, 511] {
            let mut bytes = head().to_bytes();
            bytes[at] ^= 1;
            assert_eq!(SegmentHead::from_bytes(&bytes), None, "byte {at}");
        }
    }

    proptest! {
        #[test]
        fn records_are_read_as_written(payloads in payloads()) {
            let bytes = segment(&payloads);
            let expected: Vec<_> = (0..).map(id).zip(payloads).collect();
            prop_assert_eq!(intact(&bytes), expected);
            let found = scan(&bytes, HEAD_BYTES);
            prop_assert_eq!((found.scanned_to, found.damaged.len()), (bytes.len(), 0));
            prop_assert_eq!(found.seal(bytes.len()), None);
        }

        /// Damage to any single byte loses at most one record.
        #[test]
        fn damage_loses_one_record_at_most(payloads in payloads(), at in any::<prop::sample::Index>(), bit in 0..8) {
            let mut bytes = segment(&payloads);
            let at = HEAD_BYTES + at.index(bytes.len() - HEAD_BYTES);
            bytes[at] ^= 1_u8 << bit;
            let left = intact(&bytes);
            prop_assert!(left.len() + 1 >= payloads.len());
            for (id, payload) in left {
                prop_assert_eq!(&payload, &payloads[usize::from(id.key.0[0])]);
            }
        }

        /// Truncated anywhere: complete records are found, and so are records appended afterwards.
        #[test]
        fn a_torn_tail_is_passed_over(payloads in payloads(), cut in any::<prop::sample::Index>()) {
            let whole = segment(&payloads);
            let mut bytes = whole[..HEAD_BYTES + cut.index(whole.len() - HEAD_BYTES)].to_vec();
            let before = intact(&bytes);
            prop_assert!(before.len() <= payloads.len());
            let found = scan(&bytes, HEAD_BYTES);
            let end = match found.seal(bytes.len()) {
                Some(Seal { at, head, end }) => {
                    bytes.resize(end, 0);
                    bytes[at..at + RECORD_HEAD_BYTES].copy_from_slice(&head);
                    end
                }
                None => found.scanned_to,
            };
            prop_assert!(end >= bytes.len() && end.is_multiple_of(ALIGN));
            bytes.resize(end, 0);
            put_record(id(200), b"later", &mut bytes);
            let after = intact(&bytes);
            prop_assert_eq!(&after[..before.len()], &before[..]);
            prop_assert_eq!(after.last(), Some(&(id(200), b"later".to_vec())));
            prop_assert_eq!(scan(&bytes, HEAD_BYTES).damaged.len(), 0, "sealed records do not count as damage");
        }
    }
}
