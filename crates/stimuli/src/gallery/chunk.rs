//! Sixteen rendered pictures as one file: a head, a checksum, and what the checksum covers.

use touchstream_env::mask::Mask;
use touchstream_env::screen::SCREEN_BYTES;
use touchstream_gallery::{N_CLASSES, Rendered, RenderedObject};

/// Pictures in a file.
pub const PICTURES_A_CHUNK: u32 = 16;

const MAGIC: &[u8; 8] = b"tsgalry1";
const HEAD_BYTES: usize = 8 + 8 + 32;

/// The bytes of a chunk file. `label` says which pictures these are, so that a file under a wrong name is found out.
pub fn bytes_from_pictures(label: &str, pictures: &[Rendered]) -> Vec<u8> {
    let mut payload = Vec::with_capacity(pictures.len() * (SCREEN_BYTES + 1024));
    put_u32(&mut payload, label.len());
    payload.extend(label.as_bytes());
    for picture in pictures {
        payload.extend(&picture.pixels);
        put_u32(&mut payload, picture.objects.len());
        for object in &picture.objects {
            put_u32(&mut payload, object.class);
            put_u32(&mut payload, object.mask.runs().len());
            object.mask.runs().for_each(|(row, first, last)| payload.extend([row, first, last]));
        }
    }
    with_head(&payload)
}

/// A payload behind its head: length and checksum.
pub fn with_head(payload: &[u8]) -> Vec<u8> {
    let len = (payload.len() as u64).to_le_bytes();
    [MAGIC, &len[..], blake3::hash(payload).as_bytes(), payload].concat()
}

fn put_u32(bytes: &mut Vec<u8>, number: usize) {
    bytes.extend((number as u32).to_le_bytes());
}

/// The pictures of a chunk file; `None` if it is torn, corrupt, or of other pictures.
pub fn pictures_from_bytes(label: &str, bytes: &[u8]) -> Option<Vec<Rendered>> {
    let (head, payload) = bytes.split_at_checked(HEAD_BYTES)?;
    let is_whole = head.starts_with(MAGIC)
        && head[8..16] == (payload.len() as u64).to_le_bytes()
        && head[16..] == *blake3::hash(payload).as_bytes();
    if !is_whole {
        return None;
    }
    let mut rest = payload;
    let label_len = take_u32(&mut rest)?;
    if take(&mut rest, label_len)? != label.as_bytes() {
        return None;
    }
    let pictures = (0..PICTURES_A_CHUNK).map(|_| take_picture(&mut rest)).collect::<Option<Vec<_>>>()?;
    rest.is_empty().then_some(pictures)
}

fn take_picture(rest: &mut &[u8]) -> Option<Rendered> {
    let pixels = take(rest, SCREEN_BYTES)?.into();
    let n_objects = take_u32(rest)?;
    let mut objects = Vec::new();
    for _ in 0..n_objects {
        let class = take_u32(rest).filter(|&class| class < N_CLASSES)?;
        let n_runs = take_u32(rest)?;
        let runs = take(rest, n_runs.checked_mul(3)?)?;
        let mask = Mask::from_runs(runs.chunks_exact(3).map(|run| (run[0], run[1], run[2])))?;
        objects.push(RenderedObject { class, mask });
    }
    Some(Rendered { pixels, objects })
}

fn take<'a>(rest: &mut &'a [u8], n_bytes: usize) -> Option<&'a [u8]> {
    let (taken, left) = rest.split_at_checked(n_bytes)?;
    *rest = left;
    Some(taken)
}

fn take_u32(rest: &mut &[u8]) -> Option<usize> {
    let bytes = take(rest, 4)?.try_into().ok()?;
    Some(u32::from_le_bytes(bytes) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pictures() -> Vec<Rendered> {
        (0..PICTURES_A_CHUNK)
            .map(|idx| Rendered {
                pixels: vec![idx as u8; SCREEN_BYTES].into_boxed_slice(),
                objects: (0..idx as usize % 3)
                    .map(|class| RenderedObject {
                        class,
                        mask: Mask::from_fn(|row, col| row * col % 7 == class && row < 20),
                    })
                    .collect(),
            })
            .collect()
    }

    #[test]
    fn bytes_and_pictures_are_inverse() {
        let bytes = bytes_from_pictures("a", &pictures());
        let read = pictures_from_bytes("a", &bytes).unwrap();
        for (read, written) in read.iter().zip(pictures()) {
            assert_eq!(read.pixels, written.pixels);
            assert_eq!(read.objects.len(), written.objects.len());
            for (read, written) in read.objects.iter().zip(&written.objects) {
                assert_eq!((read.class, &read.mask), (written.class, &written.mask));
            }
        }
    }

    #[test]
    fn torn_changed_and_misnamed_files_are_found_out() {
        let bytes = bytes_from_pictures("a", &pictures());
        assert!(pictures_from_bytes("b", &bytes).is_none());
        for keep in [0, 7, 47, 48, 1000, bytes.len() - 1] {
            assert!(pictures_from_bytes("a", &bytes[..keep]).is_none(), "{keep} bytes");
        }
        for at in [0, 9, 20, 48, 52, 5000, bytes.len() - 1] {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            assert!(pictures_from_bytes("a", &changed).is_none(), "byte {at}");
        }
        assert!(pictures_from_bytes("a", &bytes_from_pictures("a", &pictures()[..15])).is_none());
    }
}
