"""Goldens stay as they are where nothing but the last bits would change: other processors and versions round otherwise."""

import numpy as np

# Of the largest number.
TOLERANCE = 1e-5


def is_close(before, now):
    """Whether two arrays have one shape and nearly the same numbers."""
    before, now = np.asarray(before, np.float64), np.asarray(now, np.float64)
    if before.shape != now.shape:
        return False
    return now.size == 0 or bool(np.abs(before - now).max() <= TOLERANCE * np.abs(now).max())


def are_close(before, now):
    """The same of dictionaries of arrays."""
    return before.keys() == now.keys() and all(is_close(before[name], now[name]) for name in now)
