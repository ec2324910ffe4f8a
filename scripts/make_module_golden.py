"""Modules in PyTorch, written from the paper's equations: crates/modules/tests/golden/modules.safetensors.

    python scripts/make_module_golden.py

For each module: weights, the logits of a few steps, the loss, its gradient, and the weights and losses of ten
updates of Adam. The Rust implementation must agree from the same weights. Needs torch and
safetensors.
"""

import pathlib

import numpy as np
import torch
from golden_files import are_close
from safetensors.numpy import load_file, save_file
from torch import nn
from torch.nn import functional as F

REPO = pathlib.Path(__file__).resolve().parent.parent
GOLDEN = REPO / "crates/modules/tests/golden/modules.safetensors"

SCENE_LEN, K_B, K_F, N_STEPS, N_UPDATES = 27, 1, 2, 8, 10
N_PLACES, N_CHANNELS = 9, 10
# Units of convolutions and of layers, and the divisor of the flattened features. Stages that read CReS with 128 units
# have their own kernels.
CONVOLUTIONAL = {
    "conv-ems": ((5, 6, 7), (5, 6), N_PLACES),
    "conv-ems/root": ((5, 6, 7), (5, 6), N_PLACES**0.5),
    "conv-ems/one": ((5, 6, 7), (5, 6), 1),
    "conv-ems/128-behind": ((5, 4, 3), (128, 3), N_PLACES),
    "conv-ems/128-convolved": ((5, 4, 128), (3, 4), N_PLACES),
}
LEARNING_RATE = 1e-2


def crelu(x):
    return torch.cat([F.relu(x), F.relu(-x)], -1)


def cres(x):
    return torch.cat([F.relu(x), F.relu(-x), F.relu(x) ** 2, F.relu(-x) ** 2], -1)


def relu_sq(x):
    return torch.cat([F.relu(x), x**2], -1)


def sq(x):
    return torch.cat([x, x**2], -1)


PLAIN = {"relu": F.relu, "tanh": torch.tanh, "sigmoid": torch.sigmoid, "elu": F.elu, "crelu": crelu}
N_PARTS = {crelu: 2, cres: 4, relu_sq: 2, sq: 2}

# id: bottleneck, layers
MODULES = {
    "ems": (crelu, cres),
    "partial-symm": (crelu, relu_sq),
    "no-symm": (F.relu, relu_sq),
    "no-symm-partial-mult": (F.relu, sq),
    **{f"no-mult-symm-{name}": (f, f) for name, f in PLAIN.items()},
    **{f"none-{name}-{size}": (None, f) for name, f in PLAIN.items() for size in ("small", "medium", "large")},
}
# Smaller than the paper's, to keep the file small; all sizes differ.
UNITS = {"small": 6, "medium": 9, "large": 12}


class Module(nn.Module):
    """`B = g(W0 psi + b0)`, `l1 = f(W1 [B, a] + b1)`, `l2 = f(W2 l1 + b2)`, readout; late: three layers on `[psi, a]`."""

    def __init__(self, bottleneck, f, units):
        super().__init__()
        self.g, self.f = bottleneck, f
        n_psi, n_touch = (K_B + 1) * SCENE_LEN, 2 * (K_B + 1)
        n = n_psi
        if bottleneck is not None:
            self.bottleneck = nn.Linear(n_psi, units)
            n = units * N_PARTS.get(bottleneck, 1)
        n += n_touch
        depth = 3 if bottleneck is None else 2
        for idx in range(depth):
            setattr(self, f"layer{idx + 1}", nn.Linear(n, units + idx))
            n = (units + idx) * N_PARTS.get(f, 1)
        self.depth, self.readout = depth, nn.Linear(n, K_F)

    def seen(self, psi, maps):
        """The inputs of the first stage, without touches."""
        return psi

    def stages(self):
        """A linear layer and its nonlinearity for each stage."""
        first = [(self.bottleneck, self.g)] if self.g else []
        layers = [(getattr(self, f"layer{idx + 1}"), self.f) for idx in range(self.depth)]
        return [*first, *layers, (self.readout, lambda x: x)]

    def touch_stage(self):
        """Index of the stage that reads touches."""
        return 1 if self.g else 0

    def forward(self, psi, maps, touches):
        x = self.seen(psi, maps)
        for idx, (linear, f) in enumerate(self.stages()):
            x = f(linear(torch.cat([x, touches], -1) if idx == self.touch_stage() else x))
        return x


class ConvModule(Module):
    """Scene vectors tiled onto the channels of a map, 1 x 1 convolutions (tanh, CReS, CReS), flattened, divided by a
    constant, then concatenated with the touches as in EMS."""

    def __init__(self, conv_units, layer_units, divisor):
        nn.Module.__init__(self)
        n = (K_B + 1) * SCENE_LEN + N_CHANNELS
        self.functions, self.divisor = [torch.tanh, cres, cres], divisor
        for idx, (f, units) in enumerate(zip(self.functions, conv_units)):
            setattr(self, f"conv{idx + 1}", nn.Conv1d(n, units, 1))
            n = units * N_PARTS.get(f, 1)
        n = N_PLACES * n + 2 * (K_B + 1)
        self.g, self.f, self.depth = None, cres, len(layer_units)
        for idx, units in enumerate(layer_units):
            setattr(self, f"layer{idx + 1}", nn.Linear(n, units))
            n = units * 4
        self.readout = nn.Linear(n, K_F)

    def seen(self, psi, maps):
        x = torch.cat([psi[:, None, :].expand(-1, N_PLACES, -1), maps], -1)
        for idx, f in enumerate(self.functions):
            x = f(getattr(self, f"conv{idx + 1}")(x.transpose(1, 2)).transpose(1, 2))
        return x.flatten(1) / self.divisor


def flat(tensors):
    return torch.cat([tensor.detach().reshape(-1) for tensor in tensors]).numpy().copy()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(4)
    scenes = torch.randn(N_STEPS + K_B, SCENE_LEN)
    psi = torch.cat([scenes[:-1], scenes[1:]], -1)
    touches, rewards = torch.rand(N_STEPS, 2 * (K_B + 1)) * 2 - 1, torch.rand(N_STEPS, K_F).round(decimals=1)
    maps = torch.randn(N_STEPS, N_PLACES, N_CHANNELS, generator=torch.Generator().manual_seed(5))
    tensors = {"scenes": scenes.numpy(), "maps": maps.numpy(), "touches": touches.numpy(), "rewards": rewards.numpy()}
    modules = {
        name: Module(g, f, UNITS[name.rsplit("-", 1)[-1]] if g is None else 7) for name, (g, f) in MODULES.items()
    }
    for name, shape in CONVOLUTIONAL.items():
        modules[name] = ConvModule(*shape)
    for name, module in modules.items():
        for parameter in module.parameters():
            # More units, larger rounding differences.
            nn.init.normal_(parameter, std=0.1 if "128" in name else 0.3)
        tensors[f"{name}/parameters"] = flat(module.parameters())
        adam = torch.optim.Adam(module.parameters(), lr=LEARNING_RATE)
        losses = []
        for update in range(N_UPDATES):
            logits = module(psi, maps, touches)
            loss = F.binary_cross_entropy_with_logits(logits, rewards, reduction="none").sum(-1).mean()
            adam.zero_grad()
            loss.backward()
            losses.append(loss.item())
            if update == 0:
                tensors[f"{name}/logits"] = logits.detach().numpy().copy()
                tensors[f"{name}/gradient"] = flat(parameter.grad for parameter in module.parameters())
            adam.step()
        tensors[f"{name}/losses"] = np.array(losses, np.float32)
        tensors[f"{name}/after"] = flat(module.parameters())
    if not GOLDEN.exists() or not are_close(load_file(GOLDEN), tensors):
        GOLDEN.parent.mkdir(parents=True, exist_ok=True)
        save_file(tensors, GOLDEN)


if __name__ == "__main__":
    main()
