"""Compare the nodes and relationships in a database with the graph that its log describes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from neurogated.core.conflicts import as_given
from neurogated.core.edge_type import EdgeType
from neurogated.core.ports import GraphStorePort
from neurogated.storage.log.neo4j.connection import Connection
from neurogated.storage.log.neo4j.projection import NAMES, Values, edge_values, label_of, node_values
from neurogated.storage.log.neo4j.schema import OWN

_NODES: Final = (
    f"MATCH (n:NeurogatedNode {{{OWN}}}) RETURN n.id AS key, labels(n) AS labels, properties(n) AS properties"
)
_EDGES: Final = (
    f"MATCH (a:NeurogatedNode {{{OWN}}})-[e:{NAMES}]->(b:NeurogatedNode) WHERE e.type IS NOT NULL"
    " RETURN a.id AS source, b.id AS target, properties(e) AS properties"
)
_TAGS: Final = (
    f"MATCH (t:NeurogatedTag {{{OWN}}}) OPTIONAL MATCH (t)<-[:TAGGED]-(n:NeurogatedNode)"
    " RETURN t.name AS tag, n.id AS node"
)


def projection_faults(connection: Connection, namespace: str, store: GraphStorePort) -> Iterator[str]:
    """Yield the differences between a graph and its nodes and relationships in a database, one per line.

    Properties that a person added are no fault. Both are in memory.

    Args:
        connection: reaches the database.
        namespace: the name of the graph.
        store: the graph, which nobody may change meanwhile.
    """
    nodes = [as_given(node) for node in store.all_nodes()]
    expected = {node.id: node_values(node) | {label_of(node.kind): True} for node in nodes}
    found = {
        row["key"]: {**row["properties"], **dict.fromkeys(row["labels"], True)}
        for row in connection.read(_NODES, namespace=namespace)
    }
    yield from _differences("node", expected, found)
    # TERM edges are computed, and the database has none.
    edges = {
        (*edge.key[:2], edge.type.value): edge_values(edge)
        for edge in store.all_edges()
        if edge.type is not EdgeType.TERM
    }
    related = {
        (row["source"], row["target"], row["properties"]["type"]): row["properties"]
        for row in connection.read(_EDGES, namespace=namespace)
    }
    yield from _differences("relationship", edges, related)
    tagged: dict[Any, Values] = {(tag, node.id): {} for node in nodes for tag in node.tags}
    tags: dict[Any, Values] = {(row["tag"], row["node"]): {} for row in connection.read(_TAGS, namespace=namespace)}
    yield from _differences("tag", tagged, tags)


def _differences(
    what: str, expected: Mapping[Any, Mapping[str, Any]], found: Mapping[Any, Mapping[str, Any]]
) -> Iterator[str]:
    for key in expected.keys() | found.keys():
        if key not in found or key not in expected:
            yield f"{what} {key!r}: only the {'log' if key in expected else 'database'} has it"
        elif wrong := [name for name, value in expected[key].items() if found[key].get(name) != value]:
            yield f"{what} {key!r}: {', '.join(sorted(wrong))} in the database differ from the log"
