"""Encoder quality: linear probes on scene vectors of compact, of VGG-16, and on raw pixels.

    python scripts/probe_encoders.py --work target/compact [--photos FOLDER] [--probes gallery cifar photos]

Multinomial logistic regression with L2 regularisation on standardised features, the same for all; its strength is
chosen on a fifth of the training images, then the probe is fitted on all of them. Probes: the gallery's 59 classes
(trained on the training split, tested on the validation split), CIFAR-10 (training and test images, upsampled to 224),
and photographs in FOLDER/{train,val}/CLASS. 95 % intervals are Wilson's. Features are cached in the work folder,
compact's by its weights' hash. Needs the packages of train_compact.py and VGG-16's installed weights.

Scene vectors are those of the program itself (`cargo run --example encode_images`): VGG-16 with the fixed random FC6,
compact with the weights that are built in.
"""

import argparse
import hashlib
import json
import os
import pathlib
import subprocess
import time

import numpy as np
import torch
from compact_data import N_CIFAR, N_GALLERY, REPO, SIDE, Gallery, open_cifar
from PIL import Image
from torch.nn import functional as F

WEIGHTS = REPO / "crates/encoder/weights/compact.safetensors"
SEED = 20180407
STRENGTHS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)


# Encoders: `[n, 224, 224, 3]` bytes to `[n, d]` --------------------------------------------------------------------


def raw_pixels(pictures):
    screens = torch.tensor(pictures).permute(0, 3, 1, 2).float()
    return F.interpolate(screens, (32, 32), mode="area").reshape(len(screens), -1).numpy()


def scene_vectors(work, encoder, pictures):
    """Scene vectors of image files, computed by touchstream."""
    source, sink = work / "pictures.u8", work / "scenes.f32"
    pictures.tofile(source)
    weights = [str(default_weights())] if encoder == "vgg16" else []
    example = ["cargo", "run", "--quiet", "--release", "-p", "touchstream-encoder", "--example", "encode_images"]
    subprocess.run([*example, "--", encoder, str(source), str(sink), *weights], cwd=REPO, check=True)
    scenes = np.fromfile(sink, "<f4").reshape(len(pictures), -1)
    source.unlink(), sink.unlink()
    return scenes


def default_weights():
    cache = os.environ.get("TOUCHSTREAM_TEST_CACHE") or REPO / "target/test-cache"
    return pathlib.Path(cache) / "weights/vgg16/convolutions.safetensors"


def encoded(work, encoder, probe, split, screens):
    """Features of all screens, from the work folder if present."""
    weights = hashlib.sha256(WEIGHTS.read_bytes()).hexdigest()[:12] if encoder == "compact" else ""
    file = work / "probes" / f"{encoder}{weights}-{probe}-{split}-{len(screens)}.npy"
    if not file.exists():
        started = time.time()
        pictures = np.stack([screens[idx] for idx in range(len(screens))])
        features = raw_pixels(pictures) if encoder == "pixels" else scene_vectors(work, encoder, pictures)
        file.parent.mkdir(parents=True, exist_ok=True)
        np.save(file, features)
        print(f"  {file.name}: {len(screens) / (time.time() - started):.1f} screens/s", flush=True)
    return torch.tensor(np.load(file))


# The probe ---------------------------------------------------------------------------------------------------------


def fitted(x, y, n_classes, strength):
    """Weights and bias that minimise cross-entropy + strength / 2 * |weights|^2 by L-BFGS."""
    weights = torch.zeros(x.shape[1], n_classes, requires_grad=True)
    bias = torch.zeros(n_classes, requires_grad=True)
    optimizer = torch.optim.LBFGS([weights, bias], max_iter=60, history_size=8, line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        loss = F.cross_entropy(x @ weights + bias, y) + strength / 2 * weights.square().sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    return weights.detach(), bias.detach()


def accuracy(model, x, y):
    weights, bias = model
    return ((x @ weights + bias).argmax(1) == y).float().mean().item()


def probed(train, train_labels, test, test_labels, n_classes):
    """Test accuracy and the chosen strength."""
    mean, deviation = train.mean(0), train.std(0) + 1e-2 * train.std()
    # Standardised, and scaled so that a row's norm is about 1 whatever the number of features.
    scaled = lambda x: (x - mean) / deviation / x.shape[1] ** 0.5
    train, test = scaled(train), scaled(test)
    order = torch.randperm(len(train), generator=torch.Generator().manual_seed(SEED))
    held, used = order[: len(order) // 5], order[len(order) // 5 :]
    if train.shape[1] > len(train):
        # The solution lies in the span of the training rows: the same problem with fewer unknowns.
        _, _, basis = torch.linalg.svd(train, full_matrices=False)
        train, test = train @ basis.T, test @ basis.T
    scores = {}
    for strength in STRENGTHS:
        model = fitted(train[used], train_labels[used], n_classes, strength * 1e-2)
        scores[strength] = accuracy(model, train[held], train_labels[held])
    best = max(scores, key=scores.get)
    return accuracy(fitted(train, train_labels, n_classes, best * 1e-2), test, test_labels), best


def wilson(share, n):
    """Wilson's 95 % interval of a proportion of `n`."""
    z = 1.96
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * (share * (1 - share) / n + z * z / (4 * n * n)) ** 0.5
    return middle - half, middle + half


# Probes --------------------------------------------------------------------------------------------------------------


class Upsampled:
    """CIFAR images as screens, one at a time."""

    def __init__(self, images):
        self.images = images

    def __len__(self):
        return len(self.images)

    def __getitem__(self, idx):
        return np.asarray(Image.fromarray(self.images[idx]).resize((SIDE, SIDE), Image.BILINEAR))


class Photographs:
    """Image files as screens: short side to 256, the middle 224."""

    def __init__(self, folder):
        classes = sorted(path.name for path in folder.iterdir() if path.is_dir())
        self.files = [(idx, file) for idx, name in enumerate(classes) for file in sorted((folder / name).iterdir())]
        self.labels = np.array([idx for idx, _ in self.files])

    def __len__(self):
        return len(self.files)

    def __getitem__(self, idx):
        picture = Image.open(self.files[idx][1]).convert("RGB")
        scale = 256 / min(picture.size)
        width, height = (max(256, round(side * scale)) for side in picture.size)
        left, top = (width - SIDE) // 2, (height - SIDE) // 2
        resized = picture.resize((width, height), Image.BILINEAR)
        return np.asarray(resized.crop((left, top, left + SIDE, top + SIDE)))


def every(dataset_len, n):
    """`n` evenly spaced indices."""
    return np.arange(n) * dataset_len // n


class Subset:
    """Some of the screens."""

    def __init__(self, screens, places):
        self.screens, self.places = screens, places

    def __len__(self):
        return len(self.places)

    def __getitem__(self, idx):
        return np.array(self.screens[self.places[idx]])


def open_probe(work, probe, args):
    """Training screens and labels, test screens and labels, number of classes."""
    if probe == "gallery":
        train, test = (Gallery(work, split, *args.gallery[split]) for split in ("train", "validation"))
        a = every(len(train.portraits), N_GALLERY * args.portraits)
        b = every(len(test.portraits), N_GALLERY * args.test_portraits)
        sets = (Subset(train.portraits, a), train.portrait_labels[a], Subset(test.portraits, b), test.portrait_labels[b])
        return *sets, N_GALLERY
    if probe == "cifar":
        train, train_labels = open_cifar(work, "train")
        test, test_labels = open_cifar(work, "test")
        a, b = args.cifar
        return Upsampled(train[:a]), train_labels[:a], Upsampled(test[:b]), test_labels[:b], N_CIFAR
    train, test = Photographs(args.photos / "train"), Photographs(args.photos / "val")
    return train, train.labels, test, test.labels, int(train.labels.max()) + 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", type=pathlib.Path, default=REPO / "target/compact")
    parser.add_argument("--photos", type=pathlib.Path)
    parser.add_argument("--probes", nargs="+", default=["gallery", "cifar", "photos"])
    parser.add_argument("--encoders", nargs="+", default=["pixels", "compact", "vgg16"])
    parser.add_argument("--portraits", type=int, default=40, help="training portraits per class")
    parser.add_argument("--test-portraits", type=int, default=20, help="validation portraits per class")
    parser.add_argument("--cifar", type=int, nargs=2, default=(5000, 2000), metavar=("TRAIN", "TEST"))
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    args.gallery = {"train": (200, 2400), "validation": (20, 200)}  # what train_compact.py dumps
    torch.set_num_threads(args.threads)
    work = args.work.resolve()

    for probe in args.probes:
        if probe == "photos" and args.photos is None:
            continue
        train, train_labels, test, test_labels, n_classes = open_probe(work, probe, args)
        labels = [torch.tensor(labels, dtype=torch.int64) for labels in (train_labels, test_labels)]
        print(f"{probe}: {n_classes} classes, {len(train)} training, {len(test)} test images", flush=True)
        for encoder in args.encoders:
            x = encoded(work, encoder, probe, "train", train)
            x_test = encoded(work, encoder, probe, "test", test)
            share, strength = probed(x, labels[0], x_test, labels[1], n_classes)
            low, high = wilson(share, len(test))
            row = {"probe": probe, "encoder": encoder, "n": len(test), "accuracy": share, "low": low, "high": high}
            with open(work / "probes.jsonl", "a") as file:
                file.write(json.dumps(row) + "\n")
            interval = f"95 % {100 * low:.1f} to {100 * high:.1f}"
            print(f"  {encoder:12} {100 * share:5.1f} %  ({interval}, strength {strength})", flush=True)


if __name__ == "__main__":
    main()
