//! The task transformations of the paper's switches: other classes, class reversal, squeezed map, rotation.

use crate::pixel_box::PixelBox;
use crate::touch::{SCREEN_SIDE_PX, Touch};
use serde::{Deserialize, Serialize};

/// A change of a task's classes or of its reward map. Screens stay as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transformation {
    /// As many classes again, none of the old ones: classes `n..2n` of the source instead of `0..n`.
    NewClasses,
    /// The rule of the first class goes to the last and so on: left becomes right.
    ClassReversal,
    /// No reward in the lower half of the screen.
    SqueezedMap,
    /// The reward map turns by 90 degrees: right becomes up and left becomes down.
    Rotation,
}

impl Transformation {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::NewClasses, Self::ClassReversal, Self::SqueezedMap, Self::Rotation];

    /// The name in task files and behind a `+` in task ids.
    pub fn name(self) -> &'static str {
        match self {
            Self::NewClasses => "new-classes",
            Self::ClassReversal => "class-reversal",
            Self::SqueezedMap => "squeezed-map",
            Self::Rotation => "rotation",
        }
    }

    /// The transformation of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|transformation| transformation.name() == name)
    }
}

/// Squeezes and rotations put together: how a touch is read, and where it can earn anything.
///
/// Any number of them comes to a number of quarter turns and one box outside which nothing is rewarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TouchReading {
    /// Quarter turns of the reward map, counter-clockwise.
    n_quarter_turns: u8,
    /// Where the untransformed map may still be rewarded, in its own coordinates; `None` is nowhere.
    rewarded: Option<PixelBox>,
}

impl TouchReading {
    /// Touches are read as they are.
    pub const PLAIN: Self = Self { n_quarter_turns: 0, rewarded: Some(PixelBox::SCREEN) };

    /// Puts the transformations together, the first applied first.
    pub fn of(transformations: &[Transformation]) -> Self {
        transformations.iter().fold(Self::PLAIN, |reading, transformation| match transformation {
            Transformation::NewClasses | Transformation::ClassReversal => reading,
            Transformation::Rotation => {
                Self { n_quarter_turns: (reading.n_quarter_turns + 1) % 4, ..reading }
            }
            Transformation::SqueezedMap => {
                let upper_half = reading.read_box(UPPER_HALF);
                let rewarded = reading.rewarded.and_then(|rewarded| rewarded.intersection(upper_half));
                Self { rewarded, ..reading }
            }
        })
    }

    /// The touch on the untransformed map that a touch stands for.
    pub fn read(self, touch: Touch) -> Touch {
        // Undoing a counter-clockwise turn is turning clockwise: what is now up was right before.
        (0..self.n_quarter_turns).fold(touch, |touch, _| touch.turned_clockwise())
    }

    /// The touch that is read as a touch of the untransformed map.
    pub fn touch_read_as(self, read: Touch) -> Touch {
        (self.n_quarter_turns..4).fold(read, |touch, _| touch.turned_clockwise())
    }

    /// Where touches, once read, may be rewarded; `None` is nowhere.
    pub fn rewarded(self) -> Option<PixelBox> {
        self.rewarded
    }

    /// Whether a touch that was read may be rewarded.
    pub fn allows(self, read_touch: Touch) -> bool {
        self.rewarded.is_some_and(|rewarded| rewarded.contains(read_touch))
    }

    fn read_box(self, pixels: PixelBox) -> PixelBox {
        let [first, last] = pixels.corners();
        PixelBox::spanned_by(self.read(first), self.read(last))
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
        let reading = TouchReading::of(&[Rotation]);
        for t in Touch::all() {
            let read_right = reading.read(t).col() >= 112;
            assert_eq!(read_right, t.row() < 112, "{t:?}");
        }
    }

    #[test]
    fn four_rotations_are_none() {
        let reading = TouchReading::of(&[Rotation; 4]);
        assert_eq!(reading, TouchReading::PLAIN);
        assert_eq!(TouchReading::of(&[Rotation; 2]).read(touch(0, 5)), touch(223, 218));
        for n_turns in 0..4 {
            let reading = TouchReading::of(&[Rotation].repeat(n_turns));
            assert!(Touch::all().all(|t| reading.touch_read_as(reading.read(t)) == t));
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
            let reading = TouchReading::of(transformations);
            for t in Touch::all() {
                assert_eq!(reading.allows(reading.read(t)), expected(t), "{transformations:?} {t:?}");
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
