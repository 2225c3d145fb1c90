"""The tables of a memory in PostgreSQL, made by numbered migrations.

A row of `heads` is the end of a graph's log: its update gives each delta its number. Names of graphs are bytes, because
PostgreSQL's texts cannot hold a NUL character; an index holds their hashes, because its keys are short.
"""

from __future__ import annotations

import secrets

from psycopg import sql

from neurogated.errors import FormatVersionError, StorageError
from neurogated.storage.log.postgres.server import Connection, Server

MIGRATIONS = (
    """
    CREATE TABLE settings (name text PRIMARY KEY, value text NOT NULL);
    CREATE TABLE copies (place text PRIMARY KEY);
    CREATE TABLE namespaces (namespace bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name bytea NOT NULL);
    CREATE UNIQUE INDEX namespaces_by_name ON namespaces (sha256(name));
    CREATE TABLE heads (
        namespace bigint PRIMARY KEY REFERENCES namespaces ON DELETE CASCADE,
        epoch bigint NOT NULL DEFAULT 0,
        sequence bigint NOT NULL DEFAULT 0,
        erased_up_to bigint NOT NULL DEFAULT 0
    ) WITH (fillfactor = 50);
    CREATE TABLE deltas (
        namespace bigint NOT NULL REFERENCES namespaces ON DELETE CASCADE,
        sequence bigint NOT NULL,
        at bigint NOT NULL,
        uses_only boolean NOT NULL,
        entry text NOT NULL,
        token bytea NOT NULL,
        body bytea NOT NULL,
        PRIMARY KEY (namespace, sequence)
    );
    CREATE TABLE checkpoints (
        namespace bigint PRIMARY KEY REFERENCES namespaces ON DELETE CASCADE,
        epoch bigint NOT NULL,
        sequence bigint NOT NULL,
        graph bytea NOT NULL,
        removals bytea NOT NULL
    );
    ALTER TABLE checkpoints ALTER COLUMN graph SET STORAGE EXTERNAL;
    ALTER TABLE deltas ALTER COLUMN body SET STORAGE EXTERNAL;
    """,
    "ALTER TABLE heads ADD COLUMN searched boolean NOT NULL DEFAULT false;",
    # Checkpoints are written again when they are due.
    """
    DELETE FROM checkpoints;
    ALTER TABLE checkpoints DROP COLUMN graph, DROP COLUMN removals, ADD COLUMN deltas bytea[] NOT NULL;
    ALTER TABLE checkpoints ALTER COLUMN deltas SET STORAGE EXTERNAL;
    """,
    # To name the type of a column removes its statistics.
    """
    ALTER TABLE settings ALTER COLUMN value TYPE text, ALTER COLUMN value SET STATISTICS 0;
    ALTER TABLE copies ALTER COLUMN place TYPE text, ALTER COLUMN place SET STATISTICS 0;
    ALTER TABLE namespaces ALTER COLUMN name TYPE bytea, ALTER COLUMN name SET STATISTICS 0;
    ALTER INDEX namespaces_by_name ALTER COLUMN 1 SET STATISTICS 0;
    ALTER TABLE deltas ALTER COLUMN entry TYPE text, ALTER COLUMN entry SET STATISTICS 0,
        ALTER COLUMN body TYPE bytea, ALTER COLUMN body SET STATISTICS 0;
    ALTER TABLE checkpoints ALTER COLUMN deltas SET STATISTICS 0;
    """,
    # It made the tables of the search again.
    "",
    # The tables of the search are gone, with the texts in them. Other programs have tables with such names, too.
    """
    DO $$ BEGIN
        IF to_regclass('vectors_of_others') IS NOT NULL THEN
            DROP TABLE IF EXISTS memories, vectors, terms, links;
        END IF;
    END $$;
    UPDATE heads SET searched = false WHERE searched;
    """,
)
"""The statements of each migration. `at` is in microseconds, `body` is a delta in the form of `codec`, `entry` is its
line in the history, and `token` tells whether a write reached the server. Bodies are compressed already. Earlier
versions, which may still run, searched a graph in the database if it was `searched`."""

_LOCK = 0x6E6575726F676174  # "neurogat": excludes other processes that migrate
_HIDDEN = "SELECT 1 FROM pg_namespace WHERE nspname = %s AND NOT has_schema_privilege(oid, 'USAGE')"
_TABLES = ("checkpoints", "deltas", "heads", "namespaces", "copies", "settings", "migrations")


def prepare(server: Server, *, from_scratch: bool) -> None:
    """Create or migrate the tables of a memory; with `from_scratch`, drop its tables first.

    Raises:
        FormatVersionError: a newer version of this library made the tables.
        StorageError: the memory does not exist and may only be read, the user may not use the schema, or the server
            refuses.
    """
    with server.session() as connection, server.translated(connection):
        _refuse_hidden(server, connection)
        made = _version(connection)
        if made > len(MIGRATIONS):
            raise FormatVersionError(
                f"{server.address} has format {made}, but this version of neurogated reads {len(MIGRATIONS)}; update it"
            )
        if server.read_only and not made:
            raise StorageError(f"there is no memory at {server.address}; open it without read_only to create one")
        if server.read_only and made < len(MIGRATIONS):
            raise FormatVersionError(f"{server.address} has the older format {made}; open it once without read_only")
        if server.read_only or (made == len(MIGRATIONS) and not from_scratch):
            return
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
            schema = server.address.schema
            if connection.execute("SELECT to_regnamespace(quote_ident(%s))", (schema,)).fetchone() == (None,):
                connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
            for table in _TABLES if from_scratch else ():
                connection.execute(sql.SQL("DROP TABLE IF EXISTS {} CASCADE").format(sql.Identifier(table)))
            _migrate(connection)


def exists(server: Server) -> bool:
    """Return whether the schema holds a memory."""
    with server.session() as connection, server.translated(connection):
        _refuse_hidden(server, connection)
        return _version(connection) > 0


def _refuse_hidden(server: Server, connection: Connection) -> None:
    """Refuse a schema of another user: without the right to use it, it would look like one without a memory."""
    schema, user = server.address.schema, connection.info.user
    if connection.execute(_HIDDEN, (schema,)).fetchone():
        raise StorageError(
            f"user {user!r} may not use the schema {schema!r} of {server.address}; its owner can grant that (GRANT "
            "USAGE, CREATE ON SCHEMA, and rights to its tables), or name another schema"
        )


def _version(connection: Connection) -> int:
    """Return the number of the last migration, 0 if there is none."""
    if connection.execute("SELECT to_regclass('migrations')").fetchone() == (None,):
        return 0
    (found,) = connection.execute("SELECT max(number) FROM migrations").fetchone() or (0,)
    return int(found or 0)


def _migrate(connection: Connection) -> None:
    connection.execute("CREATE TABLE IF NOT EXISTS migrations (number integer PRIMARY KEY)")
    for number, statements in enumerate(MIGRATIONS[(made := _version(connection)) :], start=made + 1):
        connection.execute(statements)
        connection.execute("INSERT INTO migrations VALUES (%s)", (number,))
    connection.execute("INSERT INTO settings VALUES ('identity', %s) ON CONFLICT DO NOTHING", (secrets.token_hex(),))
