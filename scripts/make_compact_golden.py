"""Writes crates/encoder/tests/golden/compact.json: PyTorch's output for the shipped weights on three screens.

    python scripts/make_compact_golden.py

For each screen's scene vector and spatial map: the norm, and every STRIDE-th element. An existing file that is equal
within 1e-5 of its largest values is left unchanged. Needs torch, numpy, pillow and safetensors.
"""

import json

import numpy as np
import torch
from compact_data import REPO
from compact_network import load_folded, normalised
from golden_files import are_close
from PIL import Image

GOLDEN = REPO / "crates/encoder/tests/golden"
WEIGHTS = REPO / "crates/encoder/weights/compact.safetensors"
# Coprime to the number of channels, so that all channels and positions are sampled.
STRIDES = {"scene": 3, "map": 25}


def sampled(values, stride):
    values = values.reshape(-1).numpy()
    numbers = [float(f"{value:.7g}") for value in values[::stride]]
    return {"stride": stride, "norm": float(np.linalg.norm(values.astype(np.float64))), "values": numbers}


def is_same(before, now):
    """Whether the rows of two files are equal within the tolerance."""
    parts = [(b[part], n[part]) for b, n in zip(before, now) for part in STRIDES]
    return len(before) == len(now) and all(are_close(b, n) for b, n in parts)


@torch.inference_mode()
def main():
    torch.set_num_threads(1)
    model = load_folded(WEIGHTS)
    rows = []
    for idx in range(3):
        screen = np.array(Image.open(GOLDEN / f"screen-{idx}.png").convert("RGB"))
        scene, spatial_map = model.features(normalised(torch.tensor(screen)[None]))
        rows.append({"scene": sampled(scene, STRIDES["scene"]), "map": sampled(spatial_map, STRIDES["map"])})
    lines = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
    path = GOLDEN / "compact.json"
    if not path.exists() or not is_same(json.loads(path.read_text()), rows):
        path.write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
