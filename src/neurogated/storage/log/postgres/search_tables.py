"""The tables by which a graph is searched in the database: a projection of its log. They need the extension pgvector.

Ids and keywords are stored as hashes, so that texts with NUL characters fit and keys are short.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, LiteralString
from uuid import UUID

import numpy as np

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.clock import to_micros
from neurogated.core.codec import encode
from neurogated.core.delta import Decay, GraphDelta
from neurogated.core.edge_type import EdgeType
from neurogated.core.model import MOST_COUNTED, EdgeKey, MemoryEdge, MemoryNode
from neurogated.core.rendering import Described, keyword_text
from neurogated.core.view import Rows
from neurogated.storage.index.graph.resolve import Plan, make_plan
from neurogated.storage.index.graph.validity import micros_or_none
from neurogated.storage.index.graph_index import GraphIndex
from neurogated.storage.index.graph_state import GraphState
from neurogated.storage.index.records import MemoryRecords
from neurogated.text.keywords import search_terms

Statement = tuple[LiteralString, Sequence[object]]

NOBODY = 0
"""The owner of memories without a user."""
EXACT_BELOW = 10_000
"""Below this many memories, reading all vectors of a graph takes milliseconds, and finds all neighbours."""
_AT_ONCE = 1000
KNOWLEDGE: LiteralString = "('conflict', 'derived_from', 'echo', 'same_as')"
"""The types of edges that tell what memories say; few memories have many."""

TABLES: LiteralString = f"""
    CREATE EXTENSION IF NOT EXISTS vector SCHEMA public;
    CREATE TABLE memories (
        namespace bigint NOT NULL REFERENCES namespaces ON DELETE CASCADE,
        node uuid NOT NULL,
        body bytea NOT NULL,
        expires_at bigint,
        state jsonb NOT NULL DEFAULT '{{}}',
        PRIMARY KEY (namespace, node)
    );
    CREATE INDEX memories_by_expiry ON memories (namespace, expires_at) WHERE expires_at IS NOT NULL;
    CREATE TABLE vectors (
        namespace bigint NOT NULL REFERENCES namespaces ON DELETE CASCADE,
        owner bigint NOT NULL,
        node uuid NOT NULL,
        vector public.halfvec NOT NULL,
        PRIMARY KEY (namespace, owner, node)
    ) PARTITION BY LIST (namespace);
    CREATE TABLE vectors_of_others PARTITION OF vectors DEFAULT;
    CREATE TABLE terms (
        namespace bigint NOT NULL REFERENCES namespaces ON DELETE CASCADE,
        term bigint NOT NULL,
        owner bigint NOT NULL,
        node uuid NOT NULL,
        PRIMARY KEY (namespace, term, owner, node)
    );
    CREATE TABLE links (
        namespace bigint NOT NULL REFERENCES namespaces ON DELETE CASCADE,
        source uuid NOT NULL,
        target uuid NOT NULL,
        type text NOT NULL,
        weight double precision NOT NULL,
        last_activated bigint NOT NULL,
        body bytea NOT NULL,
        PRIMARY KEY (namespace, source, target, type)
    );
    CREATE INDEX links_by_target ON links (namespace, target);
    CREATE INDEX knowledge_by_source ON links (namespace, source, type) WHERE type IN {KNOWLEDGE};
    CREATE INDEX knowledge_by_target ON links (namespace, target, type) WHERE type IN {KNOWLEDGE};
    ALTER TABLE memories ALTER COLUMN body SET STATISTICS 0;
    ALTER TABLE vectors ALTER COLUMN vector SET STATISTICS 0;
    ALTER TABLE terms ALTER COLUMN term SET STATISTICS 0;
    ALTER TABLE links ALTER COLUMN body SET STATISTICS 0;
"""
"""The planner's statistics are samples that a compaction does not reach, so they may not have what users wrote."""
_DROP_ALL: Sequence[LiteralString] = (
    "DELETE FROM memories WHERE namespace = %s",
    "DELETE FROM vectors WHERE namespace = %s",
    "DELETE FROM terms WHERE namespace = %s",
    "DELETE FROM links WHERE namespace = %s",
)
_DROP_MEMORIES = "DELETE FROM memories WHERE namespace = %s AND node = ANY(%s)"
_DROP_VECTORS = """
    DELETE FROM vectors v USING unnest(%s::bigint[], %s::uuid[]) AS d (owner, node)
    WHERE v.namespace = %s AND v.owner = d.owner AND v.node = d.node
"""
_DROP_TERMS = """
    DELETE FROM terms t USING unnest(%s::bigint[], %s::bigint[], %s::uuid[]) AS d (term, owner, node)
    WHERE t.namespace = %s AND t.term = d.term AND t.owner = d.owner AND t.node = d.node
"""
_DROP_LINKS = """
    DELETE FROM links l USING unnest(%s::uuid[], %s::uuid[], %s::text[]) AS d (source, target, type)
    WHERE l.namespace = %s AND l.source = d.source AND l.target = d.target AND l.type = d.type
"""
_PUT_MEMORIES = """
    INSERT INTO memories (namespace, node, body, expires_at)
    SELECT %s, * FROM unnest(%s::uuid[], %s::bytea[], %s::bigint[])
    ON CONFLICT (namespace, node) DO UPDATE
    SET body = excluded.body, expires_at = excluded.expires_at, state = excluded.state
"""
_PUT_VECTORS = """
    INSERT INTO vectors SELECT %s, owner, node, vector::public.halfvec
    FROM unnest(%s::bigint[], %s::uuid[], %s::text[]) AS d (owner, node, vector)
"""
_PUT_TERMS = "INSERT INTO terms SELECT %s, * FROM unnest(%s::bigint[], %s::bigint[], %s::uuid[])"
_PUT_LINKS = """
    INSERT INTO links SELECT %s, *
    FROM unnest(%s::uuid[], %s::uuid[], %s::text[], %s::double precision[], %s::bigint[], %s::bytea[])
"""
_CHANGE_MEMORIES = """
    UPDATE memories m SET state = m.state || d.state FROM unnest(%s::uuid[], %s::jsonb[]) AS d (node, state)
    WHERE m.namespace = %s AND m.node = d.node
"""
_CHANGE_LINKS = """
    UPDATE links l SET weight = coalesce(d.weight, l.weight), last_activated = d.last_activated
    FROM unnest(%s::uuid[], %s::uuid[], %s::text[], %s::double precision[], %s::bigint[])
        AS d (source, target, type, weight, last_activated)
    WHERE l.namespace = %s AND l.source = d.source AND l.target = d.target AND l.type = d.type
"""
_IDLE = """
    l.namespace = %s AND l.type = ANY(%s) AND l.last_activated < %s
    AND (l.source, l.target, l.type) NOT IN (SELECT * FROM unnest(%s::uuid[], %s::uuid[], %s::text[]))
"""
_FADE: LiteralString = "UPDATE links l SET weight = l.weight * %s WHERE " + _IDLE  # noqa: S608 - constants
_PRUNE: LiteralString = "DELETE FROM links l WHERE l.weight < %s AND " + _IDLE  # noqa: S608 - constants


def number_of(text: str) -> int:
    """Return a hash of a text that fits a column."""
    return int.from_bytes(_digest(text)[:8], signed=True)


def key_of(node_id: str) -> UUID:
    """Return the key of a node."""
    return UUID(bytes=_digest(node_id)[:16])


def _digest(text: str) -> bytes:
    return sha256(text.encode(errors="surrogatepass")).digest()


def owner_of(user_id: str | None) -> int:
    """Return the number of a user."""
    return NOBODY if user_id is None else number_of(user_id)


def terms_of(text: str) -> list[int]:
    """Return the numbers of the distinct search terms of a text."""
    return [number_of(one) for one in dict.fromkeys(search_terms(text))]


def filled(namespace: int, state: GraphState) -> Iterator[Statement]:
    """Yield the statements that write a whole graph to empty tables."""
    empty = GraphIndex(MemoryConfig())
    nodes = tuple(state.nodes(state.view.live_nodes()))
    edges = tuple(state.edges(state.view.live_edges()))
    yield from changes(namespace, make_plan(empty.topology.view(), GraphDelta(nodes=nodes, edges=edges)), empty)


def unseparated(namespace: int) -> Statement:
    """Return the statement that drops the vectors of a graph if they have a table of their own."""
    return f"DROP TABLE IF EXISTS vectors_of_{namespace:d}", ()


def dropped(namespace: int) -> Iterator[Statement]:
    """Yield the statements that remove a graph from the tables."""
    yield unseparated(namespace)
    for statement in _DROP_ALL:
        yield statement, (namespace,)


def changes(namespace: int, plan: Plan, index: GraphIndex) -> Iterator[Statement]:
    """Yield the statements that bring the tables from the state of `index` to the state after `plan`."""
    view, delta = index.topology.view(), plan.delta
    yield from _drops(namespace, plan, index)
    for begin in range(0, len(delta.nodes), _AT_ONCE):
        yield from _puts(namespace, delta.nodes[begin : begin + _AT_ONCE])
    for begin in range(0, len(delta.edges), _AT_ONCE):
        edges = delta.edges[begin : begin + _AT_ONCE]
        values = [(one.weight, to_micros(one.last_activated or one.created_at), _link(one)) for one in edges]
        yield _PUT_LINKS, (namespace, *_columns(3, (_link_key(one.key) for one in edges)), *_columns(3, values))
    weighed = zip(delta.weights, plan.weight_times.tolist(), strict=True)
    if delta.weights:
        yield _CHANGE_LINKS, (*_columns(5, ((*_link_key(one.edge), one.weight, at) for one, at in weighed)), namespace)
    for operator, spared in zip(delta.operators, plan.spared, strict=True):
        idle = _idle(namespace, operator, index, spared)
        yield _FADE, (operator.factor, *idle)
        yield _PRUNE, (operator.floor, *idle)
    used = zip(map(view.edge_key, plan.touched_edges.tolist()), plan.touched_times.tolist(), strict=True)
    if plan.touched_edges.size:
        yield _CHANGE_LINKS, (*_columns(5, ((*_link_key(key), None, at) for key, at in used)), namespace)
    if states := _states(plan, index):
        yield _CHANGE_MEMORIES, (list(map(key_of, states)), list(map(json.dumps, states.values())), namespace)


def _drops(namespace: int, plan: Plan, index: GraphIndex) -> Iterator[Statement]:
    view = index.topology.view()
    if plan.removed_edges.size:
        yield _DROP_LINKS, (*_columns(3, map(_link_key, map(view.edge_key, plan.removed_edges.tolist()))), namespace)
    known = plan.node_rows[plan.node_rows < view.node_count]
    gone = np.union1d(plan.removed_nodes, known[view.alive.take(known).astype(np.bool_)])
    if gone.size:
        records = (index.records or MemoryRecords()).nodes(gone)
        owners = [owner_of(view.scope_of(row).user_id) for row in gone.tolist()]
        keys = [key_of(view.ids[row]) for row in gone.tolist()]
        yield _DROP_TERMS, (*_columns(3, term_rows(zip(records, owners, keys, strict=True))), namespace)
        yield _DROP_VECTORS, (owners, keys, namespace)
    if plan.removed_nodes.size:
        yield _DROP_MEMORIES, (namespace, list(map(key_of, plan.delta.removed_nodes)))


def _puts(namespace: int, nodes: Sequence[MemoryNode]) -> Iterator[Statement]:
    rows = [(one, owner_of(one.scope.user_id), key_of(one.id)) for one in nodes]
    stored = ((key, encode(GraphDelta(nodes=(one,))), micros_or_none(one.expires_at)) for one, _, key in rows)
    yield _PUT_MEMORIES, (namespace, *_columns(3, stored))
    embedded = [(owner, key, _vector(one.embedding)) for one, owner, key in rows if one.embedding is not None]
    yield _PUT_VECTORS, (namespace, *_columns(3, embedded))
    yield _PUT_TERMS, (namespace, *_columns(3, term_rows(rows)))


def term_rows(rows: Iterable[tuple[Described, int, UUID]]) -> Iterator[tuple[int, int, UUID]]:
    """Yield the rows of the keywords of memories, which are given with their owners and keys."""
    return ((term, owner, key) for one, owner, key in rows for term in terms_of(keyword_text(one)))


def _columns(count: int, rows: Iterable[Sequence[object]]) -> list[list[Any]]:
    """Return rows as so many columns."""
    found = list(zip(*rows, strict=True))
    return [list(one) for one in found] or [[] for _ in range(count)]


def vector_text(vector: Iterable[float]) -> str:
    """Return a vector as pgvector reads it."""
    return f"[{','.join(map(str, vector))}]"


def _vector(vector: Any) -> str:  # noqa: ANN401 - a sequence or an array
    return vector_text(np.asarray(vector, dtype=np.float32).tolist())


def _link_key(key: EdgeKey) -> tuple[UUID, UUID, str]:
    return key_of(key.source_id), key_of(key.target_id), key.type.value


def _link(edge: MemoryEdge) -> bytes:
    return encode(GraphDelta(edges=(edge,)))


def _states(plan: Plan, index: GraphIndex) -> Mapping[str, dict[str, object]]:
    """Return the changed fields of nodes that the delta does not put as a whole."""
    view, put = index.topology.view(), dict(zip(plan.node_rows.tolist(), plan.delta.nodes, strict=True))
    changed: defaultdict[str, dict[str, object]] = defaultdict(dict)
    for one in plan.delta.node_changes:
        values = {"base_energy": one.energy, "importance": one.importance, "energy_at": micros_or_none(one.energy_at)}
        changed[one.node] |= {name: value for name, value in values.items() if value is not None}

    def name_of(row: int) -> str:
        return put[row].id if row in put else view.ids[row]

    for row, count in zip(plan.touched_nodes.tolist(), plan.touched_counts.tolist(), strict=True):
        before = put[row].uses if row in put else int(view.uses.take(np.array([row]))[0])
        uses = min(before + count, MOST_COUNTED)
        changed[name_of(row)] |= {"uses": uses, "last_accessed": to_micros(plan.delta.at)}
    charged = (plan.charged_nodes, plan.charges, plan.charge_times)
    for row, charge, at in zip(*(column.tolist() for column in charged), strict=True):
        changed[name_of(row)] |= {"charge": charge, "charged_at": at}
    return changed


def _idle(namespace: int, operator: Decay, index: GraphIndex, spared: Rows) -> tuple[object, ...]:
    keys = map(_link_key, map(index.topology.view().edge_key, spared.tolist()))
    plastic = [one.value for one in EdgeType if one.plastic]
    return namespace, plastic, to_micros(operator.idle_before), *_columns(3, keys)
