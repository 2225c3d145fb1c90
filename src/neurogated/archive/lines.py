"""Conversion of a delta to one line of JSON, and back.

Times are integer microseconds since 1970 UTC. A number stands for a node's embedding; the caller maps numbers to
vectors. Empty fields are left out.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from neurogated.core.clock import from_micros, to_micros
from neurogated.core.delta import Access, Charge, Decay, GraphDelta, NodeChange, PendingTask, WeightChange
from neurogated.core.edge_type import EdgeType
from neurogated.core.found import Found
from neurogated.core.model import EdgeKey, MemoryEdge, MemoryNode, Vector
from neurogated.core.node_kind import register_kind
from neurogated.core.scope import Scope

Json = dict[str, Any]

_PLAIN = ("base_energy", "importance", "uses", "charge", "kind", "role", "speaker", "title", "position", "tags")
"""Fields of a node that are written without conversion."""
_TIMES = ("created_at", "last_accessed", "valid_from", "valid_to", "expires_at", "energy_at", "charged_at", "timestamp")
"""Fields of a node that are times."""


def line_of(value: Json) -> bytes:
    """Return `value` as one line of UTF-8, including the newline."""
    try:
        return _dump(value, ascii_only=False)
    except UnicodeEncodeError:
        # An unchecked reason or name may hold a lone surrogate, which UTF-8 cannot encode.
        return _dump(value, ascii_only=True)


def _dump(value: Json, *, ascii_only: bool) -> bytes:
    text = json.dumps(value, ensure_ascii=ascii_only, allow_nan=False, separators=(",", ":"))
    return f"{text}\n".encode()


def delta_to_json(delta: GraphDelta, store_vector: Callable[[MemoryNode], int | None]) -> Json:
    """Return a delta as JSON values.

    Args:
        delta: the delta.
        store_vector: called for each node in order; returns the number that stands for its embedding.
    """
    values = {
        "at": to_micros(delta.at),
        "reason": delta.reason,
        "removed_edges": [_key(key) for key in delta.removed_edges],
        "removed_nodes": list(delta.removed_nodes),
        "nodes": [_node(node, store_vector(node)) for node in delta.nodes],
        "edges": [_edge(edge) for edge in delta.edges],
        "weights": [_weight(change) for change in delta.weights],
        "node_changes": [_change(change) for change in delta.node_changes],
        "operators": [_operator(operator) for operator in delta.operators],
        "queued": [_task(task) for task in delta.queued],
        "settled": [_task(task) for task in delta.settled],
        "touch": _mark(delta.touch),
    }
    return _without_empty(values, always={"at"})


def delta_from_json(values: Mapping[str, Any], read_vector: Callable[[int], Vector]) -> GraphDelta:
    """Return the delta that `delta_to_json` wrote.

    Args:
        values: its JSON values.
        read_vector: returns the embedding that a number stands for.

    Raises:
        KeyError, TypeError, ValueError, OverflowError, AttributeError: `values` is not such a delta.
    """
    _refuse_others(
        values,
        "at reason removed_edges removed_nodes nodes edges weights node_changes operators queued settled touch",
    )
    return GraphDelta(
        removed_edges=tuple(_key_from(key) for key in values.get("removed_edges", ())),
        removed_nodes=tuple(values.get("removed_nodes", ())),
        nodes=tuple(_node_from(node, read_vector) for node in values.get("nodes", ())),
        edges=tuple(_edge_from(edge) for edge in values.get("edges", ())),
        weights=tuple(_weight_from(change) for change in values.get("weights", ())),
        node_changes=tuple(_change_from(change) for change in values.get("node_changes", ())),
        operators=tuple(_operator_from(operator) for operator in values.get("operators", ())),
        queued=tuple(_task_from(task) for task in values.get("queued", ())),
        settled=tuple(_task_from(task) for task in values.get("settled", ())),
        touch=_mark_from(values.get("touch", {})),
        reason=values.get("reason", ""),
        at=_moment(values["at"]),
    )


def _node(node: MemoryNode, vector: int | None) -> Json:
    values = {
        "id": node.id,
        "content": node.content,
        "vector": vector,
        "metadata": dict(node.metadata),
        "found": node.found.to_json(),
        **{name: getattr(node, name) for name in _PLAIN},
        **_times(node, *_TIMES),
        "scope": {name: value for name, value in dataclasses.asdict(node.scope).items() if value},
    }
    return _without_empty(values, always={"content", "base_energy", "created_at", "last_accessed", "vector"})


def _node_from(values: Mapping[str, Any], read_vector: Callable[[int], Vector]) -> MemoryNode:
    _refuse_others(values, " ".join(("id content vector metadata found scope", *_PLAIN, *_TIMES)))
    fields: dict[str, Any] = {name: values[name] for name in _PLAIN if name in values}
    fields |= {name: _moment(values[name]) for name in _TIMES if name in values}
    register_kind(fields["kind"])
    return MemoryNode(
        values["id"],
        values["content"],
        None if values["vector"] is None else read_vector(values["vector"]),
        metadata=values.get("metadata", {}),
        found=Found.from_json(values.get("found", {})),
        scope=Scope(**values.get("scope", {})),
        **fields,
    )


def _change(change: NodeChange) -> Json:
    values = {"node": change.node, "energy": change.energy, "importance": change.importance}
    return {name: value for name, value in values.items() if value is not None} | _times(change, "energy_at")


def _change_from(values: Mapping[str, Any]) -> NodeChange:
    _refuse_others(values, "node energy importance energy_at")
    (moment,) = _times_from(values, "energy_at")
    return NodeChange(values["node"], values.get("energy"), moment, values.get("importance"))


def _edge(edge: MemoryEdge) -> Json:
    values = {
        "source": edge.source_id,
        "target": edge.target_id,
        "type": edge.type.value,
        "weight": edge.weight,
        "created_at": to_micros(edge.created_at),
        **_times(edge, "last_activated", "valid_from", "valid_to"),
        "relation": edge.relation,
    }
    return _without_empty(values, always={"weight", "created_at", "last_activated"})


def _edge_from(values: Mapping[str, Any]) -> MemoryEdge:
    _refuse_others(values, "source target type weight created_at last_activated valid_from valid_to relation")
    used, begin, end = _times_from(values, "last_activated", "valid_from", "valid_to")
    return MemoryEdge(
        values["source"],
        values["target"],
        EdgeType(values["type"]),
        values["weight"],
        _moment(values["created_at"]),
        used,
        begin,
        end,
        values.get("relation"),
    )


def _weight(change: WeightChange) -> Json:
    return {"edge": _key(change.edge), "weight": change.weight, **_times(change, "last_activated")}


def _weight_from(values: Mapping[str, Any]) -> WeightChange:
    _refuse_others(values, "edge weight last_activated")
    key = _key_from(values["edge"])
    (used,) = _times_from(values, "last_activated")
    return WeightChange(key, values["weight"], used, derived=not key.type.plastic)


def _operator(operator: Decay) -> Json:
    return operator.to_json() | ({"spared": sorted(map(_key, operator.spared))} if operator.spared else {})


def _operator_from(values: Mapping[str, Any]) -> Decay:
    _refuse_others(values, "kind factor idle_before floor spared")
    spared = frozenset(map(_key_from, values.get("spared", ())))
    return replace(Decay.from_json(values), spared=spared)


def _task(task: PendingTask) -> Json:
    return {"kind": task.kind, "nodes": list(task.nodes)}


def _task_from(values: Mapping[str, Any]) -> PendingTask:
    _refuse_others(values, "kind nodes")
    return PendingTask(values["kind"], tuple(values["nodes"]))


def _mark(mark: Access) -> Json:
    charges = {name: [charge.energy, to_micros(charge.at)] for name, charge in sorted(mark.charges.items())}
    values = {
        "nodes": dict(sorted(mark.nodes.items())),
        "edges": sorted(_key(key) for key in mark.edges),
        "charges": charges,
    }
    return _without_empty(values, always=set())


def _mark_from(values: Mapping[str, Any]) -> Access:
    _refuse_others(values, "nodes edges charges")
    edges = frozenset(_key_from(key) for key in values.get("edges", ()))
    charges = {name: Charge(energy, _moment(at)) for name, (energy, at) in values.get("charges", {}).items()}
    return Access(dict(values.get("nodes", {})), edges, charges)


def _key(key: EdgeKey) -> list[str]:
    return [key.source_id, key.target_id, key.type.value]


def _key_from(values: Any) -> EdgeKey:  # noqa: ANN401 - JSON
    source, target, kind = values
    return EdgeKey(source, target, EdgeType(kind))


def _times(owner: object, *names: str) -> Json:
    moments = {name: getattr(owner, name) for name in names}
    return {name: to_micros(moment) for name, moment in moments.items() if moment is not None}


def _times_from(values: Mapping[str, Any], *names: str) -> list[datetime | None]:
    return [_moment(values[name]) if name in values else None for name in names]


def _moment(micros: Any) -> datetime:  # noqa: ANN401 - JSON
    if not isinstance(micros, int) or isinstance(micros, bool):
        raise TypeError(f"{micros!r} is not a time in microseconds")
    return from_micros(micros)


def _without_empty(values: Json, always: set[str]) -> Json:
    return {name: value for name, value in values.items() if name in always or value or value == 0}


def _refuse_others(values: Mapping[str, Any], known: str) -> None:
    others = values.keys() - set(known.split())
    if others:
        raise ValueError(f"unknown fields {', '.join(sorted(others))}")
