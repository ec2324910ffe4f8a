//! A pool of work buffers that are reused between calls.

use std::sync::{Mutex, PoisonError};

/// Free buffers. There are never more than have been in use at the same time.
#[derive(Default)]
pub(crate) struct BufferPool<T>(Mutex<Vec<T>>);

impl<T: Default> BufferPool<T> {
    /// Lends a buffer with unspecified contents.
    pub fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = lock().pop();
        let mut buffer = taken.unwrap_or_default();
        let result = work(&mut buffer);
        lock().push(buffer);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_lent_to_one_at_a_time_and_kept() {
        let pool = BufferPool::<Vec<u8>>::default();
        pool.with(|outer| {
            outer.push(1);
            pool.with(|inner| assert!(inner.is_empty(), "another one, as the first is in use"));
        });
        pool.with(|first| pool.with(|second| assert_eq!(first.len() + second.len(), 1)));
        assert_eq!(pool.0.lock().unwrap().len(), 2);
    }
}
