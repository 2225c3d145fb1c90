"""The layout of the map in two levels: communities as discs that do not overlap, and their members inside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_Values = NDArray[np.float64]

_GOLDEN = np.pi * (3 - np.sqrt(5))
_ARRANGED = 100
"""Discs that attract one another; the others stand in rings around them. The cost of a step is its square."""
_STEPS, _PULL, _GAP = 60, 0.3, 2.0


class Layout(NamedTuple):
    """Where regions and their members are."""

    centres: _Values
    """(regions, 2)."""
    radii: _Values
    """(regions,); 0 for an empty region."""
    points: _Values
    """(members, 2), at a distance of about 1 from one another."""


def lay_out(region: NDArray[np.int64], count: int, links: Sequence[tuple[int, int, float]]) -> Layout:
    """Place regions so that none overlaps another and linked ones are close, and each one's members inside it.

    Members lie on a spiral, the first ones in the middle. The same graph always has the same layout.

    Args:
        region: (members,) the region of each.
        count: how many regions; the most important ones are first.
        links: pairs of regions with weights.
    """
    sizes = np.bincount(region, minlength=count)
    radii = np.where(sizes > 0, np.sqrt(sizes) + 1, 0.0)
    centres = _arranged(radii[:_ARRANGED], np.array(links).reshape(-1, 3))
    extent = (np.hypot(*centres.T) + radii[:_ARRANGED]).max(initial=0)
    centres = np.concatenate((centres, _rings(radii[_ARRANGED:], float(extent))))
    order = np.argsort(region, kind="stable")
    place = np.empty(region.size)
    place[order] = np.arange(region.size) - (sizes.cumsum() - sizes)[region[order]]
    return Layout(centres, radii, centres[region] + _spiral(np.sqrt(place + 0.5), place))


def _spiral(distance: _Values, place: _Values) -> _Values:
    """Return points at these distances, each turned by the golden angle from the one before."""
    points: _Values = distance[:, None] * np.column_stack((np.cos(_GOLDEN * place), np.sin(_GOLDEN * place)))
    return points


def _arranged(radii: _Values, links: _Values) -> _Values:
    """Return the centres of discs that attract one another by their links, and push away those that they overlap."""
    least = radii[:, None] + radii + _GAP
    np.fill_diagonal(least, 0)
    weight = np.zeros(least.shape)
    links = links[(links[:, :2] < radii.size).all(axis=1)]
    first, second = links[:, :2].astype(np.int64).T
    weight[first, second] = weight[second, first] = links[:, 2]
    pull = weight / np.maximum(weight.sum(axis=1, keepdims=True), 1e-9)
    centres = _spiral(np.sqrt(np.cumsum(radii**2)), np.arange(radii.size, dtype=np.float64))
    for step in range(_STEPS):
        heat = max(0.0, 1 - 2 * step / _STEPS)
        attraction = pull @ centres - centres * pull.sum(axis=1, keepdims=True)
        centres += heat * (_PULL * attraction - 0.05 * centres)
        between, distance = _apart(centres)
        centres += np.einsum("ij,ijk->ik", np.maximum(0, least - distance) / 2 / distance, between)
    # Whatever overlap is left goes by enlarging the whole.
    return centres * max(1.0, float((least / _apart(centres)[1]).max(initial=0)))


def _apart(centres: _Values) -> tuple[_Values, _Values]:
    """Return the differences of all pairs of centres, and their distances."""
    between = centres[:, None] - centres
    return between, np.maximum(np.hypot(between[..., 0], between[..., 1]), 1e-6)


def _rings(radii: _Values, inner: float) -> _Values:
    """Return the centres of discs in rings around a circle."""
    centres, width = np.empty((radii.size, 2)), 2 * float(radii.max(initial=0)) + _GAP
    distance, angle = inner + width / 2, 0.0
    for number in range(radii.size):
        step = 2 * np.arcsin(min(1.0, width / 2 / distance))
        if angle + step > 2 * np.pi:
            distance, angle = distance + width, 0.0
        centres[number] = distance * np.cos(angle), distance * np.sin(angle)
        angle += step
    return centres
