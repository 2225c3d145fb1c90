"""Formats of a memory in PostgreSQL that other versions of this library wrote."""

import psycopg
import pytest

from neurogated.errors import FormatVersionError
from neurogated.storage.log.postgres import schema
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
        for statements in schema.MIGRATIONS[:3]:
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


def test_tables_of_the_search_with_older_terms_are_made_again(url: str) -> None:
    searching = f"{url}{'&' if '?' in url else '?'}search=database"
    terms = "SELECT term FROM neurogated.terms ORDER BY term"
    with PostgresStore.open(searching) as store:
        put(store, "早上喝茶")
    with psycopg.connect(url, autocommit=True) as connection:
        expected = connection.execute(terms).fetchall()
        connection.execute("DELETE FROM neurogated.migrations WHERE number = 5; DELETE FROM neurogated.terms")
        PostgresStore.open(searching).close()
        assert connection.execute(terms).fetchall() == expected != []
