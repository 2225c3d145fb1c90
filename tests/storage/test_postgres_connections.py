"""Connections to PostgreSQL that are cut: every write is made wholly or not at all, and work goes on."""

from collections.abc import Callable, Iterator

import pytest

from neurogated.errors import StorageError
from neurogated.storage.postgres_store import PostgresStore
from tests.gate import Gate
from tests.postgres_server import Postgres
from tests.storage.test_postgres_store import names, put


@pytest.fixture
def store(url: str) -> Iterator[PostgresStore]:
    with PostgresStore.open(url) as opened:
        yield opened


@pytest.fixture
def gate(url: str) -> Iterator[Gate]:
    found = Gate.before(url)
    found.open()
    yield found
    found.shut()


def test_a_write_whose_answer_is_lost_is_found_again(gate: Gate) -> None:
    with PostgresStore.open(gate.url) as store:
        put(store, "a")
        with gate.cut(b"lost answer", forward=True):
            assert put(store, "b", reason="lost answer") == 2
        put(store, "c")
        assert names(store) == ["a", "b", "c"]
        assert store.check() == []


def test_a_write_that_never_arrives_raises_and_can_be_made_again(gate: Gate) -> None:
    with PostgresStore.open(gate.url) as store:
        put(store, "a")
        with gate.cut(b"never arrives", forward=False), pytest.raises(StorageError):
            put(store, "b", reason="never arrives")
        assert names(store) == ["a"]
        assert put(store, "b") == 2
        assert store.check() == []


@pytest.mark.parametrize("forward", [True, False])
def test_a_transaction_is_made_wholly_or_not_at_all(gate: Gate, *, forward: bool) -> None:
    with PostgresStore.open(gate.url) as store:
        other = store.in_namespace("other")
        with gate.cut(b"COMMIT", forward=forward):
            try:
                with store.transaction():
                    put(store, "a"), put(other, "a"), put(store, "b")
            except StorageError:
                assert not forward
        assert names(store) == (["a", "b"] if forward else [])
        assert names(other) == (["a"] if forward else [])
        put(store, "c")
        assert store.check() == []


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
