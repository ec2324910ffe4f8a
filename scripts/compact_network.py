"""The network of the encoder `compact` in PyTorch: to train it, to export it, to run the exported weights.

    screen [3, 224, 224]
      down1 3x3/2 16 -> down2 3x3/2 32 -> down3 3x3/2 64 -> down4 3x3/2 128           [128, 14, 14]
      block1, block2, block3: x + (1x1 64 -> 3x3 64 -> 1x1 128)                       [128, 14, 14]  = spatial map
      scene1 3x3/2 160 -> scene2 1x1 64                                               [64, 7, 7]     = scene vector

A ReLU follows every convolution; in a block the last one follows the addition. Batch norms exist in training only;
export folds them into weights. `crates/encoder/src/compact/` runs the same in Rust.
"""

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional as F

ARCHITECTURE = "compact-1"
MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)
MAP_CHANNELS = 128
SCENE_CHANNELS = 64
SCENE_LEN = 7 * 7 * SCENE_CHANNELS

# name, kernel side, stride, channels in, channels out
CONVOLUTIONS = [
    ("down1", 3, 2, 3, 16),
    ("down2", 3, 2, 16, 32),
    ("down3", 3, 2, 32, 64),
    ("down4", 3, 2, 64, 128),
    *[
        row
        for block in ("block1", "block2", "block3")
        for row in (
            (f"{block}_reduce", 1, 1, 128, 64),
            (f"{block}_spatial", 3, 1, 64, 64),
            (f"{block}_expand", 1, 1, 64, 128),
        )
    ],
    ("scene1", 3, 2, 128, 160),
    ("scene2", 1, 1, 160, SCENE_CHANNELS),
]


def normalised(bytes_nhwc):
    """`[n, h, w, 3]` bytes (a tensor) as the network's input `[n, 3, h, w]`."""
    x = bytes_nhwc.permute(0, 3, 1, 2).float() / 255
    return (x - torch.tensor(MEAN).view(1, 3, 1, 1)) / torch.tensor(STD).view(1, 3, 1, 1)


class Compact(nn.Module):
    """`with_norms`: for training. Without: as exported, biases in the convolutions."""

    def __init__(self, with_norms):
        super().__init__()
        self.convs = nn.ModuleDict()
        self.norms = nn.ModuleDict()
        for name, side, stride, c_in, c_out in CONVOLUTIONS:
            conv = nn.Conv2d(c_in, c_out, side, stride, side // 2, bias=not with_norms)
            nn.init.kaiming_normal_(conv.weight, nonlinearity="relu")
            self.convs[name] = conv
            if with_norms:
                self.norms[name] = nn.BatchNorm2d(c_out)
                if name.endswith("_expand"):
                    nn.init.constant_(self.norms[name].weight, 0.2)

    def layer(self, name, x):
        x = self.convs[name](x)
        return self.norms[name](x) if name in self.norms else x

    def spatial_map(self, x):
        for name in ("down1", "down2", "down3", "down4"):
            x = F.relu(self.layer(name, x))
        for block in ("block1", "block2", "block3"):
            y = F.relu(self.layer(f"{block}_reduce", x))
            y = F.relu(self.layer(f"{block}_spatial", y))
            x = F.relu(x + self.layer(f"{block}_expand", y))
        return x

    def scene(self, spatial_map):
        x = F.relu(self.layer("scene1", spatial_map))
        return F.relu(self.layer("scene2", x))

    def features(self, x):
        """Scene vectors `[n, 3136]` in rows, columns, channels order; maps `[n, 14, 14, 128]`."""
        spatial_map = self.spatial_map(x)
        scene = self.scene(spatial_map).permute(0, 2, 3, 1).reshape(len(x), -1)
        return scene, spatial_map.permute(0, 2, 3, 1)


def save_folded(model, path, metadata):
    """Writes weights with norms folded in: `NAME.weight` `[side, side, in, out]`, `NAME.bias` `[out]`."""
    tensors = {}
    for name, conv in model.convs.items():
        norm = model.norms[name]
        scale = norm.weight.detach().double() / torch.sqrt(norm.running_var.double() + norm.eps)
        weight = conv.weight.detach().double() * scale.view(-1, 1, 1, 1)
        bias = norm.bias.detach().double() - norm.running_mean.double() * scale
        tensors[f"{name}.weight"] = weight.permute(2, 3, 1, 0).float().contiguous()
        tensors[f"{name}.bias"] = bias.float().contiguous()
    save_file(tensors, path, metadata={"architecture": ARCHITECTURE, **metadata})


def load_folded(path):
    """The exported network, ready to run."""
    model = Compact(with_norms=False)
    with safe_open(path, framework="pt") as file:
        architecture = file.metadata()["architecture"]
        assert architecture == ARCHITECTURE, f"{path}: architecture {architecture}, not {ARCHITECTURE}"
        for name, conv in model.convs.items():
            conv.weight.data = file.get_tensor(f"{name}.weight").permute(3, 2, 0, 1).contiguous()
            conv.bias.data = file.get_tensor(f"{name}.bias")
    return model.eval()


def multiply_adds():
    """A screen's multiply-adds."""
    side, total = 224, 0
    for _, kernel_side, stride, c_in, c_out in CONVOLUTIONS:
        side //= stride
        total += side * side * kernel_side**2 * c_in * c_out
    return total
