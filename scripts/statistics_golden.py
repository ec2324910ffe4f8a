"""Statistics of test scores and curves by rliable, SciPy and NumPy: crates/analysis/tests/golden/rliable.json.

    python scripts/statistics_golden.py

Point estimates use rliable's metrics if every task has the same number of seeds, otherwise the same formulas in SciPy
(a check compares the two). There are two kinds of intervals: from the same resamples that `touchstream-analysis` draws,
for equality, and from rliable's own bootstrap, for approximate agreement. Needs rliable (which brings NumPy and SciPy)
and pandas before 3. Takes a minute.
"""

import json
import pathlib

import numpy as np
import scipy.stats
from rliable import library, metrics

REPO = pathlib.Path(__file__).resolve().parent.parent
GOLDEN = REPO / "crates/analysis/tests/golden/rliable.json"

N_RESAMPLES = 2000
RESAMPLES, DATA = "statistics/resamples", "statistics/golden-data"
SEED = 7
THRESHOLDS = [0.0, 0.25, 0.4, 0.5, 0.6, 0.75, 1.0]


class Stream:
    """`RunSeed(seed).stream(name, index)` of crates/env/src/seed.rs: Philox4x32-10."""

    def __init__(self, seed, name, index):
        tag = 0x811C9DC5
        for byte in name.encode():
            tag = (tag ^ byte) * 0x01000193 & 0xFFFFFFFF
        self.key = (seed & 0xFFFFFFFF, seed >> 32)
        self.counter = [0, tag, index & 0xFFFFFFFF, index >> 32]
        self.block = []

    def next_u32(self):
        if not self.block:
            c0, c1, c2, c3 = self.counter
            k0, k1 = self.key
            for _ in range(10):
                p0, p1 = 0xD2511F53 * c0, 0xCD9E8D57 * c2
                c0, c1, c2, c3 = p1 >> 32 ^ c1 ^ k0, p1 & 0xFFFFFFFF, p0 >> 32 ^ c3 ^ k1, p0 & 0xFFFFFFFF
                k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
            self.counter[0] += 1
            self.block = [c0, c1, c2, c3]
        return self.block.pop(0)

    def below(self, n):
        while True:
            wide = self.next_u32() * n
            if wide & 0xFFFFFFFF >= (1 << 32) % n:
                return wide >> 32

    def unit(self):
        return self.next_u32() / (1 << 32)


def resampled(tasks, stream):
    """`tasks` is a list of arrays of sorted scores."""
    return [scores[[stream.below(len(scores)) for _ in scores]] for scores in tasks]


# `tasks` is a list of arrays; with the same number of seeds everywhere, it is rliable's matrix, transposed.


def mean(tasks):
    return np.mean([np.mean(scores) for scores in tasks])


def iqm(tasks):
    return scipy.stats.trim_mean(np.concatenate(tasks), 0.25)


def profile(tasks):
    runs = np.concatenate(tasks)
    return np.array([np.mean(runs > threshold) for threshold in THRESHOLDS])


def improvement(xs, ys):
    return np.mean([np.mean((x[:, None] > y) + 0.5 * (x[:, None] == y)) for x, y in zip(xs, ys)])


def mann_whitney(xs, ys):
    """A straightforward version of the function above; a hundred times slower."""
    u = [scipy.stats.mannwhitneyu(x, y, alternative="greater").statistic for x, y in zip(xs, ys)]
    return np.mean([u / (len(x) * len(y)) for u, x, y in zip(u, xs, ys)])


def ends(values):
    return np.percentile(values, [2.5, 97.5], axis=0, method="nearest")


def interval(tasks, metric):
    return ends([metric(resampled(tasks, Stream(SEED, RESAMPLES, i))) for i in range(N_RESAMPLES)])


def pair_interval(xs, ys, metric):
    values = []
    for i in range(N_RESAMPLES):
        stream = Stream(SEED, RESAMPLES, i)
        drawn = resampled(xs, stream)
        values.append(metric(drawn, resampled(ys, stream)))
    return ends(values)


def rliable_interval(scores, metric, n_resamples):
    """`scores` is a matrix `[seed, task]`, or a list of two."""
    np.random.seed(1)
    function = lambda *scores: np.atleast_1d(metric(*scores))
    return library.get_interval_estimates({"m": scores}, function, reps=n_resamples)[1]["m"][:, 0]


def make_scores(index, n_seeds, shift, digits):
    """Rounded, so that some are equal."""
    stream = Stream(SEED, DATA, index)
    score = lambda task: round(min(shift + 0.1 * task + 0.5 * stream.unit(), 1), digits)
    return [np.sort([score(task) for _ in range(n)]) for task, n in enumerate(n_seeds)]


def study(index, n_seeds, n_seeds_other, digits):
    tasks = make_scores(index, n_seeds, 0.3, digits)
    other = make_scores(index + 1, n_seeds_other, 0.2, digits)
    golden = {
        "scores": tasks,
        "other": other,
        "mean": [mean(tasks), *interval(tasks, mean)],
        "interquartile_mean": [iqm(tasks), *interval(tasks, iqm)],
        "profile": np.vstack([profile(tasks), interval(tasks, profile)]).T,
        "improvement": [improvement(tasks, other), *pair_interval(tasks, other, improvement)],
        "rliable_intervals": None,
    }
    assert np.isclose(golden["improvement"][0], mann_whitney(tasks, other))
    if len(set(n_seeds)) == 1 and len(set(n_seeds_other)) == 1:
        x, y = np.array(tasks).T, np.array(other).T
        assert np.isclose(golden["mean"][0], metrics.aggregate_mean(x))
        assert np.isclose(golden["interquartile_mean"][0], metrics.aggregate_iqm(x))
        assert np.isclose(golden["improvement"][0], metrics.probability_of_improvement(x, y))
        shares, _ = library.create_performance_profile({"m": x}, np.array(THRESHOLDS), reps=2)
        assert np.allclose(golden["profile"][:, 0], shares["m"])
        golden["rliable_intervals"] = {
            "mean": rliable_interval(x, metrics.aggregate_mean, 20_000),
            "interquartile_mean": rliable_interval(x, metrics.aggregate_iqm, 20_000),
            "improvement": rliable_interval([x, y], metrics.probability_of_improvement, N_RESAMPLES),
        }
    return golden


def sample(index, n):
    stream = Stream(SEED, DATA, index)
    numbers = np.array([round(stream.unit(), 4) for _ in range(n)])
    student = scipy.stats.t.interval(0.95, n - 1, loc=numbers.mean(), scale=scipy.stats.sem(numbers))
    means = lambda tasks: np.mean(tasks[0])
    return {
        "numbers": numbers,
        "mean": numbers.mean(),
        "student_half": (student[1] - student[0]) / 2,
        "bootstrap": interval([numbers], means),
    }


def learning(index, n_modules, n_seeds, n_evaluations):
    """Modules that approach their final reward at different rates, with noise."""
    stream = Stream(SEED, DATA, index)
    steps = np.cumsum([100 + stream.below(50) for _ in range(n_evaluations)])
    rates = [0.8 / 2**module for module in range(n_modules)]
    reward = lambda rate, at: round(0.9 * (1 - np.exp(-rate * at)) + 0.05 * stream.unit(), 4)
    # [module, seed, evaluation]
    rewards = np.array([[[reward(rate, at) for at in range(n_evaluations)] for _ in range(n_seeds)] for rate in rates])
    curves = rewards.mean(1)
    n_last = -(-n_evaluations // 10)
    final = curves[:, -n_last:].mean(1, keepdims=True)
    reached = np.maximum.accumulate(curves >= 0.95 * final, axis=1)
    at = int(np.argmax(reached.sum(0) * 2 > n_modules))
    areas = np.trapezoid(rewards[:, :, : at + 1], steps[: at + 1], axis=2) / (steps[at] - steps[0])
    areas = areas.mean(1)
    return {"steps": steps, "rewards": rewards, "horizon": steps[at], "areas": areas, "n_aucs": areas / areas.max()}


def plain(value):
    """Arrays as lists, numbers with twelve decimal places."""
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(one) for one in value]
    if value is None or isinstance(value, (int, np.integer)):
        return value if value is None else int(value)
    return round(float(value), 12)


def main():
    golden = {
        "seed": SEED,
        "thresholds": THRESHOLDS,
        "studies": [
            study(0, [5] * 6, [5] * 6, 4),
            study(2, [10] * 3, [7] * 3, 1),
            study(4, [5, 2, 9, 4], [3, 6, 2, 5], 2),
        ],
        "samples": [sample(10, 2), sample(11, 5), sample(12, 21)],
        "learning": [learning(20, 5, 3, 12), learning(21, 4, 2, 15)],
    }
    GOLDEN.parent.mkdir(parents=True, exist_ok=True)
    lines = json.dumps(plain(golden), separators=(",", ":")).replace('],"', '],\n"').replace('},{"', '},\n{"')
    GOLDEN.write_text(lines + "\n")


if __name__ == "__main__":
    main()
