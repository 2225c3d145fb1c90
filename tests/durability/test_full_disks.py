"""Full disks, read-only folders, odd names, and clocks that go backwards: an error, no loss, and work goes on."""

import errno
import fcntl
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

from neurogated import MemoryConfig, MemoryNode, NeuroGraphMemory
from neurogated.errors import FormatVersionError, MemoryLockedError, StorageError
from neurogated.session.administration import import_memory, restore_snapshot
from neurogated.storage.sqlite_store import SqliteStore
from tests.durability.contents import fill_disk
from tests.served import Servers, client

LONG = "The barge carried slate and flour to the mill of Brook. " * 40


def _remember(url: str, text: str) -> tuple[bool, str]:
    """Store a text by MCP; return whether it failed, and the answer."""

    async def talk() -> tuple[bool, str]:
        async with (
            httpx2.AsyncClient(timeout=60) as http,
            streamable_http_client(f"{url}/mcp", http_client=http) as streams,
            ClientSession(streams[0], streams[1]) as session,
        ):
            await session.initialize()
            answer = await session.call_tool("remember", {"text": text})
            return bool(answer.is_error), str(answer.content)

    return anyio.run(talk)


@pytest.mark.parametrize("mounted", [8], indirect=True)
def test_a_server_whose_disk_is_full_says_so_reads_on_and_writes_again_when_there_is_room(mounted: Path) -> None:
    with Servers(mounted) as servers:
        url = servers.start()
        with client(url) as rest:

            def add(text: str) -> Any:  # noqa: ANN401 - of the client
                return rest.post("/v1/memories", json={"content": text})

            stored = [add(f"Note {number}. {LONG}").json()["ids"] for number in range(3)]
            filler = fill_disk(mounted)
            answers = [add(f"Full {number}. {LONG * 20}") for number in range(6)]
            stored += [answer.json()["ids"] for answer in answers if answer.status_code == 201]
            refused = [answer for answer in answers if answer.status_code != 201]
            assert len(refused) > 2
            assert {answer.status_code for answer in refused} == {503}
            failed, told = _remember(url, "By MCP: " + LONG * 20)
            assert failed
            assert str(mounted) not in told
            found = rest.post("/v1/recall", json={"query": "Which barge carried slate?"})
            assert found.status_code == 200
            assert found.json()["memories"]
            filler.unlink()
            stored.append(add("There is room again.").json()["ids"])
            failed, told = _remember(url, "There is room by MCP.")
            assert not failed, told
        code, errors = servers.stop()
        assert (code, "Traceback" in errors) == (0, False)
        # Neither door names files of the server; the log has the reasons.
        assert all(f"{answer.json()['error']['request_id']}: StorageError" in errors for answer in refused)
        assert errors.count("disk is full); check free space") == len(refused) + 1
    with NeuroGraphMemory(MemoryConfig(save_dir=str(mounted), embedding_name="hash")) as memory:
        assert memory.admin.check() == []
        there = {node.id for node in memory.find() if "by MCP" not in node.content}
        assert there == {one for ids in stored for one in ids}


def _snapshot(memory: NeuroGraphMemory, _: Path, target: Path) -> None:
    memory.admin.snapshot(target)


def _export(memory: NeuroGraphMemory, _: Path, target: Path) -> None:
    memory.admin.export(target, progress=False)


def _export_of_a_user(memory: NeuroGraphMemory, _: Path, target: Path) -> None:
    memory.admin.export_user("ana", target)


def _import(memory: NeuroGraphMemory, beside: Path, target: Path) -> None:
    if not (beside / "out").exists():
        memory.admin.export(beside / "out", progress=False)
    import_memory(memory.config.replace(save_dir=str(target)), beside / "out")


def _restore(memory: NeuroGraphMemory, beside: Path, target: Path) -> None:
    if not (beside / "copy").exists():
        memory.admin.snapshot(beside / "copy")
    restore_snapshot(memory.config.replace(save_dir=str(target)), beside / "copy")


@pytest.mark.parametrize("work", [_snapshot, _export, _export_of_a_user, _import, _restore])
def test_what_finds_no_room_leaves_nothing_and_is_made_once_there_is_some(
    mounted: Path, tmp_path: Path, work: Callable[[NeuroGraphMemory, Path, Path], None]
) -> None:
    beside, target = tmp_path / "beside", mounted / "target"
    beside.mkdir()
    with NeuroGraphMemory(MemoryConfig(save_dir=str(beside / "memory"), embedding_name="hash")) as memory:
        for number in range(5):
            memory.add(f"Note {number}. {LONG}", user_id="ana")
        filler = fill_disk(mounted)
        with pytest.raises(StorageError):
            work(memory, beside, target)
        left = [file for file in mounted.rglob("*") if file.is_file() and file.stat().st_size and file != filler]
        assert not left
        filler.unlink()
        work(memory, beside, target)
        assert target.exists()
        assert memory.admin.check() == []


def _node(name: str, size: int = 1000) -> MemoryNode:
    return MemoryNode(id=name, content=f"{name} " + "x" * size, embedding=[1.0, 2.0])


def test_a_memory_that_cannot_be_made_on_a_full_disk_leaves_nothing(mounted: Path) -> None:
    filler = fill_disk(mounted)
    with pytest.raises(StorageError, match="memory"):
        SqliteStore.open(mounted / "memory.db")
    assert not (mounted / "memory.db").exists()
    filler.unlink()
    with SqliteStore.open(mounted / "memory.db") as store:
        assert store.check() == []


@pytest.mark.parametrize("closed", [True, False], ids=["closed", "killed"])
def test_a_folder_that_may_not_be_written_to_is_for_readers(mounted: Path, *, closed: bool) -> None:
    with SqliteStore.open(mounted / "memory.db") as store:
        store.add_node(_node("a"))
        if not closed:
            for file in mounted.glob("memory.*"):
                shutil.copy(file, file.with_name("copy" + file.name[6:]))
    path = mounted / ("memory.db" if closed else "copy.db")
    subprocess.run(["mount", "-o", "remount,ro", str(mounted)], check=True)
    with pytest.raises(StorageError):
        SqliteStore.open(path)
    with SqliteStore.open(path, read_only=True) as reader:
        assert [node.id for node in reader.all_nodes()] == ["a"]
        assert reader.check() == []
        with pytest.raises(StorageError):
            reader.add_node(_node("b"))


def test_a_file_system_without_locks_is_not_called_another_writer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with pytest.raises(StorageError) as raised:
        SqliteStore.open(tmp_path / "memory.db")
    assert not isinstance(raised.value, MemoryLockedError)


def test_a_reader_cannot_create_a_memory(tmp_path: Path) -> None:
    for path in (tmp_path / "memory.db", tmp_path / "missing" / "memory.db"):
        with pytest.raises(StorageError):
            SqliteStore.open(path, read_only=True)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("read_only", [False, True])
def test_a_newer_format_is_named(tmp_path: Path, *, read_only: bool) -> None:
    path = tmp_path / "memory.db"
    SqliteStore.open(path).close()
    content = bytearray(path.read_bytes())
    content[60:64] = (7).to_bytes(4)
    path.write_bytes(content)
    with pytest.raises(FormatVersionError):
        SqliteStore.open(path, read_only=read_only)
