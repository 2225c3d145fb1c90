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
