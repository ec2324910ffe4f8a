"""Writes the pickles for tests and as fuzzing seeds: small arrays in numpy's format, and one that must be refused.

Usage: .venv/bin/python scripts/make_pickle_seeds.py
"""

import os
import pickle
from pathlib import Path

import numpy as np


class RunsACommand:
    def __reduce__(self):
        return os.system, ("true",)


kernel = np.arange(12, dtype="<f4").reshape(2, 3, 2) / 4
net = {"VGG16_0": {"Conv_0": {"kernel": kernel, "bias": np.array([1.5, -2.0], dtype="<f4")}}}
within_itself = {"self": None}
within_itself["self"] = within_itself
seeds = {
    **{f"arrays-protocol-{protocol}": pickle.dumps(net, protocol) for protocol in (3, 4, 5)},
    "other-kinds": pickle.dumps(
        {"f8": np.ones(2), "big": np.ones(2, dtype=">f4"), "fortran": np.asfortranarray(kernel), "many": [1, 2.5, 2**40, None, (True, ())]}, 4
    ),
    "within-itself": pickle.dumps(within_itself, 4),
    "runs-a-command": pickle.dumps(RunsACommand(), 4),
}
folder = Path(__file__).parent.parent / "fuzz" / "seeds" / "pickle"
folder.mkdir(parents=True, exist_ok=True)
for name, data in seeds.items():
    (folder / name).write_bytes(data)
    print(f"{name}: {len(data)} bytes")
