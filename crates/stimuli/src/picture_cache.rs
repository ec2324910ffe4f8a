//! Pictures kept in memory up to a limit; those not asked for longest go first.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

/// How much memory the pictures of one source may take.
pub const CACHE_BYTES: usize = 256 << 20;

/// Pictures by key, at most so many bytes of them.
#[derive(Debug)]
pub struct PictureCache<K> {
    max_bytes: usize,
    kept: Mutex<Kept<K>>,
}

#[derive(Debug)]
struct Kept<K> {
    pictures: HashMap<K, (u64, Arc<[u8]>)>,
    /// Keys by the time of their last use.
    by_use: BTreeMap<u64, K>,
    n_uses: u64,
    n_bytes: usize,
}

impl<K: Copy + Eq + Hash> PictureCache<K> {
    /// An empty cache.
    pub fn new(max_bytes: usize) -> Self {
        let kept = Kept { pictures: HashMap::new(), by_use: BTreeMap::new(), n_uses: 0, n_bytes: 0 };
        Self { max_bytes, kept: Mutex::new(kept) }
    }

    /// The picture, if it is kept.
    pub fn get(&self, key: K) -> Option<Arc<[u8]>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.n_uses += 1;
        let now = kept.n_uses;
        let (last_use, picture) = kept.pictures.get_mut(&key)?;
        let before = std::mem::replace(last_use, now);
        let picture = Arc::clone(picture);
        kept.by_use.remove(&before);
        kept.by_use.insert(now, key);
        Some(picture)
    }

    /// Keeps a picture, letting go of others if there is no room.
    pub fn insert(&self, key: K, picture: Arc<[u8]>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.n_uses += 1;
        let now = kept.n_uses;
        kept.n_bytes += picture.len();
        if let Some((before, old)) = kept.pictures.insert(key, (now, picture)) {
            kept.by_use.remove(&before);
            kept.n_bytes -= old.len();
        }
        kept.by_use.insert(now, key);
        while kept.n_bytes > self.max_bytes {
            let Some((_, oldest)) = kept.by_use.pop_first() else { break };
            if let Some((_, picture)) = kept.pictures.remove(&oldest) {
                kept.n_bytes -= picture.len();
            }
        }
    }

    /// The picture, made first if it is not kept. No lock is held meanwhile, so two threads may make the same.
    pub fn get_or_make<E>(
        &self,
        key: K,
        make: impl FnOnce() -> Result<Box<[u8]>, E>,
    ) -> Result<Arc<[u8]>, E> {
        if let Some(picture) = self.get(key) {
            return Ok(picture);
        }
        let picture: Arc<[u8]> = make()?.into();
        self.insert(key, Arc::clone(&picture));
        Ok(picture)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(n: usize) -> Result<Box<[u8]>, ()> {
        Ok(vec![0; n].into_boxed_slice())
    }

    #[test]
    fn the_longest_unused_goes_first_and_the_limit_holds() {
        let cache = PictureCache::new(100);
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
    fn a_failure_is_not_kept() {
        let cache = PictureCache::new(100);
        assert_eq!(cache.get_or_make(1, || Err("no")), Err("no"));
        assert_eq!(cache.get_or_make(1, || bytes(3)).unwrap().len(), 3);
    }
}
