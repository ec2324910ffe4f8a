"""Golden files are rewritten only if more than rounding has changed: processors and versions round differently."""

import numpy as np

# Relative to the largest absolute value.
TOLERANCE = 1e-5


def is_close(before, now):
    """Whether two arrays have equal shapes and nearly equal values."""
    before, now = np.asarray(before, np.float64), np.asarray(now, np.float64)
    if before.shape != now.shape:
        return False
    return now.size == 0 or bool(np.abs(before - now).max() <= TOLERANCE * np.abs(now).max())


def are_close(before, now):
    """The same for dictionaries of arrays."""
    return before.keys() == now.keys() and all(is_close(before[name], now[name]) for name in now)
