"""Logistic regression."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["TOLERANCE", "regression"]

TOLERANCE = 1e-6
"""A fit ends when no component of the gradient is larger."""
_MAX_ITERATIONS = 2000
# Last steps from which L-BFGS estimates the curvature.
_MEMORY = 10
# A step must lower the loss by this share of the decrease that the gradient predicts, or it is halved (Armijo).
_LEAST_DECREASE = 1e-4
_SHORTER = 0.5
_SHORTEST = 1e-10

_Loss = Callable[[NDArray[np.float64]], tuple[float, NDArray[np.float64]]]


def regression(
    features: NDArray[np.float64], labels: Sequence[str], freedom: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return weights (labels, features) and biases of a logistic regression, labels in alphabetical order.

    They minimise the mean of -log P(label) + |weights|² / (2 · freedom · n), like scikit-learn's LogisticRegression
    with C = freedom. If there are two labels, the weights of the first are 0.
    """
    names = sorted(set(labels))
    is_label = np.array([[label == name for name in names] for label in labels], dtype=np.float64)
    count, width = features.shape
    fixed = 0 if len(names) > 2 else 1  # noqa: PLR2004 - two classes are a case of their own
    shape = len(names) - fixed, width + 1

    def loss(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        values = flat.reshape(shape)
        logits = np.pad(features @ values[:, :-1].T + values[:, -1], ((0, 0), (fixed, 0)))
        logits -= logits.max(axis=1, keepdims=True)
        logs = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        errors = (np.exp(logs) - is_label)[:, fixed:] / count
        gradient = np.column_stack((errors.T @ features, errors.sum(axis=0)))
        gradient[:, :-1] += values[:, :-1] / (freedom * count)
        penalty = (values[:, :-1] ** 2).sum() / (2 * freedom * count)
        return float(penalty - (logs * is_label).sum() / count), gradient.ravel()

    found = _minimum(loss, np.zeros(shape).ravel()).reshape(shape)
    whole = np.pad(found, ((fixed, 0), (0, 0)))
    return whole[:, :-1], whole[:, -1]


def _minimum(loss: _Loss, start: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the minimum of a convex, smooth loss, by L-BFGS (Liu and Nocedal, 1989).

    Args:
        loss: returns the loss and its gradient at a point.
        start: the first point.
    """
    point, (value, gradient) = start, loss(start)
    steps: deque[tuple[NDArray[np.float64], NDArray[np.float64], float]] = deque(maxlen=_MEMORY)
    for _ in range(_MAX_ITERATIONS):
        if np.abs(gradient).max() <= TOLERANCE:
            break
        direction = -_curved(gradient, steps)
        slope = float(direction @ gradient)
        length = 1.0
        following, (lower, turned) = point + direction, loss(point + direction)
        while lower > value + _LEAST_DECREASE * length * slope and length > _SHORTEST:
            length *= _SHORTER
            following = point + length * direction
            lower, turned = loss(following)
        if lower >= value:
            # The number format cannot represent a smaller loss.
            break
        step, change = following - point, turned - gradient
        if step @ change > 0:
            steps.append((step, change, float(step @ change)))
        point, value, gradient = following, lower, turned
    return point


def _curved(
    gradient: NDArray[np.float64], steps: Sequence[tuple[NDArray[np.float64], NDArray[np.float64], float]]
) -> NDArray[np.float64]:
    """Return the gradient times the inverse Hessian, which is estimated from the last steps."""
    direction = gradient.copy()
    shares = []
    for step, change, product in reversed(steps):
        share = float(step @ direction) / product
        shares.append(share)
        direction -= share * change
    if steps:
        _, change, product = steps[-1]
        direction *= product / float(change @ change)
    for (step, change, product), share in zip(steps, reversed(shares), strict=True):
        direction += step * (share - float(change @ direction) / product)
    return direction
