"""Serialisation of operators: one codec for each class, used by every journal and export."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from neurogated.core.clock import from_micros, to_micros
from neurogated.core.delta import Decay

__all__ = ["OperatorCodec", "operator_from_json", "operator_to_json", "register_operator"]


@dataclass(frozen=True, slots=True)
class OperatorCodec:
    """Converts operators of one class to JSON values and back."""

    kind: str
    """The name of the class in files."""
    type: type[Any]
    to_json: Callable[[Any], dict[str, Any]]
    from_json: Callable[[Mapping[str, Any]], Any]


_codecs: dict[str, OperatorCodec] = {}


def register_operator(codec: OperatorCodec) -> None:
    """Register the codec of another class of operators."""
    _codecs[codec.kind] = codec


def operator_to_json(operator: object) -> dict[str, Any]:
    """Return the JSON form of an operator, without the edges that it spares.

    Raises:
        ValueError: its class has no codec.
    """
    for codec in _codecs.values():
        if type(operator) is codec.type:
            return {"kind": codec.kind, **codec.to_json(operator)}
    raise ValueError(f"a {type(operator).__name__} has no codec; see register_operator")


def operator_from_json(values: Mapping[str, Any]) -> Any:  # noqa: ANN401 - of any registered class
    """Return the operator from the values of `operator_to_json`.

    Raises:
        ValueError: no codec has its kind.
    """
    codec = _codecs.get(values["kind"])
    if codec is None:
        raise ValueError(f"an operator of unknown kind {values['kind']!r}")
    return codec.from_json(values)


register_operator(
    OperatorCodec(
        kind="decay",
        type=Decay,
        to_json=lambda decay: {
            "factor": decay.factor,
            "idle_before": to_micros(decay.idle_before),
            "floor": decay.floor,
        },
        from_json=lambda values: Decay(values["factor"], from_micros(values["idle_before"]), values["floor"]),
    )
)
