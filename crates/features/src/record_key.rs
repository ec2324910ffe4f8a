//! The key of a screen's features: a hash of the screen, its images and its encoder.

use crate::recipe_bytes::put_recipe;
use touchstream_env::stimuli::ContentHash;
use touchstream_env::trial::ScreenRecipe;

/// Must be raised whenever the same screen and encoder would be stored as other bytes.
pub const RECORD_VERSION: u32 = 1;

/// Identifies the features of one screen.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct RecordKey(pub [u8; 32]);

impl RecordKey {
    pub fn new(recipe: &ScreenRecipe, data: ContentHash, encoder: ContentHash) -> Self {
        let mut bytes = b"touchstream features".to_vec();
        bytes.extend(RECORD_VERSION.to_le_bytes());
        bytes.extend(encoder.0);
        bytes.extend(data.0);
        put_recipe(recipe, &mut bytes);
        Self(*blake3::hash(&bytes).as_bytes())
    }

    /// One of 256 buckets, by which processes divide work.
    pub(crate) fn bucket(self) -> u8 {
        self.0[0]
    }
}
