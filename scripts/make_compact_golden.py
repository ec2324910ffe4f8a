"""Writes crates/encoder/tests/golden/compact.json: what PyTorch makes of the shipped weights on three screens.

    python scripts/make_compact_golden.py

Of each screen's scene vector and spatial map: the norm, and every STRIDE-th number. Needs torch, numpy, pillow and
safetensors.
"""

import json

import numpy as np
import torch
from compact_data import REPO
from compact_network import load_folded, normalised
from PIL import Image

GOLDEN = REPO / "crates/encoder/tests/golden"
WEIGHTS = REPO / "crates/encoder/weights/compact.safetensors"
# Share no factor with the number of channels, so that every channel and every place has its turn.
STRIDES = {"scene": 3, "map": 25}


def sampled(values, stride):
    values = values.reshape(-1).numpy()
    numbers = [float(f"{value:.7g}") for value in values[::stride]]
    return {"stride": stride, "norm": float(np.linalg.norm(values.astype(np.float64))), "values": numbers}


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
    (GOLDEN / "compact.json").write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
