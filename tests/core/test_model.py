"""Nodes, edges and kernels as values."""

import copy
import dataclasses
import pickle
from dataclasses import replace
from datetime import UTC, datetime

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from neurogated import EdgeType, Kernel, MemoryEdge, MemoryNode
from neurogated.core.clock import from_micros, to_micros, utc_now
from neurogated.errors import ConfigError, InputError

# Nodes, edges and their types as values


def test_embeddings_compare_by_value_and_cannot_be_changed() -> None:
    moment = utc_now()
    one, two = (
        MemoryNode(id="a", content="x", embedding=vector, last_accessed=moment, created_at=moment)
        for vector in ([0.1, 0.2], np.array([0.1, 0.2], dtype=np.float32))
    )
    assert one == two
    assert hash(one) == hash(two)
    assert one != replace(one, embedding=[0.1, 0.3])
    assert one != replace(one, embedding=None)
    assert one != "a"
    with pytest.raises(ValueError, match="read-only"):
        one.embedding[0] = 5.0  # type: ignore[index]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"id": ""}, "id is empty"),
        ({"embedding": [1.0, float("nan")]}, "nan at position 1"),
        ({"embedding": [float("inf")]}, "inf at position 0"),
        ({"embedding": []}, "non-empty"),
        ({"embedding": [[1.0]]}, "shape"),
        ({"base_energy": 1.5}, "base_energy of node 'a' is 1.5"),
        ({"base_energy": float("nan")}, "between 0 and 1"),
        ({"metadata": {"when": datetime(2026, 1, 1, tzinfo=UTC)}}, "not JSON"),
        ({"metadata": {"x": float("nan")}}, "not JSON"),
        ({"content": "lone \ud800"}, "lone surrogate at character 5"),
    ],
)
def test_a_value_that_cannot_be_stored_is_refused_with_the_reason(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        MemoryNode(**{"id": "a", "content": "x", **arguments})  # type: ignore[arg-type]


@given(st.datetimes(timezones=st.just(UTC)))
def test_microseconds_hold_every_moment(moment: datetime) -> None:
    assert from_micros(to_micros(moment)) == moment


@pytest.mark.parametrize("weight", [-0.1, 1.01, float("nan")])
def test_an_edge_weight_out_of_range_is_refused(weight: float) -> None:
    with pytest.raises(InputError):
        MemoryEdge("a", "b", EdgeType.SEQ, weight)


# Kernels: a weight for each direction, interpolation, and the text format


weights = st.floats(0, 2)
kinds = st.sampled_from(list(EdgeType))
tags = st.dictionaries(st.sampled_from(["time", "place"]), st.floats(0, 1))
kernels = st.builds(Kernel, st.dictionaries(kinds, weights), st.just("drawn"), st.dictionaries(kinds, weights), tags)


@given(kernels, kernels, st.floats(0, 1))
def test_a_kernel_on_the_way_lies_between_both_in_everything(start: Kernel, end: Kernel, share: float) -> None:
    middle = start.towards(end, share, "between")
    assert middle.justification == "between"
    for kind in EdgeType:
        for low, value, high in (
            (start[kind], middle[kind], end[kind]),
            (start.backwards(kind), middle.backwards(kind), end.backwards(kind)),
        ):
            assert value == pytest.approx(low + share * (high - low))
    for tag in {*start.tags, *end.tags}:
        low, high = start.share(tag), end.share(tag)
        assert middle.tags[tag] == pytest.approx(low + share * (high - low))


@given(kernels)
def test_a_kernel_that_is_written_is_read_as_it_was(kernel: Kernel) -> None:
    types = {*kernel.weights, *kernel.against}
    entries = [f"{kind.name}={kernel[kind]!r}/{kernel.backwards(kind)!r}" for kind in types]
    entries += [f"@{tag}={share!r}" for tag, share in kernel.tags.items()]
    read = Kernel.parse(" , ".join(entries), "read")
    assert read.tags == kernel.tags
    for kind in EdgeType:
        assert (read[kind], read.backwards(kind)) == (kernel[kind], kernel.backwards(kind))


@pytest.mark.parametrize(
    "text", ["SEQ", "SEQ=", "SEQ=high", "SEQ=1/", "SEQ=1/2/3", "@time", "@time=1/2", "@time=", "=1"]
)
def test_an_invalid_kernel_is_refused_and_quoted(text: str) -> None:
    with pytest.raises((InputError, ConfigError), match=r"kernel|edge type"):
        Kernel.parse(f"SIM=1.0, {text}", "wrong")


@given(kernels)
def test_a_kernel_can_be_copied_and_stored_but_not_changed(kernel: Kernel) -> None:
    stored = pickle.loads(pickle.dumps(kernel))  # noqa: S301 - our own bytes
    copies = stored, copy.deepcopy(kernel), Kernel(**dataclasses.asdict(kernel))
    for one in copies:
        assert one == kernel
        assert [one.weights[name] for name in EdgeType.__members__] == [one[kind] for kind in EdgeType]  # type: ignore[index]
        for values in (one.weights, one.against, one.tags):
            assert isinstance(values, dict)
            for change in (values.clear, values.popitem, lambda values=values: values.update(SEQ=1.0)):
                with pytest.raises(TypeError, match="read-only"):
                    change()
    assert copies == (kernel,) * 3
