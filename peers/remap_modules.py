"""The peer of `touchstream bench modules`: ReMaP in eager PyTorch, as one would write it with care.

The visual part of the first layer is computed once for all steps between two updates and shared by all candidates; Adam
is fused; gradients are taken only at the chosen touches. Same work a step as ours: draw candidates, predict two maps,
choose by variance, draw a touch, and learn every so many steps. The environment is left out here: rewards are random.

Usage: remap_modules.py, then a line of BOTTLENECK, LAYERS, UNITS, DEPTH, SCENE_LEN, CANDIDATES, BATCH, N_UPDATES between
tabs for each measurement (BOTTLENECK is - for late modules, `conv tanh,CReS,CReS` for convolutions over a map of 14 x 14
places and 512 channels); answers with steps a second as a JSON list of one number.
"""

import json
import sys
import time

import torch
from torch.nn import functional as F


def crelu(x):
    return torch.cat([F.relu(x), F.relu(-x)], -1)


def cres(x):
    x = crelu(x)
    return torch.cat([x, x * x], -1)


FUNCTIONS = {
    "relu": (F.relu, 1),
    "tanh": (torch.tanh, 1),
    "sigmoid": (torch.sigmoid, 1),
    "elu": (F.elu, 1),
    "CReLU": (crelu, 2),
    "CReS": (cres, 4),
    "ReLU+Sq": (lambda x: torch.cat([F.relu(x), x * x], -1), 2),
    "Sq": (lambda x: torch.cat([x, x * x], -1), 2),
}
K_F = 2
N_PLACES, N_CHANNELS = 196, 512


class Agent:
    def __init__(self, bottleneck, layers, units, depth, scene_len, n_candidates, batch):
        self.f, parts = FUNCTIONS[layers]
        self.g = None if bottleneck == "-" else FUNCTIONS[bottleneck][0]
        self.n_psi, self.n_candidates, self.batch = 2 * scene_len, n_candidates, batch
        make = lambda n_out, n_in: (torch.randn(n_out, n_in) / n_in**0.5).requires_grad_()
        bias = lambda n_out: torch.zeros(n_out, requires_grad=True)
        self.layers = []
        if self.g is not None:
            self.first = (make(units, self.n_psi), bias(units))
            n_in = units * FUNCTIONS[bottleneck][1]
            self.touch = (make(units, n_in + 4), bias(units))
        else:
            self.first = self.touch = (make(units, self.n_psi + 4), bias(units))
        for _ in range(depth - 1):
            self.layers.append((make(units, units * parts), bias(units)))
        self.readout = (make(K_F, units * parts), bias(K_F))
        tensors = [self.first, self.touch, *self.layers, self.readout]
        parameters = list({id(tensor): tensor for pair in tensors for tensor in pair}.values())
        self.adam = torch.optim.Adam(parameters, lr=1e-3, fused=True)
        self.scenes = torch.randn(500, scene_len) * 2 / scene_len**0.5
        self.last = torch.zeros(2)

    def head(self, x):
        x = self.f(x)
        for weight, bias in self.layers:
            x = self.f(F.linear(x, weight, bias))
        return F.linear(x, *self.readout)

    @torch.no_grad()
    def touches(self, psi):
        """Chosen touches of the steps between two updates, `[batch, 4]` with those before."""
        weight, bias = self.first
        visual = F.linear(psi, weight[:, : self.n_psi], bias)
        touch_weight, touch_bias = self.touch
        if self.g is not None:
            visual = F.linear(self.g(visual), touch_weight[:, :-4], touch_bias)
        chosen = torch.empty(self.batch, 4)
        for step in range(self.batch):
            shared = visual[step] + touch_weight[:, -4:-2] @ self.last
            candidates = torch.rand(self.n_candidates, 2) * 2 - 1
            maps = torch.sigmoid(self.head(torch.addmm(shared, candidates, touch_weight[:, -2:].t())))
            best = maps[:, maps.var(0).argmax()]
            choice = candidates[torch.multinomial(best - best.min() + 1e-9, 1)[0]]
            chosen[step, :2], chosen[step, 2:] = self.last, choice
            self.last = choice
        return chosen

    def update(self):
        order = torch.randint(500, (self.batch + 1,))
        psi = torch.cat([self.scenes[order[:-1]], self.scenes[order[1:]]], -1)
        touches = self.touches(psi)
        rewards = torch.rand(self.batch, K_F)
        if self.g is not None:
            x = F.linear(torch.cat([self.g(F.linear(psi, *self.first)), touches], -1), *self.touch)
        else:
            x = F.linear(torch.cat([psi, touches], -1), *self.first)
        loss = F.binary_cross_entropy_with_logits(self.head(x), rewards, reduction="none").sum(-1).mean()
        self.adam.zero_grad(set_to_none=True)
        loss.backward()
        self.adam.step()


class ConvAgent(Agent):
    """What scene vectors are to the first convolution is computed once for all places, and everything before the touch
    once for all candidates."""

    def __init__(self, convolutions, layers, units, depth, scene_len, n_candidates, batch):
        super().__init__("-", layers, units, depth, scene_len, n_candidates, batch)
        make = lambda n_out, n_in: (torch.randn(n_out, n_in) / n_in**0.5).requires_grad_()
        bias = lambda n_out: torch.zeros(n_out, requires_grad=True)
        self.convolutions, n_in = [], N_CHANNELS
        self.tiled = make(units, self.n_psi)
        for name in convolutions.split(","):
            f, parts = FUNCTIONS[name]
            self.convolutions.append((f, make(units, n_in), bias(units)))
            n_in = units * parts
        self.first = self.touch = (make(units, N_PLACES * n_in + 4), bias(units))
        pairs = [self.first, *self.layers, self.readout, *(pair[1:] for pair in self.convolutions)]
        self.adam = torch.optim.Adam([self.tiled, *(tensor for pair in pairs for tensor in pair)], lr=1e-4, fused=True)
        self.maps = torch.randn(64, N_PLACES, N_CHANNELS) * 2 / N_CHANNELS**0.5

    def flattened(self, psi, maps, which):
        """`maps` of screens, each once; `which` of them a step shows."""
        x, tiled = maps, F.linear(psi, self.tiled)[:, None]
        for idx, (f, weight, bias) in enumerate(self.convolutions):
            x = F.linear(x, weight, bias)
            x = f(x.index_select(0, which) + tiled if idx == 0 else x)
        return x.flatten(1) / N_PLACES

    def update(self):
        # As in localization, a screen is shown for two steps; what its map is to the first convolution is found once.
        screens, which = torch.randint(500, (self.batch // 2 + 1,)), torch.arange(self.batch + 1) // 2
        scenes = self.scenes[screens[which]]
        psi = torch.cat([scenes[:-1], scenes[1:]], -1)
        flattened = self.flattened(psi, self.maps[screens % 64], which[1:])
        self.n_psi = flattened.shape[1]
        touches = self.touches(flattened.detach())
        rewards = torch.rand(self.batch, K_F)
        x = F.linear(torch.cat([flattened, touches], -1), *self.first)
        loss = F.binary_cross_entropy_with_logits(self.head(x), rewards, reduction="none").sum(-1).mean()
        self.adam.zero_grad(set_to_none=True)
        loss.backward()
        self.adam.step()


def main():
    torch.set_num_threads(1)
    print(json.dumps(["pytorch"]), flush=True)
    for line in sys.stdin:
        bottleneck, layers, *numbers = line.rstrip("\n").split("\t")
        *shape, n_updates = map(int, numbers)
        is_convolutional = bottleneck.startswith("conv ")
        agent = ConvAgent(bottleneck[5:], layers, *shape) if is_convolutional else Agent(bottleneck, layers, *shape)
        agent.update()
        start = time.perf_counter()
        for _ in range(n_updates):
            agent.update()
        print(json.dumps([n_updates * agent.batch / (time.perf_counter() - start)]), flush=True)


if __name__ == "__main__":
    main()
