//! Rendered images: from memory, else from a chunk file, else rendered now.

use super::chunk::{IMAGES_PER_CHUNK, bytes_from_images, images_from_bytes};
use crate::image_cache::{CACHE_BYTES, ImageCache};
use rayon::prelude::*;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use touchstream_env::seed::RunSeed;
use touchstream_env::stimuli::Split;
use touchstream_files::{read_at_most, unwritable_cache, write_aside};
use touchstream_gallery::{GENERATOR_VERSION, Rendered, object_screen, portrait, scene};

/// A kind of image, with the generator's class for portraits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Series {
    Portraits { class: usize },
    Objects,
    Scenes,
}

/// Far more than sixteen images have.
const MAX_CHUNK_BYTES: u64 = 64 << 20;

impl Series {
    fn folder(self, split: Split) -> String {
        match self {
            Self::Portraits { class } => format!("portrait-{split}-{class}"),
            Self::Objects => format!("object-{split}"),
            Self::Scenes => format!("scene-{split}"),
        }
    }

    fn render(self, seed: RunSeed, split: Split, index: u32) -> Rendered {
        match self {
            Self::Portraits { class } => portrait(seed, split, class, index),
            Self::Objects => object_screen(seed, split, index),
            Self::Scenes => scene(seed, split, index),
        }
    }
}

/// All images of one seed.
#[derive(Debug)]
pub struct ImageStore {
    seed: RunSeed,
    /// `None` without a cache folder: images are then rendered one by one and only kept in memory.
    folder: Option<PathBuf>,
    /// The first error when writing a file; nothing is written after it.
    write_failure: OnceLock<String>,
    pixels: ImageCache<(Series, Split, u32)>,
}

impl ImageStore {
    /// A store with its files below `cache_dir`. If nothing can be written there, existing files are still read.
    pub fn new(seed: RunSeed, cache_dir: Option<&Path>) -> Self {
        let name = format!("v{GENERATOR_VERSION}-s{}", seed.0);
        let folder = cache_dir.map(|cache_dir| cache_dir.join("gallery").join(name));
        let write_failure = OnceLock::new();
        let store = Self { seed, folder, write_failure, pixels: ImageCache::new(CACHE_BYTES) };
        store.try_writing(|folder| {
            fs::create_dir_all(folder)?;
            tempfile::tempfile_in(folder).map(drop)
        });
        store
    }

    /// Why files cannot be written, if they cannot, as a sentence.
    pub fn write_failure(&self) -> Option<&String> {
        self.write_failure.get()
    }

    fn try_writing(&self, write: impl FnOnce(&Path) -> io::Result<()>) {
        if let (Some(folder), None) = (&self.folder, self.write_failure())
            && let Err(error) = write(folder)
        {
            self.write_failure.get_or_init(|| unwritable_cache(folder, &error));
        }
    }

    pub fn pixels(&self, series: Series, split: Split, index: u32) -> Arc<[u8]> {
        if let Some(pixels) = self.pixels.get((series, split, index)) {
            return pixels;
        }
        let pixels: Arc<[u8]> = match self.folder {
            None => series.render(self.seed, split, index).pixels.into(),
            Some(_) => {
                let chunk = index / IMAGES_PER_CHUNK;
                let mut wanted = None;
                for (offset, image) in (0..).zip(self.chunk(series, split, chunk)) {
                    let (at, pixels) = (chunk * IMAGES_PER_CHUNK + offset, Arc::<[u8]>::from(image.pixels));
                    match at == index {
                        true => wanted = Some(pixels),
                        false => self.pixels.insert((series, split, at), pixels),
                    }
                }
                wanted.unwrap_or_else(|| series.render(self.seed, split, index).pixels.into())
            }
        };
        self.pixels.insert((series, split, index), Arc::clone(&pixels));
        pixels
    }

    /// The sixteen images of a chunk. A missing, truncated or corrupt file is rendered again; if it cannot be written,
    /// the images are rendered again whenever they are needed.
    pub fn chunk(&self, series: Series, split: Split, chunk: u32) -> Vec<Rendered> {
        let name = format!("{}/{chunk:05}.bin", series.folder(split));
        let label = format!("v{GENERATOR_VERSION} seed {} {name}", self.seed.0);
        let stored =
            self.folder.as_ref().and_then(|folder| read_at_most(&folder.join(&name), MAX_CHUNK_BYTES).ok());
        if let Some(images) = stored.and_then(|bytes| images_from_bytes(&label, &bytes)) {
            return images;
        }
        let first = chunk * IMAGES_PER_CHUNK;
        let images: Vec<Rendered> = (first..first + IMAGES_PER_CHUNK)
            .into_par_iter()
            .map(|index| series.render(self.seed, split, index))
            .collect();
        self.try_writing(|folder| write_aside(&folder.join(&name), &bytes_from_images(&label, &images)));
        images
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERIES: Series = Series::Portraits { class: 3 };

    fn pixels(cache: Option<&Path>, index: u32) -> Arc<[u8]> {
        ImageStore::new(RunSeed(5), cache).pixels(SERIES, Split::Train, index)
    }

    fn only_file(cache: &Path) -> PathBuf {
        let folder = cache.join(format!("gallery/v{GENERATOR_VERSION}-s5/portrait-train-3"));
        let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(files.len(), 1, "{files:?}");
        files.remove(0)
    }

    #[test]
    fn images_are_the_same_with_and_without_files() {
        let cache = tempfile::tempdir().unwrap();
        for index in [17, 31] {
            let direct = pixels(None, index);
            assert_eq!(pixels(Some(cache.path()), index), direct);
            assert_eq!(pixels(Some(cache.path()), index), direct);
        }
        assert!(only_file(cache.path()).ends_with("00001.bin"));
    }

    #[test]
    fn a_corrupt_or_truncated_chunk_is_rendered_again() {
        let cache = tempfile::tempdir().unwrap();
        let direct = pixels(Some(cache.path()), 2);
        let file = only_file(cache.path());
        let whole = fs::read(&file).unwrap();
        let mut changed = whole.clone();
        changed[100_000] ^= 0x40;
        for damaged in [&changed[..], &whole[..whole.len() / 2], b""] {
            fs::write(&file, damaged).unwrap();
            assert_eq!(pixels(Some(cache.path()), 2), direct);
            assert_eq!(fs::read(&file).unwrap(), whole);
        }
    }

    #[test]
    fn an_unwritable_store_still_renders() {
        let cache = tempfile::tempdir().unwrap();
        let direct = pixels(None, 2);
        let blocked = cache.path().join("a file");
        fs::write(&blocked, "").unwrap();
        let store = ImageStore::new(RunSeed(5), Some(&blocked));
        let failure = store.write_failure().unwrap().clone();
        assert!(failure.contains("a file") && failure.contains("is not writable ("), "{failure}");
        assert_eq!(store.pixels(SERIES, Split::Train, 2), direct);
        assert_eq!(store.write_failure(), Some(&failure));

        let store = ImageStore::new(RunSeed(5), Some(cache.path()));
        assert_eq!(store.write_failure(), None);
        let in_the_way = cache.path().join(format!("gallery/v{GENERATOR_VERSION}-s5/portrait-train-3"));
        fs::write(in_the_way, "").unwrap();
        assert_eq!(store.pixels(SERIES, Split::Train, 2), direct);
        assert!(store.write_failure().is_some());
    }

    #[test]
    fn stores_that_start_at_once_on_an_empty_folder_agree() {
        let cache = tempfile::tempdir().unwrap();
        let direct = pixels(None, 4);
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| pixels(Some(cache.path()), 4))).collect();
            threads.into_iter().for_each(|thread| assert_eq!(thread.join().unwrap(), direct));
        });
        only_file(cache.path());
    }
}
