"""`PostgresStore`: a graph of a memory in PostgreSQL, with the abilities that need a database."""

import re
import time
from collections.abc import Mapping
from contextlib import closing

from psycopg import sql
from psycopg.errors import Diagnostic

from neurogated.core.abilities import SupportsStatistics
from neurogated.errors import MemoryLockedError
from neurogated.storage.durable_store import DatabaseStore
from neurogated.storage.log.postgres.postgres_log import PostgresEngine
from neurogated.storage.log.postgres.server import Connection, PostgresAddress, Server, version_of

_REWRITTEN = ("deltas", "checkpoints", "namespaces", "copies")
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


class PostgresStore(DatabaseStore[PostgresEngine], SupportsStatistics):
    """A memory in one schema of a PostgreSQL database, such as `postgresql://HOST/DATABASE?schema=NAME`.

    Without `schema`, it is in the schema `neurogated`. Processes that write to different graphs do not wait for each
    other.
    """

    connected = PostgresEngine

    @staticmethod
    def exists(url: str) -> bool:
        """Return whether there is a memory at `url`; raises like `open`."""
        with closing(Server(PostgresAddress(url), read_only=True)) as server:
            return version_of(server) > 0

    def statistics(self) -> Mapping[str, int]:
        """Return the size of the memory in the database in bytes, with its indexes."""
        ((size,),) = self.engine.fetch(
            "SELECT sum(pg_total_relation_size(oid))::bigint FROM pg_class "
            "WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace"
        )
        return {"bytes": int(size)}

    def compact(self, *, history: bool = False) -> int:
        """Erase removed nodes in all graphs and return their number; see `GraphStore.compact`.

        The tables are then rewritten, so that no erased text stays in the files of the database. Other processes cannot
        read them meanwhile.

        Raises:
            MemoryLockedError: the nodes are erased, but traces remain, because another process uses the tables for too
                long, or a transaction that began before can read them.
        """
        erased = super().compact(history=history)
        server, patience = self.engine.server, self.graph.family.config.runtime.write_lock_seconds
        end = time.monotonic() + patience
        with server.session() as connection:
            server.execute(connection, _HURRY, (f"{patience}s",))
            for table in _REWRITTEN:
                while server.execute(connection, _EXISTS, (table,)) == [(True,)] and _kept(server, connection, table):
                    if time.monotonic() > end:
                        readers = ", ".join(reader for (reader,) in server.execute(connection, _READERS))
                        readers = readers or "of other users, which this user may not see"
                        raise MemoryLockedError(
                            f"the memory is compacted, but erased texts stay in the files of {server.address}, since "
                            f"older transactions can read them: {readers}. End them (pg_terminate_backend, ROLLBACK "
                            "PREPARED, pg_drop_replication_slot), and compact again"
                        )
                    time.sleep(_PAUSE_SECONDS)
        return erased


def _kept(server: Server, connection: Connection, table: str) -> int:
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
