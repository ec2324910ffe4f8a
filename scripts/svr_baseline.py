"""Support vector regression of boxes from scene vectors, for `touchstream baselines --python`.

Reads a folder with train_scenes.npy [n, d], train_boxes.npy [n, 4] (top, left, bottom, right; in pixels, inside) and
validation_scenes.npy [m, d]; prints one line of JSON with the boxes predicted for the validation screens. It never sees
the validation boxes. Kernel, C and epsilon are chosen by cross-validation within the training screens.

Needs scikit-learn and nothing else (`scripts/python-env --svr`).
"""

import itertools
import json
import sys
from pathlib import Path

import numpy as np
import sklearn
from sklearn.svm import SVR

SIDE = 224
N_FOLDS = 5
# Settings are chosen on so many of the training screens; the last fit is on all.
MAX_CHOOSING = 1500
KERNELS = ["linear", "rbf"]
# Targets are scaled to deviation 1, so that these fit any screen.
COSTS = [0.1, 1.0, 10.0]
EPSILONS = [0.05, 0.2]


def kernel_matrix(kernel, left, right, unit):
    """Inner products, or scikit-learn's RBF with gamma="scale"; `unit` is the mean squared length of training scenes."""
    products = left @ right.T / unit
    if kernel == "linear":
        return products
    lengths = (left**2).sum(1)[:, None] / unit + (right**2).sum(1)[None, :] / unit
    return np.exp(-(lengths - 2 * products))


def fit_predict(kernel, cost, epsilon, train, targets, test):
    """One regression a number of the box. `train` is [n, n], `test` is [m, n]."""
    columns = []
    for target in targets.T:
        regression = SVR(kernel="precomputed", C=cost, epsilon=epsilon, cache_size=500)
        columns.append(regression.fit(train, target).predict(test))
    return np.stack(columns, axis=1)


def mean_iou(predicted, true):
    """Overlap of pixel boxes whose corners are inside; corners may come in any order."""
    predicted = np.clip(np.rint(predicted), 0, SIDE - 1)
    low, high = np.minimum(predicted[:, :2], predicted[:, 2:]), np.maximum(predicted[:, :2], predicted[:, 2:])
    shared = np.clip(np.minimum(high, true[:, 2:]) - np.maximum(low, true[:, :2]) + 1, 0, None).prod(1)
    union = (high - low + 1).prod(1) + (true[:, 2:] - true[:, :2] + 1).prod(1) - shared
    return float((shared / union).mean())


def choose(scenes, boxes, targets, restore, unit):
    """The settings of the largest cross-validated overlap, and that overlap."""
    chosen = np.linspace(0, len(scenes) - 1, min(len(scenes), MAX_CHOOSING)).astype(int)
    scenes, boxes, targets = scenes[chosen], boxes[chosen], targets[chosen]
    fold = np.arange(len(scenes)) % N_FOLDS
    best = None
    for kernel in KERNELS:
        matrix = kernel_matrix(kernel, scenes, scenes, unit)
        for cost, epsilon in itertools.product(COSTS, EPSILONS):
            predicted = np.zeros_like(boxes)
            for left_out in range(N_FOLDS):
                kept, out = fold != left_out, fold == left_out
                inside, across = matrix[np.ix_(kept, kept)], matrix[np.ix_(out, kept)]
                predicted[out] = restore(fit_predict(kernel, cost, epsilon, inside, targets[kept], across))
            overlap = mean_iou(predicted, boxes)
            print(f"svr: {kernel} C={cost} epsilon={epsilon}: {overlap:.4f}", file=sys.stderr)
            if best is None or overlap > best[0]:
                best = (overlap, kernel, cost, epsilon)
    return best


def main(folder):
    load = lambda name: np.load(folder / f"{name}.npy").astype(np.float64)
    scenes, boxes, validation = load("train_scenes"), load("train_boxes"), load("validation_scenes")
    centre = scenes.mean(0)
    scenes, validation = scenes - centre, validation - centre
    unit = max((scenes**2).sum(1).mean(), 1e-12)
    mean, deviation = boxes.mean(0), np.maximum(boxes.std(0), 1e-9)
    targets = (boxes - mean) / deviation
    restore = lambda numbers: numbers * deviation + mean
    overlap, kernel, cost, epsilon = choose(scenes, boxes, targets, restore, unit)
    train = kernel_matrix(kernel, scenes, scenes, unit)
    test = kernel_matrix(kernel, validation, scenes, unit)
    predicted = restore(fit_predict(kernel, cost, epsilon, train, targets, test))
    print(
        json.dumps(
            {
                "scikit_learn": sklearn.__version__,
                "kernel": kernel,
                "cost": cost,
                "epsilon": epsilon,
                "cross_validated_iou": overlap,
                "boxes": predicted.tolist(),
            }
        )
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
