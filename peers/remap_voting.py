"""The PyTorch peer of `touchstream bench voting`: Dynamic Neural Voting in eager PyTorch, written with care.

EMS modules, all but one frozen, layer voting, transformed touches and maps. Modules are stacked, so that each stage is
one product for all of them; the outputs of the frozen bottlenecks are a table; the visual part is computed once per
update for all its steps; Adam is fused; gradients are taken only at the chosen touches. The environment is left out:
rewards are random.

Fields: N_OLD, UNITS, SCENE_LEN, CANDIDATES, BATCH.
"""

import torch
from torch.nn import functional as F

NAME = "pytorch"
K_F, N_TOUCH, N_HIDDEN, N_SCREENS = 2, 4, 4, 500


def crelu(x):
    return torch.cat([F.relu(x), F.relu(-x)], -1)


def cres(x):
    x = crelu(x)
    return torch.cat([x, x * x], -1)


def noise(*shape, scale=0.1):
    return (torch.randn(*shape) * scale).requires_grad_()


class Votes:
    def __init__(self, n_voters, n):
        self.weight, self.bias = noise(n_voters, n_voters * n, scale=0.01), noise(n_voters)

    def __call__(self, outputs):
        """From the voters' outputs, `[..., n_voters, n]`, to the composite, `[..., n]`."""
        votes = F.linear(outputs.flatten(-2), self.weight, self.bias).softmax(-1)
        return (votes[..., None] * outputs).sum(-2)


class Composite:
    def __init__(self, n_old, units, scene_len, n_candidates, batch):
        self.n_old, self.n_candidates, self.batch = n_old, n_candidates, batch
        frozen = lambda *shape: torch.randn(*shape) / shape[-1] ** 0.5
        learned = lambda *shape: noise(*shape, scale=1 / shape[-1] ** 0.5)
        shapes = [(units, 2 * units + N_TOUCH), (units, 4 * units), (K_F, 4 * units)]
        self.scenes = torch.randn(N_SCREENS, scene_len) * 2 / scene_len**0.5
        self.table = torch.randn(N_SCREENS, 2, n_old, units) * 0.3
        self.first = (learned(units, 2 * scene_len), noise(units))
        self.old = [(frozen(n_old, *shape), 0.1 * torch.randn(n_old, shape[0])) for shape in shapes]
        self.new = [(learned(1, *shape), noise(1, shape[0])) for shape in shapes]
        self.moves = (noise(n_old, N_TOUCH, N_TOUCH), noise(n_old, N_TOUCH))
        self.gate = (noise(n_old, K_F, N_TOUCH), noise(n_old, K_F))
        self.hidden = (noise(n_old, N_HIDDEN, 2 * K_F + N_TOUCH), noise(n_old, N_HIDDEN))
        self.out = (noise(n_old, K_F, 4 * N_HIDDEN), noise(n_old, K_F))
        sizes = [(n_old + 1, 2 * units), (2 * n_old + 1, 4 * units), (n_old + 1, 4 * units), (2 * n_old + 1, K_F)]
        self.votes = [Votes(*size) for size in sizes]
        pairs = [self.first, *self.new, self.moves, self.gate, self.hidden, self.out]
        tensors = [tensor for pair in pairs for tensor in pair]
        tensors += [tensor for votes in self.votes for tensor in (votes.weight, votes.bias)]
        self.adam = torch.optim.Adam(tensors, lr=1e-3, fused=True)
        self.last = torch.zeros(2)

    def bottleneck(self, order):
        """The composite of the first stage, `[batch, 2 units]`."""
        psi = torch.cat([self.scenes[order[:-1]], self.scenes[order[1:]]], -1)
        old = self.table[order[:-1], 0] + self.table[order[1:], 1]
        new = F.linear(psi, *self.first)[:, None]
        return self.votes[0](crelu(torch.cat([old, new], 1)))

    def later(self, outputs, touches):
        """From the touch stage's outputs, `[k, n_voters, 4 units]`, and touches, `[k, 4]`, to logits."""
        x = self.votes[1](outputs)
        for idx in (1, 2):
            weight = torch.cat([self.old[idx][0], self.new[idx][0]]).flatten(0, 1)
            bias = torch.cat([self.old[idx][1], self.new[idx][1]]).flatten()
            preact = F.linear(x, weight, bias).unflatten(-1, (self.n_old + 1, -1))
            if idx == 1:
                x = self.votes[2](cres(preact))
        maps = preact[:, : self.n_old]
        each = lambda pair, x: torch.einsum("moi,kmi->kmo", pair[0], x) + pair[1]
        touches = touches[:, None].expand(-1, self.n_old, -1)
        gated = maps * F.relu(each(self.gate, touches))
        changed = each(self.out, cres(each(self.hidden, torch.cat([maps, gated, touches], -1))))
        return self.votes[3](torch.cat([maps, changed, preact[:, self.n_old :]], 1))

    def touch_weights(self):
        """Weights of hidden activations and of touches, and biases, for old, transformed and new modules."""
        weight, bias = torch.cat([self.old[0][0], self.new[0][0]]), torch.cat([self.old[0][1], self.new[0][1]])
        hidden, touch = weight[..., :-N_TOUCH], weight[..., -N_TOUCH:]
        old, move = self.n_old, self.moves
        moved = torch.bmm(touch[:old], move[0])
        moved_bias = bias[:old] + torch.bmm(touch[:old], move[1][..., None])[..., 0]
        join = lambda x, y: torch.cat([x[:old], y, x[old:]])
        return join(hidden, hidden[:old]), join(touch, moved), join(bias, moved_bias)

    @torch.no_grad()
    def touches(self, order):
        composite = self.bottleneck(order)
        hidden, touch, bias = self.touch_weights()
        shared = torch.einsum("vui,ki->kvu", hidden, composite) + bias
        chosen = torch.empty(self.batch, N_TOUCH)
        for step in range(self.batch):
            middle = shared[step] + touch[..., :2] @ self.last
            candidates = torch.rand(self.n_candidates, 2) * 2 - 1
            preact = torch.addmm(middle.flatten(), candidates, touch[..., 2:].flatten(0, 1).t())
            past = self.last.expand(self.n_candidates, 2)
            outputs = cres(preact.unflatten(-1, middle.shape))
            maps = torch.sigmoid(self.later(outputs, torch.cat([past, candidates], -1)))
            best = maps[:, maps.var(0).argmax()]
            choice = candidates[torch.multinomial(best - best.min() + 1e-9, 1)[0]]
            chosen[step, :2], chosen[step, 2:] = self.last, choice
            self.last = choice
        return chosen

    def loss(self, order, touches, rewards):
        composite = self.bottleneck(order)
        hidden, touch, bias = self.touch_weights()
        preact = torch.einsum("vui,ki->kvu", hidden, composite) + torch.einsum("vui,ki->kvu", touch, touches) + bias
        logits = self.later(cres(preact), touches)
        return F.binary_cross_entropy_with_logits(logits, rewards, reduction="none").sum(-1).mean()

    def update(self):
        order = torch.randint(N_SCREENS, (self.batch + 1,))
        loss = self.loss(order, self.touches(order), torch.rand(self.batch, K_F))
        self.adam.zero_grad(set_to_none=True)
        loss.backward()
        self.adam.step()

    def run(self, n_updates):
        for _ in range(n_updates):
            self.update()


def make(fields):
    torch.set_num_threads(1)
    return Composite(*map(int, fields))
