"""`Neo4jStore`: a graph of a memory in a database that speaks Bolt."""

from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any, Final

from neurogated.core.conflicts import as_given
from neurogated.core.edge_type import EdgeType
from neurogated.storage.durable_store import DatabaseStore
from neurogated.storage.log.neo4j.connection import MEMORY, OWN, BoltAddress, Connection
from neurogated.storage.log.neo4j.neo4j_log import Neo4jEngine
from neurogated.storage.log.neo4j.projection import NAMES, Values, edge_values, label_of, node_values
from neurogated.storage.verify import disagreements

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


class Neo4jStore(DatabaseStore[Neo4jEngine]):
    """A memory in a database that speaks Bolt, such as `bolt://HOST:7687/DATABASE?memory=NAME`.

    Without a database, it is in the default one of the server; without `memory`, it is the memory `default`.
    """

    connected = Neo4jEngine

    @staticmethod
    def exists(url: str) -> bool:
        """Return whether there is a memory at `url`; raises StorageError."""
        with closing(Connection(BoltAddress.of(url))) as connection:
            return bool(connection.read(MEMORY))

    def faults(self) -> list[str]:
        """Return the faults of this graph, also of its nodes and relationships in the database, one per line."""
        read, namespace = self.engine.connection.read, self.graph.name
        with self.exclusively():
            nodes = [as_given(node) for node in self.all_nodes()]
            expected = {node.id: node_values(node) | {label_of(node.kind): True} for node in nodes}
            found = {
                row["key"]: {**row["properties"], **dict.fromkeys(row["labels"], True)}
                for row in read(_NODES, namespace=namespace)
            }
            faults = [*disagreements(self), *_differences("node", expected, found)]
            whole = self.snapshot(whole=True)
            # TERM edges are computed, and the database has none.
            edges = {
                (*edge.key[:2], edge.type.value): edge_values(edge)
                for edge in whole.edges(whole.view.live_edges())
                if edge.type is not EdgeType.TERM
            }
            related = {
                (row["source"], row["target"], row["properties"]["type"]): row["properties"]
                for row in read(_EDGES, namespace=namespace)
            }
            faults += _differences("relationship", edges, related)
            tagged: dict[Any, Values] = {(tag, node.id): {} for node in nodes for tag in node.tags}
            tags: dict[Any, Values] = {(row["tag"], row["node"]): {} for row in read(_TAGS, namespace=namespace)}
            faults += _differences("tag", tagged, tags)
            return faults


def _differences(
    what: str, expected: Mapping[Any, Mapping[str, Any]], found: Mapping[Any, Mapping[str, Any]]
) -> Iterator[str]:
    for key in expected.keys() | found.keys():
        if key not in found or key not in expected:
            yield f"{what} {key!r}: only the {'log' if key in expected else 'database'} has it"
        elif wrong := [name for name, value in expected[key].items() if found[key].get(name) != value]:
            yield f"{what} {key!r}: {', '.join(sorted(wrong))} in the database differ from the log"
