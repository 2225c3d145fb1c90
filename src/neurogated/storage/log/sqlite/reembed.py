"""Replace the vectors of all node versions, past and present, after a change of the embedder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import apsw
import numpy as np

from neurogated.core.abilities import EmbeddedVersion, VersionKey
from neurogated.core.model import Vector, as_vector
from neurogated.errors import InputError
from neurogated.storage.log.sqlite.connection import fetch
from neurogated.storage.log.sqlite.file import SqliteFile
from neurogated.storage.log.sqlite.node_rows import found_from_json
from neurogated.storage.log.sqlite.purge import note_erasure
from neurogated.storage.log.sqlite.settings import note_generation

_EMBEDDED = """
    FROM node_versions v WHERE EXISTS (
        SELECT 1 FROM vectors x WHERE x.node = v.node AND x.since <= v.since AND (x.until IS NULL OR x.until > v.since)
    )"""
_AT_ONCE = 1000


def embedded_versions(file: SqliteFile) -> Iterator[EmbeddedVersion]:
    """Yield every version of a node with a vector, in all namespaces; the versions of one node are consecutive."""
    last: VersionKey = (0, -1)
    while True:
        with file.lock, file.translated():
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
            yield EmbeddedVersion(last, content, title, speaker, found_from_json(found))


def replace_vectors(
    connection: apsw.Connection, embedder: str, dimension: int, vectors: Iterable[tuple[VersionKey, Vector]]
) -> None:
    """Replace all vectors and record their embedder, within a transaction of the caller.

    Raises:
        InputError: a vector has another length, or a version gets no vector.
    """
    ((expected,),) = fetch(connection, f"SELECT count(*) {_EMBEDDED}")
    # `vectors` may be an iterator that is still reading `embedded_versions`.
    connection.execute("CREATE TEMP TABLE fresh (node INTEGER, since INTEGER, vector BLOB, PRIMARY KEY (node, since))")
    connection.executemany(
        "INSERT INTO temp.fresh VALUES (?, ?, ?)", ((*key, _blob(vector, dimension)) for key, vector in vectors)
    )
    connection.execute("DELETE FROM vectors")
    connection.execute(
        "INSERT INTO vectors SELECT v.node, v.since, v.until, f.vector FROM temp.fresh f "
        "JOIN node_versions v ON v.node = f.node AND v.since = f.since"
    )
    connection.execute("DROP TABLE temp.fresh")
    ((found,),) = fetch(connection, "SELECT count(*) FROM vectors")
    if found != expected:
        raise InputError(f"{found} vectors were given for {expected} versions; give one for each that is embedded")
    note_generation(connection)
    note_erasure(connection)
    connection.execute(
        "INSERT OR REPLACE INTO settings VALUES ('embedder', ?), ('dimension', ?)", (embedder, str(dimension))
    )


def _blob(vector: Vector, dimension: int) -> bytes:
    checked = as_vector(vector)
    if checked.size != dimension:
        raise InputError(f"a vector has dimension {checked.size}, the embedder {dimension}; give vectors of its own")
    return np.asarray(checked, dtype="<f4").tobytes()
