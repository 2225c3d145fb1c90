"""Rewrite the past of a memory file: erase removed nodes, and replace the vectors of another model."""

import contextlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import starmap

import apsw
import numpy as np

from neurogated.core.abilities import EmbeddedVersion, VersionKey
from neurogated.core.edge_type import EdgeType
from neurogated.core.model import Vector, as_vector
from neurogated.errors import InputError
from neurogated.storage.index.graph.topology import Topology
from neurogated.storage.log.log import Derivation, Span, repeated
from neurogated.storage.log.sqlite.connection import fetch
from neurogated.storage.log.sqlite.file import SqliteFile
from neurogated.storage.log.sqlite.integrity import last_change
from neurogated.storage.log.sqlite.rows import NOW, GraphLoader, found_from_json
from neurogated.storage.log.sqlite.schema import namespace_names, note_rewritten, register_types

_NEVER = 2**63 - 1
_ERASED = "CREATE TEMP TABLE erased (node INTEGER PRIMARY KEY, until INTEGER NOT NULL)"
"""The nodes to erase, each with the delta until which it is erased: that of its last removal."""


def erase_removed(file: SqliteFile, *, history: bool = False) -> int:
    """Erase every removed node of all namespaces with its history; return the number of nodes.

    It also erases the past of nodes that were removed and put again, and past versions that were derived from erased
    nodes.

    With `history`, also erase past versions of the other nodes, ended edges and past weights.
    """
    with _without_references(file) as connection:
        connection.execute(_ERASED)
        connection.execute(
            "INSERT INTO temp.erased SELECT v.node, max(v.until) FROM node_versions v WHERE v.until IS NOT NULL "
            "AND NOT EXISTS (SELECT 1 FROM node_versions w WHERE w.node = v.node AND w.since = v.until) GROUP BY v.node"
        )
        outdated = {} if history else _repeated(connection)
        count = _erase_nodes(connection)
        for node, spans in outdated.items():
            for since, until in spans:
                _replace_versions(connection, node, since, until)
        if history:
            _erase_past_versions(connection)
            _erase_past_edges(connection)
            _, last = last_change(connection)
            file.record({f"erased {namespace}": last for namespace in namespace_names(connection)})
        connection.execute("DROP TABLE temp.erased")
        _erase_scopes(connection)
        note_rewritten(connection, "erasures")
    return count


def erase_namespace(file: SqliteFile, name: str) -> None:
    """Erase a namespace and its journal."""
    with _without_references(file) as connection:
        ((namespace,),) = fetch(connection, "SELECT namespace FROM namespaces WHERE name = ?", (name,))
        connection.execute(_ERASED)
        connection.execute(
            f"INSERT INTO temp.erased SELECT node, {_NEVER} FROM nodes WHERE namespace = ?", (namespace,)
        )
        _erase_nodes(connection)
        connection.execute("DROP TABLE temp.erased")
        for table in ("pending", "daily_uses", "deltas", "namespaces"):
            connection.execute(f"DELETE FROM {table} WHERE namespace = ?", (namespace,))
        file.record({f"erased {namespace}": None})
        _erase_scopes(connection)


@contextlib.contextmanager
def _without_references(file: SqliteFile) -> Iterator[apsw.Connection]:
    """Run the block as a transaction without reference checks, and make other processes reload their indexes."""
    # A reference check for each deleted row would read whole tables.
    with file.transaction(check_references=False) as connection:
        yield connection
        note_rewritten(connection, "generation")


def _erase_nodes(connection: apsw.Connection) -> int:
    """Erase what was there until the deltas in `erased`; return the number of nodes of which nothing is left."""
    edges = (
        "SELECT edge FROM edges e WHERE EXISTS "
        "(SELECT 1 FROM temp.erased x WHERE x.node IN (e.source, e.target) AND e.since < x.until)"
    )
    for table in ("edge_weights", "edge_uses", "edges"):
        connection.execute(f"DELETE FROM {table} WHERE edge IN ({edges})")
    for table in ("vectors", "node_changes", "node_versions"):
        connection.execute(
            f"DELETE FROM {table} AS t WHERE since < (SELECT until FROM temp.erased x WHERE x.node = t.node)"
        )
    connection.execute("DELETE FROM temp.erased WHERE node IN (SELECT node FROM node_versions)")
    connection.execute(
        "DELETE FROM pending WHERE EXISTS (SELECT 1 FROM json_each(pending.nodes) j "
        "JOIN nodes n ON n.id = j.value AND n.namespace = pending.namespace "
        "WHERE n.node IN (SELECT node FROM temp.erased))"
    )
    for table in ("accesses", "nodes"):
        connection.execute(f"DELETE FROM {table} WHERE node IN (SELECT node FROM temp.erased)")
    ((count,),) = fetch(connection, "SELECT count(*) FROM temp.erased")
    return int(count)


def _repeated(connection: apsw.Connection) -> Mapping[int, Sequence[Span]]:
    """Return the spans of the versions of present nodes that may repeat erased words."""
    erased = dict(fetch(connection, "SELECT node, until FROM temp.erased"))
    if not erased:
        return {}
    ended = defaultdict[int, list[Span]](list)
    for node, since, until in fetch(
        connection,
        "SELECT v.node, v.since, v.until FROM node_versions v LEFT JOIN temp.erased x ON x.node = v.node "
        "WHERE v.until IS NOT NULL AND v.since >= coalesce(x.until, 0) ORDER BY v.since",
    ):
        ended[node].append((since, until))
    edges = fetch(
        connection,
        f"SELECT e.source, e.target, e.since, coalesce(e.until, {_NEVER}) FROM edges e "
        "JOIN edge_types t ON t.type = e.type WHERE t.value = ?",
        (EdgeType.DERIVED_FROM.value,),
    )
    return repeated(erased, ended, starmap(Derivation, edges))


def _replace_versions(connection: apsw.Connection, node: int, since: int, until: int) -> None:
    span = {"node": node, "since": since, "until": until}
    connection.execute("DELETE FROM node_changes WHERE node = :node AND since >= :since AND since < :until", span)
    for table in ("vectors", "node_versions"):
        in_span = f"FROM {table} WHERE node = :node AND until > :since AND until <= :until"
        connection.execute(f"DELETE {in_span} AND since >= :since", span)
        # A vector may be that of an earlier version, too.
        connection.execute(f"UPDATE {table} SET until = :since WHERE rowid IN (SELECT rowid {in_span})", span)
        connection.execute(
            f"UPDATE {table} SET since = :since WHERE node = :node AND since > :since AND since <= :until", span
        )


def _erase_scopes(connection: apsw.Connection) -> None:
    connection.execute(
        "DELETE FROM scopes WHERE number NOT IN (SELECT scope FROM node_versions WHERE scope IS NOT NULL)"
    )


def _erase_past_versions(connection: apsw.Connection) -> None:
    """Erase ended versions and vectors; the remaining ones then begin when the node was first put.

    So every journal entry that refers to a node still comes after the node, and a replay of the journal still works.
    """
    connection.execute(
        "CREATE TEMP TABLE changed AS SELECT node, min(since) AS since FROM node_versions "
        "GROUP BY node HAVING count(*) > 1"
    )
    # The present energy and importance of each remaining version go into its row.
    for name, (nodes, values) in GraphLoader(connection, 0, {}, NOW).changes("v.until IS NULL").items():
        connection.executemany(
            f"UPDATE node_versions SET {name} = ? WHERE node = ? AND until IS NULL",
            zip(values.tolist(), nodes.tolist(), strict=True),
        )
    connection.execute("DELETE FROM node_changes")
    for table in ("vectors", "node_versions"):
        connection.execute(f"DELETE FROM {table} WHERE until IS NOT NULL")
        connection.execute(
            f"UPDATE {table} SET since = (SELECT c.since FROM temp.changed c WHERE c.node = {table}.node) "
            "WHERE node IN (SELECT node FROM temp.changed)"
        )
    connection.execute("DROP TABLE temp.changed")


def _erase_past_edges(connection: apsw.Connection) -> None:
    """Erase ended and faded edges, and past weights: each remaining edge starts with its present weight.

    Operators stay in the history but are no longer evaluated, because the weights include their effect.
    """
    connection.execute("CREATE TEMP TABLE present (edge INTEGER PRIMARY KEY, weight REAL, last_activated INTEGER)")
    types = register_types(connection)
    for namespace in namespace_names(connection):
        loader, topology = GraphLoader(connection, namespace, types, NOW), Topology()
        (nodes,) = loader.columns("SELECT node FROM nodes WHERE namespace = :namespace ORDER BY node", np.int64)
        edges = loader.load_weights(topology, nodes)
        view = topology.view()
        rows = np.flatnonzero(~np.isnan(view.weight.all()))
        columns = edges[rows], view.weight.take(rows), view.last_activated.take(rows)
        present = zip(*(column.tolist() for column in columns), strict=True)
        connection.executemany("INSERT INTO temp.present VALUES (?, ?, ?)", present)
    for table in ("edge_uses", "edge_weights"):
        connection.execute(f"DELETE FROM {table}")
    connection.execute("DELETE FROM edges WHERE edge NOT IN (SELECT edge FROM temp.present)")
    connection.execute(
        "UPDATE edges SET (weight, last_activated) = "
        "(SELECT p.weight, p.last_activated FROM temp.present p WHERE p.edge = edges.edge)"
    )
    connection.execute("DROP TABLE temp.present")
    connection.execute("UPDATE deltas SET spared = NULL")


_EMBEDDED = """
    FROM node_versions v WHERE EXISTS (
        SELECT 1 FROM vectors x WHERE x.node = v.node AND x.since <= v.since AND (x.until IS NULL OR x.until > v.since)
    )"""
_AT_ONCE = 1000


def embedded_versions(file: SqliteFile) -> Iterator[EmbeddedVersion]:
    """Yield every version of a node with a vector, in all namespaces; the versions of one node are consecutive."""
    last: VersionKey = (0, -1)
    while True:
        with file.lock, file.translated:
            rows = fetch(
                file.connection,
                f"SELECT v.node, v.since, v.content, v.title, v.speaker, v.found {_EMBEDDED} "
                "AND (v.node, v.since) > (?, ?) ORDER BY v.node, v.since LIMIT ?",
                (*last, _AT_ONCE),
            )
        if not rows:
            return
        for node, since, content, title, speaker, found in rows:
            last = (node, since)
            yield EmbeddedVersion(last, content, title, speaker, found_from_json([found])[0])


def replace_vectors(connection: apsw.Connection, vectors: Iterable[tuple[VersionKey, Vector]], dimension: int) -> None:
    """Replace all vectors, within a transaction of the caller.

    Raises:
        InputError: a vector has another length, or a version gets no vector.
    """
    ((expected,),) = fetch(connection, f"SELECT count(*) {_EMBEDDED}")

    def rows() -> Iterator[tuple[int, int, bytes]]:
        for key, vector in vectors:
            checked = as_vector(vector)
            if checked.size != dimension:
                raise InputError(
                    f"a vector has dimension {checked.size}, the embedder {dimension}; give vectors of its own"
                )
            yield *key, np.asarray(checked, dtype="<f4").tobytes()

    # `vectors` may be an iterator that is still reading `embedded_versions`.
    connection.execute("CREATE TEMP TABLE fresh (node INTEGER, since INTEGER, vector BLOB, PRIMARY KEY (node, since))")
    connection.executemany("INSERT INTO temp.fresh VALUES (?, ?, ?)", rows())
    connection.execute("DELETE FROM vectors")
    connection.execute(
        "INSERT INTO vectors SELECT v.node, v.since, v.until, f.vector FROM temp.fresh f "
        "JOIN node_versions v ON v.node = f.node AND v.since = f.since"
    )
    connection.execute("DROP TABLE temp.fresh")
    ((found,),) = fetch(connection, "SELECT count(*) FROM vectors")
    if found != expected:
        raise InputError(f"{found} vectors were given for {expected} versions; give one for each that is embedded")
    note_rewritten(connection, "generation", "erasures")
