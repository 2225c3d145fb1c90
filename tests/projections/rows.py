"""Rows of facts, as any program reads them, and as the graph says they should be."""

import json
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import create_engine, text

from neurogated.core.delta import GraphDelta
from neurogated.core.edge_type import EdgeType
from neurogated.core.found import Found, Statement
from neurogated.core.model import MemoryEdge, MemoryNode
from neurogated.storage.graph_store import GraphStore

DERIVED = EdgeType.DERIVED_FROM


def rows_in(url: str, query: str = "SELECT * FROM facts ORDER BY namespace, id") -> list[dict[str, Any]]:
    """Return rows as any program would read them."""
    engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.connect() as connection:
        rows = [dict(row._mapping) for row in connection.execute(text(query))]
    engine.dispose()
    for row in rows:
        for name in {"path", "sources"} & row.keys():
            row[name] = json.loads(row[name]) if isinstance(row[name], str) else row[name]
        for name in {"valid_from", "valid_to", "said_at", "expires_at"} & row.keys():
            if isinstance(row[name], str):
                row[name] = datetime.fromisoformat(row[name]).replace(tzinfo=UTC)
    return rows


def reference(store: GraphStore, namespace: str = "default") -> list[dict[str, Any]]:
    """Return the rows that the table should have, from the whole graph and the whole journal."""
    edges = [edge for edge in store.all_edges() if edge.type is DERIVED]
    entries, rows = list(store.journal()), []
    for node in store.all_nodes():
        parts = node.found.statement
        if node.kind not in {"fact", "claim"} or parts is None:
            continue
        sources = sorted(edge.target_id for edge in edges if edge.source_id == node.id)
        wrote = [
            entry.sequence
            for entry in entries
            if node.id in {put.id for put in entry.delta.nodes}
            or node.id in {edge.source_id for edge in entry.delta.edges if edge.type is DERIVED}
            or node.id in {key.source_id for key in entry.delta.removed_edges if key.type is DERIVED}
        ]
        rows.append({
            "memory": store.identity[0], "namespace": namespace, "id": node.id,
            "user_id": node.scope.user_id, "agent_id": node.scope.agent_id, "session_id": node.scope.session_id,
            "path": list(node.scope.path), "subject": parts.subject, "attribute": parts.attribute,
            "value": parts.value, "is_denied": parts.is_denied, "statement": node.content,
            "valid_from": node.valid_from, "valid_to": node.valid_to, "said_at": node.timestamp,
            "expires_at": node.expires_at, "confidence": parts.confidence, "sources": sources,
            "sequence": max(wrote),
        })  # fmt: skip
    return sorted(rows, key=lambda row: row["id"])


def without_sequence(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name != "sequence"} for row in rows]


def fact(name: str, value: str = "Lyon", **fields: Any) -> MemoryNode:  # noqa: ANN401
    parts = Statement("Ana", "city", value)
    return MemoryNode(name, parts.text, kind="fact", found=Found(statement=parts), **fields)


def put(*nodes: MemoryNode, edges: tuple[MemoryEdge, ...] = ()) -> GraphDelta:
    return GraphDelta(nodes=nodes, edges=edges)
