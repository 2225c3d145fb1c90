"""Kernels: a weight for each direction, interpolation, and the text format."""

import copy
import dataclasses
import pickle

import hypothesis.strategies as st
import pytest
from hypothesis import given

from neurogated import EdgeType, Kernel
from neurogated.errors import ConfigError, InputError

weights = st.floats(0, 2)
kinds = st.sampled_from(list(EdgeType))
tags = st.dictionaries(st.sampled_from(["time", "place"]), st.floats(0, 1))
kernels = st.builds(Kernel, st.dictionaries(kinds, weights), st.just("drawn"), st.dictionaries(kinds, weights), tags)


def test_a_type_that_is_not_named_is_neutral_and_walking_against_counts_as_walking_along() -> None:
    kernel = Kernel({EdgeType.SEQ: 0.5, EdgeType.CAUSE: 2.0}, against={EdgeType.CAUSE: 0.25, EdgeType.SIM: 0.0})
    assert [kernel[kind] for kind in (EdgeType.SEQ, EdgeType.CAUSE, EdgeType.SIM)] == [0.5, 2.0, 1.0]
    assert [kernel.backwards(kind) for kind in (EdgeType.SEQ, EdgeType.CAUSE, EdgeType.SIM)] == [0.5, 0.25, 0.0]
    assert kernel.backwards(EdgeType.TERM) == 1.0


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_a_share_of_a_mark_out_of_range_is_refused(share: float) -> None:
    with pytest.raises(InputError, match="@time"):
        Kernel(tags={"time": share})


@pytest.mark.parametrize("weight", [-0.1, 2.1, float("nan")])
def test_a_weight_against_the_direction_out_of_range_is_refused(weight: float) -> None:
    with pytest.raises(InputError, match="SEQ"):
        Kernel(against={EdgeType.SEQ: weight})


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


@pytest.mark.parametrize("text", ["SEQ=2.5", "SEQ=1/3", "@time=2", "SEQ=nan"])
def test_numbers_out_of_range_are_refused(text: str) -> None:
    with pytest.raises(InputError):
        Kernel.parse(text, "wrong")


def test_a_kernel_on_the_way_names_types_and_tags_in_the_order_of_both_ends() -> None:
    first, second, third, fourth, *_ = EdgeType
    tags = [f"tag {number}" for number in range(6)]
    start = Kernel({third: 1.0, first: 0.5}, "start", {fourth: 1.0}, dict.fromkeys(tags[3:], 1.0))
    middle = start.towards(Kernel({second: 1.0}, "end", {}, dict.fromkeys(tags, 1.0)), 0.5, "between")
    assert list(middle.weights) == list(middle.against) == [third, first, fourth, second]
    assert list(middle.tags) == [*tags[3:], *tags[:3]]


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
