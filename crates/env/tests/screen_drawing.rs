//! What match screens look like, to the pixel: features of screens are stored under the version of their drawing.
#![allow(clippy::unwrap_used)]

use touchstream_env::plain_stimuli::PlainStimuli;
use touchstream_env::screen::Screen;
use touchstream_env::stimuli::{ClassIdx, Split};
use touchstream_env::trial::{Placement, Placements, SCREEN_DRAWING_VERSION, ScreenRecipe};

/// FNV-1a.
fn checksum(bytes: &[u8]) -> u64 {
    let step = |sum: u64, &byte: &u8| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// Fails when drawing changes: then the version must be raised too, or stored features would be those of old screens.
#[test]
fn drawing_and_its_version_change_together() {
    let placement = |class, top, left| Placement { class: ClassIdx(class), top, left };
    let placements = Placements::new([placement(0, 6, 7), placement(1, 60, 50), placement(2, 120, 124)]);
    let recipe = ScreenRecipe::Templates { split: Split::Train, side_px: 100, placements };
    let mut screen = Screen::grey();
    screen.pixels_mut().fill(1);
    recipe.draw(&PlainStimuli::new(4), &mut screen).unwrap();
    assert_eq!((SCREEN_DRAWING_VERSION, checksum(screen.pixels())), (1, 1_300_180_236_431_154_741));
}
