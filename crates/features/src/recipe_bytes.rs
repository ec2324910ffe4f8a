//! Encodes a screen's recipe as bytes, for hashing. The encoding must never change.

use touchstream_env::stimuli::{ImageId, Split};
use touchstream_env::trial::{SCREEN_DRAWING_VERSION, ScreenRecipe};

/// Appends the bytes of a recipe; no recipe's encoding is a prefix of another's.
///
/// Numbers are little-endian. An image is `0, split, kind, class (u16), index (u32)`; templates are
/// `1, drawing version (u32), split, side (u16), n (u8)` and for each template `class (u16), top (u8), left (u8)`.
/// Splits are 0 for training and 1 for validation; kinds are 0 portrait, 1 object, 2 scene.
pub fn put_recipe(recipe: &ScreenRecipe, bytes: &mut Vec<u8>) {
    match recipe {
        ScreenRecipe::Whole { split, image } => {
            let (kind, class, index) = match *image {
                ImageId::Portrait { class, index } => (0, class.0, index),
                ImageId::Object { index } => (1, 0, index),
                ImageId::Scene { index } => (2, 0, index),
            };
            bytes.extend([0, split_byte(*split), kind]);
            bytes.extend(class.to_le_bytes());
            bytes.extend(index.to_le_bytes());
        }
        ScreenRecipe::Templates { split, side_px, placements } => {
            let shown = placements.as_slice();
            bytes.push(1);
            bytes.extend(SCREEN_DRAWING_VERSION.to_le_bytes());
            bytes.push(split_byte(*split));
            bytes.extend(side_px.to_le_bytes());
            bytes.push(shown.len() as u8);
            for placement in shown {
                bytes.extend(placement.class.0.to_le_bytes());
                bytes.extend([placement.top, placement.left]);
            }
        }
    }
}

fn split_byte(split: Split) -> u8 {
    match split {
        Split::Train => 0,
        Split::Validation => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstream_env::stimuli::ClassIdx;
    use touchstream_env::trial::{Placement, Placements};

    fn bytes(recipe: ScreenRecipe) -> Vec<u8> {
        let mut bytes = Vec::new();
        put_recipe(&recipe, &mut bytes);
        bytes
    }

    /// Written out: another encoding would make every cache useless.
    #[test]
    fn the_encoding_is_fixed() {
        let portrait = ImageId::Portrait { class: ClassIdx(0x0102), index: 7 };
        assert_eq!(
            bytes(ScreenRecipe::Whole { split: Split::Train, image: portrait }),
            [0, 0, 0, 2, 1, 7, 0, 0, 0]
        );
        let scene = ImageId::Scene { index: 0x0100_0000 };
        assert_eq!(
            bytes(ScreenRecipe::Whole { split: Split::Validation, image: scene }),
            [0, 1, 2, 0, 0, 0, 0, 0, 1]
        );
        let placements = Placements::new([
            Placement { class: ClassIdx(3), top: 6, left: 118 },
            Placement { class: ClassIdx(0), top: 9, left: 6 },
        ]);
        assert_eq!(
            bytes(ScreenRecipe::Templates { split: Split::Train, side_px: 100, placements }),
            [1, 1, 0, 0, 0, 0, 100, 0, 2, 3, 0, 6, 118, 0, 0, 9, 6]
        );
    }
}
