"""A delta as bytes, as the logs of databases store it; as JSON values, as exports store it; and back."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurogated.core.clock import from_micros, to_micros
from neurogated.core.delta import Access, Charge, Decay, GraphDelta, NodeChange, PendingTask, WeightChange
from neurogated.core.edge_type import BUILT_IN_TYPES, EdgeType
from neurogated.core.found import Found
from neurogated.core.model import EdgeKey, MemoryEdge, MemoryNode, Vector
from neurogated.core.node_kind import register_kind
from neurogated.core.scope import Scope
from neurogated.errors import ConfigError, CorruptMemoryError, FormatVersionError

Json = dict[str, Any]


def line_of(value: Json) -> bytes:
    """Return JSON values, whose texts have no lone surrogates, as one line of UTF-8, including the newline."""
    return f"{json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(',', ':'))}\n".encode()


def delta_to_json(delta: GraphDelta, store_vector: Callable[[MemoryNode], int | None]) -> Json:
    """Return a delta as JSON values; `store_vector` returns the number that stands for the vector of each node."""
    nodes = [{**_NODE.write(node), "vector": store_vector(node)} for node in delta.nodes]
    return _DELTA.write(delta) | ({"nodes": nodes} if nodes else {})


def delta_from_json(values: Mapping[str, Any], read_vector: Callable[[int], Vector]) -> GraphDelta:
    """Return the delta that `delta_to_json` wrote, with vectors by number; other values raise errors of Python."""
    rest, nodes = dict(values), []
    for node in rest.pop("nodes", ()):
        number = node.pop("vector")
        nodes.append(_NODE.read(node, embedding=None if number is None else read_vector(number)))
    delta: GraphDelta = _DELTA.read(rest, nodes=tuple(nodes))
    return delta


class _Converted(NamedTuple):
    write: Callable[[Any], Any] = lambda value: value
    read: Callable[[Any], Any] = lambda value: value


@dataclass(frozen=True, slots=True)
class _Object:
    """Values with fields, which are written as JSON objects."""

    make: Callable[..., Any]
    """Called with the fields by name."""
    fields: Mapping[str, _Form]
    """By their names in JSON."""
    always: frozenset[str]
    """Fields that are written even if they are empty."""
    attributes: Mapping[str, str] = field(default_factory=dict)
    """Names of fields that have another name in JSON, by that name."""

    def write(self, value: object) -> Json:
        named = ((name, form, self.attributes.get(name, name)) for name, form in self.fields.items())
        values = {name: form.write(getattr(value, attribute)) for name, form, attribute in named}
        return {name: one for name, one in values.items() if name in self.always or one or one == 0}

    def read(self, values: Mapping[str, Any], **more: object) -> Any:  # noqa: ANN401 - what `make` returns
        if others := values.keys() - self.fields.keys():
            raise ValueError(f"unknown fields {', '.join(sorted(others))}")
        if missing := self.always - values.keys():
            raise ValueError(f"no fields {', '.join(sorted(missing))}")
        found = {self.attributes.get(name, name): self.fields[name].read(one) for name, one in values.items()}
        return self.make(**found, **more)


_Form = _Converted | _Object
"""How values of one kind are written as JSON and read."""


def _each(form: _Form) -> _Converted:
    return _Converted(lambda some: [form.write(one) for one in some], lambda some: tuple(map(form.read, some)))


def _moment(micros: Any) -> datetime:  # noqa: ANN401 - JSON
    if not isinstance(micros, int) or isinstance(micros, bool):
        raise TypeError(f"{micros!r} is not a time in microseconds")
    return from_micros(micros)


def _key_from(values: Any) -> EdgeKey:  # noqa: ANN401 - JSON
    source, target, kind = values
    return EdgeKey(source, target, EdgeType(kind))


def _charges_from(values: Mapping[str, Any]) -> dict[str, Charge]:
    return {name: Charge(energy, _moment(at)) for name, (energy, at) in values.items()}


def _operator(operator: Decay) -> Json:
    return operator.to_json() | ({"spared": _KEY_SET.write(operator.spared)} if operator.spared else {})


def _operator_from(values: Mapping[str, Any]) -> Decay:
    operator = replace(Decay.from_json(values), spared=_KEY_SET.read(values.get("spared", ())))
    if others := values.keys() - {*operator.to_json(), "spared"}:
        raise ValueError(f"unknown fields {', '.join(sorted(others))}")
    return operator


def _weight_from(*, edge: EdgeKey, **fields: Any) -> WeightChange:  # noqa: ANN401 - JSON
    return WeightChange(edge, **fields, derived=not edge.type.plastic)


def _node_from(*, kind: str, **fields: Any) -> MemoryNode:  # noqa: ANN401 - JSON
    register_kind(kind)
    return MemoryNode(kind=kind, **fields)


def _fields(form: _Form, names: str) -> dict[str, _Form]:
    return dict.fromkeys(names.split(), form)


_PLAIN = _Converted()
_TIME = _Converted(lambda moment: None if moment is None else to_micros(moment), _moment)
_TYPE = _Converted(lambda kind: kind.value, EdgeType)
_KEY = _Converted(lambda key: [key.source_id, key.target_id, key.type.value], _key_from)
_KEY_SET = _Converted(lambda keys: sorted(map(_KEY.write, keys)), lambda keys: frozenset(map(_key_from, keys)))
_NODE = _Object(
    _node_from,
    {
        **_fields(_PLAIN, "id content"),
        "metadata": _Converted(dict),
        "found": _Converted(Found.to_json, Found.from_json),
        **_fields(_PLAIN, "base_energy importance uses charge kind role speaker title position tags"),
        **_fields(_TIME, "created_at last_accessed valid_from valid_to expires_at energy_at charged_at timestamp"),
        "scope": _Object(Scope, _fields(_PLAIN, "user_id agent_id session_id path"), frozenset()),
    },
    frozenset({"id", "content", "kind", "base_energy", "created_at", "last_accessed"}),
)
_EDGE = _Object(
    MemoryEdge,
    {
        **_fields(_PLAIN, "source target"),
        "type": _TYPE,
        "weight": _PLAIN,
        **_fields(_TIME, "created_at last_activated valid_from valid_to"),
        "relation": _PLAIN,
    },
    frozenset({"source", "target", "type", "weight", "created_at"}),
    {"source": "source_id", "target": "target_id"},
)
_WEIGHT = _Object(
    _weight_from, {"edge": _KEY, "weight": _PLAIN, "last_activated": _TIME}, frozenset({"edge", "weight"})
)
_CHANGE = _Object(NodeChange, {**_fields(_PLAIN, "node energy importance"), "energy_at": _TIME}, frozenset({"node"}))
_TASK = _Object(PendingTask, {"kind": _PLAIN, "nodes": _each(_PLAIN)}, frozenset({"kind", "nodes"}))
_ACCESS = _Object(
    Access,
    {
        "nodes": _Converted(lambda nodes: dict(sorted(nodes.items())), dict),
        "edges": _KEY_SET,
        "charges": _Converted(
            lambda charges: {name: [one.energy, to_micros(one.at)] for name, one in sorted(charges.items())},
            _charges_from,
        ),
    },
    frozenset(),
)
_DELTA = _Object(
    GraphDelta,
    {
        "at": _TIME,
        "reason": _PLAIN,
        "removed_edges": _each(_KEY),
        "removed_nodes": _each(_PLAIN),
        "edges": _each(_EDGE),
        "weights": _each(_WEIGHT),
        "node_changes": _each(_CHANGE),
        "operators": _each(_Converted(_operator, _operator_from)),
        **_fields(_each(_TASK), "queued settled"),
        "touch": _ACCESS,
    },
    frozenset({"at"}),
)


_VERSION = 1
_CHECKSUM = struct.Struct("<I")
_HEADER = struct.Struct("<BI")
_BODY = _CHECKSUM.size + _HEADER.size
_FLOAT = "<f4"
_LEVEL = 1  # higher levels take longer and save little: most texts are short


def encode(delta: GraphDelta) -> bytes:
    """Return a delta as bytes, without its owner, which is not stored."""
    vectors: list[bytes] = []

    def store_vector(node: MemoryNode) -> int | None:
        if node.embedding is None:
            return None
        vectors.append(np.asarray(node.embedding, dtype=_FLOAT).tobytes())
        return len(node.embedding)

    values = delta_to_json(delta, store_vector)
    named = [
        *delta.removed_edges,
        *(edge.key for edge in delta.edges),
        *(change.edge for change in delta.weights),
        *chain.from_iterable(operator.spared for operator in delta.operators),
        *delta.touch.edges,
    ]
    if types := {key.type for key in named} - BUILT_IN_TYPES:
        values["types"] = sorted([one.name, one.value, one.plastic, one.both_ways] for one in types)
    packed = zlib.compress(line_of(values), _LEVEL)
    rest = b"".join((_HEADER.pack(_VERSION, len(packed)), packed, *vectors))
    return _CHECKSUM.pack(zlib.crc32(rest)) + rest


def decode(stored: bytes) -> GraphDelta:
    """Return the delta that `encode` stored; unknown edge types and node kinds are registered.

    Raises:
        CorruptMemoryError: the bytes are damaged.
        FormatVersionError: a newer version of this library wrote them.
        ConfigError: this process has registered another edge type under a name in the delta.
    """
    if len(stored) < _BODY or _CHECKSUM.unpack_from(stored) != (zlib.crc32(stored[_CHECKSUM.size :]),):
        raise CorruptMemoryError(f"a change of {len(stored)} bytes is damaged; restore the memory from a backup")
    version, length = _HEADER.unpack_from(stored, _CHECKSUM.size)
    if version != _VERSION:
        raise FormatVersionError(f"a change has format {version}, but this version of neurogated reads {_VERSION}")
    try:
        values = json.loads(zlib.decompress(stored[_BODY : _BODY + length]))
        vectors, taken = np.frombuffer(stored, _FLOAT, offset=_BODY + length), 0

        def take(dimension: int) -> NDArray[np.float32]:
            nonlocal taken
            taken += dimension
            return vectors[taken - dimension : taken]

        for name, value, plastic, both_ways in values.pop("types", ()):
            EdgeType.register(name, value, plastic=plastic, both_ways=both_ways)
        delta = delta_from_json(values, take)
    except ConfigError:
        raise
    except (zlib.error, KeyError, TypeError, ValueError, OverflowError, AttributeError) as error:
        raise CorruptMemoryError(f"a change cannot be read ({error}); restore the memory from a backup") from error
    if taken != vectors.size:
        raise CorruptMemoryError(f"a change has {vectors.size} numbers of vectors, but its nodes have {taken}")
    return delta
