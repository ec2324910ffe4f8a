"""What both JAX peers share: nonlinearities, the choice of a touch, Adam, and updates as one jitted loop."""

import jax
import jax.numpy as jnp
from jax import lax

NAME = "jax"
K_F, N_SCREENS = 2, 500
BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-8


def crelu(x, axis=-1):
    return jnp.concatenate([jax.nn.relu(x), jax.nn.relu(-x)], axis)


def cres(x, axis=-1):
    x = crelu(x, axis)
    return jnp.concatenate([x, x * x], axis)


def linear(x, layer):
    weight, bias = layer
    return x @ weight.T + bias


def cross_entropy(logits, rewards):
    losses = jnp.maximum(logits, 0) - logits * rewards + jnp.log1p(jnp.exp(-jnp.abs(logits)))
    return losses.sum(-1).mean()


def candidates_of(key, batch, n_candidates):
    """Candidates of all steps of an update, and for each step a number in [0, 1) that draws one of them."""
    keys = jax.random.split(key)
    candidates = jax.random.uniform(keys[0], (batch, n_candidates, 2), minval=-1, maxval=1)
    return candidates, jax.random.uniform(keys[1], (batch,))


def choice(logits, candidates, draw):
    """A touch drawn in proportion to the map of the largest variance."""
    maps = jax.nn.sigmoid(logits)
    best = maps[:, maps.var(0).argmax()]
    sums = jnp.cumsum(best - best.min() + 1e-9)
    return candidates[jnp.searchsorted(sums, draw * sums[-1])]


class Learner:
    def __init__(self, parameters, rate, batch):
        self.rate, self.batch = rate, batch
        zeros = lambda: jax.tree.map(jnp.zeros_like, parameters)
        # Parameters, Adam's means of gradients and of their squares, the last touch, the number of updates.
        self.state = (parameters, zeros(), zeros(), jnp.zeros(2), jnp.zeros((), jnp.int32))
        self.updates = jax.jit(self.updates, donate_argnums=0)

    def adam(self, parameters, means, squares, gradients, n):
        means = jax.tree.map(lambda m, g: BETA_1 * m + (1 - BETA_1) * g, means, gradients)
        squares = jax.tree.map(lambda v, g: BETA_2 * v + (1 - BETA_2) * g * g, squares, gradients)
        step, scale = self.rate / (1 - BETA_1**n), 1 / jnp.sqrt(1 - BETA_2**n)
        move = lambda p, m, v: p - step * m / (jnp.sqrt(v) * scale + EPSILON)
        return jax.tree.map(move, parameters, means, squares), means, squares

    def update(self, state):
        parameters, means, squares, last, n = state
        key = jax.random.fold_in(jax.random.key(1), n)
        gradients, last = self.gradients(parameters, last, key)
        return (*self.adam(parameters, means, squares, gradients, n + 1), last, n + 1)

    def updates(self, state, n_updates):
        return lax.fori_loop(0, n_updates, lambda _, state: self.update(state), state)

    def run(self, n_updates):
        self.state = jax.block_until_ready(self.updates(self.state, n_updates))
