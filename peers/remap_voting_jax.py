"""The JAX peer of `touchstream bench voting`: the work of remap_voting.py as one jitted loop.

The touch-independent part is computed once per update for all its steps, for choosing and for learning; random numbers
are drawn once per update. The environment is left out: rewards are random. Follows jax_training.py.
"""

N_TOUCH, N_HIDDEN = 4, 4


def voted(votes, outputs):
    """From the voters' outputs, `[..., n_voters, n]`, to the composite, `[..., n]`."""
    shares = jax.nn.softmax(linear(outputs.reshape(*outputs.shape[:-2], -1), votes), -1)
    return (shares[..., None] * outputs).sum(-2)


def each(layers, x):
    """One layer per old module."""
    weight, bias = layers
    return jnp.einsum("moi,kmi->kmo", weight, x) + bias


class Composite(Learner):
    def __init__(self, n_old, units, scene_len, n_candidates, batch):
        self.n_old, self.n_candidates = n_old, n_candidates
        keys = iter(jax.random.split(jax.random.key(0), 64))
        normal = lambda *shape: jax.random.normal(next(keys), shape)
        layer = lambda *shape: (normal(*shape) / shape[-1] ** 0.5, 0.1 * normal(*shape[:-1]))
        noise = lambda *shape: (0.1 * normal(*shape), 0.1 * normal(*shape[:-1]))
        shapes = [(units, 2 * units + N_TOUCH), (units, 4 * units), (K_F, 4 * units)]
        sizes = [(n_old + 1, 2 * units), (2 * n_old + 1, 4 * units), (n_old + 1, 4 * units), (2 * n_old + 1, K_F)]
        self.scenes = normal(N_SCREENS, scene_len) * 2 / scene_len**0.5
        self.table = normal(N_SCREENS, 2, n_old, units) * 0.3
        self.old = [layer(n_old, *shape) for shape in shapes]
        parameters = {
            "first": layer(units, 2 * scene_len),
            "new": [layer(1, *shape) for shape in shapes],
            "moves": noise(n_old, N_TOUCH, N_TOUCH),
            "gate": noise(n_old, K_F, N_TOUCH),
            "hidden": noise(n_old, N_HIDDEN, 2 * K_F + N_TOUCH),
            "out": noise(n_old, K_F, 4 * N_HIDDEN),
            "votes": [(0.01 * normal(n, n * length), 0.1 * normal(n)) for n, length in sizes],
        }
        super().__init__(parameters, 1e-3, batch)

    def stacked(self, parameters, idx):
        """A stage of all modules, the new one last."""
        return tuple(jnp.concatenate(pair) for pair in zip(self.old[idx], parameters["new"][idx]))

    def bottleneck(self, parameters, order):
        """The composite of the first stage, `[batch, 2 units]`."""
        psi = jnp.concatenate([self.scenes[order[:-1]], self.scenes[order[1:]]], -1)
        old = self.table[order[:-1], 0] + self.table[order[1:], 1]
        new = linear(psi, parameters["first"])[:, None]
        return voted(parameters["votes"][0], crelu(jnp.concatenate([old, new], 1)))

    def later(self, parameters, outputs, touches):
        """From the touch stage's outputs, `[k, n_voters, 4 units]`, and touches, `[k, 4]`, to logits."""
        x = voted(parameters["votes"][1], outputs)
        for idx in (1, 2):
            weight, bias = self.stacked(parameters, idx)
            layer = (weight.reshape(-1, weight.shape[-1]), bias.reshape(-1))
            preact = linear(x, layer).reshape(len(x), self.n_old + 1, -1)
            if idx == 1:
                x = voted(parameters["votes"][2], cres(preact))
        maps = preact[:, : self.n_old]
        touches = jnp.broadcast_to(touches[:, None], (len(x), self.n_old, N_TOUCH))
        gated = maps * jax.nn.relu(each(parameters["gate"], touches))
        hidden = each(parameters["hidden"], jnp.concatenate([maps, gated, touches], -1))
        changed = each(parameters["out"], cres(hidden))
        return voted(parameters["votes"][3], jnp.concatenate([maps, changed, preact[:, self.n_old :]], 1))

    def touch_stage(self, parameters):
        """Weights of hidden activations and of touches, and biases, for old, transformed and new modules."""
        weight, bias = self.stacked(parameters, 0)
        hidden, touch = weight[..., :-N_TOUCH], weight[..., -N_TOUCH:]
        old, (move, move_bias) = self.n_old, parameters["moves"]
        moved = jnp.einsum("vui,vij->vuj", touch[:old], move)
        moved_bias = bias[:old] + jnp.einsum("vui,vi->vu", touch[:old], move_bias)
        join = lambda x, y: jnp.concatenate([x[:old], y, x[old:]])
        return join(hidden, hidden[:old]), join(touch, moved), join(bias, moved_bias)

    def shared(self, parameters, order):
        """The touch-independent pre-activations of the touch stage, `[batch, n_voters, units]`, and touch weights."""
        hidden, touch, bias = self.touch_stage(parameters)
        return jnp.einsum("vui,ki->kvu", hidden, self.bottleneck(parameters, order)) + bias, touch

    def loss(self, parameters, shared, touch, touches, rewards):
        outputs = cres(shared + jnp.einsum("vui,ki->kvu", touch, touches))
        return cross_entropy(self.later(parameters, outputs, touches), rewards)

    def gradients(self, parameters, last, key):
        keys = jax.random.split(key, 3)
        order = jax.random.randint(keys[0], (self.batch + 1,), 0, N_SCREENS)
        (shared, touch), backward = jax.vjp(lambda parameters: self.shared(parameters, order), parameters)
        n_voters, units, _ = touch.shape
        present = touch[..., 2:].reshape(-1, 2).T

        def step(last, inputs):
            shared, candidates, draw = inputs
            preact = (candidates @ present).reshape(-1, n_voters, units) + (shared + touch[..., :2] @ last)
            touches = jnp.concatenate([jnp.broadcast_to(last, candidates.shape), candidates], -1)
            choice_made = choice(self.later(parameters, cres(preact), touches), candidates, draw)
            return choice_made, jnp.concatenate([last, choice_made])

        last, touches = lax.scan(step, last, (shared, *candidates_of(keys[1], self.batch, self.n_candidates)))
        rewards = jax.random.uniform(keys[2], (self.batch, K_F))
        gradients, *d_shared = jax.grad(self.loss, (0, 1, 2))(parameters, shared, touch, touches, rewards)
        return jax.tree.map(jnp.add, gradients, backward(tuple(d_shared))[0]), last


def make(fields):
    return Composite(*map(int, fields))
