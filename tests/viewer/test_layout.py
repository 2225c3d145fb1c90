"""The picture's order, thickness and colours."""

import itertools
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from numpy.typing import NDArray

from neurogated import EdgeType, Kernel, MemoryNode, Recall
from neurogated.core.trace import PathStep, RecalledMemory
from neurogated.viewer.layout import lay_out
from neurogated.viewer.palette import Ink, ink
from neurogated.viewer.subgraph import subgraph_of

# Machado, Oliveira & Fernandes (2009), severity 1, on linear RGB.
BLINDNESS = {
    "none": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]]
    ),
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = np.array([0.9505, 1.0, 1.089])


def _linear(colour: str) -> NDArray[np.float64]:
    values = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def _lab(rgb: NDArray[np.float64]) -> NDArray[np.float64]:
    ratio = TO_XYZ @ np.clip(rgb, 0, 1) / WHITE
    x, y, z = np.where(ratio > 216 / 24389, np.cbrt(ratio), (24389 / 27 * ratio + 16) / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def _ink(name: str) -> Ink:
    """Return the ink of a type. The type need not be registered, because only its name counts."""
    return ink(cast("EdgeType", SimpleNamespace(name=name)))


def _chain(*hops: str) -> tuple[PathStep, ...]:
    return tuple(PathStep(a, b, EdgeType.SEQ, True, 1.0, 0.1) for a, b in itertools.pairwise(hops))


def _recall(paths: dict[str, tuple[PathStep, ...]], *anchors: str) -> Recall:
    memories = tuple(RecalledMemory(MemoryNode(name, name), 1.0, {}, path) for name, path in paths.items())
    return Recall("?", memories, Kernel(), tuple((name, 1.0) for name in anchors), "gated")


def test_a_column_has_the_nodes_of_one_hop() -> None:
    recall = _recall({"b": _chain("a", "b"), "c": _chain("a", "b", "c"), "d": _chain("a", "x", "y", "d")}, "a")
    picture = lay_out(subgraph_of(recall))
    hops = {box.vertex.id: (box.vertex.hop, box.left) for box in picture.boxes}
    assert [hops[name][0] for name in "abxcyd"] == [0, 1, 1, 2, 2, 3]
    assert [left for _, left in sorted(set(hops.values()))] == [left for _, left in picture.columns]


def test_arcs_that_need_not_cross_do_not() -> None:
    targets = [f"t{index}" for index in range(6)]
    recall = _recall({name: _chain(f"s{name}", name) for name in targets}, *(f"s{name}" for name in reversed(targets)))
    tops = {box.vertex.id: box.top for box in lay_out(subgraph_of(recall)).boxes}
    order = sorted(targets, key=tops.__getitem__)
    assert order == sorted(targets, key=lambda name: tops[f"s{name}"])


def test_an_arc_is_as_thick_as_its_flow() -> None:
    steps = [PathStep("a", name, EdgeType.SEQ, True, 1.0, flow) for name, flow in (("b", 0.4), ("c", 0.2), ("d", 0.0))]
    recall = _recall({step.target_id: (step,) for step in steps}, "a")
    thick, half, thin = (curve.stroke for curve in lay_out(subgraph_of(recall)).curves)
    assert half == thick / 2
    assert 0 < thin < half


@pytest.mark.parametrize("ground", ["light", "dark"])
@pytest.mark.parametrize("blindness", BLINDNESS)
def test_colours_of_types_are_told_apart_by_all_eyes(ground: str, blindness: str) -> None:
    names = ("SEQ", "SIM", "CAUSE", "ASSOC", "MENTION")
    known = [getattr(_ink(name), ground) for name in names]
    seen = [_lab(BLINDNESS[blindness] @ _linear(colour)) for colour in known]
    nearest = min(
        (float(np.linalg.norm(one - other)), pair)
        for (one, other), pair in zip(itertools.combinations(seen, 2), itertools.combinations(names, 2), strict=True)
    )
    assert nearest[0] > 20, nearest


@pytest.mark.parametrize("name", ["SEQ", "SIM", "CAUSE", "ASSOC", "MENTION", "QUOTES", "OTHER", "THIRD"])
def test_lines_stand_out_from_their_ground(name: str) -> None:
    for colour, ground in ((_ink(name).light, "#ffffff"), (_ink(name).dark, "#171c25")):
        low, high = sorted(float(TO_XYZ[1] @ _linear(shade)) for shade in (colour, ground))
        assert (high + 0.05) / (low + 0.05) >= 3


def test_the_ink_of_a_type_depends_on_its_name_alone() -> None:
    assert _ink("QUOTES") == _ink("QUOTES")
    assert _ink("QUOTES").dashes != "none"
