//! The task transformations of the paper's switches: new classes, class reversal, squeezed map, rotation.

use crate::pixel_box::PixelBox;
use crate::touch::{SCREEN_SIDE_PX, Touch};
use serde::{Deserialize, Serialize};

/// A change of a task's classes or of its reward map. The screens' layout stays the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transformation {
    /// Classes `n..2n` of the source instead of `0..n`.
    NewClasses,
    /// Swaps the rewards of the first and the last class, of the second and the second to last, ...
    ClassReversal,
    /// No reward in the lower half of the screen.
    SqueezedMap,
    /// Rotates the reward map by 90 degrees counter-clockwise: right becomes up.
    Rotation,
}

impl Transformation {
    pub const ALL: [Self; 4] = [Self::NewClasses, Self::ClassReversal, Self::SqueezedMap, Self::Rotation];

    /// The name in task files, and after a `+` in task ids.
    pub fn name(self) -> &'static str {
        match self {
            Self::NewClasses => "new-classes",
            Self::ClassReversal => "class-reversal",
            Self::SqueezedMap => "squeezed-map",
            Self::Rotation => "rotation",
        }
    }

    /// The transformation with a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|transformation| transformation.name() == name)
    }
}

/// A task's rotations and squeezes combined: how a touch maps to the untransformed task, and where it can be rewarded.
///
/// Any sequence of them is equivalent to a number of quarter turns and one box outside which nothing is rewarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TouchTransform {
    /// Quarter turns of the reward map, counter-clockwise.
    n_quarter_turns: u8,
    /// The rewarded part of the untransformed map, in its own coordinates; `None` if there is none.
    rewarded: Option<PixelBox>,
}

impl TouchTransform {
    /// No change.
    pub const IDENTITY: Self = Self { n_quarter_turns: 0, rewarded: Some(PixelBox::SCREEN) };

    /// Combines the transformations, the first applied first.
    pub fn new(transformations: &[Transformation]) -> Self {
        transformations.iter().fold(Self::IDENTITY, |combined, transformation| match transformation {
            Transformation::NewClasses | Transformation::ClassReversal => combined,
            Transformation::Rotation => {
                Self { n_quarter_turns: (combined.n_quarter_turns + 1) % 4, ..combined }
            }
            Transformation::SqueezedMap => {
                let upper_half = combined.undo_box(UPPER_HALF);
                let rewarded = combined.rewarded.and_then(|rewarded| rewarded.intersection(upper_half));
                Self { rewarded, ..combined }
            }
        })
    }

    /// The touch of the untransformed task that earns what `touch` earns in the transformed one.
    pub fn undo(self, touch: Touch) -> Touch {
        // Turning clockwise undoes a counter-clockwise turn.
        (0..self.n_quarter_turns).fold(touch, |touch, _| touch.turned_clockwise())
    }

    /// The inverse of [`TouchTransform::undo`].
    pub fn apply(self, plain: Touch) -> Touch {
        (self.n_quarter_turns..4).fold(plain, |touch, _| touch.turned_clockwise())
    }

    /// The rewarded part of the untransformed map, in its coordinates; `None` if there is none.
    pub fn rewarded(self) -> Option<PixelBox> {
        self.rewarded
    }

    /// Whether a touch in untransformed coordinates can be rewarded.
    pub fn allows(self, plain: Touch) -> bool {
        self.rewarded.is_some_and(|rewarded| rewarded.contains(plain))
    }

    fn undo_box(self, pixels: PixelBox) -> PixelBox {
        let [first, last] = pixels.corners();
        PixelBox::spanned_by(self.undo(first), self.undo(last))
    }
}

const UPPER_HALF: PixelBox = PixelBox::rows(0, SCREEN_SIDE_PX as u8 / 2 - 1);

#[cfg(test)]
mod tests {
    use super::*;
    use Transformation::*;

    fn touch(row: usize, col: usize) -> Touch {
        Touch::new(row, col).unwrap()
    }

    #[test]
    fn rotation_turns_right_into_up_and_left_into_down() {
        let transform = TouchTransform::new(&[Rotation]);
        for t in Touch::all() {
            let read_right = transform.undo(t).col() >= 112;
            assert_eq!(read_right, t.row() < 112, "{t:?}");
        }
    }

    #[test]
    fn four_rotations_are_the_identity() {
        let transform = TouchTransform::new(&[Rotation; 4]);
        assert_eq!(transform, TouchTransform::IDENTITY);
        assert_eq!(TouchTransform::new(&[Rotation; 2]).undo(touch(0, 5)), touch(223, 218));
        for n_turns in 0..4 {
            let transform = TouchTransform::new(&[Rotation].repeat(n_turns));
            assert!(Touch::all().all(|t| transform.apply(transform.undo(t)) == t));
        }
    }

    #[test]
    fn squeezing_leaves_the_upper_half_of_the_screen_as_touched() {
        type Expected = fn(Touch) -> bool;
        let cases: [(&[Transformation], Expected); 4] = [
            (&[SqueezedMap], |t| t.row() < 112),
            (&[Rotation, SqueezedMap], |t| t.row() < 112),
            // The squeezed half turns with the map: up becomes left.
            (&[SqueezedMap, Rotation], |t| t.col() < 112),
            (&[SqueezedMap, Rotation, Rotation, SqueezedMap], |_| false),
        ];
        for (transformations, expected) in cases {
            let transform = TouchTransform::new(transformations);
            for t in Touch::all() {
                assert_eq!(transform.allows(transform.undo(t)), expected(t), "{transformations:?} {t:?}");
            }
        }
    }

    #[test]
    fn names_are_inverse() {
        for transformation in Transformation::ALL {
            assert_eq!(Transformation::named(transformation.name()), Some(transformation));
        }
        assert_eq!(Transformation::named("rotated"), None);
    }
}
