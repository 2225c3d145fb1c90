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


def _flow(source: str, target: str, amount: float = 0.1) -> PathStep:
    return PathStep(source, target, EdgeType.SEQ, True, 1.0, amount)


def _recall(flows: dict[str, list[PathStep]], *anchors: str, **relays: list[PathStep]) -> Recall:
    memories = tuple(RecalledMemory(MemoryNode(name, name), 1.0, {}, (), tuple(into)) for name, into in flows.items())
    starts = tuple((name, 1.0) for name in anchors)
    passed = {name: tuple(into) for name, into in relays.items()}
    return Recall("?", memories, Kernel(), starts, "gated", relays=passed)


def test_memories_stand_by_rank_and_senders_beside_them_anchors_first() -> None:
    flows = {"b": [_flow("a", "b"), _flow("x", "b")], "a": [_flow("b", "a")]}
    picture = lay_out(subgraph_of(_recall(flows, "a", x=[_flow("a", "x")])))
    assert [box.vertex.id for box in picture.memories] == ["b", "a"]
    senders = [box.vertex.id for box in sorted(picture.senders, key=lambda box: box.top)]
    assert senders[0] == "a"
    assert set(senders[1:]) == {"b", "x"}
    assert picture.relays_top == min(box.top for box in picture.senders if box.vertex.id != "a")
    assert max(box.right for box in picture.senders) < min(box.left for box in picture.memories)


def test_the_best_memory_is_near_the_top_however_many_nodes_sent_to_it() -> None:
    into = [_flow(f"s{number}", "m") for number in range(60)]
    picture = lay_out(subgraph_of(_recall({"m": into}, *(one.source_id for one in into))))
    assert picture.memories[0].top < 300
    assert min(box.top for box in picture.senders) >= 0
    assert len(picture.senders) == 60


def test_flows_that_need_not_cross_do_not() -> None:
    targets = [f"t{index}" for index in range(6)]
    flows = {name: [_flow(f"s{name}", name)] for name in targets}
    picture = lay_out(subgraph_of(_recall(flows, *(f"s{name}" for name in reversed(targets)))))
    assert [box.vertex.id for box in sorted(picture.senders, key=lambda box: box.top)] == [f"s{n}" for n in targets]


def test_a_flow_is_as_thick_as_its_amount_and_a_small_one_is_faint() -> None:
    amounts = {"b": 0.4, "c": 0.2, "d": 0.001}
    recall = _recall({name: [_flow("a", name, amount)] for name, amount in amounts.items()}, "a")
    thin, half, thick = lay_out(subgraph_of(recall)).curves
    assert half.stroke == thick.stroke / 2
    assert 0 < thin.stroke < half.stroke
    assert (thin.faint, half.faint, thick.faint) == (True, False, False)


def test_the_strongest_flows_into_a_memory_have_labels_that_do_not_overlap() -> None:
    flows = {name: [_flow(f"s{n}", name, 0.5 / (n + 1)) for n in range(30)] for name in "ab"}
    curves = [curve for curve in lay_out(subgraph_of(_recall(flows, "s0"))).curves if curve.labelled]
    assert {curve.arc.source for curve in curves} == {arc.source for arc in subgraph_of(_recall(flows)).arcs[:5]}
    heights = sorted(curve.label[1] for curve in curves)
    assert all(below - above >= 11 for above, below in itertools.pairwise(heights))


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
