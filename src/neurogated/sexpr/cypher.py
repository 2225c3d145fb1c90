"""An operation as statements in Cypher for Neo4j 5. Their texts are constants; every value is a parameter.

`cypher.txt` has the statements by operation, each with what it leaves to the program that runs them. `<n>` stands for
the condition that the scope admits the node `n`. An upper bound of a pattern cannot be a parameter, so a pattern has
the largest and a condition has the depth.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

from neurogated.core.edge_type import EdgeType
from neurogated.core.filters import Combined, Compare
from neurogated.sexpr.check import EDGE_TYPES, Call


def _visible(text: str) -> str:
    """Return a text of Cypher with the conditions for which `<n>` and other names stand."""
    return re.sub(
        r"<(\w)>",
        r"(\1.user_id IS NULL OR \1.user_id = $user_id)"
        r" AND ($agent_id IS NULL OR \1.agent_id IS NULL OR \1.agent_id = $agent_id)"
        r" AND ($session_id IS NULL OR \1.session_id = $session_id)"
        r" AND \1.path[0..size($path)] = $path",
        text,
    )


def _association(kind: EdgeType) -> str:
    edge = "type(e) AS type, e.relation AS relation, e.weight AS weight"
    ends = (
        f"MATCH (a:Memory {{id: $from}}), (b:Memory {{id: $to}}) WHERE {_visible('<a> AND <b>')} AND a <> b"
        " AND (a.user_id = b.user_id OR (a.user_id IS NULL AND b.user_id IS NULL AND $user_id IS NULL))"
    )
    if not kind.plastic:
        # The function returns (1 + cosine) / 2.
        return (
            f"{ends} WITH a, b, 2 * vector.similarity.cosine(a.embedding, b.embedding) - 1 AS cosine"
            f" MERGE (a)-[e:{kind.name}]->(b) SET e.weight = CASE WHEN cosine > 0 THEN cosine ELSE 0.0 END"
            f" RETURN {edge}"
        )
    relation = ", e.relation = coalesce($relation, e.relation)" if kind is EdgeType.ASSOC else ""
    stronger = "(CASE WHEN e.weight > $weight THEN e.weight ELSE $weight END) + $step"
    return (
        f"{ends} MERGE (a)-[e:{kind.name}]->(b) ON CREATE SET e.weight = $weight{relation}"
        f" ON MATCH SET e.weight = CASE WHEN {stronger} > 1 THEN 1.0 ELSE {stronger} END{relation}"
        f" RETURN {edge}"
    )


class CypherPlan(NamedTuple):
    """The statements of an operation, in order."""

    statements: tuple[str, ...]
    note: str = ""
    """What the statements leave to the program that runs them."""


def _read() -> Mapping[str, CypherPlan]:
    found = dict[str, CypherPlan]()
    text = re.sub(r"\n {6}", " ", Path(__file__).with_suffix(".txt").read_text(encoding="utf-8"))
    for part in re.split(r"\n(?=\S)", text.rstrip()):
        first, *statements = part.split("\n    ")
        name, _, note = first.partition(":")
        found[name] = CypherPlan(tuple(map(_visible, statements)), note.strip())
    return found


PLANS: Mapping[str, CypherPlan] = _read()
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
    """Return the statements of a call, their parameters as JSON values, and what the program computes for it."""
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
