"""Formats of a memory in PostgreSQL that other versions of this library wrote."""

import psycopg
import pytest

from neurogated.errors import FormatVersionError
from neurogated.storage.log.postgres import server
from neurogated.storage.postgres_store import PostgresStore
from tests.storage.test_postgres_store import change, names, put


def test_a_newer_format_is_refused(url: str) -> None:
    PostgresStore.open(url).close()
    change(url, "INSERT INTO migrations VALUES (99)")
    with pytest.raises(FormatVersionError, match="99"):
        PostgresStore.open(url)


def test_an_older_format_is_migrated_before_it_is_read(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA neurogated; SET search_path TO neurogated")
        connection.execute("CREATE TABLE migrations (number integer PRIMARY KEY); INSERT INTO migrations VALUES (3)")
        for statements in server.MIGRATIONS[:3]:
            connection.execute(statements)
        connection.execute(
            "INSERT INTO copies VALUES ('secret'); INSERT INTO namespaces (name) VALUES ('secret'); ANALYZE"
        )
        samples = "SELECT count(*) FROM pg_stats WHERE attname IN ('place', 'name') AND schemaname = 'neurogated'"
        assert connection.execute(samples).fetchone() == (2,)
        with pytest.raises(FormatVersionError):
            PostgresStore.open(url, read_only=True)
        with PostgresStore.open(url) as store:
            put(store, "a")
            assert store.namespaces() == ["secret", "default"]
        assert connection.execute(samples).fetchone() == (0,)
    with PostgresStore.open(url, read_only=True) as store:
        assert names(store) == ["a"]


OF_THE_SEARCH = """
    SET search_path TO neurogated;
    CREATE TABLE memories (namespace bigint REFERENCES namespaces ON DELETE CASCADE, body text);
    CREATE TABLE vectors (namespace bigint REFERENCES namespaces ON DELETE CASCADE) PARTITION BY LIST (namespace);
    CREATE TABLE vectors_of_others PARTITION OF vectors DEFAULT;
    CREATE TABLE vectors_of_1 PARTITION OF vectors FOR VALUES IN (1);
    CREATE TABLE terms (namespace bigint REFERENCES namespaces ON DELETE CASCADE);
    CREATE TABLE links (namespace bigint REFERENCES namespaces ON DELETE CASCADE);
    INSERT INTO memories VALUES (1, 'secret');
    UPDATE heads SET searched = true;
    DELETE FROM migrations WHERE number = 6;
"""
LEFT = "SELECT count(*) FROM pg_tables WHERE schemaname = 'neurogated' AND tablename ~ 'memories|vectors|terms|links'"


@pytest.mark.parametrize("from_scratch", [True, False])
def test_the_tables_by_which_earlier_versions_searched_go_when_the_memory_is_opened(
    url: str, *, from_scratch: bool
) -> None:
    with PostgresStore.open(url) as store:
        put(store, "a")
        change(url, OF_THE_SEARCH)
        with PostgresStore.open(url, from_scratch=from_scratch) as migrated:
            put(migrated, "b")
            assert migrated.engine.fetch(LEFT) == [(0,)]
            assert migrated.engine.fetch("SELECT 1 FROM heads WHERE searched") == []
            assert names(migrated) == (["b"] if from_scratch else ["a", "b"])
            assert migrated.check() == []


def test_tables_of_other_programs_stay_when_a_memory_is_made_or_migrated(url: str) -> None:
    change(url, "CREATE SCHEMA neurogated; CREATE TABLE neurogated.memories AS SELECT 'theirs'; ")
    PostgresStore.open(url).close()
    change(url, "DELETE FROM neurogated.migrations WHERE number = 6")
    with PostgresStore.open(url) as store:
        assert store.engine.fetch("SELECT * FROM memories") == [("theirs",)]
    with PostgresStore.open(url, from_scratch=True) as store:
        assert store.engine.fetch("SELECT * FROM memories") == [("theirs",)]
