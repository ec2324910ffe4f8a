//! The curve as TensorBoard reads it: records of protocol buffers, of which only a few fields are needed.

use crate::curve::crc32c::crc32c;
use crate::curve::row::{COLUMNS, CurveRow, Value};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// An event file that grows row by row.
///
/// A run that goes on after a break begins a new file. Its first record says from which step on, and TensorBoard then
/// forgets what an earlier file had beyond it.
pub struct EventFile {
    file: File,
}

impl EventFile {
    /// Begins a file in a folder; its name holds the time and the step, so that later files sort behind.
    pub fn begin(folder: &Path, unix_secs: f64, first_step: u64) -> io::Result<Self> {
        let name = format!("events.out.tfevents.{:010}.{first_step}.touchstream", unix_secs as u64);
        let mut file = OpenOptions::new().create(true).append(true).open(folder.join(name))?;
        let version = Message::default().bytes(3, b"brain.Event:2");
        file.write_all(&record(&event(unix_secs, 0, version)))?;
        let start = Message::default().varint(1, 1);
        file.write_all(&record(&event(unix_secs, first_step, Message::default().bytes(7, &start.0))))?;
        Ok(Self { file })
    }

    /// Adds a row.
    pub fn add(&mut self, unix_secs: f64, row: &CurveRow) -> io::Result<()> {
        let mut summary = Message::default();
        for column in &COLUMNS[1..] {
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

/// A length, the data, and a masked checksum of each (TFRecord).
fn record(data: &[u8]) -> Vec<u8> {
    let masked = |bytes: &[u8]| crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes();
    let len = (data.len() as u64).to_le_bytes();
    [&len, &masked(&len)[..], data, &masked(data)].concat()
}

/// A protocol buffer under way.
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
