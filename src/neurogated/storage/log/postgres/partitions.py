"""A partition with an index of its own for the vectors of each large graph.

Nothing here runs within a write: to attach a partition locks the vectors of all graphs for a moment, and to build an
index takes seconds. Until the index is there, searches compare all vectors.
"""

from __future__ import annotations

import contextlib
import logging
from functools import partial
from typing import LiteralString

from psycopg import sql

from neurogated.errors import MemoryLockedError
from neurogated.storage.log.postgres.search_tables import EXACT_BELOW
from neurogated.storage.log.postgres.server import ConnectionLostError, Execute, Server
from neurogated.storage.log.postgres.writer import Writer

_log = logging.getLogger(__name__)

_MOST_DIMENSIONS = 4000
"""An index of pgvector takes no longer vectors, also not as numbers of 16 bits."""
_PATIENCE = 1.0
_HURRY = "SELECT set_config('lock_timeout', '1s', false), set_config('maintenance_work_mem', '512MB', false)"
_REST = """
    SELECT pg_advisory_unlock_all(), set_config('maintenance_work_mem', reset_val, false) FROM pg_settings
    WHERE name = 'maintenance_work_mem'
"""
_HAS_TABLES = "SELECT to_regclass('vectors') IS NOT NULL"
_DIMENSION = "SELECT public.vector_dims(vector) FROM vectors WHERE namespace = %s OFFSET %s LIMIT 1"
_TAKE = "SELECT pg_try_advisory_lock(hashtextextended(%s, 0))"
_IS_SEARCHED = "SELECT 1 FROM heads WHERE namespace = %s AND searched"
_IS_VALID = "SELECT 1 FROM pg_index WHERE indexrelid = to_regclass(%s) AND indisvalid"
_MOVE: tuple[LiteralString, ...] = (
    "CREATE TEMPORARY TABLE moved ON COMMIT DROP AS SELECT * FROM vectors WHERE namespace = {number}",
    "DELETE FROM vectors WHERE namespace = {number}",
    "CREATE TABLE {table} PARTITION OF vectors FOR VALUES IN ({number})",
    "ALTER TABLE {table} ALTER COLUMN vector SET STATISTICS 0",
    "INSERT INTO {table} SELECT * FROM moved",
)
_BUILD: tuple[LiteralString, ...] = (
    "DROP INDEX IF EXISTS {index}",
    """CREATE INDEX CONCURRENTLY {index} ON {table}
    USING hnsw ((vector::public.halfvec({dimension})) public.halfvec_cosine_ops)""",
    "ALTER INDEX {index} ALTER COLUMN 1 SET STATISTICS 0",
)


def separate(server: Server, namespace: int) -> None:
    """Give the vectors of a graph a partition and an index if they are many, unless another process does it.

    Writers of other graphs wait only while the vectors are moved. The caller has no lock of the graph. If others use
    the vectors for too long, nothing happens; call it again later.

    Raises:
        StorageError: the server cannot be reached or refuses.
    """
    with server.session() as connection:
        execute = partial(server.execute, connection)
        found = execute(_HAS_TABLES) == [(True,)] and execute(_DIMENSION, (namespace, EXACT_BELOW))
        if not found:
            return
        if found[0][0] > _MOST_DIMENSIONS:
            _log.warning(
                "vectors of %d dimensions are too long for an index in %s (at most %d); searches compare all vectors",
                *(found[0][0], server.address, _MOST_DIMENSIONS),
            )
        elif execute(_TAKE, (f"{server.address.schema} {namespace} index",)) == [(True,)]:
            try:
                execute(_HURRY)
                _separate(server, execute, namespace, found[0][0])
            except MemoryLockedError as error:
                _log.info("an index of vectors is not built now (%s)", error)
            finally:
                with contextlib.suppress(ConnectionLostError):
                    execute(_REST)


def _separate(server: Server, execute: Execute, namespace: int, dimension: int) -> None:
    table, index = f"vectors_of_{namespace}", f"vectors_of_{namespace}_nearest"
    names = {
        "number": sql.Literal(namespace),
        "dimension": sql.Literal(dimension),
        "table": sql.Identifier(table),
        "index": sql.Identifier(index),
    }
    if execute("SELECT to_regclass(%s) IS NULL", (table,)) == [(True,)]:
        with contextlib.closing(Writer(server, _PATIENCE, None)) as writer:
            writer.claim(namespace)
            with writer.transaction():
                if not writer.execute(_IS_SEARCHED, (namespace,)):
                    return
                for statement in _MOVE:
                    writer.execute(sql.SQL(statement).format(**names).as_string(), ())
    if not execute(_IS_VALID, (index,)):
        # An interrupted statement leaves an invalid index.
        for statement in _BUILD:
            execute(sql.SQL(statement).format(**names).as_string(), ())
