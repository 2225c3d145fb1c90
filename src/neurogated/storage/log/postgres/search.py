"""Search in the database: the memories nearest to a question, and the part of the graph around them.

A vector index over many graphs or users finds almost nothing in a small one, because it stops before it meets their
rows. So below `EXACT_BELOW` memories all vectors of the owner are read, and larger graphs have an index of their own.
Every search leaves out the memories that have expired, which no view shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple
from uuid import UUID

from psycopg import sql

from neurogated.core.clock import from_micros
from neurogated.core.codec import decode
from neurogated.core.delta import GraphDelta
from neurogated.core.edge_type import EdgeType
from neurogated.core.model import MemoryEdge, MemoryNode, Vector
from neurogated.storage.log.postgres.search_tables import EXACT_BELOW, KNOWLEDGE, terms_of, vector_text
from neurogated.storage.log.postgres.server import Execute, Row

COMMON = 1000
"""A keyword that more memories have is not looked up, and no more edges of a memory are walked in one direction."""
_LEAST_SEARCHED = 200
"""How many neighbours HNSW holds during a search; with 100, it missed 2 of 100 once the index had grown to 100,000."""
_HOPS = 2
EACH, FIRST, _MOST = 30, 5, 60
"""How many memories each search finds, of how many the neighbours are loaded, and how many neighbours these are.

Python loads four memories in a millisecond."""

_COUNT = """
    SELECT count(*) FROM (
        SELECT FROM vectors WHERE namespace = %s AND (%s::bigint[] IS NULL OR owner = ANY(%s)) LIMIT %s
    ) AS counted
"""
# A sum is no expression of an index, so all vectors are compared.
NEAREST = """
    SELECT node FROM vectors WHERE namespace = %s AND (%s::bigint[] IS NULL OR owner = ANY(%s))
    AND node NOT IN (SELECT node FROM memories WHERE namespace = %s AND expires_at <= %s)
    ORDER BY (vector OPERATOR(public.<=>) %s::text::public.halfvec) + 0 LIMIT %s
"""
_APPROXIMATE = """
    SELECT node FROM vectors WHERE namespace = {namespace}
    AND (%s::bigint[] IS NULL OR owner = ANY(%s))
    AND node NOT IN (SELECT node FROM memories WHERE namespace = {namespace} AND expires_at <= %s)
    ORDER BY vector::public.halfvec({dimension}) OPERATOR(public.<=>) %s::text::public.halfvec({dimension}) LIMIT %s
"""
_SEARCH_FURTHER = """
    SELECT set_config('hnsw.ef_search', %s, true), set_config('hnsw.iterative_scan', 'strict_order', true)
"""
_BY_WORDS = """
    WITH found AS (
        SELECT node, count(*) OVER (PARTITION BY term) AS held FROM unnest(%s::bigint[]) AS asked (term),
        LATERAL (
            SELECT node FROM terms t
            WHERE t.namespace = %s AND t.term = asked.term AND (%s::bigint[] IS NULL OR owner = ANY(%s))
            AND node NOT IN (SELECT node FROM memories WHERE namespace = %s AND expires_at <= %s) LIMIT %s
        ) AS counted
    )
    SELECT node FROM found WHERE held < %s GROUP BY node ORDER BY sum(1.0 / (held + 1.0)) DESC, node LIMIT %s
"""
_AROUND = """
    WITH RECURSIVE expired AS MATERIALIZED (
        SELECT node FROM memories WHERE namespace = %s AND expires_at <= %s
    ), reached (node, hop, weight) AS (
        SELECT node, 0, 1.0::double precision FROM unnest(%s::uuid[]) AS first (node)
        UNION ALL
        SELECT CASE WHEN l.source = r.node THEN l.target ELSE l.source END, r.hop + 1, r.weight * l.weight
        FROM reached r JOIN LATERAL (
            (SELECT source, target, weight FROM links WHERE namespace = %s AND source = r.node
                AND target NOT IN (SELECT node FROM expired) LIMIT %s)
            UNION ALL (SELECT source, target, weight FROM links WHERE namespace = %s AND target = r.node
                AND source NOT IN (SELECT node FROM expired) LIMIT %s)
        ) l ON r.hop < %s
    )
    SELECT node FROM reached GROUP BY node ORDER BY min(hop), max(weight) DESC, node LIMIT %s
"""
_STEPS: Sequence[tuple[EdgeType | None, EdgeType | None]] = (
    (EdgeType.SAME_AS, None),
    (EdgeType.ECHO, EdgeType.SAME_AS),
    *[(None, EdgeType.DERIVED_FROM)] * 2,
    *[(None, EdgeType.CONFLICT), (EdgeType.CONFLICT, None)] * 2,
    (EdgeType.DERIVED_FROM, None),
)
"""The edges out of and into memories that lead to their groups, their claims and profiles, the conflicts of all these,
those of the other sides, and the memories that make the claims."""
_ABOUT = f"""
    WITH RECURSIVE told (node, step) AS (
        SELECT node, 1 FROM unnest(%s::uuid[]) AS first (node)
        UNION
        SELECT l.node, t.step + 1 FROM told t, LATERAL (
            SELECT t.node
            UNION ALL (SELECT target FROM links WHERE namespace = %s AND source = t.node
                AND type IN {KNOWLEDGE} AND type = (%s::text[])[t.step] LIMIT %s)
            UNION ALL (SELECT source FROM links WHERE namespace = %s AND target = t.node
                AND type IN {KNOWLEDGE} AND type = (%s::text[])[t.step] LIMIT %s)
        ) l (node) WHERE t.step <= %s
    )
    SELECT node FROM told WHERE step > %s
"""  # noqa: S608 - constants
_MEMORIES = "SELECT body, state FROM memories WHERE namespace = %s AND node = ANY(%s) ORDER BY node"
_LINKS = """
    SELECT body, weight, last_activated FROM links
    WHERE namespace = %s AND source = ANY(%s) AND target = ANY(%s) ORDER BY source, target, type
"""
_TIMES = {"energy_at", "last_accessed", "charged_at"}


class Question(NamedTuple):
    """What to search for in one graph."""

    namespace: int
    owners: Sequence[int] | None
    """The owners of the memories; None for all."""
    most: int
    """How many memories each search finds."""
    now: int
    """The present in microseconds."""


def nearest(execute: Execute, question: Question, vector: Vector) -> list[UUID]:
    """Return the memories with the most similar vectors, best first."""
    namespace, owners, most, now = question
    ((size,),) = execute(_COUNT, (namespace, owners, owners, EXACT_BELOW + 1))
    asked = vector_text(vector)
    if size > EXACT_BELOW:
        execute(_SEARCH_FURTHER, (str(max(_LEAST_SEARCHED, 2 * most)),))
        statement = sql.SQL(_APPROXIMATE).format(namespace=sql.Literal(namespace), dimension=sql.Literal(len(vector)))
        found = execute(statement.as_string(), (owners, owners, now, asked, most))
        # The search of an index ends early if it meets too many expired memories.
        if len(found) == most:
            return [node for (node,) in found]
    return [node for (node,) in execute(NEAREST, (namespace, owners, owners, namespace, now, asked, most))]


def by_words(execute: Execute, question: Question, text: str) -> list[UUID]:
    """Return the memories that share the rarest keywords with a text, best first."""
    namespace, owners, most, now = question
    values = terms_of(text), namespace, owners, owners, namespace, now, COMMON, COMMON, most
    return [node for (node,) in execute(_BY_WORDS, values)]


def neighbourhood(execute: Execute, question: Question, texts: Sequence[str], vectors: Sequence[Vector]) -> GraphDelta:
    """Return the memories that some questions find, their neighbours, and the edges between all of them."""
    namespace, now = question.namespace, question.now
    found = [nearest(execute, question, vector) for vector in vectors]
    found += [by_words(execute, question, text) for text in texts]
    first = list({node for some in found for node in some[:FIRST]})
    values = namespace, now, first, namespace, COMMON, namespace, COMMON, _HOPS, len(first) + _MOST
    around = execute(_AROUND, values)
    nodes = list({node for some in found for node in some} | {node for (node,) in around})
    return part(execute, namespace, about(execute, namespace, nodes))


def about(execute: Execute, namespace: int, nodes: Sequence[UUID]) -> list[UUID]:
    """Return some memories with those that say the same, and with their claims, profiles and conflicts."""
    outwards, inwards = ([kind and kind.value for kind in kinds] for kinds in zip(*_STEPS, strict=True))
    most, last = COMMON, len(_STEPS)
    values = nodes, namespace, outwards, most, namespace, inwards, most, last, last
    return [node for (node,) in execute(_ABOUT, values)]


def part(execute: Execute, namespace: int, nodes: Sequence[UUID]) -> GraphDelta:
    """Return some memories in the order they were made, and the edges between them."""
    return GraphDelta(
        nodes=tuple(sorted(_nodes(execute(_MEMORIES, (namespace, nodes))), key=lambda one: one.created_at)),
        edges=tuple(_edges(execute(_LINKS, (namespace, nodes, nodes)))),
    )


def _nodes(rows: Iterable[Row]) -> Iterable[MemoryNode]:
    for body, state in rows:
        (node,) = decode(body).nodes
        yield node.changed(**{name: from_micros(one) if name in _TIMES else one for name, one in state.items()})


def _edges(rows: Iterable[Row]) -> Iterable[MemoryEdge]:
    for body, weight, activated in rows:
        (edge,) = decode(body).edges
        yield MemoryEdge(
            *edge.key, weight, edge.created_at, from_micros(activated), edge.valid_from, edge.valid_to, edge.relation
        )
