"""Writes crates/stimuli/tests/golden/coco_masks.json: masks computed by pycocotools.

    scripts/python-env --golden
    .venv/bin/python scripts/make_coco_mask_golden.py

Each case has a height and width, a segmentation in COCO's format, and pycocotools' result: the area and the mask in
compressed run-length encoding. All values are derived from one fixed seed.
"""

import json
import pathlib

import numpy as np
from pycocotools import mask as mask_tools

rng = np.random.default_rng(20180407)
OUT = pathlib.Path(__file__).parent.parent / "crates/stimuli/tests/golden/coco_masks.json"


def rounded(points):
    return [round(float(x), 2) for x in np.asarray(points).reshape(-1)]


def star(center, radius, n_corners):
    """A simple polygon around a point."""
    angles = np.sort(rng.uniform(0, 2 * np.pi, n_corners))
    radii = radius * rng.uniform(0.3, 1.0, n_corners)
    return rounded(np.stack([center[0] + radii * np.cos(angles), center[1] + radii * np.sin(angles)], axis=1))


def polygon_cases():
    for _ in range(40):
        h, w = (int(side) for side in rng.integers(20, 200, 2))
        yield h, w, [star((rng.uniform(0, w), rng.uniform(0, h)), rng.uniform(2, 60), int(rng.integers(3, 20)))]
    for _ in range(20):  # tiny
        h, w = (int(side) for side in rng.integers(1, 8, 2))
        yield h, w, [star((rng.uniform(0, w), rng.uniform(0, h)), rng.uniform(0.1, 3), int(rng.integers(3, 6)))]
    for _ in range(25):  # partly or wholly outside
        h, w = (int(side) for side in rng.integers(20, 100, 2))
        yield h, w, [star((rng.uniform(-w, 2 * w), rng.uniform(-h, 2 * h)), rng.uniform(20, 150), 8)]
    for _ in range(20):  # corners anywhere: edges cross
        h, w = (int(side) for side in rng.integers(20, 100, 2))
        n = int(rng.integers(3, 12))
        yield h, w, [rounded(rng.uniform((-5, -5), (w + 5, h + 5), (n, 2)))]
    for _ in range(25):  # several parts, overlapping and apart
        h, w = (int(side) for side in rng.integers(40, 160, 2))
        yield h, w, [
            star((rng.uniform(0, w), rng.uniform(0, h)), rng.uniform(3, 40), int(rng.integers(3, 12)))
            for _ in range(int(rng.integers(2, 6)))
        ]
    h, w = 30, 40
    yield h, w, [[5, 5, 5, 5, 5, 5]]  # a point
    yield h, w, [[5, 5, 20, 5, 30, 5]]  # a horizontal line
    yield h, w, [[5, 5, 5, 20, 5, 25]]  # a vertical line
    yield h, w, [[5, 5, 5, 5, 20, 5, 20, 20, 20, 20, 5, 20]]  # corners twice
    yield h, w, [[0, 0, 40, 0, 40, 30, 0, 30]]  # everything
    yield h, w, [[-1000, -1000, 1000, -1000, 1000, 1000, -1000, 1000]]
    yield h, w, [[0.5, 0.5, 1.5, 0.5, 1.5, 1.5, 0.5, 1.5]]
    yield h, w, [[10, 10, 20, 10, 20, 20, 10, 20], [12, 12, 18, 12, 18, 18, 12, 18]]  # one within the other
    yield h, w, [[39, 0, 40, 0, 40, 30, 39, 30]]  # the last column
    yield 1, 1, [[0, 0, 1, 0, 1, 1, 0, 1]]


def counts_of(mask):
    """Uncompressed counts down the columns, zeros first."""
    flat = mask.reshape(-1, order="F")
    ends = np.flatnonzero(np.diff(flat)) + 1
    counts = np.diff(np.concatenate([[0], ends, [flat.size]])).tolist()
    return ([0] if flat[0] else []) + [int(count) for count in counts]


def rle_cases():
    for _ in range(40):
        h, w = (int(side) for side in rng.integers(1, 60, 2))
        coarse = rng.random((h // 6 + 1, w // 6 + 1)) < rng.uniform(0, 1)
        mask = np.kron(coarse, np.ones((6, 6)))[:h, :w].astype(np.uint8)
        yield h, w, {"size": [h, w], "counts": counts_of(mask)}
    for counts in ([12], [0, 12], [3, 0, 0, 9], [0, 0, 0, 5, 7], [1, 1, 1, 1, 8], [6, 6, 0]):
        yield 3, 4, {"size": [3, 4], "counts": counts}


def main():
    cases = []
    for h, w, segmentation in polygon_cases():
        encoded = mask_tools.merge(mask_tools.frPyObjects(segmentation, h, w))
        cases.append((h, w, segmentation, encoded))
    for h, w, segmentation in rle_cases():
        encoded = mask_tools.frPyObjects(segmentation, h, w)
        cases.append((h, w, segmentation, encoded))
        compressed = {"size": [h, w], "counts": encoded["counts"].decode()}
        cases.append((h, w, compressed, encoded))
    rows = [
        json.dumps(
            {
                "height": h,
                "width": w,
                "segmentation": segmentation,
                "area": int(mask_tools.area(encoded)),
                "compressed": encoded["counts"].decode(),
            }
        )
        for h, w, segmentation, encoded in cases
    ]
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text("[\n" + ",\n".join(rows) + "\n]\n")
    print(f"{len(rows)} cases, {OUT.stat().st_size} bytes")


if __name__ == "__main__":
    main()
