"""Erasing for good: rows of removed nodes with all their history, and whole namespaces."""

from __future__ import annotations

import contextlib
import json
from collections import defaultdict
from collections.abc import Iterator

import apsw

from neurogated.core.rendering import quoted
from neurogated.storage.sqlite_connection import fetch
from neurogated.storage.sqlite_file import SqliteFile

__all__ = ["erase_namespace", "erase_removed"]

_CONTEXT = "context"
_DOCUMENT = "document_id"


def erase_removed(file: SqliteFile) -> int:
    """Erase every node that is removed, in all namespaces, with its history; return how many there were.

    Turns of a dialogue quote the ones before them; what past versions of other nodes quote of an erased one goes too.
    """
    with _without_references(file) as connection:
        connection.execute(
            "CREATE TEMP TABLE erased AS SELECT n.node FROM nodes n "
            "WHERE NOT EXISTS (SELECT 1 FROM node_versions v WHERE v.node = n.node AND v.until IS NULL)"
        )
        ((count,),) = fetch(connection, "SELECT count(*) FROM temp.erased")
        _erase_quotations(connection)
        _erase_nodes(connection)
        connection.execute("DROP TABLE temp.erased")
    return int(count)


def erase_namespace(file: SqliteFile, name: str) -> None:
    """Erase a namespace with its journal."""
    with _without_references(file) as connection:
        ((namespace,),) = fetch(connection, "SELECT namespace FROM namespaces WHERE name = ?", (name,))
        connection.execute("CREATE TEMP TABLE erased AS SELECT node FROM nodes WHERE namespace = ?", (namespace,))
        _erase_nodes(connection)
        connection.execute("DROP TABLE temp.erased")
        for table in ("pending", "deltas", "namespaces"):
            connection.execute(f"DELETE FROM {table} WHERE namespace = ?", (namespace,))


@contextlib.contextmanager
def _without_references(file: SqliteFile) -> Iterator[apsw.Connection]:
    """Run the block as a transaction that deletes children with their parents, and let readers notice it."""
    with file.lock:
        with file.translated():
            # Checking each deleted row for references would read whole tables a row.
            file.connection.execute("PRAGMA foreign_keys = OFF")
        try:
            with file.transaction() as connection:
                yield connection
                connection.execute("UPDATE settings SET value = value + 1 WHERE name = 'generation'")
        finally:
            with file.translated():
                file.connection.execute("PRAGMA foreign_keys = ON")


def _erase_nodes(connection: apsw.Connection) -> None:
    erased = "IN (SELECT node FROM temp.erased)"
    edges = f"SELECT edge FROM edges WHERE source {erased} OR target {erased}"
    connection.execute(f"DELETE FROM strengths WHERE edge IN ({edges})")
    connection.execute(f"DELETE FROM edges WHERE source {erased} OR target {erased}")
    _erase_judgements(connection)
    for table in ("accesses", "vectors", "node_versions", "nodes"):
        connection.execute(f"DELETE FROM {table} WHERE node {erased}")


def _erase_judgements(connection: apsw.Connection) -> None:
    """Erase judgements that wait for a node that is gone."""
    connection.execute(
        "DELETE FROM pending WHERE EXISTS (SELECT 1 FROM json_each(pending.nodes) j "
        "JOIN nodes n ON n.id = j.value AND n.namespace = pending.namespace "
        "WHERE n.node IN (SELECT node FROM temp.erased))"
    )


def _erase_quotations(connection: apsw.Connection) -> None:
    """Take what is erased out of the context that versions of other nodes of the same document keep."""
    gone: dict[tuple[int, str], set[str]] = defaultdict(set)
    kept: dict[tuple[int, str], set[str]] = defaultdict(set)
    versions = fetch(
        connection,
        "SELECT n.namespace, v.content, v.metadata, v.node IN (SELECT node FROM temp.erased) "
        "FROM node_versions v JOIN nodes n ON n.node = v.node WHERE json_extract(v.metadata, '$.speaker') IS NOT NULL",
    )
    for namespace, content, text, erased in versions:
        metadata = json.loads(text)
        document = namespace, str(metadata.get(_DOCUMENT))
        (gone if erased else kept)[document].add(quoted(content, metadata))
    if not gone:
        return
    rows = fetch(
        connection,
        "SELECT v.node, v.since, n.namespace, v.metadata FROM node_versions v JOIN nodes n ON n.node = v.node "
        "WHERE json_extract(v.metadata, '$.context') IS NOT NULL AND v.node NOT IN (SELECT node FROM temp.erased)",
    )
    for node, since, namespace, text in rows:
        metadata = json.loads(text)
        document = namespace, str(metadata.get(_DOCUMENT))
        context = metadata[_CONTEXT]
        # What another turn of the dialogue says in the same words is not gone.
        left = [item for item in context if item not in gone[document] - kept[document]]
        if left != context:
            metadata = {**metadata, _CONTEXT: left} if left else {k: v for k, v in metadata.items() if k != _CONTEXT}
            connection.execute(
                "UPDATE node_versions SET metadata = ? WHERE node = ? AND since = ?",
                (json.dumps(metadata, ensure_ascii=False), node, since),
            )
