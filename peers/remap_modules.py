"""The PyTorch peer of `touchstream bench modules`: ReMaP in eager PyTorch, written with care.

The touch-independent part is computed once per update for all its steps, for choosing and for learning; Adam is fused;
gradients are taken only at the chosen touches. The work per step is ours: draw candidates, predict two maps, choose one
by its variance, draw a touch from it, and learn every BATCH steps. The environment is left out: rewards are random.

Fields: BOTTLENECK, LAYERS, UNITS, DEPTH, SCENE_LEN, CANDIDATES, BATCH. BOTTLENECK is - for late modules, and
`conv tanh,CReS,CReS` for convolutions over a map of 14 x 14 places and 512 channels.
"""

import torch
from torch.nn import functional as F

NAME = "pytorch"


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
    """The weights of touches are a tensor of their own, so that the visual part is multiplied once."""

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

    def visual(self, psi):
        """The touch-independent pre-activations of the touch stage, `[batch, units]`."""
        x = F.linear(psi, *self.stages[0])
        return x if self.g is None else F.linear(self.g(x), *self.stages[1])

    def head(self, x):
        x = self.f(x)
        for weight, bias in self.layers:
            x = self.f(F.linear(x, weight, bias))
        return F.linear(x, *self.readout)

    @torch.no_grad()
    def touches(self, visual):
        """Chosen touches of the steps between two updates, `[batch, 4]` with the previous ones."""
        chosen = torch.empty(self.batch, 4)
        for step in range(self.batch):
            shared = visual[step] + self.touch[:, :2] @ self.last
            candidates = torch.rand(self.n_candidates, 2) * 2 - 1
            maps = torch.sigmoid(self.head(torch.addmm(shared, candidates, self.touch[:, 2:].t())))
            best = maps[:, maps.var(0).argmax()]
            choice = candidates[torch.multinomial(best - best.min() + 1e-9, 1)[0]]
            chosen[step, :2], chosen[step, 2:] = self.last, choice
            self.last = choice
        return chosen

    def loss(self, visual, touches, rewards):
        logits = self.head(torch.addmm(visual, touches, self.touch.t()))
        return F.binary_cross_entropy_with_logits(logits, rewards, reduction="none").sum(-1).mean()

    def learn(self, visual):
        loss = self.loss(visual, self.touches(visual), torch.rand(self.batch, K_F))
        self.adam.zero_grad(set_to_none=True)
        loss.backward()
        self.adam.step()

    def run(self, n_updates):
        for _ in range(n_updates):
            self.update()

    def update(self):
        order = torch.randint(500, (self.batch + 1,))
        self.learn(self.visual(torch.cat([self.scenes[order[:-1]], self.scenes[order[1:]]], -1)))


class ConvAgent(Agent):
    """The scene vectors' part of the first convolution is computed once for all places, and everything before the touch
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
        """`maps` holds each screen once; `which` is the screen of each step."""
        x, tiled = maps, F.linear(psi, self.tiled)[:, None]
        for idx, (f, weight, bias) in enumerate(self.convolutions):
            x = F.linear(x, weight, bias)
            x = f(x.index_select(0, which) + tiled if idx == 0 else x)
        return x.flatten(1) / N_PLACES

    def update(self):
        # As in localization, a screen is shown for two steps; its map is multiplied once.
        screens, which = torch.randint(500, (self.batch // 2 + 1,)), torch.arange(self.batch + 1) // 2
        scenes = self.scenes[screens[which]]
        psi = torch.cat([scenes[:-1], scenes[1:]], -1)
        self.learn(self.visual(self.flattened(psi, self.maps[screens % 64], which[1:])))


def make(fields):
    torch.set_num_threads(1)
    bottleneck, layers, *numbers = fields
    kind, bottleneck = (ConvAgent, bottleneck[5:]) if bottleneck.startswith("conv ") else (Agent, bottleneck)
    return kind(bottleneck, layers, *map(int, numbers))
