"""A request sees what another process stored before it, also while a write of the server waits for that process."""

import threading
from pathlib import Path

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from tests.postgres_server import Postgres
from tests.served import Servers, client
from tests.server.test_mcp import ACCEPTED, INITIALIZE

ROUNDS = 20


@pytest.fixture(params=["sqlite", "postgres"])
def storage(request: pytest.FixtureRequest) -> str:
    if request.param == "sqlite":
        return "sqlite"
    postgres: Postgres = request.getfixturevalue("postgres")
    return postgres.database()


def test_a_read_sees_the_writes_of_another_process_while_a_write_waits(tmp_path: Path, storage: str) -> None:
    with (
        NeuroGraphMemory(MemoryConfig(save_dir=str(tmp_path), storage=storage, embedding_name="hash")) as other,
        Servers(tmp_path) as servers,
        client(servers.start("--storage", storage)) as rest,
    ):
        session = rest.post("/mcp", json=INITIALIZE, headers=ACCEPTED).headers["mcp-session-id"]
        ids = ACCEPTED | {"Mcp-Session-Id": session}
        rest.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=ids)

        def write() -> None:
            with client(str(rest.base_url)) as one:
                assert one.post("/v1/memories", json={"content": "A parrot is green."}).status_code == 201

        # The first recall builds the index of words, which needs the lock of the graph.
        rest.post("/v1/recall", json={"query": "Where was Ana?"})
        writer = threading.Thread(target=write)
        with other.session.exclusively():
            writer.start()
            for number in range(ROUNDS):
                text = f"Ana saw parrot {number} in Lyon."
                (stored,) = other.add(text)
                assert rest.get(f"/v1/memories/{stored}").json()["content"] == text
                assert [one["id"] for one in rest.get("/v1/memories?limit=1000").json()["memories"]][-1] == stored
                answer = rest.post("/v1/recall", json={"query": text})
                assert stored in {one["node"]["id"] for one in answer.json()["memories"]}
                call = {"name": "recall", "arguments": {"query": text}}
                asked = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": call}
                assert stored in rest.post("/mcp", json=asked, headers=ids).text
            assert writer.is_alive()
        writer.join()
        assert len(other.find()) == ROUNDS + 1


def test_the_first_recall_does_not_wait_for_a_write_that_waits(tmp_path: Path) -> None:
    with NeuroGraphMemory(MemoryConfig(save_dir=str(tmp_path), embedding_name="hash")) as other:
        other.add("Ana saw a parrot in Lyon.")
        with Servers(tmp_path) as servers, client(servers.start()) as rest:
            writer = threading.Thread(
                target=rest.post, args=("/v1/memories",), kwargs={"json": {"content": "A heron."}}
            )
            with other.session.exclusively():
                writer.start()
                for _ in range(5):
                    assert rest.get("/v1/memories").status_code == 200
                found = rest.post("/v1/recall", json={"query": "Who saw a parrot?"}).json()["memories"]
                assert found[0]["node"]["content"] == "Ana saw a parrot in Lyon."
                assert writer.is_alive()
            writer.join()
            assert (
                rest.post("/v1/recall", json={"query": "heron"}).json()["memories"][0]["node"]["content"] == "A heron."
            )
