//! Reads the tensors of a safetensors file one at a time, so that only the requested tensor is in memory.

use half::{bf16, f16};
use safetensors::Dtype;
use safetensors::tensor::{Metadata, TensorInfo};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use touchstream_files::metadata_at_most;

/// Maximum size of a weights file. VGG-16 with all its layers has 528 MB.
const MAX_FILE_BYTES: u64 = 4 << 30;
/// Maximum size of a header. VGG-16's has 3 kB.
const MAX_HEADER_BYTES: u64 = 16 << 20;
/// The header is preceded by its length.
const LENGTH_BYTES: u64 = 8;
/// Bytes read at a time, a multiple of every element size.
const CHUNK_BYTES: usize = 1 << 18;

/// What is wrong with a file of tensors.
#[derive(Debug, thiserror::Error)]
pub enum TensorFileError {
    #[error(transparent)]
    Unreadable(#[from] io::Error),
    #[error(
        "this is a file of torch.save, which may run code when it is read; save it with safetensors.torch.save_file"
    )]
    TorchFile,
    #[error("this is not a safetensors file: {0}")]
    NotSafetensors(String),
    #[error("the file has {found} bytes, but its header declares {expected}: {}",
     if found < expected { "it is truncated" } else { "there are bytes after its tensors" })]
    WrongLength { expected: u64, found: u64 },
    #[error("there is no tensor `{tensor}`")]
    Missing { tensor: String },
    #[error("tensor `{tensor}` should have shape {expected:?}, not {found:?}")]
    Shape { tensor: String, expected: Vec<usize>, found: Vec<usize> },
    #[error("tensor `{tensor}` has type {found:?}; weights must be F32, F16 or BF16")]
    Kind { tensor: String, found: Dtype },
    /// An element is NaN or infinite; `index` is in the tensor's order.
    #[error("tensor `{tensor}` contains {value} at index {index}; weights must be finite")]
    NotFinite { tensor: String, index: usize, value: f32 },
}

/// An open safetensors file with a valid header.
pub struct TensorFile<R> {
    source: R,
    /// Offset of the first tensor.
    data_start: u64,
    header: Metadata,
}

impl TensorFile<File> {
    pub fn open(path: &Path) -> Result<Self, TensorFileError> {
        // Checked before opening, which would block on a named pipe.
        metadata_at_most(path, MAX_FILE_BYTES)?;
        Self::new(File::open(path)?)
    }
}

impl<R: Read + Seek> TensorFile<R> {
    /// Reads the header of a safetensors file from any source.
    pub fn new(mut source: R) -> Result<Self, TensorFileError> {
        let found = source.seek(SeekFrom::End(0))?;
        source.rewind()?;
        let mut length = Vec::new();
        source.by_ref().take(LENGTH_BYTES).read_to_end(&mut length)?;
        if length.starts_with(b"PK") || length.starts_with(b"\x80\x02") {
            return Err(TensorFileError::TorchFile);
        }
        let length = <[u8; LENGTH_BYTES as usize]>::try_from(length.as_slice())
            .map_err(|_| TensorFileError::NotSafetensors(format!("it has only {found} bytes")))?;
        let n_header = u64::from_le_bytes(length);
        if n_header > MAX_HEADER_BYTES {
            let reason = format!("a header of {n_header} bytes is too long to be one");
            return Err(TensorFileError::NotSafetensors(reason));
        }
        let data_start = LENGTH_BYTES + n_header;
        if data_start > found {
            return Err(TensorFileError::WrongLength { expected: data_start, found });
        }
        let mut header = vec![0; n_header as usize];
        source.read_exact(&mut header)?;
        let header: Metadata = serde_json::from_slice(&header)
            .map_err(|error| TensorFileError::NotSafetensors(format!("its header is invalid: {error}")))?;
        let expected = data_start.saturating_add(header.data_len() as u64);
        if expected != found {
            return Err(TensorFileError::WrongLength { expected, found });
        }
        Ok(Self { source, data_start, header })
    }

    /// Names of the tensors, in the order of the file.
    pub fn names(&self) -> Vec<String> {
        self.header.offset_keys()
    }

    /// The shape of a tensor, if it exists.
    pub fn shape(&self, tensor: &str) -> Option<&[usize]> {
        self.header.info(tensor).map(|info| info.shape.as_slice())
    }

    /// Position and type of a tensor that must have a given shape.
    pub(crate) fn check_shape(&self, tensor: &str, shape: &[usize]) -> Result<&TensorInfo, TensorFileError> {
        match self.header.info(tensor) {
            Some(info) if info.shape == shape => Ok(info),
            Some(info) => Err(TensorFileError::Shape {
                tensor: tensor.to_owned(),
                expected: shape.to_vec(),
                found: info.shape.clone(),
            }),
            None => Err(TensorFileError::Missing { tensor: tensor.to_owned() }),
        }
    }

    /// The elements of a tensor that must have a given shape, row-major; F16 and BF16 are converted. All are finite.
    pub fn read(&mut self, tensor: &str, shape: &[usize]) -> Result<Vec<f32>, TensorFileError> {
        let TensorInfo { dtype, data_offsets: (start, end), .. } = self.check_shape(tensor, shape)?.clone();
        let append: fn(&[u8], &mut Vec<f32>) = match dtype {
            Dtype::F32 => append_f32,
            Dtype::F16 => append_f16,
            Dtype::BF16 => append_bf16,
            found => return Err(TensorFileError::Kind { tensor: tensor.to_owned(), found }),
        };
        self.source.seek(SeekFrom::Start(self.data_start + start as u64))?;
        // The header matches the file's length, so this never allocates more than the file has elements.
        let mut values = Vec::with_capacity(shape.iter().product());
        let (mut chunk, mut n_left) = (vec![0; CHUNK_BYTES.min(end - start)], end - start);
        while n_left > 0 {
            let n_now = n_left.min(chunk.len());
            self.source.read_exact(&mut chunk[..n_now])?;
            let n_before = values.len();
            append(&chunk[..n_now], &mut values);
            if let Some(at) = values[n_before..].iter().position(|value| !value.is_finite()) {
                let index = n_before + at;
                let value = values[index];
                return Err(TensorFileError::NotFinite { tensor: tensor.to_owned(), index, value });
            }
            n_left -= n_now;
        }
        Ok(values)
    }
}

fn append_f32(bytes: &[u8], values: &mut Vec<f32>) {
    values.extend(bytes.as_chunks().0.iter().map(|&four| f32::from_le_bytes(four)));
}

fn append_f16(bytes: &[u8], values: &mut Vec<f32>) {
    values.extend(bytes.as_chunks().0.iter().map(|&two| f16::from_le_bytes(two).to_f32()));
}

fn append_bf16(bytes: &[u8], values: &mut Vec<f32>) {
    values.extend(bytes.as_chunks().0.iter().map(|&two| bf16::from_le_bytes(two).to_f32()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use safetensors::tensor::{TensorView, serialize};
    use std::io::Cursor;

    fn file_of(dtype: Dtype, shape: &[usize], data: &[u8]) -> Vec<u8> {
        let view = TensorView::new(dtype, shape.to_vec(), data).unwrap();
        serialize([("t", view)], None).unwrap()
    }

    fn read(bytes: &[u8], shape: &[usize]) -> Result<Vec<f32>, TensorFileError> {
        TensorFile::new(Cursor::new(bytes))?.read("t", shape)
    }

    #[test]
    fn all_element_types_give_the_same_values() {
        let numbers = [1.5_f32, -0.25, 0.0, 448.0];
        let f32s: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
        let f16s: Vec<u8> = [0x3e00_u16, 0xb400, 0, 0x5f00].iter().flat_map(|x| x.to_le_bytes()).collect();
        let bf16s: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()[2..].to_vec()).collect();
        for (dtype, bytes) in [(Dtype::F32, f32s), (Dtype::F16, f16s), (Dtype::BF16, bf16s)] {
            assert_eq!(read(&file_of(dtype, &[2, 2], &bytes), &[2, 2]).unwrap(), numbers, "{dtype:?}");
        }
    }

    #[test]
    fn sixteen_bits_at_the_edges_of_their_range() {
        let numbers_of = |bits: u16| {
            let mut numbers = Vec::new();
            append_f16(&bits.to_le_bytes(), &mut numbers);
            numbers
        };
        for (bits, number) in [
            (0x0001, 5.960_464_5e-8),
            (0x03ff, 6.097_555e-5),
            (0x0400, 6.103_515_6e-5),
            (0x7bff, 65504.0),
            (0x7c00, f32::INFINITY),
            (0xfbff, -65504.0),
            (0x3555, 0.333_251_95),
        ] {
            assert_eq!(numbers_of(bits), [number], "{bits:#x}");
        }
        assert!(numbers_of(0x7e00)[0].is_nan());
        assert!(numbers_of(0x8000)[0].is_sign_negative());
    }

    #[test]
    fn a_tensor_longer_than_a_chunk_is_read_whole() {
        let numbers: Vec<f32> = (0..CHUNK_BYTES / 4 + 17).map(|idx| idx as f32).collect();
        let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
        assert_eq!(read(&file_of(Dtype::F32, &[numbers.len()], &bytes), &[numbers.len()]).unwrap(), numbers);
    }

    #[track_caller]
    fn check_error(bytes: &[u8], shape: &[usize], message: &str) {
        assert_eq!(read(bytes, shape).unwrap_err().to_string(), message);
    }

    #[test]
    fn invalid_files_are_explained() {
        let good = file_of(Dtype::F32, &[2], &[0; 8]);
        check_error(&[], &[2], "this is not a safetensors file: it has only 0 bytes");
        check_error(
            &[b'x'; 100],
            &[2],
            "this is not a safetensors file: a header of 8680820740569200760 bytes is too long to be one",
        );
        check_error(
            b"PK\x03\x04 and so on",
            &[2],
            "this is a file of torch.save, which may run code when it is read; save it with safetensors.torch.save_file",
        );
        let n = good.len();
        check_error(
            &good[..n - 3],
            &[2],
            &format!("the file has {} bytes, but its header declares {n}: it is truncated", n - 3),
        );
        check_error(
            &good[..20],
            &[2],
            &format!("the file has 20 bytes, but its header declares {}: it is truncated", n - 8),
        );
        let longer = [&good[..], b"more"].concat();
        check_error(
            &longer,
            &[2],
            &format!(
                "the file has {} bytes, but its header declares {n}: there are bytes after its tensors",
                n + 4
            ),
        );
        check_error(&good, &[3], "tensor `t` should have shape [3], not [2]");
        let integers = file_of(Dtype::I32, &[2], &[0; 8]);
        check_error(&integers, &[2], "tensor `t` has type I32; weights must be F32, F16 or BF16");
        let mut bytes = [0; 8];
        bytes[4..].copy_from_slice(&f32::NAN.to_le_bytes());
        let nan = file_of(Dtype::F32, &[2], &bytes);
        check_error(&nan, &[2], "tensor `t` contains NaN at index 1; weights must be finite");
        let mut garbled = good.clone();
        garbled[9] = b'}';
        assert!(read(&garbled, &[2]).unwrap_err().to_string().contains("its header is invalid: "));
    }
}
