"""Writes crates/encoder/tests/golden/screen-{0,1,2}.png: the three screens on which encoders are tested.

    cargo run --release -p touchstream-stimuli --example dump_screens -- target/golden-screens train 1 4
    python scripts/make_golden_screens.py target/golden-screens

A portrait, a match screen of two templates at different heights, a localization screen; all from the gallery. An
existing file with the same pixels is left unchanged, however it is compressed. Needs numpy and pillow.
"""

import pathlib
import sys

import numpy as np
from PIL import Image

OUT = pathlib.Path(__file__).parent.parent / "crates/encoder/tests/golden"
PORTRAIT_CLASS, LEFT_CLASS, RIGHT_CLASS, OBJECT = 25, 3, 40, 0


def main():
    dump = pathlib.Path(sys.argv[1])
    portraits = np.fromfile(dump / "portraits.u8", np.uint8).reshape(59, -1, 224, 224, 3)
    objects = np.fromfile(dump / "objects.u8", np.uint8).reshape(-1, 224, 224, 3)
    templates = np.fromfile(dump / "templates.u8", np.uint8).reshape(59, 100, 100, 3)
    match = np.full((224, 224, 3), 128, np.uint8)
    match[20:120, 6:106] = templates[LEFT_CLASS]
    match[97:197, 118:218] = templates[RIGHT_CLASS]
    OUT.mkdir(parents=True, exist_ok=True)
    for idx, screen in enumerate([portraits[PORTRAIT_CLASS, 0], match, objects[OBJECT]]):
        path = OUT / f"screen-{idx}.png"
        if not path.exists() or not np.array_equal(np.asarray(Image.open(path).convert("RGB")), screen):
            Image.fromarray(screen).save(path, optimize=True)


if __name__ == "__main__":
    main()
