"""`PostgresStore`: a graph of a memory in PostgreSQL, with the abilities that need a database."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from neurogated.core.abilities import SupportsStatistics
from neurogated.storage.durable_store import DatabaseStore
from neurogated.storage.log.postgres.postgres_log import PostgresEngine
from neurogated.storage.log.postgres.server import PostgresAddress, Server, prepare, rewrite_tables, version_of


class PostgresStore(DatabaseStore[PostgresEngine], SupportsStatistics):
    """A memory in one schema of a PostgreSQL database, such as `postgresql://HOST/DATABASE?schema=NAME`.

    Without `schema`, it is in the schema `neurogated`. Processes that write to different graphs do not wait for each
    other.
    """

    @staticmethod
    def connected(place: str | Path, patience: float, *, from_scratch: bool, read_only: bool) -> PostgresEngine:
        """Return the engine of the memory at the URL `place`; see `DurableStore`."""
        server = Server(PostgresAddress(str(place)), read_only=read_only)
        try:
            prepare(server, from_scratch=from_scratch)
            return PostgresEngine(server, patience)
        except BaseException:
            server.close()
            raise

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
        rewrite_tables(self.engine.server, self.graph.family.config.runtime.write_lock_seconds)
        return erased
