"""Composites in PyTorch, written from the paper's equations: crates/modules/tests/golden/composites.safetensors.

    python scripts/make_composite_golden.py

Two frozen modules and one that learns, with layer or unit voting and transformed touches and reward maps: logits of a
few steps, the loss, the gradient of all learned parameters, and these parameters after ten updates of Adam with one
learning rate per part. The Rust implementation must agree. Needs torch and safetensors.
"""

import numpy as np
import torch
from golden_files import are_close
from make_module_golden import (
    K_B,
    K_F,
    MODULES,
    N_CHANNELS,
    N_PLACES,
    N_STEPS,
    N_UPDATES,
    REPO,
    SCENE_LEN,
    ConvModule,
    Module,
    cres,
    flat,
)
from safetensors.numpy import load_file, save_file
from torch import nn
from torch.nn import functional as F

GOLDEN = REPO / "crates/modules/tests/golden/composites.safetensors"
N_OLD, N_TOUCH, N_HIDDEN = 2, 2 * (K_B + 1), 4
RATES = {"module": 1e-2, "votes": 2e-2, "actions": 5e-3, "maps": 3e-3}
# Tolerance of weights; convolutions sum over more terms.
STD = 0.3
KINDS = ["ems", "none-relu-small", "no-mult-symm-tanh", "conv-ems"]


class Votes(nn.Module):
    """`p = softmax(W concat(M) + b)`, one per layer or per unit; the composite is `sum p M`."""

    def __init__(self, n_voters, n, by_unit):
        super().__init__()
        shapes = ((n_voters, n_voters, n), (n_voters, n)) if by_unit else ((n_voters, n_voters * n), (n_voters,))
        self.weight, self.bias = (nn.Parameter(0.2 * torch.randn(shape)) for shape in shapes)
        self.by_unit = by_unit

    def forward(self, voters):
        numbers = torch.stack(voters, 1)  # step, voter, activation
        if self.by_unit:
            votes = torch.einsum("vwj,swj->svj", self.weight, numbers) + self.bias
            return (votes.softmax(1) * numbers).sum(1)
        votes = F.linear(numbers.flatten(1), self.weight, self.bias)
        return (votes.softmax(1)[..., None] * numbers).sum(1)


class MapTransformation(nn.Module):
    """`m' = W2 CReS(W1 [m, m * relu(G a + g), a] + b1) + b2`"""

    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(N_TOUCH, K_F)
        self.hidden = nn.Linear(2 * K_F + N_TOUCH, N_HIDDEN)
        self.out = nn.Linear(4 * N_HIDDEN, K_F)

    def forward(self, maps, touches):
        gated = maps * F.relu(self.gate(touches))
        return self.out(cres(self.hidden(torch.cat([maps, gated, touches], -1))))


class Composite(nn.Module):
    def __init__(self, kind, by_unit):
        super().__init__()
        make = lambda: Module(*MODULES[kind], 6) if kind in MODULES else ConvModule((4, 5, 6), (4, 5), N_PLACES)  # noqa: E731
        self.old, self.new = nn.ModuleList(make() for _ in range(N_OLD)), make()
        for parameter in self.parameters():
            nn.init.normal_(parameter, std=STD if kind in MODULES else STD / 2)
        self.old.requires_grad_(False)
        self.actions = nn.ModuleList(nn.Linear(N_TOUCH, N_TOUCH) for _ in range(N_OLD))
        self.maps = nn.ModuleList(MapTransformation() for _ in range(N_OLD))
        votes = []
        for idx, (linear, f) in enumerate(self.new.stages()):
            n = f(torch.zeros(1, linear.out_features)).shape[1]
            last = idx == len(self.new.stages()) - 1
            n_voters = N_OLD * (2 if idx == self.new.touch_stage() or last else 1) + 1
            votes.append(Votes(n_voters, n, by_unit))
        self.votes = nn.ModuleList(votes)

    def forward(self, psi, maps, touches):
        x = None
        for idx, votes in enumerate(self.votes):
            reads_touch = idx == self.new.touch_stage()

            def number(module, touches):
                read = module.seen(psi, maps) if idx == 0 else x
                linear, f = module.stages()[idx]
                return f(linear(torch.cat([read, touches], -1) if reads_touch else read))

            voters = [number(module, touches) for module in self.old]
            if reads_touch:
                voters += [number(module, move(touches)) for module, move in zip(self.old, self.actions)]
            if idx == len(self.votes) - 1:
                voters += [change(old, touches) for change, old in zip(self.maps, list(voters))]
            x = votes([*voters, number(self.new, touches)])
        return x

    def groups(self):
        parts = {"module": self.new, "votes": self.votes, "actions": self.actions, "maps": self.maps}
        return {name: list(part.parameters()) for name, part in parts.items()}


def main():
    torch.set_num_threads(1)
    torch.manual_seed(5)
    scenes = torch.randn(N_STEPS + K_B, SCENE_LEN)
    psi = torch.cat([scenes[:-1], scenes[1:]], -1)
    touches, rewards = torch.rand(N_STEPS, N_TOUCH) * 2 - 1, torch.rand(N_STEPS, K_F).round(decimals=1)
    maps = torch.randn(N_STEPS, N_PLACES, N_CHANNELS, generator=torch.Generator().manual_seed(5))
    tensors = {"scenes": scenes.numpy(), "maps": maps.numpy(), "touches": touches.numpy(), "rewards": rewards.numpy()}
    for kind in KINDS:
        for voting in ("layer", "unit"):
            composite, name = Composite(kind, voting == "unit"), f"{kind}/{voting}"
            groups = composite.groups()
            for idx, module in enumerate(composite.old):
                tensors[f"{name}/old{idx}"] = flat(module.parameters())
            for group, parameters in groups.items():
                tensors[f"{name}/{group}"] = flat(parameters)
            adam = torch.optim.Adam([{"params": groups[group], "lr": RATES[group]} for group in groups])
            losses = []
            for update in range(N_UPDATES):
                logits = composite(psi, maps, touches)
                loss = F.binary_cross_entropy_with_logits(logits, rewards, reduction="none").sum(-1).mean()
                adam.zero_grad()
                loss.backward()
                losses.append(loss.item())
                if update == 0:
                    tensors[f"{name}/logits"] = logits.detach().numpy().copy()
                    for group, parameters in groups.items():
                        tensors[f"{name}/{group}/gradient"] = flat(parameter.grad for parameter in parameters)
                adam.step()
            tensors[f"{name}/losses"] = np.array(losses, np.float32)
            for group, parameters in groups.items():
                tensors[f"{name}/{group}/after"] = flat(parameters)
    if not GOLDEN.exists() or not are_close(load_file(GOLDEN), tensors):
        GOLDEN.parent.mkdir(parents=True, exist_ok=True)
        save_file(tensors, GOLDEN)


if __name__ == "__main__":
    main()
