"""Runs VGG-16 in PyTorch on the three golden screens and writes the outputs of conv5_3, pool5 and FC6.

Needs torch, numpy, safetensors and pillow (`scripts/python-env --golden`) and the installed weights
(`cargo run --release -- encoder install vgg16`); without them it prints a message and leaves the golden file
unchanged, as it does if values are equal within 1e-5 of the largest.
Usage: make_vgg16_golden.py [CONVOLUTIONS.safetensors]

Every k-th element is kept, so that the file stays small: conv5_3 in rows, columns, channels; pool5 in channels, rows,
columns; FC6 in its own order. FC6 is the fixed random projection, implemented here from its description only:
Philox4x32-10 (Salmon et al.), 16 bits of which select a quantile of the normal distribution.
"""

import os
import sys
from pathlib import Path
from statistics import NormalDist

import numpy as np
import torch
from golden_files import are_close
from PIL import Image
from safetensors.numpy import load_file, save_file

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "crates/encoder/tests/golden"
CONVOLUTIONS = [0, 2, 5, 7, 10, 12, 14, 17, 19, 21, 24, 26, 28]
POOLED_AFTER = {2, 7, 14, 21, 28}
POOL5_LEN, FC6_LEN = 512 * 7 * 7, 4096
SEED, NAME = 6, b"encoder/random-fc6"
KEEP_EVERY = {"conv5_3": 97, "pool5": 23, "fc6": 4}


def fnv1a_32(text):
    value = 0x811C9DC5
    for byte in text:
        value = ((value ^ byte) * 0x01000193) & 0xFFFFFFFF
    return value


def philox4x32_10(counter, key):
    c0, c1, c2, c3 = (np.asarray(c, dtype=np.uint64) for c in counter)
    k0, k1 = key
    low = np.uint64(0xFFFFFFFF)
    for _ in range(10):
        p0, p1 = np.uint64(0xD2511F53) * c0, np.uint64(0xCD9E8D57) * c2
        c0, c1, c2, c3 = (
            (p1 >> np.uint64(32)) ^ c1 ^ np.uint64(k0),
            p1 & low,
            (p0 >> np.uint64(32)) ^ c3 ^ np.uint64(k1),
            p0 & low,
        )
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return np.stack([c0, c1, c2, c3], axis=-1)


def random_fc6(rows):
    """Rows of the random matrix, [n, 25088]."""
    normal = NormalDist()
    quantiles = np.array([normal.inv_cdf((i + 0.5) / 65536) for i in range(65536)]) / np.sqrt(POOL5_LEN)
    n_blocks = POOL5_LEN // 8
    matrix = np.empty((len(rows), POOL5_LEN), dtype=np.float32)
    for at, row in enumerate(rows):
        block = np.arange(n_blocks, dtype=np.uint64)
        fixed = [np.full(n_blocks, x, dtype=np.uint64) for x in (fnv1a_32(NAME), row, 0)]
        words = philox4x32_10([block, *fixed], (SEED, 0)).reshape(-1)
        halves = np.stack([words & np.uint64(0xFFFF), words >> np.uint64(16)], axis=-1).reshape(-1)
        matrix[at] = quantiles[halves.astype(np.int64)]
    return torch.from_numpy(matrix)


def default_weights():
    cache = os.environ.get("TOUCHSTREAM_TEST_CACHE") or ROOT / "target/test-cache"
    return Path(cache) / "weights/vgg16/convolutions.safetensors"


def screen_tensor(path):
    pixels = np.asarray(Image.open(path).convert("RGB"), dtype=np.float32) / 255
    pixels = (pixels - np.float32([0.485, 0.456, 0.406])) / np.float32([0.229, 0.224, 0.225])
    return torch.from_numpy(pixels.transpose(2, 0, 1).copy())[None]


def main():
    torch.set_num_threads(1)
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else default_weights()
    if not file.exists():
        print(f"VGG-16's golden file was not regenerated: its weights are not installed ({file} is missing)")
        return
    weights = load_file(file)
    weights = {name: torch.from_numpy(array) for name, array in weights.items()}
    kept_rows = range(0, FC6_LEN, KEEP_EVERY["fc6"])
    fc6 = random_fc6(kept_rows)
    golden = {}
    with torch.no_grad():
        for idx in range(3):
            x = screen_tensor(GOLDEN / f"screen-{idx}.png")
            for layer in CONVOLUTIONS:
                kernel, bias = weights[f"features.{layer}.weight"], weights[f"features.{layer}.bias"]
                x = torch.relu(torch.nn.functional.conv2d(x, kernel, bias, padding=1))
                if layer == CONVOLUTIONS[-1]:
                    golden[f"conv5_3.{idx}"] = x[0].permute(1, 2, 0).reshape(-1)[:: KEEP_EVERY["conv5_3"]]
                if layer in POOLED_AFTER:
                    x = torch.nn.functional.max_pool2d(x, 2)
            pool5 = x.reshape(-1)
            golden[f"pool5.{idx}"] = pool5[:: KEEP_EVERY["pool5"]]
            golden[f"fc6.{idx}"] = torch.relu(fc6 @ pool5)
    golden = {name: np.ascontiguousarray(x.numpy()) for name, x in golden.items()}
    path = GOLDEN / "vgg16.safetensors"
    if not path.exists() or not are_close(load_file(path), golden):
        save_file(golden, path)


if __name__ == "__main__":
    main()
