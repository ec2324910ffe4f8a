//! Files of sixteen rendered images, with a header and a checksum.

use touchstream_env::mask::Mask;
use touchstream_env::screen::SCREEN_BYTES;
use touchstream_gallery::{N_CLASSES, Rendered, RenderedObject};

pub const IMAGES_PER_CHUNK: u32 = 16;

const MAGIC: &[u8; 8] = b"tsgalry1";
const HEAD_BYTES: usize = 8 + 8 + 32;

/// The bytes of a chunk file. `label` identifies the images, so that a renamed file is detected.
pub fn bytes_from_images(label: &str, images: &[Rendered]) -> Vec<u8> {
    let mut payload = Vec::with_capacity(images.len() * (SCREEN_BYTES + 1024));
    put_u32(&mut payload, label.len());
    payload.extend(label.as_bytes());
    for image in images {
        payload.extend(&image.pixels);
        put_u32(&mut payload, image.objects.len());
        for object in &image.objects {
            put_u32(&mut payload, object.class);
            put_u32(&mut payload, object.mask.runs().len());
            object.mask.runs().for_each(|(row, first, last)| payload.extend([row, first, last]));
        }
    }
    with_head(&payload)
}

/// A payload with its header: magic, length, checksum.
pub fn with_head(payload: &[u8]) -> Vec<u8> {
    let len = (payload.len() as u64).to_le_bytes();
    [MAGIC, &len[..], blake3::hash(payload).as_bytes(), payload].concat()
}

fn put_u32(bytes: &mut Vec<u8>, number: usize) {
    bytes.extend((number as u32).to_le_bytes());
}

/// The images of a chunk file; `None` if it is truncated, corrupt, or has another label.
pub fn images_from_bytes(label: &str, bytes: &[u8]) -> Option<Vec<Rendered>> {
    let (head, payload) = bytes.split_at_checked(HEAD_BYTES)?;
    let is_intact = head.starts_with(MAGIC)
        && head[8..16] == (payload.len() as u64).to_le_bytes()
        && head[16..] == *blake3::hash(payload).as_bytes();
    if !is_intact {
        return None;
    }
    let mut rest = payload;
    let label_len = take_u32(&mut rest)?;
    if take(&mut rest, label_len)? != label.as_bytes() {
        return None;
    }
    let images = (0..IMAGES_PER_CHUNK).map(|_| take_image(&mut rest)).collect::<Option<Vec<_>>>()?;
    rest.is_empty().then_some(images)
}

fn take_image(rest: &mut &[u8]) -> Option<Rendered> {
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

    fn images() -> Vec<Rendered> {
        (0..IMAGES_PER_CHUNK)
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
    fn chunks_survive_a_round_trip() {
        let bytes = bytes_from_images("a", &images());
        let read = images_from_bytes("a", &bytes).unwrap();
        for (read, written) in read.iter().zip(images()) {
            assert_eq!(read.pixels, written.pixels);
            assert_eq!(read.objects.len(), written.objects.len());
            for (read, written) in read.objects.iter().zip(&written.objects) {
                assert_eq!((read.class, &read.mask), (written.class, &written.mask));
            }
        }
    }

    #[test]
    fn truncated_changed_and_renamed_files_are_rejected() {
        let bytes = bytes_from_images("a", &images());
        assert!(images_from_bytes("b", &bytes).is_none());
        for keep in [0, 7, 47, 48, 1000, bytes.len() - 1] {
            assert!(images_from_bytes("a", &bytes[..keep]).is_none(), "{keep} bytes");
        }
        for at in [0, 9, 20, 48, 52, 5000, bytes.len() - 1] {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            assert!(images_from_bytes("a", &changed).is_none(), "byte {at}");
        }
        assert!(images_from_bytes("a", &bytes_from_images("a", &images()[..15])).is_none());
    }
}
