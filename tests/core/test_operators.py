"""Codecs write and read operators."""

from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from neurogated import Decay
from neurogated.core import operators
from neurogated.core.operators import OperatorCodec, operator_from_json, operator_to_json, register_operator


def test_a_decay_is_read_as_it_was_written() -> None:
    decay = Decay(0.75, datetime(2026, 5, 1, 12, 0, 0, 7, tzinfo=UTC), 0.125)
    assert operator_from_json(operator_to_json(decay)) == decay


def test_a_kind_that_is_not_known_is_named() -> None:
    with pytest.raises(ValueError, match="unknown kind 'shrink'"):
        operator_from_json({"kind": "shrink"})


def test_a_class_is_written_once_it_has_a_codec(monkeypatch: pytest.MonkeyPatch) -> None:
    @dataclass(frozen=True)
    class Shrink:
        by: float

    monkeypatch.setattr(operators, "_codecs", dict(operators._codecs))
    with pytest.raises(ValueError, match="Shrink has no codec"):
        operator_to_json(Shrink(0.5))
    register_operator(OperatorCodec("shrink", Shrink, lambda one: {"by": one.by}, lambda values: Shrink(values["by"])))
    assert operator_from_json(operator_to_json(Shrink(0.5))) == Shrink(0.5)
