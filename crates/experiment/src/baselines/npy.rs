//! Writes NumPy's .npy files.

use crate::error::{Context, Result};
use std::io::Write;
use std::path::Path;

/// Writes a table with `n_columns` columns, row by row, as a .npy file (format 1.0, little-endian float32).
pub fn write_npy(path: &Path, numbers: &[f32], n_columns: usize) -> Result<()> {
    let mut file = crate::output::OutputFile::create(path)?;
    let bytes = numbers.iter().flat_map(|number| number.to_le_bytes());
    file.write_all(&head(numbers.len() / n_columns, n_columns))
        .and_then(|()| file.write_all(&bytes.collect::<Vec<u8>>()))
        .with_context(|| format!("cannot write {}", path.display()))?;
    file.finish()
}

/// Magic, version, length of the description, and the description, padded so that the data begin at a multiple of 64
/// bytes.
fn head(n_rows: usize, n_columns: usize) -> Vec<u8> {
    let facts = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({n_rows}, {n_columns}), }}");
    let n_before = 10;
    let n_spaces = 63 - (n_before + facts.len()) % 64;
    let mut head = b"\x93NUMPY\x01\x00".to_vec();
    head.extend(((facts.len() + n_spaces + 1) as u16).to_le_bytes());
    head.extend(facts.as_bytes());
    head.extend(std::iter::repeat_n(b' ', n_spaces));
    head.push(b'\n');
    head
}

#[test]
fn the_head_is_numpys() {
    // The bytes that `numpy.save` writes for an array of shape (3, 2) and type float32.
    let mut numpy =
        b"\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }".to_vec();
    numpy.resize(127, b' ');
    numpy.push(b'\n');
    assert_eq!(head(3, 2), numpy);
    for n_rows in [1, 10, 12_345, 1_000_000_000] {
        assert_eq!(head(n_rows, 4096).len() % 64, 0);
    }
}
