#!/usr/bin/env python3
"""Checks that the JAX and PyTorch peers compute the same loss from the same parameters and inputs.

Needs torch and jax (`scripts/python-env --peers`).
"""

from pathlib import Path

import numpy as np
import torch

FOLDER = Path(__file__).parent
TOLERANCE = 1e-5
BATCH = 8


def definitions(*files):
    names = {}
    for file in files:
        exec(compile((FOLDER / file).read_text(), file, "exec"), names)
    return names


def copy(theirs, ours):
    """Copies JAX arrays into tensors, through any nesting."""
    if isinstance(ours, torch.Tensor):
        with torch.no_grad():
            ours.copy_(torch.from_numpy(np.array(theirs)))
    else:
        assert len(theirs) == len(ours)
        for pair in zip(theirs, ours):
            copy(*pair)


def check(name, jax_loss, torch_loss):
    print(f"{name}: JAX {float(jax_loss):.7f}, PyTorch {float(torch_loss):.7f}")
    assert abs(float(jax_loss) - float(torch_loss)) < TOLERANCE, f"{name}: the losses differ"


def module_losses(name, bottleneck, layers, depth):
    random = np.random.default_rng(1)
    in_jax = definitions("jax_training.py", "remap_modules_jax.py")
    in_torch = definitions("remap_modules.py")
    fields = [bottleneck, layers, "8", depth, "64", "16", str(BATCH)]
    jax_agent, torch_agent = in_jax["make"](fields), in_torch["make"](fields)
    parameters = jax_agent.state[0]
    for field in ("touch", "readout", "layers", "stages"):
        copy(parameters[field], getattr(torch_agent, field))
    uniform = lambda *shape: random.uniform(-1, 1, shape).astype(np.float32)
    psi, touches, rewards = uniform(BATCH, 128), uniform(BATCH, 4), np.abs(uniform(BATCH, 2))
    tensors = [torch.from_numpy(array) for array in (psi, touches, rewards)]
    if "convolutions" in parameters:
        copy(parameters["tiled"], torch_agent.tiled)
        copy(parameters["convolutions"], [pair for _, *pair in torch_agent.convolutions])
        maps = uniform(BATCH // 2 + 1, 196, 512) / 10
        which = (torch.arange(BATCH) + 1) // 2
        tensors[0] = torch_agent.flattened(tensors[0], torch.from_numpy(maps), which)
        psi = (psi, maps)
    jax_loss = jax_agent.loss(parameters, jax_agent.visual(parameters, psi), touches, rewards)
    check(name, jax_loss, torch_agent.loss(torch_agent.visual(tensors[0]), *tensors[1:]))


def voting_losses(n_old):
    random = np.random.default_rng(1)
    in_jax, in_torch = definitions("jax_training.py", "remap_voting_jax.py"), definitions("remap_voting.py")
    fields = [str(n_old), "8", "64", "16", str(BATCH)]
    jax_agent, torch_agent = in_jax["make"](fields), in_torch["make"](fields)
    parameters = jax_agent.state[0]
    for field in ("first", "new", "moves", "gate", "hidden", "out"):
        copy(parameters[field], getattr(torch_agent, field))
    for field in ("scenes", "table", "old"):
        copy(getattr(jax_agent, field), getattr(torch_agent, field))
    copy(parameters["votes"], [(votes.weight, votes.bias) for votes in torch_agent.votes])
    order = random.integers(0, 500, BATCH + 1)
    touches = random.uniform(-1, 1, (BATCH, 4)).astype(np.float32)
    rewards = random.uniform(0, 1, (BATCH, 2)).astype(np.float32)
    jax_loss = jax_agent.loss(parameters, *jax_agent.shared(parameters, order), touches, rewards)
    tensors = [torch.from_numpy(array) for array in (order, touches, rewards)]
    check(f"voting over {n_old} old modules", jax_loss, torch_agent.loss(*tensors))


if __name__ == "__main__":
    module_losses("ems", "CReLU", "CReS", "2")
    module_losses("none-relu-large", "-", "relu", "3")
    module_losses("conv-ems", "conv tanh,CReS,CReS", "CReS", "2")
    voting_losses(1)
    voting_losses(4)
