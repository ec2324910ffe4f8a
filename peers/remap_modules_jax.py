"""The JAX peer of `touchstream bench modules`: the work of remap_modules.py as one jitted loop.

The touch-independent part is computed once per update for all its steps, for choosing and for learning; random numbers
are drawn once per update. The environment is left out: rewards are random. Follows jax_training.py.
"""

N_PLACES, N_CHANNELS, N_MAPS = 196, 512, 64
FUNCTIONS = {
    "relu": (lambda x, axis=-1: jax.nn.relu(x), 1),
    "tanh": (lambda x, axis=-1: jnp.tanh(x), 1),
    "sigmoid": (lambda x, axis=-1: jax.nn.sigmoid(x), 1),
    "elu": (lambda x, axis=-1: jax.nn.elu(x), 1),
    "CReLU": (crelu, 2),
    "CReS": (cres, 4),
    "ReLU+Sq": (lambda x, axis=-1: jnp.concatenate([jax.nn.relu(x), x * x], axis), 2),
    "Sq": (lambda x, axis=-1: jnp.concatenate([x, x * x], axis), 2),
}


class Agent(Learner):
    def __init__(self, bottleneck, layers, units, depth, scene_len, n_candidates, batch):
        self.f, parts = FUNCTIONS[layers]
        self.convolutions = bottleneck[5:].split(",") if bottleneck.startswith("conv ") else []
        self.g = FUNCTIONS[bottleneck][0] if bottleneck in FUNCTIONS else None
        self.n_candidates = n_candidates
        keys = iter(jax.random.split(jax.random.key(0), 64))
        weights = lambda n_out, n_in: jax.random.normal(next(keys), (n_out, n_in)) / n_in**0.5
        layer = lambda n_out, n_in: (weights(n_out, n_in), jnp.zeros(n_out))
        parameters = {"touch": weights(units, 4), "readout": layer(K_F, units * parts)}
        parameters["layers"] = [layer(units, units * parts) for _ in range(depth - 1)]
        n_in = 2 * scene_len
        if self.convolutions:
            parameters["tiled"] = weights(units, n_in)
            n_in, parameters["convolutions"] = N_CHANNELS, []
            for name in self.convolutions:
                parameters["convolutions"].append(layer(units, n_in))
                n_in = units * FUNCTIONS[name][1]
            n_in *= N_PLACES
            self.maps = jax.random.normal(next(keys), (N_MAPS, N_PLACES, N_CHANNELS)) * 2 / N_CHANNELS**0.5
        parameters["stages"] = [layer(units, n_in)]
        if self.g is not None:
            parameters["stages"].append(layer(units, units * FUNCTIONS[bottleneck][1]))
        self.scenes = jax.random.normal(next(keys), (N_SCREENS, scene_len)) * 2 / scene_len**0.5
        super().__init__(parameters, 1e-4 if self.convolutions else 1e-3, batch)

    def inputs(self, key):
        if self.convolutions:
            # As in localization, a screen is shown for two steps; its map is multiplied once.
            screens = jax.random.randint(key, (self.batch // 2 + 1,), 0, N_SCREENS)
            scenes = self.scenes[screens[jnp.arange(self.batch + 1) // 2]]
            return jnp.concatenate([scenes[:-1], scenes[1:]], -1), self.maps[screens % N_MAPS]
        scenes = self.scenes[jax.random.randint(key, (self.batch + 1,), 0, N_SCREENS)]
        return jnp.concatenate([scenes[:-1], scenes[1:]], -1)

    def visual(self, parameters, inputs):
        """The touch-independent pre-activations of the touch stage, `[batch, units]`."""
        if self.convolutions:
            psi, x = inputs
            which, tiled = (jnp.arange(self.batch) + 1) // 2, (psi @ parameters["tiled"].T)[:, None]
            for idx, (name, layer) in enumerate(zip(self.convolutions, parameters["convolutions"])):
                x = linear(x, layer)
                x = FUNCTIONS[name][0](x[which] + tiled if idx == 0 else x)
            return linear(x.reshape(self.batch, -1) / N_PLACES, parameters["stages"][0])
        x = linear(inputs, parameters["stages"][0])
        return x if self.g is None else linear(self.g(x), parameters["stages"][1])

    def head(self, parameters, x):
        """Logits `[n, K_F]` from pre-activations `[units, n]`: with the units first, JAX is faster."""
        x = self.f(x, 0)
        for weight, bias in parameters["layers"]:
            x = self.f(weight @ x + bias[:, None], 0)
        weight, bias = parameters["readout"]
        return (weight @ x + bias[:, None]).T

    def loss(self, parameters, visual, touches, rewards):
        return cross_entropy(self.head(parameters, visual.T + parameters["touch"] @ touches.T), rewards)

    def gradients(self, parameters, last, key):
        keys = jax.random.split(key, 3)
        inputs = self.inputs(keys[0])
        visual, visual_backward = jax.vjp(lambda parameters: self.visual(parameters, inputs), parameters)
        past, present = parameters["touch"][:, :2], parameters["touch"][:, 2:]

        def step(last, inputs):
            visual, candidates, draw = inputs
            logits = self.head(parameters, (visual + past @ last)[:, None] + present @ candidates.T)
            touch = choice(logits, candidates, draw)
            return touch, jnp.concatenate([last, touch])

        last, touches = lax.scan(step, last, (visual, *candidates_of(keys[1], self.batch, self.n_candidates)))
        rewards = jax.random.uniform(keys[2], (self.batch, K_F))
        gradients, d_visual = jax.grad(self.loss, (0, 1))(parameters, visual, touches, rewards)
        return jax.tree.map(jnp.add, gradients, visual_backward(d_visual)[0]), last


def make(fields):
    bottleneck, layers, *numbers = fields
    return Agent(bottleneck, layers, *map(int, numbers))
