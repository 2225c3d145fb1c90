"""Full disks, clocks that differ, and servers over HTTP whose database is killed."""

import secrets
import signal
from pathlib import Path

import pytest

from graph_store_kit.histories import node
from neurogated.core.delta import GraphDelta
from neurogated.errors import StorageError
from neurogated.storage.postgres_store import PostgresStore
from tests.postgres_server import Postgres
from tests.served import Servers, client

pytestmark = pytest.mark.slow

MEGABYTE = 1 << 20


def put(store: PostgresStore, name: str, size: int = 0) -> None:
    store.apply(GraphDelta(nodes=(node(name, embedding=None, metadata={"data": secrets.token_hex(size)}),)))


def test_a_full_disk_loses_nothing_that_was_acknowledged(server: Postgres) -> None:
    url, stored = server.database(), []
    with PostgresStore.open(url) as store:
        put(store, "first")
        server.stop()
        server.start(largest_file=20 * MEGABYTE)
        with pytest.raises(StorageError) as refused:  # noqa: PT012 - the disk is full after some writes
            for number in range(60):
                put(store, f"n{number}", MEGABYTE)
                stored.append(f"n{number}")
        assert "File too large" in str(refused.value)
        assert stored
        assert {one.id for one in store.all_nodes()} == {"first", *stored}
        server.stop()
        server.start()
        put(store, "last", MEGABYTE)
        assert store.check() == []
    with PostgresStore.open(url) as store:
        assert {one.id for one in store.all_nodes()} == {"first", *stored, "last"}
        assert store.check() == []


def test_servers_over_http_survive_the_death_of_each_other_and_of_the_database(
    server: Postgres, tmp_path: Path
) -> None:
    url, stored, failed = server.database(), {}, 0
    flags = "--storage", url
    with Servers(tmp_path) as workers:
        addresses = [workers.start(*flags), workers.start(*flags)]
        for number in range(30):
            if number % 10 == 5:
                server.kill()
            if number % 10 == 8:
                server.start()
            if number == 12:
                workers.stop(signal.SIGKILL)
                addresses[1] = workers.start(*flags)
            text = f"Ana wrote letter {number}."
            with client(addresses[number % 2]) as rest:
                answer = rest.post("/v1/memories", json={"content": text})
                if answer.status_code == 201:
                    (name,) = answer.json()["ids"]
                    stored[name] = text
                else:
                    assert answer.status_code >= 500
                    failed += 1
        assert failed
        assert len(stored) >= 20
        for address in addresses:
            with client(address) as rest:
                listed = rest.get("/v1/memories?limit=1000").json()["memories"]
                texts = [one["content"] for one in listed]
                assert len(texts) == len(set(texts))
                assert stored.items() <= {one["id"]: one["content"] for one in listed}.items()
    with PostgresStore.open(url) as store:
        assert store.check() == []
