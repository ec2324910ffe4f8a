//! Images in memory, up to a limit; the least recently used are dropped first.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

/// Memory limit for the images of a source.
pub const CACHE_BYTES: usize = 256 << 20;

/// Images by key, at most `max_bytes` in total.
#[derive(Debug)]
pub struct ImageCache<K> {
    max_bytes: usize,
    kept: Mutex<Kept<K>>,
}

#[derive(Debug)]
struct Kept<K> {
    images: HashMap<K, (u64, Arc<[u8]>)>,
    /// Keys by time of last use.
    by_use: BTreeMap<u64, K>,
    n_uses: u64,
    n_bytes: usize,
}

impl<K: Copy + Eq + Hash> ImageCache<K> {
    pub fn new(max_bytes: usize) -> Self {
        let kept = Kept { images: HashMap::new(), by_use: BTreeMap::new(), n_uses: 0, n_bytes: 0 };
        Self { max_bytes, kept: Mutex::new(kept) }
    }

    pub fn get(&self, key: K) -> Option<Arc<[u8]>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.n_uses += 1;
        let now = kept.n_uses;
        let (last_use, image) = kept.images.get_mut(&key)?;
        let before = std::mem::replace(last_use, now);
        let image = Arc::clone(image);
        kept.by_use.remove(&before);
        kept.by_use.insert(now, key);
        Some(image)
    }

    /// Adds an image, dropping others beyond the limit.
    pub fn insert(&self, key: K, image: Arc<[u8]>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.n_uses += 1;
        let now = kept.n_uses;
        kept.n_bytes += image.len();
        if let Some((before, old)) = kept.images.insert(key, (now, image)) {
            kept.by_use.remove(&before);
            kept.n_bytes -= old.len();
        }
        kept.by_use.insert(now, key);
        while kept.n_bytes > self.max_bytes {
            let Some((_, oldest)) = kept.by_use.pop_first() else { break };
            if let Some((_, image)) = kept.images.remove(&oldest) {
                kept.n_bytes -= image.len();
            }
        }
    }

    /// The image, made if it is not cached. No lock is held while making it, so two threads may make the same image.
    pub fn get_or_make<E>(
        &self,
        key: K,
        make: impl FnOnce() -> Result<Box<[u8]>, E>,
    ) -> Result<Arc<[u8]>, E> {
        if let Some(image) = self.get(key) {
            return Ok(image);
        }
        let image: Arc<[u8]> = make()?.into();
        self.insert(key, Arc::clone(&image));
        Ok(image)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(n: usize) -> Result<Box<[u8]>, ()> {
        Ok(vec![0; n].into_boxed_slice())
    }

    #[test]
    fn the_least_recently_used_image_is_dropped_first() {
        let cache = ImageCache::new(100);
        for key in 0..3 {
            cache.get_or_make(key, || bytes(30)).unwrap();
        }
        assert!(cache.get(0).is_some());
        cache.get_or_make(3, || bytes(30)).unwrap();
        assert!(cache.get(1).is_none());
        assert!([0, 2, 3].into_iter().all(|key| cache.get(key).is_some()));
        cache.insert(3, bytes(40).unwrap().into());
        assert!([0, 2, 3].into_iter().all(|key| cache.get(key).is_some()));
        cache.insert(4, bytes(101).unwrap().into());
        assert!((0..5).all(|key| cache.get(key).is_none()));
    }

    #[test]
    fn errors_are_not_cached() {
        let cache = ImageCache::new(100);
        assert_eq!(cache.get_or_make(1, || Err("no")), Err("no"));
        assert_eq!(cache.get_or_make(1, || bytes(3)).unwrap().len(), 3);
    }
}
