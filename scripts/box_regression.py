"""Regression of boxes from scene vectors, for `touchstream baselines --python`: ridge and support vectors.

Reads a folder with train_scenes.npy [n, d], train_boxes.npy [n, 4] (top, left, bottom, right; pixels, inclusive) and
validation_scenes.npy [m, d]. Prints one line of JSON: a list of the boxes that each regression predicts for the
validation screens. It is never given the validation boxes. Settings are chosen by cross-validation on the training
screens.

Needs scikit-learn only (`scripts/python-env`).
"""

import itertools
import json
import sys
from pathlib import Path

import numpy as np
import sklearn
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVR

SIDE = 224
N_FOLDS = 5
# Settings are chosen on at most MAX_CHOOSING training screens; the final fit uses at most MAX_FITTING, whose kernel
# matrix has 3.2 GB.
MAX_CHOOSING = 1500
MAX_FITTING = 20_000
KERNELS = ["linear", "rbf"]
# As fractions of the mean squared length of scene vectors, from strong to weak.
STRENGTHS = [10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001]
# Targets are scaled to standard deviation 1, so that these suit any screen.
COSTS = [0.1, 1.0, 10.0, 100.0]
# 0 is the smallest epsilon possible.
EPSILONS = [0.0, 0.01, 0.05, 0.2]


def kernel_matrix(kernel, left, right, unit):
    """Inner products, or scikit-learn's RBF with gamma="scale"; `unit` is the mean squared length of training scenes."""
    products = left @ right.T / unit
    if kernel == "linear":
        return products
    lengths = (left**2).sum(1)[:, None] / unit + (right**2).sum(1)[None, :] / unit
    return np.exp(-(lengths - 2 * products))


def ridge(settings, train, targets, test):
    """Kernel ridge regression. `train` is [n, n], `test` is [m, n]."""
    regression = KernelRidge(kernel="precomputed", alpha=settings["strength"])
    return regression.fit(train, targets).predict(test)


def support_vectors(settings, train, targets, test):
    """One regression per box coordinate."""
    columns = []
    for target in targets.T:
        regression = SVR(kernel="precomputed", C=settings["C"], epsilon=settings["epsilon"], cache_size=500)
        columns.append(regression.fit(train, target).predict(test))
    return np.stack(columns, axis=1)


REGRESSIONS = [
    (
        "ridge regression",
        ridge,
        [{"kernel": "linear", "strength": strength} for strength in STRENGTHS],
    ),
    (
        "support vector regression",
        support_vectors,
        [
            {"kernel": kernel, "C": cost, "epsilon": epsilon}
            for kernel, cost, epsilon in itertools.product(KERNELS, COSTS, EPSILONS)
        ],
    ),
]


def mean_iou(predicted, true):
    """IoU of boxes with inclusive corners, in any order."""
    predicted = np.clip(np.rint(predicted), 0, SIDE - 1)
    low, high = np.minimum(predicted[:, :2], predicted[:, 2:]), np.maximum(predicted[:, :2], predicted[:, 2:])
    shared = np.clip(np.minimum(high, true[:, 2:]) - np.maximum(low, true[:, :2]) + 1, 0, None).prod(1)
    union = (high - low + 1).prod(1) + (true[:, 2:] - true[:, :2] + 1).prod(1) - shared
    return float((shared / union).mean())


def text_of(settings):
    return ", ".join(f"{key} {value}" for key, value in settings.items())


def choose(name, fit_predict, choices, matrices, boxes, targets, restore):
    """The settings with the largest cross-validated IoU, and that IoU."""
    fold = np.arange(len(boxes)) % N_FOLDS
    best = None
    for settings in choices:
        matrix = matrices[settings["kernel"]]
        predicted = np.zeros_like(boxes)
        for left_out in range(N_FOLDS):
            kept, out = fold != left_out, fold == left_out
            inside, across = matrix[np.ix_(kept, kept)], matrix[np.ix_(out, kept)]
            predicted[out] = restore(fit_predict(settings, inside, targets[kept], across))
        overlap = mean_iou(predicted, boxes)
        print(f"{name:28}  {text_of(settings):36}  {overlap:.3f}", file=sys.stderr)
        if best is None or overlap > best[1]:
            best = (settings, overlap)
    return best


def main(folder):
    load = lambda name: np.load(folder / f"{name}.npy").astype(np.float64)
    scenes, boxes, validation = load("train_scenes"), load("train_boxes"), load("validation_scenes")
    n_screens = len(scenes)
    fitted = np.linspace(0, n_screens - 1, min(n_screens, MAX_FITTING)).astype(int)
    scenes, boxes = scenes[fitted], boxes[fitted]
    if len(scenes) < N_FOLDS:
        sys.exit(f"regression needs at least {N_FOLDS} training screens; there are {len(scenes)}")
    centre = scenes.mean(0)
    scenes, validation = scenes - centre, validation - centre
    unit = max((scenes**2).sum(1).mean(), 1e-12)
    mean, deviation = boxes.mean(0), np.maximum(boxes.std(0), 1e-9)
    targets = (boxes - mean) / deviation
    restore = lambda numbers: numbers * deviation + mean
    few = np.linspace(0, len(scenes) - 1, min(len(scenes), MAX_CHOOSING)).astype(int)
    matrices = {kernel: kernel_matrix(kernel, scenes[few], scenes[few], unit) for kernel in KERNELS}
    answers = []
    print(f"{'regression':28}  {'settings':36}  cross-validated IoU", file=sys.stderr)
    for name, fit_predict, choices in REGRESSIONS:
        settings, overlap = choose(name, fit_predict, choices, matrices, boxes[few], targets[few], restore)
        train = kernel_matrix(settings["kernel"], scenes, scenes, unit)
        test = kernel_matrix(settings["kernel"], validation, scenes, unit)
        predicted = restore(fit_predict(settings, train, targets, test))
        some = f", on {len(scenes)} of {n_screens} screens" if len(scenes) < n_screens else ""
        details = f"{text_of(settings)}{some}, cross-validated {overlap:.3f}, scikit-learn {sklearn.__version__}"
        answers.append({"name": name, "details": details, "boxes": predicted.tolist()})
    print(json.dumps(answers))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
