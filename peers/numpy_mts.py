"""The peer of `cargo bench`: mts-2way-vert-motion-horiz-flip as one would write it in NumPy under Gymnasium.

Prints steps a second of the trial logic alone and match screens a second with rendering, as JSON.
"""

import json
import time

import gymnasium
import numpy as np

SIDE = 224
TEMPLATE = 100
N_PORTRAITS = 32


class MatchToSample(gymnasium.Env):
    """Sample screen, then a match screen with two templates on random sides and heights."""

    metadata = {"render_modes": []}

    def __init__(self, render):
        self.render_screens = render
        self.action_space = gymnasium.spaces.MultiDiscrete([SIDE, SIDE])
        self.observation_space = gymnasium.spaces.Box(0, 255, (SIDE, SIDE, 3), np.uint8)
        images = np.random.default_rng(0)
        self.portraits = images.integers(0, 256, (2, N_PORTRAITS, SIDE, SIDE, 3), np.uint8)
        self.templates = images.integers(0, 256, (2, TEMPLATE, TEMPLATE, 3), np.uint8)
        self.blank = np.zeros((SIDE, SIDE, 3), np.uint8)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._new_trial()
        return self._observe(), {}

    def _new_trial(self):
        rng = self.np_random
        self.sample = int(rng.integers(2))
        self.portrait = int(rng.integers(N_PORTRAITS))
        self.order = rng.permutation(2)
        self.tops = rng.integers(6, 119, 2)
        self.on_match = False

    def _observe(self):
        if not self.render_screens:
            return self.blank
        if not self.on_match:
            return self.portraits[self.sample, self.portrait].copy()
        screen = np.full((SIDE, SIDE, 3), 128, np.uint8)
        for shown, top, left in zip(self.order, self.tops, (6, 118)):
            screen[top : top + TEMPLATE, left : left + TEMPLATE] = self.templates[shown]
        return screen

    def step(self, action):
        row, col = action
        reward = 0.0
        if self.on_match:
            slot = 0 if self.order[0] == self.sample else 1
            top, left = self.tops[slot], (6, 118)[slot]
            if top <= row < top + TEMPLATE and left <= col < left + TEMPLATE:
                reward = 1.0
            self._new_trial()
        else:
            self.on_match = True
        return self._observe(), reward, False, False, {}


def logic_steps_per_sec(seconds=1.5):
    env = MatchToSample(render=False)
    env.reset(seed=0)
    touches = np.random.default_rng(1).integers(0, SIDE, (4096, 2))
    n_steps, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        for touch in touches:
            env.step(touch)
        n_steps += len(touches)
    return n_steps / (time.perf_counter() - start)


def screens_per_sec(seconds=1.5):
    """Two trial steps and one drawn match screen a round, as in the Rust benchmark."""
    env = MatchToSample(render=False)
    env.reset(seed=0)
    env.step((0, 0))
    touches = np.random.default_rng(1).integers(0, SIDE, (4096, 2))
    n_screens, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        for touch in touches[:512]:
            env.step(touch)
            env.render_screens = True
            env.step(touch)
            env.render_screens = False
        n_screens += 512
    return n_screens / (time.perf_counter() - start)


if __name__ == "__main__":
    print(json.dumps({"logic_steps_per_sec": logic_steps_per_sec(), "screens_per_sec": screens_per_sec()}))
