"""Connections to PostgreSQL that are cut: every write is made wholly or not at all, and work goes on."""

from collections.abc import Callable, Iterator

import psycopg
import pytest

from neurogated.errors import StorageError
from neurogated.storage.postgres_store import PostgresStore
from tests.postgres_server import Postgres
from tests.storage.cut_connections import Proxy
from tests.storage.test_postgres_store import change, names, put


@pytest.fixture
def store(url: str) -> Iterator[PostgresStore]:
    with PostgresStore.open(url) as opened:
        yield opened


@pytest.fixture
def proxy(url: str) -> Iterator[Proxy]:
    with Proxy(url) as one:
        yield one


def test_a_write_whose_answer_is_lost_is_found_again(proxy: Proxy) -> None:
    with PostgresStore.open(proxy.url) as store:
        put(store, "a")
        with proxy.cut(b"lost answer", forward=True):
            assert put(store, "b", reason="lost answer") == 2
        put(store, "c")
        assert names(store) == ["a", "b", "c"]
        assert store.check() == []


def test_a_write_that_never_arrives_raises_and_can_be_made_again(proxy: Proxy) -> None:
    with PostgresStore.open(proxy.url) as store:
        put(store, "a")
        with proxy.cut(b"never arrives", forward=False), pytest.raises(StorageError):
            put(store, "b", reason="never arrives")
        assert names(store) == ["a"]
        assert put(store, "b") == 2
        assert store.check() == []


@pytest.mark.parametrize("forward", [True, False])
def test_a_transaction_is_made_wholly_or_not_at_all(proxy: Proxy, *, forward: bool) -> None:
    with PostgresStore.open(proxy.url) as store:
        other = store.in_namespace("other")
        with proxy.cut(b"COMMIT", forward=forward):
            try:
                with store.transaction():
                    put(store, "a"), put(other, "a"), put(store, "b")
            except StorageError:
                assert not forward
        assert names(store) == (["a", "b"] if forward else [])
        assert names(other) == (["a"] if forward else [])
        put(store, "c")
        assert store.check() == []


def test_a_connection_cut_in_a_transaction_rolls_it_back(store: PostgresStore, url: str) -> None:
    put(store, "a")
    with pytest.raises(StorageError), store.transaction():  # noqa: PT012 - the whole block is under test
        put(store, "b")
        change(url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
        put(store, "c")
    assert names(store) == ["a"]
    put(store, "d")
    assert names(store) == ["a", "d"]


def test_idle_connections_that_were_cut_are_replaced(store: PostgresStore, url: str) -> None:
    put(store, "a")
    for use in (lambda: names(store), lambda: put(store, "b"), lambda: store.record_frozen(frozen=False)):
        change(url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
        use()
    assert names(store) == ["a", "b"]


@pytest.fixture(scope="module")
def postgres_of_ana(postgres: Postgres) -> Postgres:
    postgres.require_password("ana", "right")
    return postgres


@pytest.mark.parametrize(
    ("change_url", "told"),
    [
        (lambda url: url.replace("/tests_", "/absent_"), "create the database"),
        (lambda url: url.replace("postgres:@", "ghost:cret@"), "user or the password"),
        (lambda url: url.replace("postgres:@", "ana:cret@"), "user or the password"),
        (lambda url: url.replace("postgres:@", "ana@"), "user or the password"),
    ],
)
def test_a_server_that_refuses_a_connection_is_not_called_away(
    postgres_of_ana: Postgres, change_url: Callable[[str], str], told: str
) -> None:
    url = postgres_of_ana.database()
    with pytest.raises(StorageError, match=told) as caught:
        PostgresStore.open(change_url(url))
    assert "cret" not in str(caught.value)
    assert "cannot be reached" not in str(caught.value)


def test_a_schema_that_the_user_may_not_use_is_named(url: str) -> None:
    PostgresStore.open(url).close()
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute("DROP ROLE IF EXISTS visitor; CREATE ROLE visitor LOGIN")
        visitors = url.replace("://postgres:", "://visitor:")
        for read_only in (True, False):
            with pytest.raises(StorageError, match="'visitor' may not use the schema 'neurogated'"):
                PostgresStore.open(visitors, read_only=read_only)
        with pytest.raises(StorageError, match="GRANT USAGE"):
            PostgresStore.exists(visitors)
        owner.execute("GRANT USAGE ON SCHEMA neurogated TO visitor")
        owner.execute("GRANT SELECT ON ALL TABLES IN SCHEMA neurogated TO visitor")
    with PostgresStore.open(visitors, read_only=True) as store:
        assert names(store) == []


def test_a_server_that_takes_no_writes_is_told_from_a_memory_that_is_open_read_only(url: str) -> None:
    PostgresStore.open(url).close()
    standby = f"{url}&options=-c%20default_transaction_read_only%3Don"
    with (
        PostgresStore.open(standby) as store,
        pytest.raises(StorageError, match="takes no writes, because it is a standby"),
    ):
        put(store, "a")
    with PostgresStore.open(url, read_only=True) as store, pytest.raises(StorageError, match="without read_only"):
        put(store, "a")


def test_a_pooler_that_mixes_sessions_is_named(url: str) -> None:
    with PostgresStore.open(url) as store:
        put(store, "a")
        with store.engine.server.session() as connection:
            # The next transaction finds the session of another client.
            connection.execute("SET search_path TO public")
        with pytest.raises(StorageError, match="pool_mode=session"):
            put(store, "b")
