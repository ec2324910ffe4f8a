//! The curve as a TensorBoard event file: records of protocol buffers, of which few fields are needed.

use crate::curve::crc32c::crc32c;
use crate::curve::row::{COLUMNS, CurveRow, Value};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// An event file that grows row by row.
///
/// A resumed run starts a new file whose first record contains the step; TensorBoard then ignores later steps of
/// earlier files.
pub struct EventFile {
    file: File,
}

impl EventFile {
    /// Creates a file; its name contains time and step, so that later files sort after earlier ones.
    pub fn begin(folder: &Path, unix_secs: f64, first_step: u64) -> io::Result<Self> {
        let name = format!("events.out.tfevents.{:010}.{first_step}.touchstream", unix_secs as u64);
        let mut file = OpenOptions::new().create(true).append(true).open(folder.join(name))?;
        let version = Message::default().bytes(3, b"brain.Event:2");
        file.write_all(&record(&event(unix_secs, 0, version)))?;
        let start = Message::default().varint(1, 1);
        file.write_all(&record(&event(unix_secs, first_step, Message::default().bytes(7, &start.0))))?;
        Ok(Self { file })
    }

    pub fn add(&mut self, unix_secs: f64, row: &CurveRow) -> io::Result<()> {
        let mut summary = Message::default();
        for column in &COLUMNS[2..] {
            let Value::Number(Some(number)) = (column.value)(row) else { continue };
            let value = Message::default().bytes(1, column.name.as_bytes()).float(2, number as f32);
            summary = summary.bytes(1, &value.0);
        }
        let summary = Message::default().bytes(5, &summary.0);
        self.file.write_all(&record(&event(unix_secs, row.step, summary)))?;
        self.file.flush()
    }
}

fn event(unix_secs: f64, step: u64, what: Message) -> Vec<u8> {
    let mut event = Message::default().double(1, unix_secs).varint(2, step);
    event.0.extend(what.0);
    event.0
}

/// The length, the data, and a masked checksum of each (TFRecord).
fn record(data: &[u8]) -> Vec<u8> {
    let masked = |bytes: &[u8]| crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes();
    let len = (data.len() as u64).to_le_bytes();
    [&len, &masked(&len)[..], data, &masked(data)].concat()
}

/// The bytes of a protocol buffer.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn key(mut self, field: u8, wire_type: u8) -> Self {
        self.0.push(field << 3 | wire_type);
        self
    }

    fn varint(self, field: u8, number: u64) -> Self {
        self.key(field, 0).raw_varint(number)
    }

    fn raw_varint(mut self, mut number: u64) -> Self {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
        self
    }

    fn double(self, field: u8, number: f64) -> Self {
        let mut message = self.key(field, 1);
        message.0.extend(number.to_le_bytes());
        message
    }

    fn float(self, field: u8, number: f32) -> Self {
        let mut message = self.key(field, 5);
        message.0.extend(number.to_le_bytes());
        message
    }

    fn bytes(self, field: u8, bytes: &[u8]) -> Self {
        let mut message = self.key(field, 2).raw_varint(bytes.len() as u64);
        message.0.extend(bytes);
        message
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstream_agents::Evaluation;

    /// The data of all records; checks lengths and checksums.
    fn records(mut bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut records = Vec::new();
        while !bytes.is_empty() {
            let len = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
            let data = bytes[12..12 + len].to_vec();
            assert_eq!(bytes[..16 + len], record(&data));
            bytes = &bytes[16 + len..];
            records.push(data);
        }
        records
    }

    #[test]
    fn records_are_those_of_tensorboard() {
        // Written by TensorBoard's own EventFileWriter for `Event(wall_time=1.5, file_version="brain.Event:2")`.
        let version = Message::default().bytes(3, b"brain.Event:2");
        let data = Message::default().double(1, 1.5).0.into_iter().chain(version.0).collect::<Vec<u8>>();
        let written = record(&data);
        assert_eq!(written[..8], 24_u64.to_le_bytes());
        assert_eq!(data, *b"\x09\0\0\0\0\0\0\xf8?\x1a\x0dbrain.Event:2");
        // The standard test vector of CRC-32C.
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
    }

    #[test]
    fn a_row_becomes_one_event_with_its_numbers() {
        let folder = tempfile::tempdir().unwrap();
        let mut events = EventFile::begin(folder.path(), 1.0, 0).unwrap();
        let validation = Evaluation {
            n_trials: 9,
            reward: 0.25,
            reward_se: 0.1,
            on_object: Some(0.75),
            cross_entropy: 0.2,
            map_error: 0.3,
            calibration_error: 0.4,
            regret: 0.5,
        };
        let row = CurveRow {
            step: 300,
            lesson: 1,
            train_reward: None,
            train_trials: 0,
            train_loss: None,
            reuse: None,
            validation,
        };
        events.add(2.0, &row).unwrap();
        let file = std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
        let records = records(&std::fs::read(file).unwrap());
        assert_eq!(records.len(), 3);
        let last = &records[2];
        // Field 2, the step: 300 in two bytes.
        assert_eq!(last[9..12], [0x10, 0xac, 0x02]);
        let has = |bytes: &[u8]| last.windows(bytes.len()).any(|window| window == bytes);
        assert!(has(&[b"validation_reward".as_slice(), &[0x15], &0.25_f32.to_le_bytes()].concat()));
        assert!(has(&[b"validation_on_object".as_slice(), &[0x15], &0.75_f32.to_le_bytes()].concat()));
        assert!(!has(b"train_reward"), "there was none");
    }
}
