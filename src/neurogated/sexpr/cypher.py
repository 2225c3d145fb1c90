"""An operation as statements in Cypher for Neo4j 5. Their texts are constants; every value is a parameter."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, NamedTuple

from neurogated.core.edge_type import EdgeType
from neurogated.core.filters import Combined, Compare
from neurogated.sexpr.check import Call
from neurogated.sexpr.values import EDGE_TYPES


def _visible(*names: str) -> str:
    """Return the condition that the scope admits the nodes with these names."""
    return " AND ".join(
        f"({one}.user_id IS NULL OR {one}.user_id = $user_id)"
        f" AND ($agent_id IS NULL OR {one}.agent_id IS NULL OR {one}.agent_id = $agent_id)"
        f" AND ($session_id IS NULL OR {one}.session_id = $session_id)"
        f" AND {one}.path[0..size($path)] = $path"
        for one in names
    )


_OWN = "(n.user_id = $user_id OR (n.user_id IS NULL AND $user_id IS NULL))"
_EVERY_NODE = f"all(n IN nodes(p) WHERE {_visible('n')})"
_EDGE = "type(e) AS type, e.relation AS relation, e.weight AS weight"
# An upper bound of a pattern cannot be a parameter, so the pattern has the largest and a condition has the depth.
_WALK = f"length(p) <= $depth AND {_EVERY_NODE}"


def _association(kind: EdgeType) -> str:
    ends = (
        f"MATCH (a:Memory {{id: $from}}), (b:Memory {{id: $to}}) WHERE {_visible('a', 'b')} AND a <> b"
        " AND (a.user_id = b.user_id OR (a.user_id IS NULL AND b.user_id IS NULL AND $user_id IS NULL))"
    )
    if not kind.plastic:
        # The function returns (1 + cosine) / 2.
        return (
            f"{ends} WITH a, b, 2 * vector.similarity.cosine(a.embedding, b.embedding) - 1 AS cosine"
            f" MERGE (a)-[e:{kind.name}]->(b) SET e.weight = CASE WHEN cosine > 0 THEN cosine ELSE 0.0 END"
            f" RETURN {_EDGE}"
        )
    relation = ", e.relation = coalesce($relation, e.relation)" if kind is EdgeType.ASSOC else ""
    stronger = "(CASE WHEN e.weight > $weight THEN e.weight ELSE $weight END) + $step"
    return (
        f"{ends} MERGE (a)-[e:{kind.name}]->(b) ON CREATE SET e.weight = $weight{relation}"
        f" ON MATCH SET e.weight = CASE WHEN {stronger} > 1 THEN 1.0 ELSE {stronger} END{relation}"
        f" RETURN {_EDGE}"
    )


class CypherPlan(NamedTuple):
    """The statements of an operation, in order."""

    statements: tuple[str, ...]
    note: str = ""
    """What the statements leave to the program that runs them."""


PLANS: Mapping[str, CypherPlan] = {
    "remember": CypherPlan(
        (
            (
                "CREATE (n:Memory {id: $id, content: $text, type: $type, importance: $importance, energy: $importance,"
                " expires_at: datetime() + $ttl, user_id: $user_id, agent_id: $agent_id, session_id: $session_id,"
                " path: $path, created_at: datetime()}) WITH n UNWIND $tags AS tag MERGE (t:Tag {name: tag})"
                " MERGE (n)-[:TAGGED]->(t)"
            ),
        ),
        "the program cuts a long text, and finds facts and conflicts",
    ),
    "recall": CypherPlan(
        (
            (
                "CALL db.index.vector.queryNodes('memory_embedding', $candidates, $embedding) YIELD node AS n, score"
                f" WHERE {_visible('n')} RETURN n.id AS id, n.content AS content, score"
                " ORDER BY score DESC LIMIT $top_n"
            ),
            (
                f"UNWIND $active AS one MATCH (m:Memory {{id: one.id}})-[e]-(n:Memory) WHERE {_visible('m', 'n')}"
                " RETURN n.id AS id, sum(one.activation * e.weight * $decay) AS activation"
            ),
        ),
        "the program runs the second statement once a step and ranks the memories",
    ),
    "feedback": CypherPlan(
        (
            (
                f"MATCH (n:Memory) WHERE n.id IN $ids AND {_visible('n')}"
                " SET n.importance = CASE WHEN $outcome > 0 THEN n.importance + (1 - n.importance) * 0.2 * $outcome"
                " ELSE n.importance * (1 + 0.1 * $outcome) END,"
                " n.energy = CASE WHEN $outcome > 0 THEN n.energy + (1 - n.energy) * 0.2 * $outcome"
                " ELSE n.energy * (1 + 0.1 * $outcome) END RETURN n.id AS id"
            ),
        ),
        "the program changes the edges between the memories",
    ),
    "trace": CypherPlan(
        (
            (
                f"MATCH p = (:Memory {{id: $start}})-[*1..10]-(m:Memory) WHERE {_WALK}"
                " RETURN m.id AS id, min(length(p)) AS depth ORDER BY depth"
            ),
        )
    ),
    "path": CypherPlan(
        (
            (
                "MATCH (a:Memory {id: $from}), (b:Memory {id: $to})"
                f" MATCH p = shortestPath((a)-[*1..10]-(b)) WHERE {_WALK}"
                f" UNWIND relationships(p) AS e RETURN {_EDGE}"
            ),
        )
    ),
    "activate": CypherPlan(
        (
            (
                f"UNWIND $active AS one MATCH (m:Memory {{id: one.id}})-[e]-(n:Memory) WHERE {_visible('m', 'n')}"
                " RETURN n.id AS id, sum(one.activation * e.weight * $decay) AS activation"
            ),
        ),
        "the program runs the statement once a step, with the arrivals of the step before as $active, adds them up, and"
        " leaves out what is below the threshold",
    ),
    "decay!": CypherPlan(
        (
            (
                f"MATCH (n:Memory) WHERE {_OWN} SET n.energy = n.energy *"
                " 0.5 ^ (duration.inSeconds(n.energy_at, datetime()).seconds / 86400.0 / $half_life),"
                " n.energy_at = datetime() RETURN count(n) AS changed"
            ),
        )
    ),
    "consolidate": CypherPlan((), "the program merges memories; no statement does"),
    "stats": CypherPlan(
        (
            f"MATCH (n:Memory) WHERE {_visible('n')} RETURN count(n) AS memories, sum(n.energy) AS energy",
            f"MATCH (a:Memory)-[e]->(b:Memory) WHERE {_visible('a', 'b')} RETURN type(e) AS type, count(e) AS edges",
        )
    ),
    "query": CypherPlan(
        (
            (
                f"MATCH (n:Memory) WHERE {_visible('n')} AND"
                " all(tag IN $tags WHERE EXISTS { (n)-[:TAGGED]->(:Tag {name: tag}) })"
                " RETURN n.id AS id, n.content AS content, n.metadata AS metadata ORDER BY n.created_at"
            ),
        ),
        "the program applies $where to the metadata of each row, because conditions have any shape, and then $limit",
    ),
    "facts": CypherPlan(
        (
            (
                f"MATCH (n:Memory) WHERE n.kind IN ['fact', 'claim'] AND {_visible('n')}"
                " AND ($subject IS NULL OR toLower(n.subject) = toLower($subject))"
                " AND ($attribute IS NULL OR toLower(n.attribute) = toLower($attribute)) RETURN n ORDER BY n.created_at"
            ),
        )
    ),
    "conflicts": CypherPlan(
        (
            (
                "MATCH (n:Memory {kind: 'conflict'}) WHERE ($status IS NULL OR n.status = $status)"
                f" AND {_visible('n')} RETURN n ORDER BY n.created_at DESC"
            ),
        )
    ),
    "resolve": CypherPlan(
        (
            (
                f"MATCH (n:Memory {{id: $id, kind: 'conflict'}}) WHERE {_visible('n')}"
                " SET n.status = 'resolved', n.keep = $keep, n.because = $because RETURN n"
            ),
        ),
        "the program ends the facts of the side that loses",
    ),
    "context": CypherPlan((), "the program recalls, and packs the memories into the budget"),
}
"""By operation."""
_ASSOCIATIONS = {kind: CypherPlan((_association(kind),)) for kind in (EdgeType.ASSOC, *EDGE_TYPES.values())}
TEXTS: Sequence[str] = sorted({text for one in (*PLANS.values(), *_ASSOCIATIONS.values()) for text in one.statements})
"""All texts that an expression can become."""


_PROVIDED = {
    "id": "the id of the memory, computed from its text and owner",
    "embedding": "the vector of the query",
    "candidates": "a constant, CANDIDATES in retrieval/formula.py",
    "active": "the memories that are active, each with id and activation",
    "decay": "the setting ENERGY_DECAY_RATE",
    "step": "the setting HEBBIAN_LEARNING_RATE",
}
"""The parameters that the program provides, if the call has none of the name."""
_PARAMETER = re.compile(r"\$(\w+)")


def explain(call: Call, scope: Mapping[str, Any]) -> dict[str, Any]:
    """Return the statements of a call, their parameters as JSON values, and what they leave to the program.

    `provided` describes the parameters whose values the program computes.
    """
    if call.operation.name == "associate":
        plan = _ASSOCIATIONS[EDGE_TYPES.get(str(call.arguments["relation"]), EdgeType.ASSOC)]
    else:
        plan = PLANS[call.operation.name]
    given = {**call.arguments, **{name: scope[name] for name in ("user_id", "agent_id", "session_id", "path")}}
    named = dict.fromkeys(name for text in plan.statements for name in _PARAMETER.findall(text))
    return {
        "operation": call.operation.name,
        "writes": call.operation.writes,
        "statements": list(plan.statements),
        "parameters": {name: _parameter(value) for name, value in given.items()},
        "provided": {name: _PROVIDED[name] for name in named if name not in given},
        "note": plan.note,
    }


def _parameter(value: object) -> object:
    if isinstance(value, timedelta):
        return f"PT{value.total_seconds():g}S"
    if isinstance(value, Compare):
        return {"path": list(value.path), "operator": value.operator, "value": value.value}
    if isinstance(value, Combined):
        return {"holding": value.holding, "conditions": list(map(_parameter, value.conditions))}
    return list(value) if isinstance(value, tuple) else value
