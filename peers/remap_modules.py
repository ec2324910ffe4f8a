"""The peer of `touchstream bench modules`: ReMaP in eager PyTorch, as one would write it with care.

What does not depend on touches is computed once for all steps between two updates, for choosing and for learning; Adam is
fused; gradients are taken only at the chosen touches. Same work a step as ours: draw candidates, predict two maps,
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


def weights(n_out, n_in):
    return (torch.randn(n_out, n_in) / n_in**0.5).requires_grad_()


def biases(n_out):
    return torch.zeros(n_out, requires_grad=True)


class Agent:
    """Weights of what is seen and of touches stand apart, so that what is seen is multiplied once for choosing and learning."""

    def __init__(self, bottleneck, layers, units, depth, scene_len, n_candidates, batch):
        self.f, parts = FUNCTIONS[layers]
        self.g = None if bottleneck == "-" else FUNCTIONS[bottleneck][0]
        self.n_candidates, self.batch = n_candidates, batch
        self.stages = [(weights(units, 2 * scene_len), biases(units))]
        if self.g is not None:
            self.stages.append((weights(units, units * FUNCTIONS[bottleneck][1]), biases(units)))
        self.touch = weights(units, 4)
        self.layers = [(weights(units, units * parts), biases(units)) for _ in range(depth - 1)]
        self.readout = (weights(K_F, units * parts), biases(K_F))
        self.adam = torch.optim.Adam(self.parameters(), lr=1e-3, fused=True)
        self.scenes = torch.randn(500, scene_len) * 2 / scene_len**0.5
        self.last = torch.zeros(2)

    def parameters(self):
        pairs = [*self.stages, *self.layers, self.readout]
        return [self.touch, *(tensor for pair in pairs for tensor in pair)]

    def seen(self, psi):
        """What the layer that reads touches makes of all else, `[batch, units]`."""
        x = F.linear(psi, *self.stages[0])
        return x if self.g is None else F.linear(self.g(x), *self.stages[1])

    def head(self, x):
        x = self.f(x)
        for weight, bias in self.layers:
            x = self.f(F.linear(x, weight, bias))
        return F.linear(x, *self.readout)

    @torch.no_grad()
    def touches(self, seen):
        """Chosen touches of the steps between two updates, `[batch, 4]` with those before."""
        chosen = torch.empty(self.batch, 4)
        for step in range(self.batch):
            shared = seen[step] + self.touch[:, :2] @ self.last
            candidates = torch.rand(self.n_candidates, 2) * 2 - 1
            maps = torch.sigmoid(self.head(torch.addmm(shared, candidates, self.touch[:, 2:].t())))
            best = maps[:, maps.var(0).argmax()]
            choice = candidates[torch.multinomial(best - best.min() + 1e-9, 1)[0]]
            chosen[step, :2], chosen[step, 2:] = self.last, choice
            self.last = choice
        return chosen

    def learn(self, seen):
        touches, rewards = self.touches(seen), torch.rand(self.batch, K_F)
        logits = self.head(torch.addmm(seen, touches, self.touch.t()))
        loss = F.binary_cross_entropy_with_logits(logits, rewards, reduction="none").sum(-1).mean()
        self.adam.zero_grad(set_to_none=True)
        loss.backward()
        self.adam.step()

    def update(self):
        order = torch.randint(500, (self.batch + 1,))
        self.learn(self.seen(torch.cat([self.scenes[order[:-1]], self.scenes[order[1:]]], -1)))


class ConvAgent(Agent):
    """What scene vectors are to the first convolution is computed once for all places, and everything before the touch
    once for all candidates."""

    def __init__(self, convolutions, layers, units, depth, scene_len, n_candidates, batch):
        super().__init__("-", layers, units, depth, scene_len, n_candidates, batch)
        self.convolutions, n_in = [], N_CHANNELS
        self.tiled = weights(units, 2 * scene_len)
        for name in convolutions.split(","):
            f, parts = FUNCTIONS[name]
            self.convolutions.append((f, weights(units, n_in), biases(units)))
            n_in = units * parts
        self.stages = [(weights(units, N_PLACES * n_in), biases(units))]
        of_convolutions = [tensor for _, *pair in self.convolutions for tensor in pair]
        self.adam = torch.optim.Adam([self.tiled, *of_convolutions, *self.parameters()], lr=1e-4, fused=True)
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
        self.learn(self.seen(self.flattened(psi, self.maps[screens % 64], which[1:])))


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
