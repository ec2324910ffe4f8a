"""Trains the encoder `compact` from scratch and writes crates/encoder/weights/compact.safetensors.

    python scripts/train_compact.py --work target/compact

Needs cargo, npm, pip and the Python packages torch, numpy, pillow, safetensors and scikit-learn (for its two
photographs); no GPU. Everything downloaded, rendered and computed is cached in the work folder. All random numbers
come from one seed; as always with PyTorch, other machines or thread counts round differently.

Training data: the gallery's TRAINING split (portraits, localization screens, templates), CIFAR-10's TRAINING
images, and crops of scikit-learn's two photographs. No validation image of any source is opened here; "held out"
in the output means training portraits that are not trained on.

Stages of increasing cost, each continuing from the one before:
  1 small   the layers up to the spatial map classify gallery and CIFAR images of 64 x 64: convolutions accept any
            size, and such an image costs a twelfth of a screen;
  2 medium  the same on 112 x 112, and the spatial map predicts VGG-16's conv5_3 through a 1x1 layer;
  3 scene   those layers are frozen and their maps of whole screens are kept in memory; linear heads on the scene
            vector predict classes of portraits and CIFAR images, class and box of the object on localization screens,
            and which of two small images at random heights is left and which right. The last two require features
            that encode positions;
  4 whole   all layers are trained on whole screens, briefly.
"""

import argparse
import copy
import pathlib
import time

import numpy as np
import torch
from compact_data import N_CIFAR, N_GALLERY, REPO, SIDE, Gallery, open_cifar, open_vgg16
from compact_network import MAP_CHANNELS, SCENE_CHANNELS, SCENE_LEN, Compact, multiply_adds, normalised, save_folded
from PIL import Image
from sklearn.datasets import load_sample_images
from torch import nn
from torch.nn import functional as F

WEIGHTS = REPO / "crates/encoder/weights/compact.safetensors"
SEED = 20180407
CROP = 112
GREY = 128
N_PORTRAITS, N_OBJECTS = 200, 2400  # of the gallery: per class; in total
HELD_OUT_EVERY = 20
SHARD = 250
N_SHARDS = {"cifar": 12, "gallery": 3, "photograph": 4}
N_PAIR_SCREENS, N_CIFAR_SCREENS = 5000, 5000  # whose maps are stored for stage 3


def resized(picture, height, width):
    return np.asarray(Image.fromarray(picture).resize((width, height), Image.BILINEAR))


# Crops for the teacher -------------------------------------------------------------------------------------------


def cifar_crop(rng, cifar):
    """One CIFAR image over the whole crop, or a few smaller ones on another's colours."""
    images = cifar[rng.integers(len(cifar), size=5)]
    if rng.random() < 0.5:
        side = int(rng.integers(CROP, 150))
        top, left = rng.integers(0, side - CROP + 1, 2)
        return resized(images[0], side, side)[top : top + CROP, left : left + CROP]
    crop = np.full((CROP, CROP, 3), GREY, np.uint8)
    if rng.random() < 0.7:
        crop = np.array(resized(images[0][8:24, 8:24], CROP, CROP))
    for image in images[1 : 1 + rng.integers(1, 5)]:
        side = int(rng.integers(32, 84))
        top, left = rng.integers(0, CROP - side + 1, 2)
        crop[top : top + side, left : left + side] = resized(image, side, side)
    return crop


def gallery_crop(rng, gallery):
    """A crop of a portrait, a localization screen or a match screen; sometimes a whole screen, downscaled."""
    kind = rng.random()
    if kind < 0.5:
        screen = gallery.portraits[rng.integers(len(gallery.portraits))]
    elif kind < 0.75:
        screen = gallery.objects[rng.integers(len(gallery.objects))]
    else:
        screen = np.full((SIDE, SIDE, 3), GREY, np.uint8)
        for left in (6, 118):
            top = rng.integers(0, SIDE - 100 + 1)
            screen[top : top + 100, left : left + 100] = gallery.templates[rng.integers(N_GALLERY)]
    side = int(rng.integers(CROP, SIDE + 1)) if rng.random() < 0.6 else CROP
    top, left = rng.integers(0, SIDE - side + 1, 2)
    return resized(np.ascontiguousarray(screen[top : top + side, left : left + side]), CROP, CROP)


def photograph_crop(rng, photographs):
    """A crop of a photograph at a random scale."""
    picture = photographs[rng.integers(len(photographs))]
    side = int(CROP * np.exp(rng.uniform(np.log(0.7), np.log(3.5))))
    top, left = (int(rng.integers(0, length - side + 1)) for length in picture.shape[:2])
    return resized(np.ascontiguousarray(picture[top : top + side, left : left + side]), CROP, CROP)


def make_teacher_shards(work, kind, draw):
    """Crops and their VGG-16 conv5_3 maps, as float16, in files of `SHARD` crops."""
    folder = work / "teacher"
    folder.mkdir(parents=True, exist_ok=True)
    missing = [idx for idx in range(N_SHARDS[kind]) if not (folder / f"{kind}-{idx}.npz").exists()]
    if not missing:
        return
    vgg16 = open_vgg16(work)
    for idx in missing:
        started = time.time()
        rng = np.random.default_rng([SEED, *kind.encode(), idx])
        crops = np.stack([draw(rng) for _ in range(SHARD)])
        maps = []
        with torch.inference_mode():
            for batch in torch.tensor(crops).split(25):
                x = normalised(batch).contiguous(memory_format=torch.channels_last)
                maps.append(vgg16(x).permute(0, 2, 3, 1).half().numpy())
        aside = folder / "aside.npz"
        np.savez(aside, crops=crops, maps=np.concatenate(maps))
        aside.rename(folder / f"{kind}-{idx}.npz")
        print(f"teacher {kind} {idx}: {SHARD / (time.time() - started):.1f} crops/s", flush=True)


def open_teacher(work):
    """All crops `[n, 112, 112, 3]` and maps `[n, 7, 7, 512]`, each channel scaled to a root mean square of 1."""
    shards = [np.load(file) for file in sorted((work / "teacher").glob("*-*.npz"))]
    crops = torch.tensor(np.concatenate([shard["crops"] for shard in shards]))
    maps = torch.tensor(np.concatenate([shard["maps"] for shard in shards]))
    scale = maps[::7].float().square().mean((0, 1, 2)).sqrt().clamp(min=1e-3)
    return crops, maps, scale


# Images ------------------------------------------------------------------------------------------------------------


def jittered(x, generator):
    """Images `[n, h, w, 3]` (floats in 0..255), each with random contrast, brightness and tint."""
    n = len(x)
    gain = 1 + 0.4 * (torch.rand(n, 1, 1, 1, generator=generator) - 0.5)
    tint = 1 + 0.2 * (torch.rand(n, 1, 1, 3, generator=generator) - 0.5)
    shift = 50 * (torch.rand(n, 1, 1, 1, generator=generator) - 0.5)
    return ((x - GREY) * gain * tint + GREY + shift).clamp(0, 255)


def moved(pictures, side, spans, reach, generator):
    """`[n, side, side, 3]` crops of square images: their width is a random fraction of the image within `spans`, their
    centre is off by up to the fraction `reach`, and half of them are mirrored."""
    n = len(pictures)
    span = spans[0] + (spans[1] - spans[0]) * torch.rand(n, generator=generator)
    mirror = torch.where(torch.rand(n, generator=generator) < 0.5, -1.0, 1.0)
    offset = 2 * reach * (2 * torch.rand(n, 2, generator=generator) - 1)
    zero = torch.zeros(n)
    rows = [torch.stack([span * mirror, zero, offset[:, 0]], 1), torch.stack([zero, span, offset[:, 1]], 1)]
    grid = F.affine_grid(torch.stack(rows, 1), (n, 3, side, side), align_corners=False)
    x = torch.tensor(np.ascontiguousarray(pictures)).permute(0, 3, 1, 2).float()
    return F.grid_sample(x, grid, padding_mode="reflection", align_corners=False).permute(0, 2, 3, 1)


def pair_screens(rng, gallery, cifar, cifar_labels, n):
    """Screens of two small images at random heights, with the classes on the left and on the right: a gallery class, or
    `N_GALLERY` + a CIFAR class."""
    screens = np.full((n, SIDE, SIDE, 3), GREY, np.uint8)
    labels = np.zeros((n, 2), np.int64)
    for screen, label in zip(screens, labels):
        kind = rng.random()
        for place, left in enumerate((6, 118)):
            top, left = rng.integers(0, SIDE - 100 + 1), left + rng.integers(-6, 7)
            if kind < 0.5:
                label[place] = rng.integers(N_GALLERY)
                picture = gallery.templates[label[place]]
            elif kind < 0.7:
                idx = rng.integers(len(gallery.portraits))
                label[place] = gallery.portrait_labels[idx]
                picture = resized(gallery.portraits[idx], 100, 100)
            else:
                idx = rng.integers(len(cifar))
                label[place] = N_GALLERY + cifar_labels[idx]
                picture = resized(cifar[idx], 100, 100)
            screen[top : top + 100, left : left + 100] = picture
    return screens, torch.tensor(labels)


# Learning ----------------------------------------------------------------------------------------------------------


def cross_entropy(logits, target):
    return F.cross_entropy(logits, target, label_smoothing=0.05)


def one_cycle(lr, n_steps):
    """Learning rates: linear warm-up over a tenth of the steps, then cosine decay to nearly 0."""
    at = (np.arange(n_steps) + 0.5) / n_steps
    return lr * np.where(at < 0.1, 0.05 + 0.95 * at / 0.1, 0.001 + 0.999 * (1 + np.cos(np.pi * (at - 0.1) / 0.9)) / 2)


def as_input(x):
    return normalised(x).contiguous(memory_format=torch.channels_last)


class MapHeads(nn.Module):
    """Linear heads on a spatial map of `side` x `side` positions; used in training only."""

    def __init__(self, side):
        super().__init__()
        self.flat = nn.Linear(side * side * MAP_CHANNELS, N_GALLERY + N_CIFAR)
        self.pooled = nn.Linear(MAP_CHANNELS, N_GALLERY + N_CIFAR)
        self.teacher = nn.Conv2d(MAP_CHANNELS, 512, 1)
        self.dropout = nn.Dropout(0.2)


class SceneHeads(nn.Module):
    """Linear heads on the scene vector; used in training only."""

    def __init__(self):
        super().__init__()
        self.portrait = nn.Linear(SCENE_LEN, N_GALLERY)
        self.cifar = nn.Linear(SCENE_LEN, N_CIFAR)
        self.object = nn.Linear(SCENE_LEN, N_GALLERY)
        self.box = nn.Linear(SCENE_LEN, 4)
        self.pair = nn.Linear(SCENE_LEN, 2 * (N_GALLERY + N_CIFAR))
        self.pooled = nn.Linear(SCENE_CHANNELS, N_GALLERY + N_CIFAR)
        self.dropout = nn.Dropout(0.3)


class Training:
    """The network and its training data."""

    def __init__(self, work):
        torch.manual_seed(SEED)
        self.generator = torch.Generator().manual_seed(SEED)
        self.rng = np.random.default_rng(SEED)
        self.gallery = Gallery(work, "train", N_PORTRAITS, N_OBJECTS)
        self.labels = torch.tensor(self.gallery.portrait_labels.astype(np.int64))
        held_out = np.arange(len(self.labels)) % HELD_OUT_EVERY == 0
        self.learned, self.held_out = np.flatnonzero(~held_out), np.flatnonzero(held_out)
        self.halved = halved(self.gallery.portraits)
        self.cifar, cifar_labels = open_cifar(work, "train")
        self.cifar_labels = torch.tensor(cifar_labels.astype(np.int64))
        self.crops, self.maps, self.scale = open_teacher(work)
        self.model = Compact(with_norms=True).to(memory_format=torch.channels_last)

    def jittered_input(self, pictures):
        return as_input(jittered(pictures, self.generator))

    # Stages 1 and 2

    def learn_maps(self, name, side, n_steps, lr, n_portraits, n_cifar, n_crops):
        model, heads = self.model, MapHeads(side // 16)
        light = [*model.parameters(), *heads.pooled.parameters(), *heads.teacher.parameters()]
        optimizer = Optimizer(light, heads.flat.parameters(), lr, n_steps)
        report = Report(name, n_steps)
        for step in range(1, n_steps + 1):
            portraits = np.sort(self.rng.choice(self.learned, n_portraits))
            cifars = self.rng.integers(len(self.cifar), size=n_cifar)
            pictures = [
                moved(self.halved[portraits], side, (0.6, 1.05), 0.1, self.generator),
                moved(self.cifar[cifars], side, (0.75, 1.1), 0.1, self.generator),
            ]
            target = torch.cat([self.labels[portraits], N_GALLERY + self.cifar_labels[cifars]])
            spatial_map = model.spatial_map(self.jittered_input(torch.cat(pictures)))
            pooled = heads.pooled(spatial_map.mean((2, 3)))
            flat = heads.flat(heads.dropout(spatial_map.permute(0, 2, 3, 1).flatten(1)))
            losses = {"flat": cross_entropy(flat, target), "pooled": cross_entropy(pooled, target)}
            if n_crops:
                losses["teacher"] = self.teacher_loss(heads, n_crops)
            optimizer.step(step, losses)
            right = (flat[:n_portraits].argmax(1) == target[:n_portraits]).float().mean()
            report.add(step, losses | {"right": right}, lambda: self.held_out_of_maps(heads, side))

    def teacher_loss(self, heads, n_crops):
        """Predicts the teacher's map from the spatial map."""
        picked = torch.tensor(self.rng.integers(len(self.crops), size=n_crops))
        target = (self.maps[picked].float() / self.scale).clamp(max=6).permute(0, 3, 1, 2)
        crops = self.jittered_input(self.crops[picked].float())
        return F.mse_loss(heads.teacher(self.model.spatial_map(crops)), target)

    @torch.no_grad()
    def held_out_of_maps(self, heads, side):
        self.model.eval(), heads.eval()
        n_right = 0
        for rows in np.array_split(self.held_out, 6):
            x = torch.tensor(self.halved[rows]).float().permute(0, 3, 1, 2)
            x = F.interpolate(x, size=(side, side), mode="area").permute(0, 2, 3, 1)
            flat = self.model.spatial_map(as_input(x)).permute(0, 2, 3, 1).flatten(1)
            n_right += (heads.flat(flat)[:, :N_GALLERY].argmax(1) == self.labels[rows]).sum().item()
        self.model.train(), heads.train()
        return n_right / len(self.held_out)

    # Stages 3 and 4

    def learn_scenes(self, n_epochs, lr, heads):
        settle_norms(self.model, self.gallery, self.cifar)
        kept = self.kept_maps()
        model, sizes = self.model, (112, 32, 56, 56)
        n_steps = int(n_epochs * len(self.learned)) // sizes[0]
        tail = [p for part in (model.convs, model.norms) for name in ("scene1", "scene2") for p in part[name].parameters()]
        wide = [p for name, p in heads.named_parameters() if not name.startswith("pooled")]
        optimizer = Optimizer([*tail, *heads.pooled.parameters()], wide, lr, n_steps)
        report = Report("scene", n_steps)
        model.train()
        for step in range(1, n_steps + 1):
            rows = [torch.tensor(self.rng.choice(self.learned, sizes[0]))]
            rows += [torch.tensor(self.rng.integers(len(maps), size=n)) for (maps, *_), n in zip(kept[1:], sizes[1:])]
            maps = [maps[picked] for (maps, *_), picked in zip(kept, rows)]
            for kind in (0, 2):  # mirroring keeps the labels of portraits and CIFAR images
                if self.rng.random() < 0.5:
                    maps[kind] = maps[kind].flip(2)
            targets = [target[picked] for (_, *known), picked in zip(kept, rows) for target in known]
            losses = self.scene_losses(heads, torch.cat(maps).float().permute(0, 3, 1, 2), sizes, targets)
            optimizer.step(step, losses)
            report.add(step, losses, lambda: self.held_out_of_scenes(heads))

    @torch.no_grad()
    def kept_maps(self):
        """Maps `[n, 14, 14, channels]` in half precision and their labels, for portraits, localization screens, CIFAR
        images and pairs."""
        self.model.eval()
        gallery = self.gallery

        def maps_of(screens):
            batches = (np.ascontiguousarray(screens[at : at + 50]) for at in range(0, len(screens), 50))
            maps = (self.model.spatial_map(as_input(torch.tensor(batch))) for batch in batches)
            return torch.cat([spatial_map.permute(0, 2, 3, 1).half() for spatial_map in maps])

        def maps_of_parts(n, part):
            return torch.cat([maps_of(part(at)) for at in range(0, n, 250)])

        cifars = self.rng.choice(len(self.cifar), N_CIFAR_SCREENS, replace=False)
        whole = lambda at: np.stack([resized(image, SIDE, SIDE) for image in self.cifar[cifars[at : at + 250]]])
        pair_labels = []

        def pairs(_):
            screens, labels = pair_screens(self.rng, gallery, self.cifar, self.cifar_labels.numpy(), 250)
            pair_labels.append(labels)
            return screens

        portraits = maps_of_parts(len(self.labels), lambda at: gallery.portraits[at : at + 250])
        objects = maps_of(gallery.objects)
        boxes = torch.tensor(gallery.object_boxes / SIDE, dtype=torch.float32)
        cifar = maps_of_parts(N_CIFAR_SCREENS, whole)
        pair_maps = maps_of_parts(N_PAIR_SCREENS, pairs)
        return [
            (portraits, self.labels),
            (objects, torch.tensor(gallery.object_labels.astype(np.int64)), boxes),
            (cifar, self.cifar_labels[cifars]),
            (pair_maps, torch.cat(pair_labels)),
        ]

    def scene_losses(self, heads, spatial_map, sizes, targets):
        """Losses on classes and positions from scene vectors, for the four kinds of screens."""
        on_portraits, on_objects, boxes, on_cifar, on_pairs = targets
        scene = self.model.scene(spatial_map).permute(0, 2, 3, 1).flatten(1)
        pooled = heads.pooled(scene.view(len(scene), 49, SCENE_CHANNELS).mean(1))
        ends = np.cumsum([0, *sizes])
        portraits, objects, cifar, pairs = (heads.dropout(scene)[a:b] for a, b in zip(ends, ends[1:]))
        of_pairs = heads.pair(pairs).view(-1, N_GALLERY + N_CIFAR)
        pooled_cifar = cross_entropy(pooled[ends[2] : ends[3]], N_GALLERY + on_cifar)
        return {
            "portrait": cross_entropy(heads.portrait(portraits), on_portraits),
            "pooled": cross_entropy(pooled[: ends[1]], on_portraits) + pooled_cifar,
            "object": 0.5 * cross_entropy(heads.object(objects), on_objects),
            "box": 2 * F.l1_loss(heads.box(objects), boxes),
            "cifar": 0.5 * cross_entropy(heads.cifar(cifar), on_cifar),
            "pair": 0.5 * cross_entropy(of_pairs, on_pairs.reshape(-1)),
        }

    def learn_whole(self, n_steps, lr, heads):
        gallery, rng, sizes = self.gallery, self.rng, (20, 6, 8, 6)
        optimizer = Optimizer(self.model.parameters(), heads.parameters(), lr, n_steps, heavy_rate=0.2)
        report = Report("whole", n_steps)
        for step in range(1, n_steps + 1):
            portraits = np.sort(rng.choice(self.learned, sizes[0]))
            objects = rng.integers(len(gallery.objects), size=sizes[1])
            cifars = rng.integers(len(self.cifar), size=sizes[2])
            pairs, pair_labels = pair_screens(rng, gallery, self.cifar, self.cifar_labels.numpy(), sizes[3])
            screens = [
                moved(gallery.portraits[portraits], SIDE, (0.85, 1.15), 0.08, self.generator),
                torch.tensor(gallery.objects[objects]).float(),
                moved(self.cifar[cifars], SIDE, (0.85, 1.15), 0.1, self.generator),
                torch.tensor(pairs).float(),
            ]
            targets = [
                self.labels[portraits],
                torch.tensor(gallery.object_labels[objects].astype(np.int64)),
                torch.tensor(gallery.object_boxes[objects] / SIDE, dtype=torch.float32),
                self.cifar_labels[cifars],
                pair_labels,
            ]
            spatial_map = self.model.spatial_map(self.jittered_input(torch.cat(screens)))
            losses = self.scene_losses(heads, spatial_map, sizes, targets)
            optimizer.step(step, losses)
            report.add(step, losses, lambda: self.held_out_of_scenes(heads))
        settle_norms(self.model, gallery, self.cifar)

    @torch.no_grad()
    def held_out_of_scenes(self, heads):
        self.model.eval(), heads.eval()
        n_right = 0
        for rows in np.array_split(self.held_out, 6):
            scene, _ = self.model.features(as_input(torch.tensor(np.ascontiguousarray(self.gallery.portraits[rows]))))
            n_right += (heads.portrait(scene).argmax(1) == self.labels[rows]).sum().item()
        self.model.train(), heads.train()
        return n_right / len(self.held_out)

    def export(self, out):
        out.parent.mkdir(parents=True, exist_ok=True)
        data = "gallery training split, CIFAR-10 training images, two photographs of scikit-learn; teacher VGG-16 conv5_3"
        facts = {"script": "scripts/train_compact.py", "data": data, "seed": str(SEED)}
        save_folded(copy.deepcopy(self.model).eval(), out, facts)
        print(f"{out}: {out.stat().st_size} bytes", flush=True)


class Optimizer:
    """AdamW over one cycle of learning rates. Heads with thousands of inputs (`heavy`) have lower rates."""

    def __init__(self, light, heavy, lr, n_steps, heavy_rate=0.1):
        light, heavy = list(light), list(heavy)
        self.parameters = [*light, *heavy]
        groups = [
            {"params": light, "rate": 1.0, "weight_decay": 0.02},
            {"params": heavy, "rate": heavy_rate, "weight_decay": 0.1},
        ]
        self.adam, self.rates = torch.optim.AdamW(groups), one_cycle(lr, n_steps)

    def step(self, step, losses):
        for group in self.adam.param_groups:
            group["lr"] = group["rate"] * self.rates[step - 1]
        self.adam.zero_grad(set_to_none=True)
        sum(losses.values()).backward()
        nn.utils.clip_grad_norm_(self.parameters, 5.0)
        self.adam.step()


class Report:
    """Prints means over a hundred steps and, less often, the accuracy on held-out portraits."""

    def __init__(self, name, n_steps):
        self.name, self.n_steps, self.started, self.sums, self.n = name, n_steps, time.time(), {}, 0

    def add(self, step, losses, held_out):
        self.n += 1
        for name, loss in losses.items():
            self.sums[name] = self.sums.get(name, 0.0) + loss.item()
        if step % 100 == 0 or step == self.n_steps:
            means = "  ".join(f"{name} {value / self.n:.3f}" for name, value in self.sums.items())
            right = f"  held out {held_out():.3f}" if step % 500 == 0 or step == self.n_steps else ""
            print(f"{self.name} {step}/{self.n_steps}  {time.time() - self.started:.0f} s  {means}{right}", flush=True)
            self.sums, self.n = {}, 0


def halved(pictures):
    """Means over 2 x 2 pixels of `[n, side, side, 3]`."""
    small = np.empty((len(pictures), CROP, CROP, 3), np.uint8)
    for at in range(0, len(pictures), 500):
        x = np.asarray(pictures[at : at + 500], np.uint16)
        small[at : at + 500] = (x[:, ::2, ::2] + x[:, 1::2, ::2] + x[:, ::2, 1::2] + x[:, 1::2, 1::2] + 2) // 4
    return small


@torch.no_grad()
def settle_norms(model, gallery, cifar):
    """Computes the batch norms' means and variances on whole, unshifted screens, as in use."""
    rng = np.random.default_rng(SEED + 1)
    for norm in model.norms.values():
        norm.reset_running_stats()
        norm.momentum = None
    for _ in range(24):
        screens = [
            *gallery.portraits[rng.integers(len(gallery.portraits), size=10)],
            *gallery.objects[rng.integers(len(gallery.objects), size=5)],
            *(resized(image, SIDE, SIDE) for image in cifar[rng.integers(len(cifar), size=11)]),
            *pair_screens(rng, gallery, cifar, np.zeros(len(cifar), np.int64), 6)[0],
        ]
        model.features(normalised(torch.tensor(np.stack(screens))))


def make_teacher(work, kinds):
    if "cifar" in kinds:
        cifar = open_cifar(work, "train")[0]
        make_teacher_shards(work, "cifar", lambda rng: cifar_crop(rng, cifar))
    if "photograph" in kinds:
        photographs = load_sample_images().images
        make_teacher_shards(work, "photograph", lambda rng: photograph_crop(rng, photographs))
    if "gallery" in kinds:
        gallery = Gallery(work, "train", N_PORTRAITS, N_OBJECTS)
        make_teacher_shards(work, "gallery", lambda rng: gallery_crop(rng, gallery))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", type=pathlib.Path, default=REPO / "target/compact")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=pathlib.Path, default=WEIGHTS)
    parser.add_argument("--quick", action="store_true", help="a hundredth of all steps, to test that everything runs")
    args = parser.parse_args()
    steps = lambda n: max(1, n // 100) if args.quick else n
    torch.set_num_threads(args.threads)
    work = args.work.resolve()
    make_teacher(work, N_SHARDS)

    training = Training(work)
    print(f"{multiply_adds() / 1e6:.1f} million multiply-adds per screen", flush=True)
    training.learn_maps("small", 64, n_steps=steps(3500), lr=4e-3, n_portraits=96, n_cifar=48, n_crops=0)
    training.learn_maps("medium", CROP, n_steps=steps(1000), lr=2e-3, n_portraits=48, n_cifar=20, n_crops=16)
    heads = SceneHeads()
    training.learn_scenes(n_epochs=0.1 if args.quick else 10, lr=3e-3, heads=heads)
    training.learn_whole(n_steps=steps(300), lr=1e-3, heads=heads)
    training.export(args.out)


if __name__ == "__main__":
    main()
