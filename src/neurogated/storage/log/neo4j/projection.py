"""A delta as nodes and relationships that a person can browse: a projection of the log, which holds no truth.

Memories have the labels `NeurogatedNode` and one of `Memory`, `Fact` and `Policy`; tags have `NeurogatedTag` and `Tag`.
A relationship has the name of a built-in type of edges, such as `SEQ`, or else `RELATED`; the word for the type is a
property. Times are microseconds since 1970, each beside a text.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from neurogated.core.clock import from_micros, to_micros
from neurogated.core.edge_type import BUILT_IN_TYPES, EdgeType
from neurogated.core.model import MOST_COUNTED, EdgeKey, MemoryEdge, MemoryNode
from neurogated.core.view import GraphView
from neurogated.storage.index.graph.resolve import Plan
from neurogated.storage.index.graph.validity import micros_or_none
from neurogated.storage.index.graph_index import GraphIndex, MemoryRecords
from neurogated.storage.log.neo4j.connection import OWN, BoltStatement

_AT_ONCE = 1000
"""How many nodes or relationships a statement writes."""

_LABELS: Final = {"fact": "Fact", "policy": "Policy"}
"""The label of a kind of nodes; all others are `Memory`."""
_OTHER: Final = "RELATED"
NAMES: Final = "|".join(sorted({_OTHER, *(kind.name for kind in BUILT_IN_TYPES)}))
"""The names of all relationships between memories, as a pattern."""

_NODE: Final = f"(n:NeurogatedNode {{{OWN}, id: row.id}})"
_SOURCE: Final = f"(a:NeurogatedNode {{{OWN}, id: row.source}})"
_TARGET: Final = f"(b:NeurogatedNode {{{OWN}, id: row.target}})"
_TAG: Final = f"(t:NeurogatedTag {{{OWN}, name: row.name}})"

_CREATE_NODES: Final = {
    label: f"UNWIND $rows AS row CREATE (n:NeurogatedNode:{label} {{{OWN}, id: row.values.id}}) SET n += row.values"
    for label in ("Memory", *_LABELS.values())
}
_REPLACE_NODES: Final = {
    label: f"UNWIND $rows AS row MATCH {_NODE} SET n += row.values REMOVE n:{':'.join(_CREATE_NODES)} SET n:{label}"
    for label in _CREATE_NODES
}
_CHANGE_NODES: Final = f"UNWIND $rows AS row MATCH {_NODE} SET n += row.values"
_DELETE_NODES: Final = f"UNWIND $rows AS row MATCH {_NODE} DETACH DELETE n"
_UNTAG: Final = f"UNWIND $rows AS row MATCH {_NODE}-[e:TAGGED]->(:NeurogatedTag) DELETE e"
_TAG_NODES: Final = (
    f"UNWIND $rows AS row MATCH {_NODE} UNWIND row.tags AS name"
    f" MERGE (t:NeurogatedTag:Tag {{{OWN}, name: name}}) CREATE (n)-[:TAGGED]->(t)"
)
_DELETE_TAGS: Final = f"UNWIND $rows AS row MATCH {_TAG} WHERE NOT (t)<-[:TAGGED]-() DETACH DELETE t"

_CREATE_EDGES: Final = {
    name: f"UNWIND $rows AS row MATCH {_SOURCE} MATCH {_TARGET} CREATE (a)-[e:{name}]->(b) SET e = row.values"
    for name in NAMES.split("|")
}
_ONE_EDGE: Final = f"MATCH {_SOURCE}-[e:{NAMES}]->{_TARGET} WHERE e.type = row.type"
_CHANGE_EDGES: Final = f"UNWIND $rows AS row {_ONE_EDGE} SET e += row.values"
_DELETE_EDGES: Final = f"UNWIND $rows AS row {_ONE_EDGE} DELETE e"
_IDLE_EDGES: Final = (
    f"MATCH (a:NeurogatedNode {{{OWN}}})-[e:{NAMES}]->(b:NeurogatedNode) WHERE e.type IN $plastic"
    " AND e.last_activated < $idle_before AND NOT [a.id, b.id, e.type] IN $spared"
)
_FADE_EDGES: Final = f"{_IDLE_EDGES} SET e.weight = e.weight * $factor"
_PRUNE_EDGES: Final = f"{_IDLE_EDGES} AND e.weight < $floor DELETE e"

Values = dict[str, Any]

_OF_NODE: Final = ("id", "content", "kind", "title", "role", "speaker", "position", "importance", "uses", "charge")
_TIMES_OF_NODE: Final = (
    *("energy_at", "charged_at", "last_accessed", "created_at"),
    *("valid_from", "valid_to", "expires_at", "timestamp"),
)
_STATED: Final = ("subject", "attribute", "value", "confidence", "is_denied")
"""The parts of a fact."""


def in_portions(text: str, namespace: str, rows: Sequence[Mapping[str, Any]]) -> Iterator[BoltStatement]:
    """Yield a statement for each portion of its rows; none if there are no rows."""
    for begin in range(0, len(rows), _AT_ONCE):
        yield BoltStatement(text, {"namespace": namespace, "rows": rows[begin : begin + _AT_ONCE]})


def projection_of(namespace: str, plan: Plan, index: GraphIndex) -> Iterator[BoltStatement]:
    """Yield the statements that bring the nodes and relationships of a graph from `index` to the state after `plan`."""
    view, delta = index.topology.view(), plan.delta
    for text, rows in _statements(plan, index, view):
        yield from in_portions(text, namespace, rows)
    for operator in delta.operators:
        values = {
            "namespace": namespace,
            "plastic": [kind.value for kind in EdgeType if kind.plastic],
            "idle_before": to_micros(operator.idle_before),
            "spared": [list(_key(key).values()) for key in operator.spared],
            "factor": operator.factor,
            "floor": operator.floor,
        }
        yield BoltStatement(_FADE_EDGES, values)
        yield BoltStatement(_PRUNE_EDGES, values)


def _statements(plan: Plan, index: GraphIndex, view: GraphView) -> Iterator[tuple[str, Sequence[Values]]]:
    """Yield the changes of a plan besides its operators, in the order in which a graph applies them."""
    delta, removed = plan.delta, set(plan.delta.removed_nodes)
    replaced = {node.id: node for node in delta.nodes if node.id not in removed and view.find(node.id) is not None}
    node_ids = [*removed, *replaced]
    records = (index.records or MemoryRecords()).nodes(view.rows(node_ids))
    old_tags = {node_id: record.tags for node_id, record in zip(node_ids, records, strict=True)}
    yield _DELETE_EDGES, [_key(view.edge_key(row)) for row in plan.removed_edges.tolist()]
    yield _UNTAG, [{"id": node_id} for node_id, tags in old_tags.items() if tags]
    yield _DELETE_NODES, [{"id": node_id} for node_id in delta.removed_nodes]

    for label, statement in _CREATE_NODES.items():
        rows = [{"id": node.id, "values": node_values(node)} for node in delta.nodes if label_of(node.kind) == label]
        yield statement, [row for row in rows if row["id"] not in replaced]
        yield _REPLACE_NODES[label], [row for row in rows if row["id"] in replaced]
    yield _TAG_NODES, [{"id": node.id, "tags": list(node.tags)} for node in delta.nodes if node.tags]
    yield _DELETE_TAGS, [{"name": name} for name in sorted({tag for tags in old_tags.values() for tag in tags})]

    edges = defaultdict(list)
    for edge in delta.edges:
        edges[edge.type.name if edge.type in BUILT_IN_TYPES else _OTHER].append(
            _key(edge.key) | {"values": edge_values(edge)}
        )
    yield from ((_CREATE_EDGES[name], related) for name, related in edges.items())
    weighed = [
        _key(change.edge) | {"values": {"weight": change.weight} | _timed({"last_activated": moment})}
        for change, moment in zip(plan.delta.weights, plan.weight_times.tolist(), strict=True)
    ]
    used = zip(plan.touched_edges.tolist(), plan.touched_times.tolist(), strict=True)
    weighed += [_key(view.edge_key(row)) | {"values": _timed({"last_activated": moment})} for row, moment in used]
    yield _CHANGE_EDGES, weighed
    yield _CHANGE_NODES, _changed_nodes(plan, view)


def label_of(kind: str) -> str:
    """Return the label of a kind of nodes."""
    return _LABELS.get(kind, "Memory")


def _key(key: EdgeKey) -> Values:
    return {"source": key.source_id, "target": key.target_id, "type": key.type.value}


def node_values(node: MemoryNode) -> Values:
    """Return the properties of a node; None for those that it lacks."""
    scope, stated = node.scope, node.found.statement
    values: Values = {name: getattr(node, name) for name in _OF_NODE}
    values |= {"energy": node.base_energy, "path": list(scope.path)}
    values |= {name: getattr(scope, name) for name in ("user_id", "agent_id", "session_id")}
    values["metadata"] = json.dumps(node.metadata, ensure_ascii=False) if node.metadata else None
    values |= {name: getattr(stated, name, None) for name in _STATED}
    return values | _timed({name: micros_or_none(getattr(node, name)) for name in _TIMES_OF_NODE})


def edge_values(edge: MemoryEdge) -> Values:
    """Return the properties of a relationship; `since` is when it was created."""
    times = {"since": edge.created_at, "last_activated": edge.last_activated}
    times |= {"valid_from": edge.valid_from, "valid_to": edge.valid_to}
    values = {"type": edge.type.value, "weight": edge.weight, "relation": edge.relation}
    return _known(values | _timed({name: micros_or_none(moment) for name, moment in times.items()}))


def _changed_nodes(plan: Plan, view: GraphView) -> list[Values]:
    put = dict(zip(plan.node_rows.tolist(), plan.delta.nodes, strict=True))
    changed: defaultdict[str, Values] = defaultdict(dict)
    for change in plan.delta.node_changes:
        values = {"importance": change.importance, "energy": change.energy}
        changed[change.node] |= _known(values | _timed({"energy_at": micros_or_none(change.energy_at)}))
    for row, count in zip(plan.touched_nodes.tolist(), plan.touched_counts.tolist(), strict=True):
        before = put[row].uses if row in put else int(view.uses.take(np.array([row]))[0])
        name = put[row].id if row in put else view.ids[row]
        changed[name] |= {"uses": min(before + count, MOST_COUNTED)}
        changed[name] |= _timed({"last_accessed": to_micros(plan.delta.at)})
    charges = (plan.charged_nodes, plan.charges, plan.charge_times)
    for row, charge, moment in zip(*(column.tolist() for column in charges), strict=True):
        name = put[row].id if row in put else view.ids[row]
        changed[name] |= {"charge": charge} | _timed({"charged_at": moment})
    return [{"id": name, "values": values} for name, values in changed.items()]


def _timed(times: Mapping[str, int | None]) -> Values:
    """Return times in microseconds, each beside a text that people can read."""
    texts = {
        f"{name}_text": None if moment is None else from_micros(moment).isoformat() for name, moment in times.items()
    }
    return {**times, **texts}


def _known(values: Values) -> Values:
    return {name: value for name, value in values.items() if value is not None}
