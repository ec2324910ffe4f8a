//! A safetensors file written tensor by tensor: nothing is copied, however large they are.

use safetensors::tensor::{Dtype, Metadata, TensorInfo};
use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;
use touchstream_files::AsideFile;

/// Flat numbers under a name.
pub(super) struct NamedTensor<'a> {
    pub name: String,
    pub dtype: Dtype,
    pub bytes: &'a [u8],
}

/// Puts a file in place that will outlive a power failure; until it is whole, whatever was there stays.
pub(super) fn write_tensors_durably(
    path: &Path,
    tensors: &[NamedTensor<'_>],
    words: HashMap<String, String>,
) -> io::Result<()> {
    let mut end = 0;
    let infos = tensors.iter().map(|NamedTensor { name, dtype, bytes }| {
        let start = end;
        end += bytes.len();
        let shape = vec![8 * bytes.len() / dtype.bitsize()];
        (name.clone(), TensorInfo { dtype: *dtype, shape, data_offsets: (start, end) })
    });
    let metadata = Metadata::new(Some(words), infos.collect()).map_err(io::Error::other)?;
    let mut header = serde_json::to_vec(&metadata)?;
    // The tensors begin at a multiple of eight bytes.
    header.resize(header.len().next_multiple_of(8), b' ');
    let mut file = AsideFile::create(path)?;
    file.write_all(&(header.len() as u64).to_le_bytes())?;
    file.write_all(&header)?;
    tensors.iter().try_for_each(|tensor| file.write_all(tensor.bytes))?;
    file.put_in_place_durably()
}

#[cfg(test)]
mod tests {
    use super::*;
    use safetensors::SafeTensors;

    #[test]
    fn a_file_reads_back_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tensors.safetensors");
        let numbers: Vec<u8> = [1.0_f32, -2.5, 3.0].iter().flat_map(|number| number.to_le_bytes()).collect();
        let tensors = [
            NamedTensor { name: "a".into(), dtype: Dtype::F32, bytes: &numbers },
            NamedTensor { name: "b".into(), dtype: Dtype::U8, bytes: &[7, 8, 9] },
            NamedTensor { name: "none".into(), dtype: Dtype::F32, bytes: &[] },
        ];
        write_tensors_durably(&path, &tensors, HashMap::from([("key".into(), "word".into())])).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let (_, metadata) = SafeTensors::read_metadata(&bytes).unwrap();
        assert_eq!(metadata.metadata().as_ref().unwrap()["key"], "word");
        let read = SafeTensors::deserialize(&bytes).unwrap();
        for NamedTensor { name, dtype, bytes } in &tensors {
            let tensor = read.tensor(name).unwrap();
            assert_eq!((tensor.data(), tensor.dtype()), (*bytes, *dtype), "{name}");
            assert_eq!(tensor.shape(), [8 * bytes.len() / dtype.bitsize()]);
        }
    }
}
