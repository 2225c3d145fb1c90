"""Rewrite the tables of a memory, so that no erased row stays in their files."""

from __future__ import annotations

import re
import time

from psycopg import sql
from psycopg.errors import Diagnostic

from neurogated.errors import MemoryLockedError
from neurogated.storage.log.postgres.server import Connection, Server

_TABLES = ("deltas", "checkpoints", "namespaces", "copies")
_PAUSE_SECONDS = 0.1
# In every language, the details of a rewritten table begin with the number of rows that old transactions still see.
_KEPT = re.compile(r"\d+")
_HURRY = "SELECT set_config('lock_timeout', %s, false)"
_EXISTS = "SELECT to_regclass(%s) IS NOT NULL"
_READERS = """
    SELECT * FROM (
        SELECT 'process ' || pid || ' of ' || coalesce(usename, '') || coalesce(' since ' || xact_start, '')
        FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL)
        AND (datname IS NULL OR datname = current_database()) ORDER BY xact_start
    ) AS sessions
    UNION ALL SELECT 'prepared transaction ' || gid FROM pg_prepared_xacts WHERE database = current_database()
    UNION ALL SELECT 'replication slot ' || slot_name FROM pg_replication_slots WHERE xmin IS NOT NULL
"""


def rewrite_tables(server: Server, patience: float) -> None:
    """Rewrite all tables. Other processes cannot read each of them meanwhile.

    Args:
        server: the database.
        patience: how many seconds to wait for other processes.

    Raises:
        MemoryLockedError: a process uses a table for longer, or an older transaction can still read erased rows, so
            that they stay in the files.
        StorageError: the server cannot be reached or refuses.
    """
    end = time.monotonic() + patience
    with server.session() as connection:
        server.execute(connection, _HURRY, (f"{patience}s",))
        for table in _TABLES:
            while server.execute(connection, _EXISTS, (table,)) == [(True,)] and _kept(server, connection, table):
                if time.monotonic() > end:
                    readers = ", ".join(reader for (reader,) in server.execute(connection, _READERS))
                    raise MemoryLockedError(
                        f"the memory is compacted, but erased texts stay in the files of {server.address}, since older "
                        f"transactions can read them: {readers or 'of other users, which this user may not see'}. End "
                        "them (pg_terminate_backend, ROLLBACK PREPARED, pg_drop_replication_slot), and compact again"
                    )
                time.sleep(_PAUSE_SECONDS)


def _kept(server: Server, connection: Connection, table: str) -> int:
    """Rewrite a table; return how many dead rows it keeps."""
    kept = 0

    def read(notice: Diagnostic) -> None:
        nonlocal kept
        found = _KEPT.search(notice.message_detail or "")
        kept += int(found[0]) if found else 0

    connection.add_notice_handler(read)
    try:
        statement = sql.SQL("VACUUM (FULL, VERBOSE) {}").format(sql.Identifier(table))
        server.execute(connection, statement.as_string(), ())
    finally:
        connection.remove_notice_handler(read)
    return kept
